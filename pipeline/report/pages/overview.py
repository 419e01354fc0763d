"""Overview: the latest complete round of each suite, and where to read on.

Belongs here: what was submitted, by whom and on what; what is new and what is gone.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt

from pipeline.report import charts
from pipeline.report.figures import Column, Figure, Page, Row, Section, Table
from pipeline.report.pages import coverage
from pipeline.report.reading import Published, Round
from pipeline.report.wording import counted

_AMOUNTS = """
    select
        count(*) as results,
        count(distinct submitter) as submitters,
        count(distinct (submitter_directory, platform)) as systems,
        count(distinct accelerator) as accelerators,
        count(distinct benchmark_family) as benchmarks
    from results where round_key = $round_key and not is_withdrawn
"""

_SUBMITTERS = """
    select
        submitter,
        case when accelerator is null then 'CPU only' else coalesce(accelerator_vendor, 'other') end
            as vendor,
        count(*) as results
    from results
    where round_key = $round_key and division = 'closed' and not is_withdrawn
        and not coalesce(is_accuracy_copy, false)
    group by all order by submitter, vendor
"""

_NEW = {
    "submitters": ("Submitters", "select submitter as name from submitters where {} order by all"),
    "accelerators": (
        "Accelerators",
        "select accelerator as name from accelerators where {} order by all",
    ),
    "benchmarks": (
        "Benchmarks",
        "select coalesce(name, benchmark) as name from benchmarks "
        "where {} and suite = $suite order by all",
    ),
}

_GONE = {
    "submitters": "submitter",
    "accelerators": "accelerator",
    "benchmarks": "benchmark_family",
}

_AMOUNT_NAMES = {
    "results": "Results",
    "submitters": "Submitters",
    "systems": "Systems",
    "accelerators": "Accelerator products",
    "benchmarks": "Benchmarks",
}


def pages(published: Published, others: Sequence[Page]) -> list[Page]:
    """Return the first page; ``others`` are those whose findings it leads to."""
    return [
        Page(
            name="index",
            menu="Overview",
            title="Every published result, in one table",
            lead=(
                "What MLCommons’ published results say about coverage, software and vendors, with "
                "every comparator shown. Each number leads back to the file it stands in."
            ),
            template="overview.html",
            sections=[
                Section(found.name, parts=_figures(published, found))
                for found in published.latest_rounds
            ],
            more={
                "findings": [page for page in others if page.menu and page.finding],
                "rounds": [_round(published, found) for found in published.latest_rounds],
            },
        )
    ]


def _before(published: Published, found: Round) -> Round | None:
    earlier = [other for other in published.of_suite(found.suite) if other != found]
    return earlier[-1] if earlier else None


def _round(published: Published, found: Round) -> dict[str, Any]:
    before = _before(published, found)
    now = published.rows(_AMOUNTS, round_key=found.key)[0]
    then = published.rows(_AMOUNTS, round_key=before.key)[0] if before else {}
    return {
        "round": found,
        "before": before,
        "amounts": [(title, now[key], then.get(key)) for key, title in _AMOUNT_NAMES.items()],
        "new": _new(published, found) if before else [],
        "gone": _gone(published, found, before) if before else [],
    }


def _new(published: Published, found: Round) -> list[tuple[str, list[str]]]:
    lists = []
    for title, query in _NEW.values():
        values = {"round_key": found.key} | ({"suite": found.suite} if "$suite" in query else {})
        rows = published.rows(query.format("first_round_key = $round_key"), **values)
        lists.append((title, [row["name"] for row in rows]))
    return [(title, names) for title, names in lists if names]


def _gone(published: Published, found: Round, before: Round) -> list[tuple[str, list[str]]]:
    lists = []
    for key, column in _GONE.items():
        rows = published.rows(
            f"""
            select distinct {column} as name from results
            where round_key = $before and {column} is not null and not is_withdrawn
            except
            select {column} from results where round_key = $round_key and not is_withdrawn
            order by name
            """,
            before=before.key,
            round_key=found.key,
        )
        names = [row["name"] for row in rows]
        if key == "benchmarks":
            names = [published.benchmark(found.suite, name) for name in names]
        lists.append((_NEW[key][0], names))
    return [(title, names) for title, names in lists if names]


def _figures(published: Published, found: Round) -> list[Figure]:
    submitted = _submitted(published, found)
    covered = _covered(published, found)
    return [figure for figure in (submitted, covered) if figure]


def _submitted(published: Published, found: Round) -> Figure | None:
    rows = published.rows(_SUBMITTERS, round_key=found.key)
    if not rows:
        return None
    total = sum(row["results"] for row in rows)
    vendors: dict[str, int] = {}
    for row in rows:
        vendors[row["vendor"]] = vendors.get(row["vendor"], 0) + row["results"]
    ranked = sorted(vendors.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{name} {amount}" for name, amount in ranked[1:4])
    finding = (
        f"{ranked[0][0]} leads with {ranked[0][1]:,} of {counted(total, 'closed result')} in "
        f"{found.name} by maker of the accelerator" + (f"; {told}" if told else "")
    )
    return Figure(
        name=f"submitted-{found.suite}",
        finding=finding,
        reading=(
            "Closed results by submitter and maker of the accelerator, without those that repeat "
            "another accuracy target’s run."
        ),
        table=Table(
            f"Closed results of {found.name}",
            (
                Column("submitter", "Submitter"),
                Column("vendor", "Maker of accelerator"),
                Column("results", "Results", "count"),
            ),
            rows,
        ),
        footnote=published.footnote([found.key]),
        chart=charts.svg(_bars(published, rows), finding),
    )


def _bars(published: Published, rows: Sequence[Row]) -> Any:
    totals: dict[str, int] = {}
    for row in rows:
        totals[row["submitter"]] = totals.get(row["submitter"], 0) + row["results"]
    order = sorted(totals, key=lambda name: (-totals[name], name))
    vendors = sorted({row["vendor"] for row in rows})
    looks = charts.looks(vendors, published.vendors)
    shown = [
        {
            "label": row["submitter"],
            "vendor": row["vendor"],
            "results": row["results"],
            "tip": f"{row['submitter']} on {row['vendor']}: {counted(row['results'], 'result')}",
        }
        for row in rows
    ]
    ends = [{"label": name, "total": totals[name]} for name in order]
    bars = (
        alt.Chart(charts.data(shown))
        .mark_bar(stroke="var(--paper)", strokeWidth=1)
        .encode(
            y=charts.names(order),
            x=alt.X("results:Q", title="closed results").axis(format=",d", tickCount=6),
            color=alt.Color("vendor:N", title=None).scale(looks.colour),
            description=alt.Description("tip:N"),
        )
    )
    text = (
        alt.Chart(charts.data(ends))
        .mark_text(align="left", dx=6, aria=False)
        .encode(
            y=charts.names(order),
            x=alt.X("total:Q", title="closed results"),
            text=alt.Text("total:Q", format=",d"),
        )
    )
    return alt.layer(bars, text).properties(width=charts.WIDTH + 60, height=alt.Step(22))


def _covered(published: Published, found: Round) -> Figure | None:
    category = "datacenter" if found.suite == "inference" else None
    drawn = coverage.heat_map(published, found, category)
    if drawn is None:
        return None
    finding, chart, rows = drawn
    return Figure(
        name=f"covered-{found.suite}",
        finding=finding,
        reading="Closed results by maker and benchmark; “gap” where there are none.",
        table=Table(
            f"Coverage in {found.name}",
            (
                Column("name", "Maker"),
                Column("benchmark_name", "Benchmark"),
                Column("status", "Status"),
                Column("results", "Results", "count"),
                Column("rounds_open", "Rounds open", "count"),
            ),
            rows,
        ),
        footnote=published.footnote([found.key]),
        chart=charts.svg(chart, finding),
    )
