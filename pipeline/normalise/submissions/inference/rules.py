"""Which field of a log is the result, and whether there is one: sources.md section 5.

Belongs here: the rules of ``vocabulary/result_fields.csv`` over a frame of logs, and what makes a
log no valid run. Of the lines that cover a round the first that fits counts. A line's ``scenario``
is the directory's, where Server stands for Interactive too; ``logged_scenario`` is what was run;
the value is ``field`` / ``per_field`` / ``divisor``.
"""

import polars as pl

from pipeline.normalise.rounds import lines_of
from pipeline.normalise.submissions.inference.logs import ERRORS, SCENARIO, TOKEN_FIELDS, VALIDITY
from pipeline.normalise.submissions.inference.tree import Part, scenario_of
from pipeline.rounds import Round

ERRORS_COUNT_FROM = (1, 0)
"""Up to 0.7 the checker passed over some errors, and 96 logs of 0.5 and 0.7 say VALID beside one;
from 1.0 on a logged error makes a run invalid, and no published one has any."""


def judged(logs: pl.DataFrame, round: Round) -> pl.DataFrame:
    """Return the logs with the result that each of them gives, or why it gives none.

    The frame has ``part``, ``scenario``, ``canonical_benchmark``, ``benchmark_is_known`` and a
    text column for each log field. Added are ``value`` (text, in the published unit), ``unit``,
    ``field`` (where the value stands), ``inferred`` ("0" or "1"; null if the log does not say what
    was run), ``problem``, ``shown`` (what is at fault), and ``says_nothing``: the log is empty,
    cut, or not of this kind, so that another log of the run may serve.
    """
    lines = lines_of("result_fields", round)
    logs = logs.with_columns(pl.col(SCENARIO).replace(_scenarios(logs)))
    logs = logs.with_columns(rule=_first_that_fits(lines))
    rules = pl.DataFrame(
        {
            "rule": range(len(lines)),
            "field": [line["field"] for line in lines],
            "divisor": [float(line["divisor"]) for line in lines],
            "unit": [line["unit"] for line in lines],
        },
        schema={"rule": pl.Int64, "field": pl.String, "divisor": pl.Float64, "unit": pl.String},
    )
    logs = logs.join(rules, on="rule", how="left", maintain_order="left")
    logs = logs.with_columns(
        value=pl.coalesce(
            pl.when(rule=index).then(_value(line)) for index, line in enumerate(lines)
        ),
        inferred=(pl.col(SCENARIO) != _run_as("scenario")).cast(pl.Int8).cast(pl.String),
    )
    return _with_problem(logs, round)


def _first_that_fits(lines: tuple[dict[str, str], ...]) -> pl.Expr:
    return pl.coalesce(
        pl.when(_fits(line)).then(pl.lit(index, dtype=pl.Int64)) for index, line in enumerate(lines)
    )


def _fits(line: dict[str, str]) -> pl.Expr:
    is_harness = pl.col("part") == Part.HARNESS
    fits = (is_harness == (line["log"] == "harness")) & (_run_as("scenario") == line["scenario"])
    if line["logged_scenario"]:
        fits &= pl.col(SCENARIO) == line["logged_scenario"]
    if line["benchmark"]:
        return fits & pl.col("canonical_benchmark").is_in(line["benchmark"].split("|"))
    # A benchmark nobody has named may count tokens: never a unit by default (T7).
    return fits & (pl.col("benchmark_is_known") | ~_logs_tokens())


def _value(line: dict[str, str]) -> pl.Expr:
    """Return the value as text: the log's own where nothing is converted."""
    field = pl.col(line["field"])
    if not line["per_field"] and float(line["divisor"]) == 1:
        return field
    number = field.cast(pl.Float64, strict=False)
    if line["per_field"]:
        number = number / pl.col(line["per_field"]).cast(pl.Float64, strict=False)
    # By a column: by a constant Polars multiplies with its reciprocal, and the last digit is off.
    return (number / pl.col("divisor")).cast(pl.String)


def _with_problem(logs: pl.DataFrame, round: Round) -> pl.DataFrame:
    validity, number = pl.col(VALIDITY), pl.col("value").cast(pl.Float64, strict=False)
    has_errors = pl.col(ERRORS).is_not_null() & (round.order[1] >= ERRORS_COUNT_FROM)
    has_rule, has_tokens = pl.col("rule").is_not_null(), _logs_tokens()
    empty = {
        "the log says nothing of a result": validity.is_null(),
        "the log does not say what scenario was run": (
            pl.col(SCENARIO).is_null() & (pl.col("part") != Part.HARNESS)
        ),
        "the log does not hold the field of the result": has_rule & pl.col("value").is_null(),
    }
    invalid = {"the run is not valid": validity != "VALID", "the run has errors": has_errors}
    unusable = {
        "tokens or samples: nothing says which count for this benchmark": (
            ~has_rule & ~pl.col("benchmark_is_known") & has_tokens
        ),
        "no rule derives this scenario from what was run": ~has_rule,
        "no number above zero": ~(number.is_finite() & (number > 0)).fill_null(value=False),
    }
    problems = [*invalid.items(), *empty.items(), *unusable.items()]
    is_invalid = pl.any_horizontal(broken.fill_null(value=False) for broken in invalid.values())
    return logs.with_columns(
        problem=pl.coalesce(pl.when(broken).then(pl.lit(text)) for text, broken in problems),
        says_nothing=pl.any_horizontal(*empty.values()) & ~is_invalid,
        shown=pl.when(validity != "VALID")
        .then(validity)
        .when(~has_rule)
        .then(SCENARIO)
        .otherwise("value"),
    )


def _run_as(column: str) -> pl.Expr:
    """Return the scenario as LoadGen runs it: an Interactive run logs Server."""
    return pl.col(column).replace("Interactive", "Server")


def _logs_tokens() -> pl.Expr:
    return pl.any_horizontal(pl.col(field).is_not_null() for field in TOKEN_FIELDS)


def _scenarios(logs: pl.DataFrame) -> dict[str, str]:
    return {name: scenario_of(name) for name in logs[SCENARIO].unique().drop_nulls()}
