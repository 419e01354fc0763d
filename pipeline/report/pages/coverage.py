"""Coverage: who has results on which benchmark, and where there are none.

Belongs here: the heat map, as a grid of cells that can be opened, and as a picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from markupsafe import Markup

from pipeline.report import charts
from pipeline.report.figures import Column, Figure, Page, Row, Section, Table
from pipeline.report.reading import SUITES, Published, Round
from pipeline.report.wording import counted, round_name

_CELLS = """
    select
        coverage.category,
        coverage.by,
        coverage.name,
        coverage.benchmark,
        coverage.status,
        coverage.results_without_copies as results,
        coverage.submitters,
        coverage.scenarios,
        coverage.scenarios_missing,
        gap.rivals,
        gap.last_round_covered,
        gap.rounds_open
    from coverage
    left join coverage_gaps as gap
        on coverage.round_key = gap.round_key
        and coverage.category is not distinct from gap.category
        and coverage.by = gap.by
        and coverage.name = gap.name
        and coverage.benchmark = gap.benchmark
    where coverage.round_key = $round_key and coverage.by = $by
    order by coverage.category, coverage.name, coverage.benchmark
"""

_GAPS = (
    Column("name", "Who"),
    Column("benchmark_name", "Benchmark"),
    Column("status", "Status"),
    Column("rounds_open", "Rounds open", "count"),
    Column("last_round_covered", "Last covered in", "round"),
    Column("rivals", "Covered by", "list"),
)

_NAMED = 6
"""As many names as a finding can list; of more it tells the gaps."""


@dataclass(frozen=True)
class Grid:
    """A heat map: names down, benchmarks across, and a cell for every meeting of the two."""

    figure: Figure
    by: str
    benchmarks: Sequence[str]
    lines: Sequence[tuple[str, Sequence[Row]]]


def pages(published: Published) -> list[Page]:
    """Return the page of the latest inference round, and one for each other round."""
    rounds = published.rounds
    first = published.latest_rounds[:1]
    siblings = [
        (
            suite.capitalize(),
            [
                (found.version, page_name(published, found))
                for found in reversed(published.of_suite(suite))
            ],
        )
        for suite in SUITES
    ]
    return [_page(published, found, siblings, found in first) for found in rounds]


def page_name(published: Published, found: Round) -> str:
    """Return the name of a round's coverage page."""
    return "coverage" if found in published.latest_rounds[:1] else f"coverage-{found.key}"


def _page(
    published: Published,
    found: Round,
    siblings: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    is_first: bool,
) -> Page:
    grids = [grid for by in ("vendor", "accelerator") for grid in _grids(published, found, by)]
    return Page(
        name=page_name(published, found),
        menu="Coverage" if is_first else "",
        title=f"Coverage in {found.name}",
        lead=(
            "Who has closed results on which benchmark, and where there are none. A gap says that "
            "nothing was published in this round; it does not say why. Choose one to see who "
            "covers the benchmark and for how long the gap has been open."
        ),
        template="coverage.html",
        sections=[Section("", parts=[grid.figure for grid in grids])],
        siblings=siblings,
        more={"grids": grids, "round": found},
    )


def _grids(published: Published, found: Round, by: str) -> list[Grid]:
    rows = published.rows(_CELLS, round_key=found.key, by=by)
    for row in rows:
        row["benchmark_name"] = published.benchmark(found.suite, row["benchmark"])
        row["shade"] = shade(row)
    categories = sorted({row["category"] for row in rows}, key=lambda name: name or "")
    return [
        _grid(published, found, by, category, [r for r in rows if r["category"] == category])
        for category in categories
    ]


def _grid(
    published: Published, found: Round, by: str, category: str | None, rows: list[dict[str, Any]]
) -> Grid:
    covered = _covered(rows)
    names = sorted(covered, key=lambda name: (-covered[name], name))
    benchmarks = sorted({row["benchmark_name"] for row in rows})
    cells = {(row["name"], row["benchmark_name"]): row for row in rows}
    gaps = [row for row in rows if row["status"] != "covered"]
    gaps.sort(key=lambda row: (-row["rounds_open"], row["name"], row["benchmark"]))
    where = f"{found.name}{', ' + category if category else ''}"
    figure = Figure(
        name="-".join(filter(None, ["coverage", by, category])),
        finding=finding(rows, where, by),
        table=Table(f"Not covered in {where}, by {by}", _GAPS, gaps),
        footnote=published.footnote([found.key]),
    )
    lines = [(name, [cells[name, benchmark] for benchmark in benchmarks]) for name in names]
    return Grid(figure, by, benchmarks, lines)


def _covered(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many benchmarks each name covers."""
    covered = {row["name"]: 0 for row in rows}
    for row in rows:
        covered[row["name"]] += row["status"] == "covered"
    return covered


def finding(rows: Sequence[Row], where: str, by: str) -> str:
    """Return the sentence that states who covers most, and what stands longest open."""
    covered = _covered(rows)
    benchmarks = len({row["benchmark"] for row in rows})
    ranked = sorted(covered, key=lambda name: (-covered[name], name))
    others = [f"{name} {covered[name]}" for name in ranked[1:_NAMED]]
    gaps = sum(row["status"] != "covered" for row in rows)
    told = [
        f"{ranked[0]} covers {covered[ranked[0]]} of {counted(benchmarks, 'benchmark')} in {where}",
        ", ".join(others)
        if len(ranked) <= _NAMED
        else f"{gaps:,} of {len(rows):,} pairings of {by} and benchmark are not covered",
    ]
    return "; ".join(filter(None, told))


def shade(row: Row) -> str:
    """Return the step of a cell's shade: its state, and how many results for a covered one."""
    if row["status"] != "covered":
        return str(row["status"]).replace(" ", "-")
    return "few" if row["results"] < 5 else "some" if row["results"] < 20 else "many"


def heat_map(
    published: Published, found: Round, category: str | None
) -> tuple[str, Any, list[Row]] | None:
    """Return finding, chart and rows of a round's coverage by vendor; None without rows."""
    rows: list[Row] = [
        row | {"benchmark_name": published.benchmark(found.suite, row["benchmark"])}
        for row in published.rows(_CELLS, round_key=found.key, by="vendor")
        if row["category"] == category
    ]
    if not rows:
        return None
    shown = [
        {
            "name": row["name"],
            "benchmark": row["benchmark_name"],
            "shade": shade(row),
            "text": _text(row),
        }
        for row in rows
    ]
    covered = _covered(rows)
    names = sorted(covered, key=lambda name: (-covered[name], name))
    shades = ["many", "some", "few", "preview-only", "open-only", "gap"]
    base = alt.Chart().encode(
        x=alt.X("benchmark:N", title=None).axis(orient="top", labelAngle=-35, domain=False),
        y=alt.Y("name:N", title=None, sort=[charts.plain(name) for name in names]),
    )
    cells = base.mark_rect(stroke="var(--paper)", strokeWidth=3, cornerRadius=4).encode(
        color=alt.Color("shade:N", legend=None).scale(
            domain=shades, range=[f"var(--cell-{name})" for name in shades]
        )
    )
    text = base.mark_text().encode(
        text=alt.Text("text:N"),
        color=alt.Color("shade:N", legend=None).scale(
            domain=shades, range=[f"var(--cell-{name}-text)" for name in shades]
        ),
    )
    layers = alt.layer(cells, text, data=charts.data(shown)).resolve_scale(color="independent")
    where = f"{found.name}{', ' + category if category else ''}"
    size = {"width": alt.Step(62), "height": alt.Step(36)}
    return finding(rows, where, "vendor"), layers.properties(**size), rows


def _text(row: Row) -> str:
    if row["status"] == "covered":
        return f"{row['results']:,}"
    return "gap" if row["status"] == "gap" else str(row["status"]).removesuffix(" only")


def gap_told(row: Row) -> Markup:
    """Return what a cell that is not covered says when it is opened."""
    last = row["last_round_covered"]
    state = {
        "gap": "has no closed result",
        "open only": "has results in the open division only",
        "preview only": "has preview results only",
    }[row["status"]]
    since = f"last covered in {round_name(last)}" if last else "not covered in any earlier round"
    sentence = Markup("<bdi>{}</bdi> {} on {}. Open for {}; {} here. Covered by: {}.")
    rivals = Markup(", ").join(Markup("<bdi>{}</bdi>").format(name) for name in row["rivals"] or [])
    open_for = counted(row["rounds_open"], "round")
    return sentence.format(
        row["name"], state, row["benchmark_name"], open_for, since, rivals or "nobody"
    )
