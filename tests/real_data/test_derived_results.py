"""Every round that has an archive, derived from its logs: golden values, counts, published tables.

Each test reads its archive once and asks it all, since reading is what costs.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from functools import cache

import polars as pl
import pytest

from pipeline.normalise.submissions.derived import DerivedTable
from pipeline.normalise.submissions.inference.derive import read_inference
from pipeline.normalise.submissions.inference.tree import LOGS
from pipeline.rounds import known_rounds
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.skipif(not REAL_DATA.is_dir(), reason="no ../shared here")

ROUNDS = ("0.5", "0.7", "1.0", "2.0", "3.0", "4.1", "5.1", "6.0")
KEY = ("division", "directory", "platform", "model_used", "scenario")


@cache
def derived(round_: str) -> DerivedTable:
    name = f"inference_results_v{round_}.tar.gz"
    with (REAL_DATA / "data" / "submissions" / name).open("rb") as stream:
        return read_inference(stream, name, known_rounds()[f"inference-{round_}"])


def frame(round_: str) -> pl.DataFrame:
    directory = pl.col("location").str.split("/").list.get(1)
    return derived(round_).table.frame.with_columns(directory=directory)


def golden(file: str, round_: str) -> Iterator[Mapping[str, str]]:
    with (REAL_DATA / "golden" / file).open(encoding="utf-8") as lines:
        yield from (
            line
            for line in csv.DictReader(lines)
            if line["round"] == round_ and line.get("suite", "inference") == "inference"
        )


def close(ours: str | None, expected: float) -> bool:
    return ours is not None and abs(float(ours) - expected) <= 1e-9 * abs(expected)


def golden_faults(round_: str) -> list[tuple[str, str]]:
    """Return the run paths of the visible golden rows that do not hold, and in what."""
    ours = {row["location"]: row for row in frame(round_).rows(named=True)}
    same = ("unit", "inferred", "benchmark", "availability", "accelerator", "nodes", "category")
    same += ("accelerators_per_node", "processor", "processors_per_node", "system_name", "scenario")
    faults = []
    for line in golden("inference_values.csv", round_):
        row = ours.get(line["run_path"], {})
        wrong = [name for name in same if (row.get(name) or "") != line[name]]
        wrong += ["value"] * (not close(row.get("value"), float(line["value"])))
        if row.get("power") and line["power"]:
            wrong += ["power"] * (not close(row["power"], float(line["power"])))
            wrong += ["power_unit"] * (row["power_unit"] != line["power_unit"])
        faults += [(line["run_path"], name) for name in wrong]
    return faults


def counts_by_category(round_: str) -> dict[tuple[str, ...], tuple[int, ...]]:
    """Return rows, submitters, systems, model directories and inferred rows."""
    counted = (
        frame(round_)
        .group_by("division", pl.col("category").fill_null(""))
        .agg(
            pl.len(),
            submitters=pl.col("directory").n_unique(),
            systems=pl.struct("directory", "platform").n_unique(),
            models=pl.col("model_used").n_unique(),
            inferred=(pl.col("inferred") == "1").sum(),
        )
    )
    return {row[:2]: row[2:] for row in counted.rows()}


@pytest.mark.parametrize("round_", ROUNDS)
def test_every_visible_golden_value_and_count_holds(round_: str) -> None:
    assert golden_faults(round_) == []
    columns = ("rows_from_logs", "submitters", "systems", "benchmarks_as_written", "inferred_rows")
    assert counts_by_category(round_) == {
        (line["division"], line["category"]): tuple(int(line[column]) for column in columns)
        for line in golden("counts.csv", round_)
    }
    assert frame(round_).select(KEY).is_unique().all()
    assert derived(round_).table.rejects == [] or round_ == "0.5"
    files = derived(round_).files
    logs = files.filter(pl.col("use").is_in(list(LOGS)))
    assert logs["source_row"].to_list() == derived(round_).table.frame["source_row"].to_list()
    assert files["sha256"].str.len_bytes().unique().to_list() == [64]
    # The archives at hand keep the samples of three runs a round, from 1.0 to 5.1.
    assert frame(round_)["power"].count() == (0 if round_ in ("0.5", "0.7", "6.0") else 3)


@pytest.mark.parametrize(("round_", "summaries"), [("4.1", 0), ("5.1", 12), ("6.0", 6)])
def test_every_published_value_is_derived(round_: str, summaries: int) -> None:
    published = REAL_DATA / "data" / "published" / f"inference-{round_}.summary_results.json"
    table = json.loads(published.read_text(encoding="utf-8"))
    ours = {tuple(row[part] for part in KEY): row for row in frame(round_).rows(named=True)}
    unequal, extra = [], set(ours)
    for line in table:
        division, directory = line["Location"].removeprefix("./").split("/")[:2]
        key = (division, directory, line["Platform"], line["UsedModel"], line["Scenario"])
        row = ours.get(key, dict.fromkeys(("value", "benchmark", "accuracy", "weight_data_types")))
        same = [
            close(row["value"], line["Performance_Result"]),
            row["benchmark"] == line["Model"],
            row["accuracy"] == line["Accuracy"],
            row["weight_data_types"] == line["weight_data_types"],
        ]
        extra.discard(key)
        unequal += [] if all(same) else [(key, same)]
    assert unequal == []
    filtered = "GATEOverflow_Intel_SPR_i9-reference-gpu-pytorch_v2.2.2-cu126"
    only_of_5_1 = {("open", "GATEOverflow", filtered, "pointpainting", "Offline")}
    assert extra == (only_of_5_1 if round_ == "5.1" else set())
    served = derived(round_).files.filter(use="summary log")
    assert served.height == summaries


def test_the_five_runs_of_a_server_and_the_rejects_of_0_5_are_told() -> None:
    server = frame("0.5").filter(scenario="Server")["location"].str.slice(-5)
    assert set(server) <= {f"run_{number}" for number in range(1, 6)}
    assert "run_5" in set(server)
    assert [(odd.problem, odd.value.split("/")[1]) for odd in derived("0.5").table.rejects] == [
        ("no run_1 in the scenario's folder", submitter)
        for submitter in ("Intel", "Intel", "Tencent", "Tencent", "Tencent", "Tencent")
    ]
