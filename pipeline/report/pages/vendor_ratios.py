"""Vendor ratios: two makers' accelerators in one round, against every result there is.

Belongs here: the range plots of the pairs that meet most often, and the table of all pairs.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import altair as alt

from pipeline.report import charts
from pipeline.report.figures import Column, Figure, Page, Row, Section, Table
from pipeline.report.reading import Published, Round
from pipeline.report.wording import counted, times

_RATIOS = """
    select ratio.*
    from vendor_ratios as ratio
    left join results as result_a on ratio.result_key_a = result_a.result_key
    where ratio.round_key = $round_key
        and ratio.vendor_a <> ratio.vendor_b
        and ratio.category is distinct from 'edge'
        and not coalesce(result_a.is_accuracy_copy, false)
    order by
        ratio.benchmark, ratio.scenario, ratio.accelerators, ratio.accuracy_target,
        ratio.division_a, ratio.accelerator_a, ratio.accelerator_b
"""

_COLUMNS = (
    Column("benchmark_name", "Benchmark"),
    Column("scenario", "Scenario"),
    Column("accuracy_target", "Target, %"),
    Column("accelerators", "Accelerators", "count"),
    Column("division_a", "Division of a"),
    Column("best_a", "Best of a", "number"),
    Column("best_b", "Best of b", "number"),
    Column("unit", "Unit"),
    Column("ratio_best", "Over best", "ratio"),
    Column("ratio_min", "Least", "ratio"),
    Column("ratio_median", "Median", "ratio"),
    Column("ratio_max", "Most", "ratio"),
    Column("ratio_vendors_own", "Over maker’s own", "ratio"),
    Column("comparators", "Comparators", "count"),
    Column("verdict", "Verdict"),
    Column("differences", "To be said with it", "list"),
    Column("entry_id_a", "Entry of a"),
    Column("entry_ids_b", "Entries of b", "list"),
)

_PAIRS_SHOWN = 4

_OPEN = " Where “open” stands, an open result is set against closed ones."

_VERDICTS = {
    "ahead of all": (charts.BETTER, "triangle-right"),
    "depends on comparator": (charts.INK, "diamond"),
    "behind all": (charts.WORSE, "triangle-left"),
    "level with one": (charts.QUIET, "circle"),
}
"""How each verdict is drawn: colour and shape."""


def pages(published: Published) -> list[Page]:
    """Return the page: each suite's latest round, pair by pair."""
    sections = [
        Section(
            found.name,
            parts=[_figure(published, found, rows) for rows in pairs(published, found)],
        )
        for found in published.latest_rounds
    ]
    return [
        Page(
            name="vendor-ratios",
            menu="Vendor ratios",
            title="Vendor ratios",
            lead=(
                "How two makers’ accelerators compare in one round at the same count, benchmark "
                "and scenario: the best result of one over every eligible result of the other. "
                "Where the range crosses 1, the answer depends on the comparator picked."
            ),
            sections=[section for section in sections if section.parts],
        )
    ]


def pairs(published: Published, found: Round) -> list[list[dict[str, Any]]]:
    """Return the comparisons of some pairs, each pair in one direction.

    Those first that have the most rows with several comparators; rows that flip count thrice.
    """
    rows = published.rows(_RATIOS, round_key=found.key)
    by_pair: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        row["benchmark_name"] = published.benchmark(found.suite, row["benchmark"])
        row["verdict"] = _verdict(row)
        by_pair[row["accelerator_a"], row["accelerator_b"]].append(row)
    order = published.vendors
    forward = [
        group
        for group in by_pair.values()
        if order.index(group[0]["vendor_a"]) > order.index(group[0]["vendor_b"])
    ]
    forward.sort(
        key=lambda group: (
            -sum((row["comparators"] > 1) + 2 * row["verdict_flips"] for row in group),
            -len(group),
            group[0]["accelerator_a"],
            group[0]["accelerator_b"],
        )
    )
    return forward[:_PAIRS_SHOWN]


def _verdict(row: Row) -> str:
    if row["verdict_flips"]:
        return "depends on comparator"
    if row["ratio_min"] > 1:
        return "ahead of all"
    if row["ratio_max"] < 1:
        return "behind all"
    return "level with one"


def _figure(published: Published, found: Round, rows: Sequence[Row]) -> Figure:
    finding, chart = range_plot(found, rows)
    has_open = any(row["division_a"] != "closed" for row in rows)
    pair = f"{rows[0]['accelerator_a']} over {rows[0]['accelerator_b']}"
    return Figure(
        name=f"{found.suite}-{rows[0]['accelerator_a']}-{rows[0]['accelerator_b']}",
        finding=finding,
        reading=(
            "The line spans all comparators, the tick is their median, the filled mark the ratio "
            "over the best of them, the ring over the maker’s own, the number how many there are. "
            f"Right of 1 is better for {rows[0]['accelerator_a']}, for latency and time to train "
            f"too.{_OPEN if has_open else ''}"
        ),
        table=Table(f"{pair} in {found.name}", _COLUMNS, rows),
        footnote=published.footnote([found.key], "open against closed" if has_open else "closed"),
        chart=charts.svg(chart, finding),
    )


def range_plot(found: Round, rows: Sequence[Row]) -> tuple[str, Any]:
    """Return the finding and the chart of one pair's comparisons."""
    verdicts = [row["verdict"] for row in rows]
    finding = (
        f"{rows[0]['accelerator_a']} against {rows[0]['accelerator_b']} in {found.name}: ahead of "
        f"every comparator in {verdicts.count('ahead of all')} of "
        f"{counted(len(rows), 'comparison')}, behind all in {verdicts.count('behind all')}; in "
        f"{verdicts.count('depends on comparator')} the answer depends on the comparator"
    )
    labels = charts.distinct(_label(row) for row in rows)
    shown = [
        {
            "label": label,
            **{key: row[key] for key in ("ratio_min", "ratio_median", "ratio_max", "ratio_best")},
            "ratio_vendors_own": row["ratio_vendors_own"],
            "verdict": row["verdict"],
            "text": _text(row),
            "tip": f"{label}: over the best {times(row['ratio_best'])}, "
            f"{times(row['ratio_min'])} to {times(row['ratio_max'])} over "
            f"{counted(row['comparators'], 'comparator')}, {row['verdict']}",
        }
        for label, row in zip(labels, rows, strict=True)
    ]
    present = [name for name in _VERDICTS if name in verdicts]
    verdict = alt.Color("verdict:N", title=None).scale(
        domain=present, range=[_VERDICTS[name][0] for name in present]
    )
    shape = alt.Shape("verdict:N", title=None).scale(
        domain=present, range=[_VERDICTS[name][1] for name in present]
    )
    ends = [row[key] for row in rows for key in ("ratio_min", "ratio_max")]
    x = charts.ratio_axis(ends, "ratio (log scale)")
    base = alt.Chart().encode(y=charts.names(labels))
    spans = base.mark_rule(strokeWidth=4, opacity=0.4, aria=False).encode(
        x=x("ratio_min"), x2=alt.X2("ratio_max"), color=verdict
    )
    medians = base.mark_tick(thickness=2, size=14, aria=False).encode(
        x=x("ratio_median"), color=verdict
    )
    own = base.mark_point(size=150, color=charts.QUIET, aria=False).encode(x=x("ratio_vendors_own"))
    best = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=x("ratio_best"), color=verdict, shape=shape, description=alt.Description("tip:N")
    )
    text = base.mark_text(align="left", dx=10, aria=False).encode(
        x=x("ratio_max"), text=alt.Text("text:N")
    )
    layers = alt.layer(
        charts.one_line(),
        spans,
        medians,
        own.transform_filter("isValid(datum.ratio_vendors_own)"),
        best,
        text,
        data=charts.data(shown),
    )
    return finding, layers.properties(width=charts.WIDTH, height=alt.Step(26))


def _label(row: Row) -> str:
    target = f" ({row['accuracy_target']}%)" if row["accuracy_target"] == "99.9" else ""
    scenario = f" {row['scenario']}" if row["scenario"] else ""
    division = "" if row["division_a"] == "closed" else f" ({row['division_a']})"
    return f"{row['benchmark_name']}{target}{scenario} ×{row['accelerators']}{division}"


def _text(row: Row) -> str:
    return f"⇄ flips, {row['comparators']}" if row["verdict_flips"] else f"{row['comparators']}"
