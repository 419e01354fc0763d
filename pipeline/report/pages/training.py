"""Training: how the time to train falls with the number of accelerators.

Belongs here: one chart a benchmark, one page a round.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import altair as alt

from pipeline.report import charts
from pipeline.report.figures import Column, Figure, Page, Row, Section, Table
from pipeline.report.reading import Published, Round
from pipeline.report.wording import number, rough

_RESULTS = """
    select
        benchmark, submitter, system_name, accelerator, accelerator_vendor, accelerators, nodes,
        value, unit, availability, division, platform, source_url
    from results
    where round_key = $round_key and metric = 'time_to_train' and division = 'closed'
        and not is_withdrawn and accelerators > 0
    order by benchmark, accelerators, value, submitter, platform
"""

_COLUMNS = (
    Column("submitter", "Submitter"),
    Column("system_name", "System"),
    Column("accelerator", "Accelerator"),
    Column("accelerators", "Accelerators", "count"),
    Column("nodes", "Nodes", "count"),
    Column("value", "Time to train", "number"),
    Column("unit", "Unit"),
    Column("availability", "Availability"),
    Column("source_url", "Source", "address"),
)


def pages(published: Published) -> list[Page]:
    """Return a page for each training round, the latest under the plain name."""
    rounds = published.of_suite("training")
    siblings = [("Training", [(found.version, _name(found, rounds)) for found in reversed(rounds)])]
    return [_page(published, found, rounds, siblings) for found in reversed(rounds)]


def _name(found: Round, rounds: Sequence[Round]) -> str:
    return "training" if found == rounds[-1] else f"training-{found.version}"


def _page(
    published: Published,
    found: Round,
    rounds: Sequence[Round],
    siblings: Sequence[tuple[str, Sequence[tuple[str, str]]]],
) -> Page:
    by_benchmark: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in published.rows(_RESULTS, round_key=found.key):
        by_benchmark[row["benchmark"]].append(row)
    groups = sorted(by_benchmark.values(), key=lambda rows: (-len(rows), rows[0]["benchmark"]))
    figures = [_figure(published, found, rows) for rows in groups]
    return Page(
        name=_name(found, rounds),
        menu="Training" if found == rounds[-1] else "",
        title=f"Time to train in {found.name}",
        lead=(
            "Minutes to the quality target against the number of accelerators, both on log "
            "scales: on a straight line, twice the accelerators save the same share of time."
        ),
        sections=[Section("", parts=figures, are_multiples=True)] if figures else [],
        siblings=siblings,
    )


def _figure(published: Published, found: Round, rows: Sequence[Row]) -> Figure:
    benchmark = published.benchmark("training", rows[0]["benchmark"])
    fastest = min(rows, key=lambda row: row["value"])
    fewest = min(row["accelerators"] for row in rows)
    smallest = min(
        (row for row in rows if row["accelerators"] == fewest), key=lambda row: row["value"]
    )
    finding = (
        f"{benchmark}: {rough(fastest['value'])} minutes on {fastest['accelerators']:,} "
        f"accelerators ({fastest['submitter']})"
    )
    if smallest is not fastest:
        finding += f", {rough(smallest['value'])} on {fewest:,} ({smallest['submitter']})"
    return Figure(
        name=f"training-{rows[0]['benchmark']}",
        finding=finding,
        reading=(
            "Each mark is a closed result. The axis of minutes is turned: fewer minutes stand "
            "higher, up is better."
        ),
        table=Table(f"{benchmark} in {found.name}", _COLUMNS, rows),
        footnote=published.footnote([found.key], derived=False),
        chart=charts.svg(_scatter(published, rows), finding),
    )


def _scatter(published: Published, rows: Sequence[Row]) -> Any:
    names = [row["accelerator_vendor"] or "not known" for row in rows]
    looks = charts.looks(names, published.vendors)
    shown = [
        {
            "vendor": name,
            "accelerators": row["accelerators"],
            "minutes": row["value"],
            "tip": f"{row['submitter']}, {row['accelerator']} ×{row['accelerators']}: "
            f"{number(row['value'])} minutes",
        }
        for name, row in zip(names, rows, strict=True)
    ]
    across, steps = charts.doubling_axis([row["accelerators"] for row in rows])
    up, minutes = charts.log_axis([row["value"] for row in rows])
    up.reverse = True
    chart = alt.Chart().mark_point(filled=True, size=75, opacity=0.75)
    return chart.encode(
        x=alt.X("accelerators:Q", title="accelerators (log scale)").scale(across).axis(steps),
        y=alt.Y("minutes:Q", title="minutes (log; fewer, up, is better)").scale(up).axis(minutes),
        color=alt.Color("vendor:N", title=None).scale(looks.colour),
        shape=alt.Shape("vendor:N", title=None).scale(looks.shape),
        description=alt.Description("tip:N"),
    ).properties(data=charts.data(shown), width=charts.MULTIPLE, height=240)
