"""How all charts look, and making SVG of them while the site is written.

Belongs here: colours, fonts, axes and the way from a chart to markup. Colours are names of the
style sheet's variables, so that a chart follows the page into dark mode; a picture that stands by
itself carries them along.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log, log10
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup, escape

from pipeline.export.answers import printable
from pipeline.report.figures import Row

INK = "currentColor"
QUIET = "var(--quiet)"
FAINT = "var(--faint)"
GRID = "var(--grid)"
BETTER = "var(--better)"
WORSE = "var(--worse)"
SERIES = tuple(f"var(--series-{number})" for number in range(1, 8))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")

WIDTH = 580
"""Of the plot, beside the names of its rows."""

MULTIPLE = 320
"""Of the plot of a chart that stands beside others."""

_SMALL = 480

_LOOK: dict[str, Any] = {
    "background": None,
    "font": "Helvetica, Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "aria": False,
        "labelColor": INK,
        "titleColor": QUIET,
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelPadding": 6,
        "labelLimit": 0,
    },
    "axisY": {"domain": False, "ticks": False},
    "legend": {
        "aria": False,
        "labelColor": INK,
        "titleColor": QUIET,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "orient": "top",
        "direction": "horizontal",
        "symbolSize": 90,
        "labelLimit": 0,
        "symbolOpacity": 1,
        "columns": 4,
        "title": None,
    },
    "header": {"labelColor": INK, "labelFontSize": 12, "title": None},
    "text": {"color": INK, "fontSize": 12},
}

_MARK_ROLE = re.compile(r' (?:role|aria-roledescription|aria-hidden)="[^"]*"')
_TIP = re.compile(r' aria-label="([^"]*)"')
_SIZE = re.compile(r'<svg [^>]*width="(\d+)" height="(\d+)" viewBox="([^"]*)">')


def data(rows: Iterable[Row]) -> alt.InlineData:
    """Return rows as a chart's data, their text made harmless."""
    return alt.InlineData(
        values=[{key: plain(value) for key, value in row.items()} for row in rows]
    )


def plain(value: Any) -> Any:
    """Return a value as charts hold it: text harmless, all else as it is."""
    return printable(value) if isinstance(value, str) else value


@dataclass(frozen=True)
class Looks:
    """Colour and shape by name: never colour alone."""

    colour: alt.Scale
    shape: alt.Scale


def looks(names: Iterable[str], order: Sequence[str]) -> Looks:
    """Return how names look: the same in every chart that gives the same order.

    The first six of ``order`` have a look of their own, all others share the seventh.
    """
    own = {name: at for at, name in enumerate(order[:6])}
    domain = sorted(set(names), key=lambda name: (own.get(name, 6), name))
    at = [own.get(name, 6) for name in domain]
    shown = [printable(name) for name in domain]
    return Looks(
        alt.Scale(domain=shown, range=[SERIES[place] for place in at]),
        alt.Scale(domain=shown, range=[SHAPES[place] for place in at]),
    )


def svg(chart: Any, title: str) -> Markup:
    """Return the chart as SVG markup to stand in a page, named by its finding."""
    width, height, box, body = _draw(chart)
    size = "wide" if int(width) > _SMALL else "small"
    head = Markup('<svg class="{}" role="img" aria-label="{}" width="{}" height="{}" viewBox="{}">')
    tips = _TIP.sub(r' data-tip="\1"', body)
    return head.format(size, printable(title), width, height, box) + Markup(tips)


def picture(chart: Any, title: str) -> str:
    """Return the chart as an SVG file of its own, with the style sheet's colours in it."""
    width, height, box, body = _draw(chart)
    style = Path(__file__).with_name("assets").joinpath("colours.css").read_text(encoding="utf-8")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{box}">\n<title>{escape(printable(title))}</title>\n'
        f"<style>\n{style}\nsvg {{ background: var(--paper); }}\n</style>\n"
        f"{_TIP.sub('', body)}\n"
    )


def _draw(chart: Any) -> tuple[str, str, str, str]:
    """Return the chart's width, height and view box, and its SVG from there on."""
    specification = chart.to_dict(validate=False)
    specification["config"] = _LOOK
    drawn = vl_convert.vegalite_to_svg(specification)
    size = _SIZE.match(drawn)
    if size is None:
        raise ValueError("the chart's SVG begins unlike any before")
    return size[1], size[2], size[3], _MARK_ROLE.sub("", drawn[size.end() :])


def names(labels: Sequence[str]) -> alt.Y:
    """Return the axis of a chart whose rows have names, in the order given."""
    return alt.Y("label:N", title=None, sort=[printable(label) for label in labels])


_LONGEST_NAME = 50


def distinct(names: Iterable[str]) -> list[str]:
    """Return names for a chart's rows: long ones cut, and a number behind one that came before."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        label = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
        seen[label] = seen.get(label, 0) + 1
        found.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return found


_RATIO_TICKS = (
    *(1, 0.1, 10, 100, 0.01, 2, 0.5, 5, 0.2, 20, 50, 0.05, 0.02),
    *(1.5, 0.7, 3, 0.3, 0.8, 1.2, 0.9, 1.1, 1.05, 0.95),
)
"""Ticks of a ratio's axis, the more important first."""


def _apart(low: float, high: float) -> list[float]:
    """Return the ticks between two ratios that stand far enough from more important ones."""
    kept: list[float] = []
    for tick in _RATIO_TICKS:
        near = any(abs(log(tick / other)) < 0.09 * log(high / low) for other in kept)
        if low <= tick <= high and not near:
            kept.append(tick)
    return sorted(kept)


def ratio_axis(values: Sequence[float], title: str) -> Callable[[str], alt.X]:
    """Return a maker of horizontal log axes for ratios: the same axis for each field of a chart.

    It spans all values and 1, with room for a number at each end.
    """
    least, most = min(1.0, *values), max(1.0, *values)
    room = max((most / least) ** 0.12, 1.02)
    low, high = least / room, most * room
    axis = alt.Axis(values=_apart(low, high), format="~r", labelExpr="datum.label + '×'")
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return lambda field: alt.X(f"{field}:Q", title=title).scale(scale).axis(axis)


def one_line() -> Any:
    """Return the line at ratio 1, on which nothing differs."""
    return (
        alt.Chart(alt.InlineData(values=[{}]))
        .mark_rule(color=QUIET, strokeDash=[3, 3], aria=False)
        .encode(x=alt.XDatum(1))
    )


_STEPS = (
    (1.0,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9),
    tuple(step / 10 for step in range(10, 100)),
)
"""Ticks within a power of ten, from few to many."""

_TICKS = range(3, 9)


def log_axis(values: Sequence[float]) -> tuple[alt.Scale, alt.Axis]:
    """Return a log scale over the values with some room, and its axis with a few lines."""
    low, high = _roomy(values)
    powers = [10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1)]
    choices = [
        [step * power for power in powers for step in steps if low <= step * power <= high]
        for steps in _STEPS
    ]
    ticks = next((ticks for ticks in choices if len(ticks) in _TICKS), choices[-1][:: _TICKS[0]])
    return _log_axis(low, high, ticks)


def doubling_axis(values: Sequence[float]) -> tuple[alt.Scale, alt.Axis]:
    """Return the same for counts, with lines at powers of two."""
    low, high = _roomy(values)
    ticks = [2.0**power for power in range(ceil(log(low, 2)), floor(log(high, 2)) + 1)]
    return _log_axis(low, high, ticks if len(ticks) in _TICKS else ticks[::2])


def _roomy(values: Sequence[float]) -> tuple[float, float]:
    room = max((max(values) / min(values)) ** 0.08, 1.12)
    return min(values) / room, max(values) * room


def _log_axis(low: float, high: float, ticks: Sequence[float]) -> tuple[alt.Scale, alt.Axis]:
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return scale, alt.Axis(values=list(ticks), format="~s" if high > 20_000 else ",~r")
