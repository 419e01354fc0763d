"""Data quality: how far the sources agree, what was not used, and how fresh it all is.

Belongs here: differences, rejects, warnings, names not in the vocabulary, and the files read.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt

from pipeline.report import charts
from pipeline.report.figures import Column, Figure, Page, Row, Section, Table
from pipeline.report.reading import Published
from pipeline.report.wording import counted

_KINDS = """
    select
        kind,
        coalesce(right_source, 'not settled by logs') as right_one,
        count(*) as differences
    from reconciliation group by all order by kind, right_one
"""

_FILES = """
    select
        sources.round_key, kind, origin, url, commit, fetched_at::date as fetched_on, is_stale,
        stale_reason, rows, sources.results, sources.rejects
    from sources left join rounds on sources.round_key = rounds.round_key
    order by rounds.suite, rounds.position desc, kind
"""

_REJECTS = """
    select round_key, file, reason, count(*) as rows from rejects
    group by all order by rows desc, round_key, file, reason
"""

_WARNINGS = """
    select
        round_key, field, problem, coalesce(known_as, 'new') as reviewed, count(*) as rows,
        any_value(value_as_published order by value_as_published) as example
    from warnings group by all order by rows desc, round_key, field, problem
"""

_WITHDRAWN = """
    select round_key, suite, division, submitter, platform, benchmark, scenario, entry_id
    from results where is_withdrawn order by all
"""


def pages(published: Published) -> list[Page]:
    """Return the page."""
    return [
        Page(
            name="data-quality",
            menu="Data quality",
            title="Data quality",
            lead=(
                "No row is dropped in silence: where two sources differ, what was not used, what "
                "is odd, and when each file was read."
            ),
            sections=[
                Section("Do the sources agree?", parts=_reconciliation(published)),
                Section("How fresh", parts=[_freshness(published)]),
                Section("Not used", parts=[_rejects(published)]),
                Section("Odd, and kept", parts=[_warnings(published)]),
                Section("Withdrawn", parts=[_withdrawn(published)]),
            ],
        )
    ]


def _reconciliation(published: Published) -> list[Figure]:
    rows = published.rows(_KINDS)
    columns = (
        Column("kind", "Kind of difference"),
        Column("right_one", "Right source, by the logs"),
        Column("differences", "Differences", "count"),
    )
    total = sum(row["differences"] for row in rows)
    settled = sum(row["differences"] for row in rows if row["right_one"] != "not settled by logs")
    finding = (
        f"Table, results page and logs differ {total:,} times; the logs settle {settled:,} of them"
        if rows
        else "No difference between table, results page and logs was found"
    )
    return [
        Figure(
            name="reconciliation",
            finding=finding,
            reading="Differences by kind, and the source that the logs prove right.",
            table=Table("Differences between sources", columns, rows),
            footnote="Differences are told by Roundtable, not by MLCommons Association.",
            chart=charts.svg(_bars(rows), finding) if rows else None,
        )
    ]


def _bars(rows: Sequence[Row]) -> Any:
    totals: dict[str, int] = {}
    for row in rows:
        totals[row["kind"]] = totals.get(row["kind"], 0) + row["differences"]
    order = sorted(totals, key=lambda kind: (-totals[kind], kind))
    sources = ["published table", "submission logs", "results page", "not settled by logs"]
    shown = [
        {
            "label": row["kind"],
            "right": row["right_one"],
            "differences": row["differences"],
            "tip": f"{row['kind']}: {row['differences']:,}, {row['right_one']}",
        }
        for row in rows
    ]
    ends = [{"label": kind, "total": totals[kind]} for kind in order]
    bars = (
        alt.Chart(charts.data(shown))
        .mark_bar(stroke="var(--paper)", strokeWidth=1)
        .encode(
            y=charts.names(order),
            x=alt.X("differences:Q", title="differences").axis(format=",d", tickCount=6),
            color=alt.Color("right:N", title=None).scale(
                domain=sources, range=[*charts.SERIES[:3], charts.FAINT]
            ),
            order=alt.Order("right:N"),
            description=alt.Description("tip:N"),
        )
    )
    text = (
        alt.Chart(charts.data(ends))
        .mark_text(align="left", dx=6, aria=False)
        .encode(
            y=charts.names(order),
            x=alt.X("total:Q", title="differences"),
            text=alt.Text("total:Q", format=",d"),
        )
    )
    return alt.layer(bars, text).properties(width=charts.WIDTH + 60, height=alt.Step(26))


def _freshness(published: Published) -> Figure:
    rows = published.rows(_FILES)
    for row in rows:
        row["state"] = f"stale: {row['stale_reason']}" if row["is_stale"] else "fresh"
        row["short"] = (row["commit"] or "")[:12]
    stale = sum(bool(row["is_stale"]) for row in rows)
    finding = (
        f"{counted(stale, 'file')} of {len(rows)} stale: older figures serve in their place"
        if stale
        else f"None of {counted(len(rows), 'file')} is stale"
    )
    return Figure(
        name="freshness",
        finding=finding,
        reading="Files that come with Roundtable show no day: they were not fetched by this build.",
        table=Table(
            "Files read",
            (
                Column("round_key", "Round", "round"),
                Column("kind", "Kind"),
                Column("origin", "From"),
                Column("fetched_on", "Fetched on", "day"),
                Column("short", "Commit"),
                Column("state", "State"),
                Column("rows", "Rows", "count"),
                Column("results", "Results", "count"),
                Column("rejects", "Rejects", "count"),
                Column("url", "Address", "address"),
            ),
            rows,
        ),
        footnote="Files of the results repositories of github.com/mlcommons.",
    )


def _rejects(published: Published) -> Figure:
    rows = published.rows(_REJECTS)
    total = sum(row["rows"] for row in rows)
    return Figure(
        name="rejects",
        finding=f"{counted(total, 'row or file', 'rows or files')} could not be used",
        table=Table(
            "Rejects",
            (
                Column("round_key", "Round", "round"),
                Column("file", "File"),
                Column("reason", "Why"),
                Column("rows", "Rows", "count"),
            ),
            rows,
        ),
        footnote="Counted by Roundtable from the files read.",
    )


def _warnings(published: Published) -> Figure:
    rows = published.rows(_WARNINGS)
    total = sum(row["rows"] for row in rows)
    new = sum(row["rows"] for row in rows if row["reviewed"] == "new")
    unmapped = sum(row["rows"] for row in rows if row["problem"].endswith("not in the vocabulary"))
    return Figure(
        name="warnings",
        finding=(
            f"{counted(total, 'oddity', 'oddities')} kept as published, {new:,} of them not yet "
            f"reviewed; {unmapped:,} are names not in the vocabulary"
        ),
        table=Table(
            "Warnings",
            (
                Column("round_key", "Round", "round"),
                Column("field", "Field"),
                Column("problem", "What is odd"),
                Column("example", "Such as"),
                Column("rows", "Rows", "count"),
                Column("reviewed", "Reviewed as"),
            ),
            rows,
        ),
        footnote="Counted by Roundtable from the files read.",
    )


def _withdrawn(published: Published) -> Figure:
    rows = published.rows(_WITHDRAWN)
    for row in rows:
        row["benchmark"] = published.benchmark(row["suite"], row["benchmark"])
    return Figure(
        name="withdrawn",
        finding=f"{counted(len(rows), 'result')} withdrawn after publication",
        reading="Withdrawn results are named here and shown nowhere else.",
        table=Table(
            "Withdrawn results",
            (
                Column("round_key", "Round", "round"),
                Column("division", "Division"),
                Column("submitter", "Submitter"),
                Column("platform", "System"),
                Column("benchmark", "Benchmark"),
                Column("scenario", "Scenario"),
                Column("entry_id", "Entry"),
            ),
            rows,
        ),
        footnote="Withdrawn by MLCommons, or reported to Roundtable.",
    )
