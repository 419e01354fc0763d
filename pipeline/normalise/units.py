"""True units: what a published label means, and where the label is known to be wrong.

Belongs here: the rules of ``units.csv``, ``unit_corrections.csv``, ``scenarios.csv`` and
``scenario_renames.csv`` as Polars expressions over a frame of one round.
"""

from functools import cache, reduce

import polars as pl

from pipeline.normalise.rounds import lines_of
from pipeline.normalise.vocabulary import entries
from pipeline.rounds import Round
from pipeline.sources.files import Kind


@cache
def unit_labels() -> pl.DataFrame:
    """Return the known labels: unit_label, unit, metric, factor, lower_is_better."""
    lines = entries("units")
    return pl.DataFrame(
        {
            "unit_label": [line["unit_as_published"] for line in lines],
            "unit": [line["unit"] for line in lines],
            "metric": [line["metric"] for line in lines],
            "factor": [float(line["factor"]) for line in lines],
            "lower_is_better": [line["lower_is_better"] == "true" for line in lines],
        }
    )


def renamed(column: str, round: Round) -> pl.Expr:
    """Return ``benchmark`` or ``scenario`` as it is called in other rounds.

    The frame has ``benchmark`` and ``scenario``; see ``scenario_renames.csv``.
    """
    lines = [
        line
        for line in entries("scenario_renames")
        if (line["suite"], line["round"]) == (round.suite, round.round)
    ]
    return reduce(
        lambda kept, line: (
            pl.when(benchmark=line["benchmark"], scenario=line["scenario"])
            .then(pl.lit(line[f"renamed_{column}"]))
            .otherwise(kept)
        ),
        lines,
        pl.col(column),
    )


def true_label(round: Round, kind: Kind) -> pl.Expr:
    """Return the unit label that a value really has.

    The frame has ``benchmark``, ``model_used``, ``scenario``, ``entry_id`` and
    ``unit_as_published``; a condition left blank in ``unit_corrections.csv`` holds for all.
    """
    label = pl.col("unit_as_published").str.strip_chars()
    corrected = label
    for line in lines_of("unit_corrections", round):
        if line["suite"] == round.suite and line["source_kind"] == kind:
            given = ("benchmark", "model_used", "scenario", "entry_id")
            applies = pl.all_horizontal(
                label == line["unit_as_published"],
                *(pl.col(column) == line[column] for column in given if line[column]),
            )
            corrected = pl.when(applies).then(pl.lit(line["unit_label"])).otherwise(corrected)
    return corrected


@cache
def allowed_scenarios(suite: str) -> frozenset[tuple[str, str, str]]:
    """Return the permitted (category, scenario, benchmark or ``*``) triples of a suite."""
    return frozenset(
        (line["category"], line["scenario"], line["benchmark"])
        for line in entries("scenarios")
        if line["suite"] == suite
    )
