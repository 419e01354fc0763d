"""Scale-out and partner spread: what more accelerators give, and how near partners come.

Belongs here: the efficiency of larger systems, and partners' results beside the maker's own.
"""

from collections.abc import Sequence
from statistics import median
from typing import Any

import altair as alt

from pipeline.report import charts
from pipeline.report.figures import Column, Figure, Page, Row, Section, Table
from pipeline.report.reading import Published, Round
from pipeline.report.wording import number, percent, ratio

_SCALE_OUT = """
    select * from scale_out
    where round_key = $round_key and division = 'closed' and not is_accuracy_copy
        and category is distinct from 'edge'
    order by kind = 'heterogeneous' desc, accelerators desc, efficiency desc, result_key
"""

_SPREAD = """
    select * from partner_spread
    where round_key = $round_key and not is_accuracy_copy and category is distinct from 'edge'
    order by accelerator, accelerators, benchmark, scenario, ratio
"""

_SCALE_COLUMNS = (
    Column("submitter", "Submitter"),
    Column("accelerator", "Accelerator"),
    Column("benchmark_name", "Benchmark"),
    Column("scenario", "Scenario"),
    Column("kind", "Kind"),
    Column("base_accelerators", "Accelerators of base", "count"),
    Column("base_value", "Base", "number"),
    Column("accelerators", "Accelerators", "count"),
    Column("value", "Result", "number"),
    Column("unit", "Unit"),
    Column("speedup", "Speed-up", "ratio"),
    Column("efficiency", "Efficiency", "percent"),
    Column("efficiency_as_published_count", "By published count", "percent"),
    Column("differences", "To be said with it", "list"),
    Column("entry_id_base", "Entry of base"),
    Column("entry_id", "Entry"),
)

_SPREAD_COLUMNS = (
    Column("accelerator", "Accelerator"),
    Column("accelerators", "Accelerators", "count"),
    Column("benchmark_name", "Benchmark"),
    Column("scenario", "Scenario"),
    Column("partner", "Partner"),
    Column("partner_value", "Partner’s", "number"),
    Column("vendor_value", "Maker’s best", "number"),
    Column("unit", "Unit"),
    Column("ratio", "Partner over maker", "ratio"),
    Column("differences", "To be said with it", "list"),
    Column("entry_id_partner", "Entry of partner"),
    Column("entry_id_vendor", "Entry of maker"),
)

_MOST_ROWS = 30


def pages(published: Published) -> list[Page]:
    """Return the page over each suite's latest round."""
    sections = [
        Section(
            found.name,
            parts=[
                figure
                for figure in (_scale_out(published, found), _spread(published, found))
                if figure
            ],
        )
        for found in published.latest_rounds
    ]
    return [
        Page(
            name="scale-out",
            menu="Scale-out",
            title="Scale-out and partner spread",
            lead=(
                "What more nodes or accelerators gave one submitter, and how near partners’ "
                "results come to those of the accelerator’s maker on the same configuration."
            ),
            sections=[section for section in sections if section.parts],
        )
    ]


def _named(published: Published, found: Round, query: str) -> list[dict[str, Any]]:
    rows = published.rows(query, round_key=found.key)
    for row in rows:
        row["benchmark_name"] = published.benchmark(found.suite, row["benchmark"])
    return rows


def _scale_out(published: Published, found: Round) -> Figure | None:
    rows = _named(published, found, _SCALE_OUT)
    if not rows:
        return None
    largest = max(rows, key=lambda row: (row["accelerators"], row["efficiency"]))
    finding = (
        f"Efficiency runs from {percent(min(row['efficiency'] for row in rows))} to "
        f"{percent(max(row['efficiency'] for row in rows))} of the smaller system’s in "
        f"{found.name}; at {largest['accelerators']:,} accelerators {largest['submitter']} keeps "
        f"{percent(largest['efficiency'])}"
    )
    shown = rows[:_MOST_ROWS]
    cut = (
        f" The chart shows the {len(shown)} largest of {len(rows)} systems."
        if len(rows) > len(shown)
        else ""
    )
    return Figure(
        name=f"scale-out-{found.suite}",
        finding=finding,
        reading=(
            "Result per accelerator over that of the submitter’s smallest system (of a mixed one, "
            "over the sum of its parts), by the accelerators that really ran. 100% loses nothing; "
            f"right is better, for time to train too.{cut}"
        ),
        table=Table(f"Scale-out in {found.name}", _SCALE_COLUMNS, rows),
        footnote=published.footnote([found.key]),
        chart=charts.svg(_efficiencies(shown), finding),
    )


def _efficiencies(rows: Sequence[Row]) -> Any:
    labels = charts.distinct(
        f"{row['benchmark_name']}{' ' + row['scenario'] if row['scenario'] else ''} · "
        f"{row['submitter']} · {_step(row)}"
        for row in rows
    )
    kinds = sorted({row["kind"] for row in rows})
    looks = charts.looks(kinds, kinds)
    shown = [
        {
            "label": label,
            "kind": row["kind"],
            "all": 1,
            "efficiency": row["efficiency"],
            "text": percent(row["efficiency"]),
            "tip": f"{label} ({row['accelerator']}): {percent(row['efficiency'])}, "
            f"{number(row['base_value'])} → {number(row['value'])} {row['unit']}",
        }
        for label, row in zip(labels, rows, strict=True)
    ]
    highest = max(1.0, *(row["efficiency"] for row in rows))
    lowest = min(0.9, *(row["efficiency"] for row in rows))
    scale = alt.Scale(domain=[max(0.0, lowest - 0.08), highest + 0.08], nice=False, zero=False)
    axis = alt.Axis(format="%", tickCount=6)

    def x(key: str) -> alt.X:
        return alt.X(f"{key}:Q", title="efficiency").scale(scale).axis(axis)

    base = alt.Chart().encode(y=charts.names(labels))
    colour = alt.Color("kind:N", title=None).scale(looks.colour)
    lines = base.mark_rule(strokeWidth=2, opacity=0.6, aria=False).encode(
        x=x("all"), x2=alt.X2("efficiency"), color=colour
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=x("efficiency"),
        color=colour,
        shape=alt.Shape("kind:N", title=None).scale(looks.shape),
        description=alt.Description("tip:N"),
    )
    right = base.mark_text(align="left", dx=9, aria=False).encode(
        x=x("efficiency"), text=alt.Text("text:N")
    )
    left = base.mark_text(align="right", dx=-9, aria=False).encode(
        x=x("efficiency"), text=alt.Text("text:N")
    )
    return alt.layer(
        charts.one_line(),
        lines,
        points,
        right.transform_filter("datum.efficiency >= 1"),
        left.transform_filter("datum.efficiency < 1"),
        data=charts.data(shown),
    ).properties(width=charts.WIDTH, height=alt.Step(24))


def _step(row: Row) -> str:
    if row["kind"] == "heterogeneous":
        return f"{row['accelerators']:,} mixed"
    return f"{row['base_accelerators']:,} → {row['accelerators']:,}"


def _spread(published: Published, found: Round) -> Figure | None:
    rows = _named(published, found, _SPREAD)
    if not rows:
        return None
    accelerators: dict[str, list[float]] = {}
    for row in rows:
        accelerators.setdefault(row["accelerator"], []).append(row["ratio"])
    name, ratios = max(accelerators.items(), key=lambda item: len(item[1]))
    finding = (
        f"Partners’ results on {name} lie between {ratio(min(ratios))} and {ratio(max(ratios))} of "
        f"the maker’s own in {found.name}, median {ratio(median(ratios))} over {len(ratios)}"
    )
    return Figure(
        name=f"spread-{found.suite}",
        finding=finding,
        reading=(
            "A circle is a partner’s result over the maker’s best on the same accelerator, count, "
            "nodes, benchmark and scenario; the tick is the median. Right of 1 the partner is "
            "better. Spread is a property of the pair: hosts and precision differ."
        ),
        table=Table(f"Partners in {found.name}", _SPREAD_COLUMNS, rows),
        footnote=published.footnote([found.key]),
        chart=charts.svg(_strips(published, rows), finding),
    )


def _strips(published: Published, rows: Sequence[Row]) -> Any:
    looks = charts.looks((row["vendor"] for row in rows), published.vendors)
    shown = [
        {
            "label": f"{row['accelerator']} ×{row['accelerators']} · {row['benchmark_name']}"
            f"{' ' + row['scenario'] if row['scenario'] else ''}",
            "vendor": row["vendor"],
            "ratio": row["ratio"],
            "tip": f"{row['partner']}, {row['benchmark_name']} {row['scenario'] or ''} on "
            f"{row['accelerator']} ×{row['accelerators']}: {ratio(row['ratio'])} of "
            f"{row['vendor_submitter']}’s",
        }
        for row in rows
    ]
    order = list(dict.fromkeys(row["label"] for row in shown))
    x = charts.ratio_axis([row["ratio"] for row in rows], "partner over maker (log scale)")
    base = alt.Chart().encode(
        y=charts.names(order), color=alt.Color("vendor:N", title=None).scale(looks.colour)
    )
    points = base.mark_point(filled=True, size=60, opacity=0.75).encode(
        x=x("ratio"),
        shape=alt.Shape("vendor:N", title=None).scale(looks.shape),
        description=alt.Description("tip:N"),
    )
    medians = base.mark_tick(thickness=2, size=16, color=charts.INK, aria=False).encode(
        x=alt.X("median(ratio):Q", title="partner over maker (log scale)")
    )
    return alt.layer(charts.one_line(), points, medians, data=charts.data(shown)).properties(
        width=charts.WIDTH, height=alt.Step(24)
    )
