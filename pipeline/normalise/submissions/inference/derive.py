"""One submission archive becomes the raw table of its round, with the files each row came from.

Belongs here: how the files of a tree belong together: which run of a scenario counts, which of a
run's logs, and whose system, measurements and accuracy stand beside it. What a file says is read
by the module of its kind; what a field of a log means is decided in ``rules``.
"""

from collections.abc import Sequence
from typing import BinaryIO

import polars as pl

from pipeline.normalise.published import RAW_FIELDS, RAW_SCHEMA, Oddity, RawTable
from pipeline.normalise.submissions.derived import FILES_SCHEMA, DerivedTable
from pipeline.normalise.submissions.descriptions import SYSTEM_FIELDS
from pipeline.normalise.submissions.inference.accuracy import METRICS, published_accuracy
from pipeline.normalise.submissions.inference.benchmarks import benchmarks_of
from pipeline.normalise.submissions.inference.logs import ERRORS, log_fields
from pipeline.normalise.submissions.inference.measured_power import with_power
from pipeline.normalise.submissions.inference.reading import (
    DIRECTORY,
    RUN,
    SCENARIO,
    SUBMITTER,
    SYSTEM,
    Tree,
    read_tree,
)
from pipeline.normalise.submissions.inference.rules import judged
from pipeline.normalise.submissions.inference.tree import LOGS, Part, is_in_tree
from pipeline.normalise.submissions.refused import no_result, refused_members
from pipeline.rounds import Round

LAST_SERVER_RUN_COUNTS_UP_TO = (0, 7)
"""In 0.5 and 0.7 Server was run five times and the last one counts; anything else is run_1."""


def read_inference(stream: BinaryIO, name: str, round: Round) -> DerivedTable:
    """Read an archive of a round, streamed, and derive every result in it.

    Each directory of a scenario is a row of the table or a reject, numbered in the order of their
    paths; members that were refused follow. Units are the true ones. ``inferred`` is true of the
    row, whatever the round's published flag is worth: normalise with ``inferred_flag`` set.

    Raises:
        FileFault: the archive is cut or damaged, or holds no results.
    """
    tree = read_tree(stream, name, round)
    logs = _logs(tree, round)
    directories = _directories(logs, tree)
    if directories.is_empty():
        raise no_result(name, round, tree.refused, is_in_tree)
    rows = directories.join(_chosen(judged(logs, round)), on=DIRECTORY, how="left").sort(DIRECTORY)
    rows = rows.with_columns(
        source_row=pl.int_range(1, pl.len() + 1),
        run_path=_run_path(),
        problem=pl.when(pl.col("path").is_null())
        .then(pl.lit("no run_1 in the scenario's folder"))
        .otherwise("problem"),
    )
    derived = with_power(_described(rows.filter(pl.col("problem").is_null()), tree), tree, round)
    refused = refused_members(tree.refused, is_in_tree, after=rows.height)
    rejects = [*_without_result(rows), *refused]
    table = RawTable(_raw(derived, round), _warnings(derived), rejects)
    return DerivedTable(table, _files(derived), tree.commit)


def _logs(tree: Tree, round: Round) -> pl.DataFrame:
    """Return the logs of the runs that may count, with the benchmark each of them is of."""
    logs = tree.frame(*LOGS, fields=log_fields())
    any_run_of_server = round.order[1] <= LAST_SERVER_RUN_COUNTS_UP_TO
    logs = logs.filter(
        (pl.col("run") == 1) | ((pl.col("scenario") == "Server") & any_run_of_server)
    )
    return logs.join(
        benchmarks_of(logs, tree, round), on=[*SUBMITTER, "model_used"], maintain_order="left"
    )


def _directories(logs: pl.DataFrame, tree: Tree) -> pl.DataFrame:
    """Return the scenario directories that hold logs, or an accuracy of a scenario without any."""
    without = tree.frame(Part.ACCURACY).join(logs, on=SCENARIO, how="anti")
    return pl.concat([frame.select(DIRECTORY) for frame in (logs, without)]).unique()


def _chosen(logs: pl.DataFrame) -> pl.DataFrame:
    """Return the one log of each scenario directory that counts.

    Of a run's logs it is the first that says something; of several runs the last valid one.
    """
    rank = pl.col("part").replace_strict({part.value: i for i, part in enumerate(LOGS)})
    of_runs = logs.sort("says_nothing", rank, "path").unique(RUN, keep="first", maintain_order=True)
    return of_runs.sort(
        pl.col("problem").is_not_null(), "run", descending=[False, True], maintain_order=True
    ).unique(DIRECTORY, keep="first", maintain_order=True)


def _run_path() -> pl.Expr:
    """Return the run's folder; that of run_1 where there is none."""
    return pl.concat_str(
        *SUBMITTER,
        pl.lit("results"),
        *("platform", "model_used", "scenario_directory"),
        pl.lit("performance"),
        pl.concat_str(pl.lit("run_"), pl.col("run").fill_null(1)),
        separator="/",
    )


def _described(rows: pl.DataFrame, tree: Tree) -> pl.DataFrame:
    """Add what the submitter declares: system, weight data types, accuracy; null if nothing."""
    systems = tree.frame(Part.SYSTEM, fields=tuple(SYSTEM_FIELDS.values()))
    measurements = tree.frame(Part.MEASUREMENTS, fields=("weight_data_types",))
    accuracies = tree.frame(Part.ACCURACY, fields=tuple(METRICS))
    rows = _joined(rows, systems, SYSTEM, Part.SYSTEM)
    rows = _joined(rows, _best_named(measurements), SCENARIO, Part.MEASUREMENTS)
    rows = _joined(rows, accuracies, SCENARIO, Part.ACCURACY)
    return rows.with_columns(
        accuracy=published_accuracy(),
        submitter=pl.coalesce(pl.col("submitter").replace("", None), "submitter_directory"),
    )


def _best_named(measurements: pl.DataFrame) -> pl.DataFrame:
    """Sort a scenario's files as the checker prefers them: named after system and scenario."""
    file = pl.col("path").str.split("/").list.last().str.to_lowercase()
    scenario = pl.col("scenario").str.to_lowercase()
    return measurements.sort(
        pl.col("weight_data_types").is_null(),
        ~file.str.starts_with(pl.col("platform").str.to_lowercase()),
        ~file.str.ends_with("_" + scenario + ".json"),
        "path",
    )


def _joined(
    rows: pl.DataFrame, described: pl.DataFrame, key: Sequence[str], part: Part
) -> pl.DataFrame:
    """Join the first description of each key, and its file as ``<part>_path`` and ``_sha256``."""
    described = described.unique(key, keep="first", maintain_order=True)
    described = described.drop(column for column in ("part", *RUN) if column not in key)
    named = {column: f"{part}_{column}" for column in ("path", "sha256")}
    return rows.join(described.rename(named), on=key, how="left", maintain_order="left")


def _raw(rows: pl.DataFrame, round: Round) -> pl.DataFrame:
    """Return the rows as a published table would hold them."""
    rows = rows.with_columns(location="run_path", version=pl.lit(round.round))
    missing = [
        pl.lit(None, dtype=pl.String).alias(name) for name in RAW_FIELDS if name not in rows.columns
    ]
    return rows.with_columns(missing).select(*RAW_SCHEMA)


def _files(rows: pl.DataFrame) -> pl.DataFrame:
    logs = rows.select(
        "source_row", "run_path", "path", "sha256", use="part", gives_value=pl.lit(value=True)
    )
    parts = (Part.SYSTEM, Part.MEASUREMENTS, Part.ACCURACY, Part.MAPPING, Part.POWER)
    others = [
        rows.select(
            "source_row",
            "run_path",
            use=pl.lit(part.value),
            path=f"{part}_path",
            sha256=f"{part}_sha256",
            gives_value=pl.lit(value=False),
        )
        for part in parts
    ]
    files = pl.concat([part.select(*FILES_SCHEMA) for part in (logs, *others)])
    return files.filter(pl.col("path").is_not_null()).sort("source_row", "use")


def _warnings(rows: pl.DataFrame) -> list[Oddity]:
    has_samples = pl.col(f"{Part.POWER}_path").is_not_null()
    odd = [
        ("value", "errors were logged beside a valid result", pl.col(ERRORS).is_not_null()),
        ("power", "samples that give no power", has_samples & pl.col("power").is_null()),
    ]
    return [
        Oddity(source_row, field, problem, path)
        for field, problem, is_odd in odd
        for source_row, path in rows.filter(is_odd).select("source_row", "run_path").rows()
    ]


def _without_result(rows: pl.DataFrame) -> list[Oddity]:
    """Return the directories of which no log gives a result, with what is at fault in it."""
    without = rows.filter(pl.col("problem").is_not_null()).select(
        "source_row",
        pl.coalesce("field", pl.lit("scenario")),
        "problem",
        pl.concat_str(pl.concat_str("shown", pl.lit(" in ")).fill_null(""), "run_path"),
    )
    return [Oddity(*row) for row in without.rows()]
