"""The official benchmark behind a model directory, as the round's submission checker sees it.

Belongs here: the order in which names are looked up. The names stand in
``vocabulary/model_names.csv``, one line a name or part of a name, with the rounds it holds for.
"""

from collections.abc import Mapping

import polars as pl

from pipeline.normalise.names import describe_benchmark
from pipeline.normalise.rounds import lines_of
from pipeline.normalise.submissions.inference.reading import SUBMITTER, Tree
from pipeline.normalise.submissions.inference.tree import Part
from pipeline.rounds import Round

_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys((*SUBMITTER, "model_used", "benchmark", "canonical_benchmark"), pl.String),
    "benchmark_is_known": pl.Boolean,
    f"{Part.MAPPING}_path": pl.String,
    f"{Part.MAPPING}_sha256": pl.String,
}


def benchmarks_of(logs: pl.DataFrame, tree: Tree, round: Round) -> pl.DataFrame:
    """Return a row for each submitter's model directory in ``logs``.

    Beside the key are ``benchmark`` (official), ``canonical_benchmark``, ``benchmark_is_known``,
    and the submitter's mapping file where it was used.
    """
    mappings = {
        (found.place.division, found.place.submitter): found for found in tree.of(Part.MAPPING)
    }
    rows = []
    for division, submitter, model in logs.select(*SUBMITTER, "model_used").unique().rows():
        mapping = mappings.get((division, submitter))
        own = mapping.fields if mapping else {}
        official = official_name(model, own, round)
        known = describe_benchmark(round, official)
        used = mapping if own.get(model) == official else None
        file = (used.path, used.sha256) if used else (None, None)
        names = (official, known.benchmark, known.is_known)
        rows.append((division, submitter, model, *names, *file))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def official_name(model: str, mapping: Mapping[str, str], round: Round) -> str:
    """Return the benchmark of a model directory; a name that leads nowhere is kept (F26).

    In this order: the checker's map, a name that is official already, the submitter's own
    ``model_mapping.json``, what the checker guesses from a part of the name (sources.md
    section 5). ``mapping`` is the submitter's own, by model directory.
    """
    lines = lines_of("model_names", round)
    for line in lines:
        if line["match"] == "exact" and line["name"] == model:
            return line["official"]
    if describe_benchmark(round, model).is_known:
        return model
    if model in mapping:
        return mapping[model]
    for line in lines:
        if line["match"] == "part" and line["name"] in model:
            return line["official"] or model
    return model
