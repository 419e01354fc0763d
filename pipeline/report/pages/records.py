"""Records: the best result of every round, benchmark by benchmark.

Belongs here: lines over rounds, which connect compatible rounds only.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import altair as alt

from pipeline.report import charts
from pipeline.report.figures import Column, Figure, Page, Row, Section, Table
from pipeline.report.reading import SUITES, Published
from pipeline.report.wording import counted, number, rough, round_name, times

_RECORDS = """
    select records.*, results.lower_is_better, rounds.position
    from records
    inner join rounds on records.round_key = rounds.round_key
    left join results on records.result_key = results.result_key
    where records.suite = $suite and records.category is not distinct from $category
        and records.scope = 'any count' and records.division = 'closed'
        and records.availability = 'available'
        and (records.accuracy_target is null or records.accuracy_target = '99')
    order by records.benchmark, records.scenario, records.unit, rounds.position
"""

_COLUMNS = (
    Column("round_key", "Round", "round"),
    Column("scenario", "Scenario"),
    Column("value", "Best result", "number"),
    Column("unit", "Unit"),
    Column("submitter", "Submitter"),
    Column("accelerator_name", "Accelerator"),
    Column("accelerators", "Accelerators", "count"),
    Column("told", "Record"),
    Column("improvement", "Over the record before", "ratio"),
    Column("runner_up_value", "Runner-up", "number"),
    Column("runner_up_submitter", "Runner-up’s submitter"),
    Column("differences", "To be said with it", "list"),
    Column("entry_id", "Entry"),
)

_PARTS = (
    ("records", "inference", "datacenter"),
    ("records-edge", "inference", "edge"),
    ("records-training", "training", None),
)


def pages(published: Published) -> list[Page]:
    """Return a page for datacenter, edge and training, as far as the warehouse has them."""
    parts = [
        (name, suite, category, groups)
        for name, suite, category in _PARTS
        if (groups := _groups(published, suite, category))
    ]
    siblings = [
        (
            suite.capitalize(),
            [(category or "all", name) for name, of, category, _ in parts if of == suite],
        )
        for suite in SUITES
    ]
    return [
        Page(
            name=name,
            menu="Records" if at == 0 else "",
            title=f"Records in {suite}{', ' + category if category else ''}",
            lead=(
                "The best closed result of an available system in every round, whatever the "
                "number of accelerators. Lines connect only rounds that MLCommons’ table lets one "
                "compare, and only rounds in this warehouse take part."
            ),
            sections=[
                Section(
                    "",
                    parts=[_figure(published, suite, category, rows) for rows in groups],
                    are_multiples=True,
                )
            ],
            siblings=siblings,
        )
        for at, (name, suite, category, groups) in enumerate(parts)
    ]


def _groups(published: Published, suite: str, category: str | None) -> list[list[dict[str, Any]]]:
    """Return the rows of each figure: benchmarks of late rounds first, then by progress."""
    groups: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for row in published.rows(_RECORDS, suite=suite, category=category):
        row["accelerator_name"] = row["accelerator"] or "CPU only"
        row["told"] = "record" if row["is_record"] else "not a record"
        row["line"] = " ".join(filter(None, [row["scenario"] or "time to train", row["unit"]]))
        groups[row["benchmark"], bool(row["lower_is_better"])].append(row)
    compared = [
        rows for rows in groups.values() if any(row["improvement"] is not None for row in rows)
    ]
    return sorted(
        compared,
        key=lambda rows: (-max(row["position"] for row in rows), -_gain(_furthest(rows))),
    )


def _furthest(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the line whose record has come furthest."""
    lines: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        lines[row["line"], row["compatibility_group"]].append(row)
    return max(lines.values(), key=_gain)


def _figure(published: Published, suite: str, category: str | None, rows: Sequence[Row]) -> Figure:
    benchmark = published.benchmark(suite, rows[0]["benchmark"])
    is_lower = bool(rows[0]["lower_is_better"])
    finding = f"{benchmark}: {_progress(rows)}"
    direction = (
        "lower is better, so the axis is turned: up is better" if is_lower else "up is better"
    )
    notes = sorted(
        {
            told.removeprefix("compatibility: ")
            for row in rows
            for told in row["differences"] or []
            if told.startswith("compatibility: ")
        }
    )
    to_be_said = f" To be said with it: {'; '.join(notes)}." if notes else ""
    return Figure(
        name="-".join(
            filter(None, ["records", suite, category, rows[0]["benchmark"], "low" * is_lower])
        ),
        finding=finding,
        reading=(
            f"Log scale; {direction}. Filled marks beat the record before or are the first; hollow "
            f"ones do not.{to_be_said}"
        ),
        table=Table(f"Best results of {benchmark} by round", _COLUMNS, rows),
        footnote=published.footnote(row["round_key"] for row in rows),
        chart=charts.svg(_lines(published, suite, rows, is_lower), finding),
    )


def _progress(rows: Sequence[Row]) -> str:
    """Return how far the line with the largest progress has come."""
    told = _furthest(rows)
    first, last = told[0], _best(told)
    if last is first:
        return f"the record of {round_name(first['round_key'])} still stands"
    scenario = f"{first['scenario']} " if first["scenario"] else ""
    return (
        f"the best {scenario}result became {times(_gain(told))} as good from "
        f"{_version(first)} to {_version(last)}: {rough(first['value'])} {first['unit']} on "
        f"{_accelerators(first)}, {rough(last['value'])} on {_accelerators(last)}"
    )


def _accelerators(row: Row) -> str:
    return counted(row["accelerators"], "accelerator") if row["accelerators"] else "CPUs only"


def _best(line: Sequence[Row]) -> Row:
    return [row for row in line if row["is_record"]][-1]


def _gain(line: Sequence[Row]) -> float:
    first, last = line[0]["value"], _best(line)["value"]
    return float(first / last if line[0]["lower_is_better"] else last / first)


def _lines(published: Published, suite: str, rows: Sequence[Row], is_lower: bool) -> Any:
    order = [found.version for found in published.of_suite(suite)]
    used = [version for version in order if any(_version(row) == version for row in rows)]
    between = order[order.index(used[0]) : order.index(used[-1]) + 1]
    names = sorted({row["line"] for row in rows})
    looks = charts.looks(names, names)
    shown = [
        {
            "round": _version(row),
            "line": row["line"],
            "group": f"{row['line']} {row['compatibility_group']}",
            "value": row["value"],
            "is_record": row["is_record"],
            "tip": f"{round_name(row['round_key'])}, {row['line']}: {number(row['value'])} "
            f"{row['unit']}, {row['submitter']}, {row['accelerator_name']} "
            f"×{row['accelerators']}",
        }
        for row in rows
    ]
    units = ", ".join(sorted({row["unit"] for row in rows}))
    scale, axis = charts.log_axis([row["value"] for row in rows])
    scale.reverse = is_lower
    title = f"{units} ({'lower, up,' if is_lower else 'higher'} is better)"
    colour = alt.Color("line:N", title=None).scale(looks.colour)
    base = alt.Chart().encode(
        x=alt.X("round:O", title="round", sort=between).scale(domain=between).axis(labelAngle=0),
        y=alt.Y("value:Q", title=title).scale(scale).axis(axis),
        color=colour,
    )
    lines = base.mark_line(strokeWidth=2, aria=False).encode(detail=alt.Detail("group:N"))
    marks = base.encode(
        shape=alt.Shape("line:N", title=None).scale(looks.shape),
        description=alt.Description("tip:N"),
    )
    best = marks.mark_point(filled=True, size=80, opacity=1).transform_filter("datum.is_record")
    others = marks.mark_point(fill="var(--paper)", size=60, opacity=1, strokeWidth=2)
    return alt.layer(
        lines, others.transform_filter("!datum.is_record"), best, data=charts.data(shown)
    ).properties(width=charts.MULTIPLE, height=220)


def _version(row: Row) -> str:
    return str(row["round_key"]).partition("-")[2]
