"""Which rows cannot be used, and what is odd about those that can.

Belongs here: one rule a line, over the frame that ``canonical`` gives. A broken fault rule sends
the row to ``rejects``; a broken warning rule is listed and the row kept. Rules that compare rows
with each other stand in ``results``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.normalise.canonical import COUNTS, MOVED, PLAIN_TEXT
from pipeline.normalise.numbers import count
from pipeline.normalise.units import allowed_scenarios
from pipeline.rounds import Round
from pipeline.sources.files import Kind

DIVISIONS = ("closed", "open", "network")
CATEGORIES = ("datacenter", "edge", "datacenter,edge")

SMALLEST_VALUE = 1e-6
"""No result is this small: a logging fault once gave 1e-09 tokens/s (mlcommons/inference #1662)."""

LONGEST_NAME = 1000
"""Longer text is kept and listed; software stacks published so far reach 500 characters."""

SHOWN = 200
"""Characters of a published text that rejects and warnings show."""

_KEY_FIELDS = ("division", "submitter", "submitter_directory", "platform", "model_used")
_NAME_FIELDS = ("submitter", "platform", "model_used", "benchmark", "accelerator", *PLAIN_TEXT)
_LEAVES_TREE = r"(^|[/\\])\.\.([/\\]|$)|^[/\\~]|\x00"
_ODD_TEXT = {
    "markup in a name": r"<[A-Za-z/!?]",
    "quotes in a name": '["`]',
    "a line break in a name": r"[\r\n]",
    "unusual characters in a name": "[\\p{Cc}\\p{Cf}\u00a0\u2010-\u2015\u2028-\u202f]",
}


@dataclass(frozen=True)
class Rule:
    """``broken`` is true on the rows at fault; ``field`` names the column to look at."""

    field: str
    problem: str
    broken: pl.Expr

    @property
    def column(self) -> str:
        """Return the column that holds what was published."""
        return _published(self.field)


def fault_rules(round: Round, kind: Kind) -> list[Rule]:
    """Return what makes a row unusable; the first broken rule gives the reason.

    A log proves its scenario, whatever the category: 0.7 has SingleStream in the datacenter.
    """
    in_tables = pl.lit(kind is not Kind.LOGS)
    version = pl.col("version").str.strip_chars().str.strip_prefix("v")
    unknown_scenario = pl.col("scenario").is_null() & (pl.lit(round.suite) == "inference")
    paths = ("location", "submitter_directory", "platform", "model_used")
    return [
        Rule("version", f"not a row of {round.key}", version.ne_missing(round.round)),
        *(
            Rule(field, "a path that leaves its folder", pl.col(field).str.contains(_LEAVES_TREE))
            for field in paths
        ),
        *(
            Rule(field, "blank, and needed to tell results apart", _blank(field))
            for field in _KEY_FIELDS
        ),
        Rule("scenario", "scenario not known", unknown_scenario),
        Rule(
            "scenario",
            "scenario that its category cannot have",
            in_tables & ~_scenario_is_allowed(round),
        ),
        Rule("accelerator", "accelerators are counted but not named", _counted_but_not_named()),
        Rule("unit", "unit not known", pl.col("unit").is_null()),
        Rule("value", "no finite number", ~pl.col("value").is_finite().fill_null(value=False)),
        Rule("value", "too small to be a result", pl.col("value") < SMALLEST_VALUE),
    ]


def warning_rules(kind: Kind) -> list[Rule]:
    """Return what is worth saying of a row that is kept.

    Round 0.5 had no categories, and its system files name none (F24).
    """
    may_lack_category = pl.lit(kind is Kind.LOGS) & pl.col("category").is_null()
    text = [pl.col(_published(field)).fill_null("") for field in _NAME_FIELDS]
    not_read = [Rule(field, "not a plain count, left empty", _not_read(field)) for field in COUNTS]
    odd = [
        Rule(field, problem, column.str.contains(pattern))
        for problem, pattern in _ODD_TEXT.items()
        for field, column in zip(_NAME_FIELDS, text, strict=True)
    ]
    long = [
        Rule(field, "a very long text", column.str.len_chars() > LONGEST_NAME)
        for field, column in zip(_NAME_FIELDS, text, strict=True)
    ]
    parts = pl.col("location_parts").list
    elsewhere = pl.any_horizontal(
        parts.get(place, null_on_oob=True) != pl.col(field)
        for place, field in ((0, "division"), (3, "platform"), (4, "model_used"))
    )
    power_lost = pl.col("power").is_null() & ~_blank("power_as_published")
    return [
        *(
            Rule(name, f"{name} not in the vocabulary", ~pl.col(f"{name}_is_known"))
            for name in ("submitter", "accelerator", "benchmark", "availability")
        ),
        Rule("division", "division not known", ~pl.col("division").is_in(DIVISIONS)),
        Rule("category", "category not known", ~(_has_known_category() | may_lack_category)),
        Rule("location", "the location names another division, system or model", elsewhere),
        Rule("power", "no power or energy that can be read, left empty", power_lost),
        *not_read,
        *odd,
        *long,
    ]


def first_fault(frame: pl.DataFrame, rules: Sequence[Rule]) -> pl.DataFrame:
    """Return the frame with ``field``, ``reason`` and ``shown`` of each row's first broken rule."""
    broken = [pl.when(rule.broken.fill_null(value=False)) for rule in rules]
    return frame.with_columns(
        field=pl.coalesce(
            when.then(pl.lit(rule.field)) for when, rule in zip(broken, rules, strict=True)
        ),
        reason=pl.coalesce(
            when.then(pl.lit(rule.problem)) for when, rule in zip(broken, rules, strict=True)
        ),
        shown=pl.coalesce(
            when.then(pl.col(rule.column).fill_null(""))
            for when, rule in zip(broken, rules, strict=True)
        ),
    )


def all_broken(frame: pl.DataFrame, rules: Sequence[Rule]) -> pl.DataFrame:
    """Return one row per row and broken rule: source_row, field, problem, value_as_published."""
    flags = frame.select(
        "source_row",
        *(rule.broken.fill_null(value=False).alias(f"{index}") for index, rule in enumerate(rules)),
    )
    found = [
        frame.filter(flags[f"{index}"]).select(
            "source_row",
            field=pl.lit(rule.field),
            problem=pl.lit(rule.problem),
            value_as_published=pl.col(rule.column),
        )
        for index, rule in enumerate(rules)
        if flags[f"{index}"].any()
    ]
    empty = {"source_row": pl.Int64, **dict.fromkeys(("field", "problem"), pl.String)}
    schema = {**empty, "value_as_published": pl.String}
    return pl.concat([pl.DataFrame(schema=schema), *found])


def _published(field: str) -> str:
    return f"{field}_as_published" if field in MOVED else field


def _blank(field: str) -> pl.Expr:
    return pl.col(field).fill_null("").str.strip_chars() == ""


def _not_read(field: str) -> pl.Expr:
    return pl.col(field).is_null() & ~_blank(f"{field}_as_published")


def _scenario_is_allowed(round: Round) -> pl.Expr:
    """Whether one of the row's categories has the scenario; rows of no known category pass."""
    allowed = pl.lit(value=False)
    for category, scenario, benchmark in sorted(allowed_scenarios(round.suite)):
        in_category = pl.col("category").str.split(",").list.contains(category)
        of_benchmark = pl.lit(benchmark == "*") | (pl.col("benchmark") == benchmark)
        allowed = allowed | (in_category & (pl.col("scenario") == scenario) & of_benchmark)
    return allowed | ~_has_known_category()


def _has_known_category() -> pl.Expr:
    return pl.col("category").is_in(CATEGORIES).fill_null(value=False)


def _counted_but_not_named() -> pl.Expr:
    """Whether a row without accelerator, as on CPU-only systems, counts accelerators."""
    counted = pl.max_horizontal(
        count("accelerators_per_node_as_published"), count("total_accelerators_as_published")
    )
    return pl.col("accelerator").is_null() & (counted > 0)
