"""Every training round that has an archive, scored from its logs: golden values and counts.

Each test reads its archive once and asks it all.
"""

import csv
import math
from collections.abc import Iterator, Mapping
from functools import cache

import polars as pl
import pytest

from pipeline.normalise.submissions.derived import DerivedTable
from pipeline.normalise.submissions.training.derive import read_training
from pipeline.normalise.vocabulary import entries
from pipeline.rounds import known_rounds
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.skipif(not REAL_DATA.is_dir(), reason="no ../shared here")

ROUNDS = ("2.0", "3.0", "4.0", "4.1", "5.0", "5.1")
RUNS_READ = {"2.0": 2760, "3.0": 2771, "4.0": 2418, "4.1": 1309, "5.0": 1717, "5.1": 1669}
NOT_READ = {"4.0": 3, "4.1": 1, "5.1": 1}
"""Results whose logs are not in the archives at hand: sources.md section 2."""

SAME = {
    "division": "division",
    "submitter": "submitter",
    "system_name": "system_name",
    "benchmark": "benchmark",
    "availability": "availability",
    "accelerator": "accelerator",
    "software": "framework",
    "unit": "unit",
}
"""Raw fields, and the golden columns that they equal to the letter."""

NUMBERS = {
    "value": "value",
    "raw_minutes": "raw_minutes",
    "scaling_factor": "scaling_factor",
    "result_files": "result_files",
    "failed_runs": "failed_runs",
    "nodes": "number_of_nodes",  # "1.0" in two system files (F32)
    "accelerators_per_node": "accelerators_per_node",
}
"""Numbers, and the golden columns that they equal to 1e-9."""


@cache
def derived(round_: str) -> DerivedTable:
    name = f"training_results_v{round_}.tar.gz"
    with (REAL_DATA / "data" / "submissions" / name).open("rb") as stream:
        return read_training(stream, name, known_rounds()[f"training-{round_}"])


def golden(file: str, round_: str) -> Iterator[Mapping[str, str]]:
    with (REAL_DATA / "golden" / file).open(encoding="utf-8") as lines:
        yield from (
            line
            for line in csv.DictReader(lines)
            if line["round"] == round_ and line.get("suite", "training") == "training"
        )


def close(ours: str | float | None, expected: str) -> bool:
    return ours is not None and math.isclose(float(ours), float(expected), rel_tol=1e-9)


def scored(round_: str) -> pl.DataFrame:
    """Return each row with what its runs give, recomputed from them alone."""
    table, runs = derived(round_).table.frame, derived(round_).runs
    counted = pl.col("is_counted")
    given = runs.group_by("source_row").agg(
        result_files=pl.len(),
        failed_runs=pl.col("failure").count(),
        raw_minutes=pl.col("minutes").filter(counted).mean(),
        raw_joules=pl.when(pl.col("energy_joules").filter(counted).is_not_null().all()).then(
            pl.col("energy_joules").filter(counted).mean()
        ),
        scaling_factor=pl.col("scaling_factor").first(),
    )
    directory = pl.col("location").str.split("/").list
    return table.join(given, on="source_row").with_columns(
        submitter_directory=directory.get(1), parts=directory.len()
    )


def golden_faults(round_: str) -> list[tuple[str, ...]]:
    """Return the visible golden rows that do not hold, and in what."""
    key = ("submitter_directory", "platform", "model_used")
    ours = {tuple(row[part] for part in key): row for row in scored(round_).rows(named=True)}
    faults: list[tuple[str, ...]] = []
    for line in golden("training_values.csv", round_):
        place = (line["submitter_dir"], line["system_dir"], line["benchmark"])
        row = ours.get(place, {})
        wrong = [name for name, column in SAME.items() if (row.get(name) or "") != line[column]]
        wrong += [
            name for name, column in NUMBERS.items() if not close(row.get(name), line[column])
        ]
        if line["energy_j"]:
            wrong += ["power"] * (not close(row.get("power"), line["energy_j"]))
        else:
            wrong += ["power"] * (row.get("power") is not None)
        faults += [(*place, name) for name in wrong]
    return faults


def counts_by_division(round_: str) -> dict[str, tuple[int, ...]]:
    """Return rows, submitters, systems, benchmark directories and rows with power.

    Systems count that have no other result than one whose logs are not at hand.
    """
    unread = {
        (line["submitter_directory"], line["platform"])
        for line in entries("unread_results")
        if line["round_key"] == f"training-{round_}"
    }
    others = len(unread - set(scored(round_).select("submitter_directory", "platform").rows()))
    counted = (
        scored(round_)
        .group_by("division")
        .agg(
            pl.len(),
            submitters=pl.col("submitter_directory").n_unique(),
            systems=pl.struct("submitter_directory", "platform").n_unique(),
            benchmarks=pl.col("model_used").n_unique(),
            with_power=pl.col("power").count(),
        )
    )
    return {
        division: (rows, submitters, systems + others * (division == "closed"), *more)
        for division, rows, submitters, systems, *more in counted.rows()
    }


@pytest.mark.parametrize("round_", ROUNDS)
def test_every_visible_golden_value_and_count_holds(round_: str) -> None:
    assert golden_faults(round_) == []
    columns = (
        "rows_from_logs",
        "submitters",
        "systems",
        "benchmarks_as_written",
        "rows_with_power",
    )
    lines = list(golden("counts.csv", round_))
    assert counts_by_division(round_) == {
        line["division"]: tuple(int(line[column]) for column in columns) for line in lines
    }
    table = derived(round_).table
    not_read = [odd.problem for odd in table.rejects if odd.problem.startswith("not read")]
    assert len(not_read) == len(table.rejects) == NOT_READ.get(round_, 0)
    assert table.rows == sum(int(line["rows_published"]) for line in lines)
    assert table.warnings == []


@pytest.mark.parametrize("round_", ROUNDS)
def test_every_score_and_energy_can_be_computed_again_from_the_runs_told(round_: str) -> None:
    rows = scored(round_)
    assert rows["parts"].unique().to_list() == [5]
    assert rows.height == derived(round_).table.frame.height
    for row in rows.rows(named=True):
        factor = row["scaling_factor"]
        assert close(row["value"], repr(row["raw_minutes"] * factor)), row["location"]
        if row["power"] is not None:
            assert close(row["power"], repr(row["raw_joules"] * factor)), row["location"]
    runs = derived(round_).runs
    assert runs.height == RUNS_READ[round_]
    assert runs.select("log").is_unique().all()
    dropped = runs.filter(pl.col("failure").is_not_null())["dropped_as"].unique().to_list()
    assert dropped == ["failed"]
    assert (runs["is_counted"] == runs["dropped_as"].is_null()).all()


def test_the_failed_runs_of_all_rounds_are_those_that_are_known() -> None:
    """F29: 96 files in 91 sets; F27: three malformed; F28: one of a long initialisation."""
    runs = pl.concat(derived(round_).runs.with_columns(round=pl.lit(round_)) for round_ in ROUNDS)
    failed = runs.filter(pl.col("failure").is_not_null())
    assert failed.height == 96
    assert failed.select("round", "source_row").unique().height == 91
    by_status = dict(failed.group_by("status").len().rows())
    assert (by_status["aborted"], by_status["abort"]) == (81, 1)
    assert (
        failed.filter(pl.col("failure").str.contains("malformed"))["round"].to_list() == ["4.1"] * 3
    )
    assert failed.filter(pl.col("failure").str.contains("initialis"))["round"].to_list() == ["5.0"]
    assert failed.filter(pl.col("failure").str.starts_with("no run_stop")).height == 10
