"""Claims: what was said in public, beside what the results say.

Belongs here: a card for each claim, with every comparator it was held against.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from pipeline.report import charts
from pipeline.report.figures import Column, Figure, Page, Row, Section, Table
from pipeline.report.reading import Published
from pipeline.report.wording import counted, number, ratio

VERDICTS = (
    "reproduced",
    "reproduced only against a chosen comparator",
    "contradicted",
    "not checkable from results",
)

_IN_ORDER = (VERDICTS[1], VERDICTS[2], VERDICTS[0], VERDICTS[3])
"""As the page shows them: where the comparator matters first."""

_CLAIMS = "select * from claims order by claim_id"

_COMPARATORS = """
    select * from claim_comparators
    order by claim_id, statement, computed_value, result_key, comparator_result_key
"""

_COLUMNS = (
    Column("benchmark", "Benchmark"),
    Column("scenario", "Scenario"),
    Column("submitter", "Submitter"),
    Column("accelerator", "Accelerator"),
    Column("value", "Value", "number"),
    Column("comparator_submitter", "Comparator"),
    Column("comparator_accelerator", "Its accelerator"),
    Column("comparator_value", "Its value", "number"),
    Column("unit", "Unit"),
    Column("computed_value", "Computed", "number"),
    Column("answer", "Reproduces"),
    Column("differences", "To be said with it", "list"),
    Column("entry_id", "Entry"),
    Column("comparator_entry_id", "Its entry"),
)

_RANGE_COLUMNS = (
    Column("claim_id", "Claim"),
    Column("claim", "What is claimed"),
    Column("claimed", "As stated"),
    Column("computed_value", "Computed", "ratio"),
    Column("computed_min", "Least", "ratio"),
    Column("computed_median", "Median", "ratio"),
    Column("computed_max", "Most", "ratio"),
    Column("comparators", "Comparators", "count"),
    Column("verdict", "Verdict"),
)


def pages(published: Published) -> list[Page]:
    """Return the page: the spread of the claimed ratios, and a card for each claim."""
    claims = published.rows(_CLAIMS)
    comparators = published.rows(_COMPARATORS)
    suites = {found.key: found.suite for found in published.rounds}
    for row in comparators:
        row["answer"] = {True: "yes", False: "no", None: None}[row["reproduces"]]
        if row["benchmark"]:
            suite = suites.get(row["round_key"], "inference")
            row["benchmark"] = published.benchmark(suite, row["benchmark"])
    tables = {
        claim["claim_id"]: Table(
            f"What {claim['claim_id']} was held against",
            _COLUMNS,
            [row for row in comparators if row["claim_id"] == claim["claim_id"]],
        )
        for claim in claims
    }
    figure = _ranges(published, claims, comparators)
    amounts = Counter(claim["verdict"] for claim in claims)
    return [
        Page(
            name="claims",
            menu="Claims",
            title="Public claims, held against the results",
            lead=(
                "Each claim with the results it can be held against. Where several comparators "
                "are eligible all are shown, since the answer may depend on the one picked. A "
                "verdict is about the sentence and these results, not about its author."
            ),
            template="claims.html",
            sections=[Section("Claimed ratios", parts=[figure])] if figure else [],
            more={
                "groups": [
                    (name, [claim for claim in claims if claim["verdict"] == name])
                    for name in _IN_ORDER
                ],
                "tables": tables,
                "amounts": [(name, amounts[name]) for name in VERDICTS],
                "footnote": published.footnote(_rounds(comparators), "stated"),
            },
        )
    ]


def _rounds(comparators: Sequence[Row]) -> set[str]:
    keys = ("round_key", "comparator_round_key")
    return {row[key] for row in comparators for key in keys if row[key]}


def _ranges(
    published: Published, claims: Sequence[Row], comparators: Sequence[Row]
) -> Figure | None:
    rows = [
        claim
        for claim in claims
        if claim["kind"] == "ratio" and claim["computed_value"] and claim["comparators"] > 1
    ]
    if not rows:
        return None
    chosen = sum(claim["verdict"] == VERDICTS[1] for claim in claims)
    held = sum(claim["verdict"] == VERDICTS[0] for claim in claims)
    finding = (
        f"{held} of {counted(len(claims), 'claim')} hold against every eligible comparator, "
        f"{chosen} only against a chosen one"
    )
    used = {claim["claim_id"] for claim in rows}
    return Figure(
        name="claimed-ratios",
        finding=finding,
        reading=(
            "Claimed ratios with several eligible comparators. The line spans all of them, the "
            "mark is the one the verdict rests on. Above 1 the subject is better, for latency too."
        ),
        table=Table("Claimed ratios and their range", _RANGE_COLUMNS, rows),
        footnote=published.footnote(
            _rounds([row for row in comparators if row["claim_id"] in used]), "stated"
        ),
        chart=charts.svg(_range_plot(rows), finding),
    )


def _range_plot(rows: Sequence[Row]) -> Any:
    labels = charts.distinct(f"{row['claim_id']}: {row['claimed']}" for row in rows)
    verdicts = sorted({row["verdict"] for row in rows}, key=VERDICTS.index)
    colours = [charts.BETTER, charts.INK, charts.WORSE, charts.QUIET]
    shapes = ["circle", "diamond", "cross", "square"]
    at = [VERDICTS.index(verdict) for verdict in verdicts]
    colour = alt.Color("verdict:N", title=None).scale(
        domain=verdicts, range=[colours[place] for place in at]
    )
    shape = alt.Shape("verdict:N", title=None).scale(
        domain=verdicts, range=[shapes[place] for place in at]
    )
    shown = [
        {
            "label": label,
            "least": row["computed_min"],
            "most": row["computed_max"],
            "computed": row["computed_value"],
            "verdict": row["verdict"],
            "tip": f"{row['claim_id']}: {row['claim']}. Computed {ratio(row['computed_value'])}, "
            f"{number(row['computed_min'])} to {number(row['computed_max'])} over "
            f"{row['comparators']}",
        }
        for label, row in zip(labels, rows, strict=True)
    ]
    ends = [row[key] for row in rows for key in ("computed_min", "computed_max")]
    x = charts.ratio_axis(ends, "computed ratio (log scale)")
    base = alt.Chart().encode(y=charts.names(labels))
    spans = base.mark_rule(strokeWidth=4, opacity=0.4, aria=False).encode(
        x=x("least"), x2=alt.X2("most"), color=colour
    )
    marks = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=x("computed"), color=colour, shape=shape, description=alt.Description("tip:N")
    )
    return alt.layer(charts.one_line(), spans, marks, data=charts.data(shown)).properties(
        width=charts.WIDTH + 60, height=alt.Step(24)
    )
