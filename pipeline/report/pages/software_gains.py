"""Software gains: how much faster the same hardware became from one round to the next.

Belongs here: the dumbbells at four levels of what is held fixed, and the gains over all rounds.
"""

from collections.abc import Sequence
from statistics import median
from typing import Any

import altair as alt

from pipeline.report import charts
from pipeline.report.figures import Choice, Column, Figure, Page, Row, Section, Table
from pipeline.report.reading import Published, Round
from pipeline.report.wording import counted, number, round_name, times

_LEVELS = {
    "same system": "Same submitter, system name, host processor and availability: the only level "
    "whose gains may be called software, and even they are candidates.",
    "same host": "Same submitter and host processor; the system’s name differs or was left blank.",
    "same accelerator": "Same submitter, accelerator and counts; host and system may differ.",
    "best of round": "Best result of anybody on the same accelerators: what the field gained.",
}

_GAINS = """
    select gain.*
    from software_gains as gain
    left join results as later on gain.result_key_to = later.result_key
    where gain.suite = $suite and gain.from_round = $from_round and gain.to_round = $to_round
        and gain.match = $match and gain.division = 'closed'
        and not coalesce(later.is_accuracy_copy, false)
    qualify 1 = row_number() over (
        partition by gain.result_key_from, gain.result_key_to order by gain.category
    )
    order by gain.gain desc, gain.benchmark, gain.scenario, gain.accelerator, gain.submitter_to
"""

_STEPS = """
    with gains as (
        select
            gain.suite,
            gain.from_round,
            gain.to_round,
            gain.gain,
            len(list_filter(gain.differences, lambda told: told like 'compatibility:%')) > 0
                as is_noted
        from software_gains as gain
        left join results as later on gain.result_key_to = later.result_key
        where gain.suite = $suite and gain.match = 'same system' and gain.division = 'closed'
            and not coalesce(later.is_accuracy_copy, false)
        qualify 1 = row_number() over (
            partition by gain.result_key_from, gain.result_key_to order by gain.category
        )
    )
    select
        suite,
        from_round,
        to_round,
        min(gain) filter (where not is_noted) as least,
        median(gain) filter (where not is_noted) as middle,
        max(gain) filter (where not is_noted) as most,
        count(*) filter (where not is_noted) as gains,
        count(*) filter (where not is_noted and gain < 1) as slower,
        count(*) filter (where is_noted) as noted
    from gains
    group by all
    having gains > 0
"""

_COLUMNS = (
    Column("benchmark_name", "Benchmark"),
    Column("scenario", "Scenario"),
    Column("accelerator_name", "Accelerator"),
    Column("accelerators", "Accelerators", "count"),
    Column("submitter_from", "Submitter before"),
    Column("submitter_to", "Submitter after"),
    Column("value_from", "Before", "number"),
    Column("value_to", "After", "number"),
    Column("unit", "Unit"),
    Column("gain", "Gain", "ratio"),
    Column("gain_min", "Least", "ratio"),
    Column("gain_max", "Most", "ratio"),
    Column("pairs", "Pairs", "count"),
    Column("differences", "To be said with it", "list"),
    Column("entry_id_from", "Entry before"),
    Column("entry_id_to", "Entry after"),
)

_STEP_COLUMNS = (
    Column("from_key", "From", "round"),
    Column("to_key", "To", "round"),
    Column("least", "Least gain", "ratio"),
    Column("middle", "Median gain", "ratio"),
    Column("most", "Largest gain", "ratio"),
    Column("gains", "Configurations", "count"),
    Column("slower", "Of these slower", "count"),
    Column("noted", "Left out for a note", "count"),
)

_LARGEST, _SMALLEST = 18, 10
"""Rows of a chart, where there are more: so many of the largest gains and of the smallest."""


def pages(published: Published) -> list[Page]:
    """Return the page: the step to each suite's latest round, and all steps before."""
    sections = [
        section for found in published.latest_rounds for section in _sections(published, found)
    ]
    return [
        Page(
            name="software-gains",
            menu="Software gains",
            title="Software gains",
            lead=(
                "How much faster a benchmark became on the same accelerators from one round to "
                "the next. It depends on what is held fixed: choose the level. Slower ones are "
                "shown as well."
            ),
            sections=sections,
        )
    ]


def _sections(published: Published, found: Round) -> list[Section]:
    earlier = published.rows(
        """
        select from_round from software_gains inner join rounds
            on software_gains.suite = rounds.suite and software_gains.from_round = rounds.round
        where software_gains.suite = $suite and to_round = $to_round and division = 'closed'
        order by rounds.position desc limit 1
        """,
        suite=found.suite,
        to_round=found.version,
    )
    if not earlier:
        return []
    before = earlier[0]["from_round"]
    options = []
    for match, meaning in _LEVELS.items():
        rows = _rows(published, found, before, match)
        if rows:
            options.append((match, meaning, _figure(published, found, before, match, rows)))
    steps = _steps(published, found.suite)
    return [
        Section(
            f"From {round_name(f'{found.suite}-{before}')} to {found.version}",
            parts=[
                Choice(f"match-{found.suite}", "What is held fixed", options),
                *([steps] if steps else []),
            ],
        )
    ]


def _rows(published: Published, found: Round, before: str, match: str) -> list[dict[str, Any]]:
    rows = published.rows(
        _GAINS, suite=found.suite, from_round=before, to_round=found.version, match=match
    )
    for row in rows:
        row["benchmark_name"] = published.benchmark(found.suite, row["benchmark"])
        row["accelerator_name"] = row["accelerator"] or "CPU only"
        row["short_name"] = published.short(row["accelerator"])
    return rows


def _figure(
    published: Published, found: Round, before: str, match: str, rows: Sequence[Row]
) -> Figure:
    faster = sum(row["gain"] > 1 for row in rows)
    slower = sum(row["gain"] < 1 for row in rows)
    middle = median(row["gain"] for row in rows)
    step = f"{round_name(f'{found.suite}-{before}')} to {found.version}"
    finding = (
        f"{match.capitalize()}: {faster} of {counted(len(rows), 'configuration')} became faster "
        f"from {step}, {slower} slower; the median gain is {times(middle)}"
    )
    is_cut = len(rows) > _LARGEST + _SMALLEST
    shown = [*rows[:_LARGEST], *rows[-_SMALLEST:]] if is_cut else rows
    cut = (
        f" The chart shows the {_LARGEST} largest and {_SMALLEST} smallest of {len(rows)}; the "
        "table holds all."
        if is_cut
        else ""
    )
    return Figure(
        name=f"gains-{found.suite}-{match.replace(' ', '-')}",
        finding=finding,
        reading=(
            "The ring is the earlier result, set to 1; the triangle is the later one. Right of 1 "
            f"is better, for latency and time to train too.{cut}"
        ),
        table=Table(f"Gains from {step}, {match}", _COLUMNS, rows),
        footnote=published.footnote([f"{found.suite}-{before}", found.key]),
        chart=charts.svg(_dumbbells(shown), finding),
    )


def _dumbbells(rows: Sequence[Row]) -> Any:
    labels = charts.distinct(
        f"{row['benchmark_name']}{' ' + row['scenario'] if row['scenario'] else ''} · "
        f"{row['submitter_to']} · {row['short_name']}"
        f"{' ×' + str(row['accelerators']) if row['accelerators'] else ''}"
        for row in rows
    )
    shown = [
        {
            "label": label,
            "before": 1,
            "gain": row["gain"],
            "side": "faster" if row["gain"] > 1 else "slower" if row["gain"] < 1 else "as fast",
            "text": times(row["gain"]),
            "tip": f"{label}: {number(row['value_from'])} → {number(row['value_to'])} "
            f"{row['unit']}, {times(row['gain'])}",
        }
        for label, row in zip(labels, rows, strict=True)
    ]
    sides = alt.Scale(
        domain=["faster", "as fast", "slower"], range=[charts.BETTER, charts.QUIET, charts.WORSE]
    )
    arrows = alt.Scale(
        domain=["faster", "as fast", "slower"], range=["triangle-right", "circle", "triangle-left"]
    )
    x = charts.ratio_axis([row["gain"] for row in rows], "later over earlier result (log scale)")
    base = alt.Chart().encode(y=charts.names(labels))
    lines = base.mark_rule(strokeWidth=2).encode(
        x=x("before"), x2=alt.X2("gain"), color=_colour(sides)
    )
    rings = base.mark_point(filled=False, size=45, color=charts.QUIET, aria=False).encode(
        x=x("before")
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=x("gain"),
        color=_colour(sides),
        shape=alt.Shape("side:N", title=None).scale(arrows),
        description=alt.Description("tip:N"),
    )
    right = base.mark_text(align="left", dx=9, aria=False).encode(
        x=x("gain"), text=alt.Text("text:N")
    )
    left = base.mark_text(align="right", dx=-9, aria=False).encode(
        x=x("gain"), text=alt.Text("text:N")
    )
    return alt.layer(
        charts.one_line(),
        lines,
        rings,
        points,
        right.transform_filter("datum.gain >= 1"),
        left.transform_filter("datum.gain < 1"),
        data=charts.data(shown),
    ).properties(width=charts.WIDTH, height=alt.Step(24))


def _colour(scale: alt.Scale) -> alt.Color:
    return alt.Color("side:N", title=None).scale(scale)


def _steps(published: Published, suite: str) -> Figure | None:
    """Return the gains of every step between two neighbouring rounds of the warehouse."""
    order = [found.version for found in published.of_suite(suite)]
    neighbours = set(zip(order, order[1:], strict=False))
    rows = [
        row | {"from_key": f"{suite}-{row['from_round']}", "to_key": f"{suite}-{row['to_round']}"}
        for row in published.rows(_STEPS, suite=suite)
        if (row["from_round"], row["to_round"]) in neighbours
    ]
    rows.sort(key=lambda row: order.index(row["to_round"]))
    if len(rows) < 2:
        return None
    best = max(rows, key=lambda row: row["middle"])
    finding = (
        f"The median gain on the same system was largest from {round_name(best['from_key'])} to "
        f"{best['to_round']}: {times(best['middle'])} over "
        f"{counted(best['gains'], 'configuration')}"
    )
    shown = [
        {
            "label": f"{row['from_round']} → {row['to_round']}",
            "least": row["least"],
            "middle": row["middle"],
            "most": row["most"],
            "text": times(row["middle"]),
            "tip": f"{row['from_round']} → {row['to_round']}: {times(row['least'])} to "
            f"{times(row['most'])}, median {times(row['middle'])}",
        }
        for row in rows
    ]
    ends = [row[key] for row in rows for key in ("least", "most")]
    x = charts.ratio_axis(ends, "later over earlier result (log scale)")
    base = alt.Chart().encode(y=charts.names([row["label"] for row in shown]))
    lines = base.mark_rule(strokeWidth=4, color=charts.SERIES[0], opacity=0.45).encode(
        x=x("least"), x2=alt.X2("most")
    )
    points = base.mark_point(filled=True, size=90, opacity=1, color=charts.SERIES[0]).encode(
        x=x("middle"), description=alt.Description("tip:N")
    )
    text = base.mark_text(align="left", dx=7, dy=-10, aria=False).encode(
        x=x("middle"), text=alt.Text("text:N")
    )
    chart = alt.layer(charts.one_line(), lines, points, text, data=charts.data(shown)).properties(
        width=charts.WIDTH, height=alt.Step(34)
    )
    return Figure(
        name=f"steps-{suite}",
        finding=finding,
        reading=(
            "The line spans least to largest gain on the same system between neighbouring rounds "
            "of this warehouse, the point is the median. Right of 1 is better. Pairs that carry a "
            "note on compatibility are left out."
        ),
        table=Table("Gains on the same system by step", _STEP_COLUMNS, rows),
        footnote=published.footnote(row[key] for row in rows for key in ("from_key", "to_key")),
        chart=charts.svg(chart, finding),
    )
