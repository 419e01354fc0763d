"""The published tables as normalised: golden values, counts, and every fault known of a table."""

import csv
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import polars as pl
import pytest

from pipeline.normalise.figures import Figures
from pipeline.normalise.round import round_figures
from pipeline.rounds import rounds_by_key
from pipeline.sources.folder import Folder
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.skipif(not REAL_DATA.is_dir(), reason="no ../shared here")

ROUNDS = ("4.1", "5.0", "5.1", "6.0", "6.1")
WITH_GOLDEN = ("4.1", "5.1", "6.0")
UNITS = {
    "Tokens/s": ("tokens/s", 1),
    "Samples/s": ("samples/s", 1),
    "Queries/s": ("queries/s", 1),
    "Latency (ms)": ("ms", 1),
    "Latency (s)": ("ms", 1000),
}


@cache
def figures(round_: str) -> Figures:
    folder = Folder(REAL_DATA / "data")
    key = f"inference-{round_}"
    return round_figures(folder.files(key), rounds_by_key({key})[key])


def results(round_: str, **equal: object) -> pl.DataFrame:
    frame = figures(round_).results
    return frame.filter(**equal) if equal else frame


def entry(round_: str, *numbers: int) -> pl.DataFrame:
    ids = [f"{round_}-{number:04}" for number in numbers]
    return results(round_).filter(pl.col("entry_id").is_in(ids))


def golden(round_: str) -> Iterator[Mapping[str, str]]:
    with (REAL_DATA / "golden" / "inference_values.csv").open(encoding="utf-8") as file:
        yield from (line for line in csv.DictReader(file) if line["round"] == round_)


def close(ours: Any, expected: float) -> bool:
    return ours is not None and abs(ours - expected) <= 1e-9 * abs(expected)


@pytest.mark.parametrize("round_", WITH_GOLDEN)
def test_every_visible_golden_row_holds(round_: str) -> None:
    key = ("division", "submitter_directory", "platform", "model_used", "scenario")
    ours = {tuple(row[part] for part in key): row for row in results(round_).rows(named=True)}
    assert len(ours) == results(round_).height
    lines = list(golden(round_))
    assert lines
    wrong = [
        (line, found)
        for line in lines
        for found in [ours.get(_golden_key(line))]
        if found is None or not _agrees(found, line)
    ]
    assert wrong == []


def _golden_key(line: Mapping[str, str]) -> tuple[str, ...]:
    columns = ("division", "submitter", "platform", "benchmark_raw", "scenario")
    return tuple(line[column] for column in columns)


def _agrees(row: Mapping[str, Any], line: Mapping[str, str]) -> bool:
    unit, factor = UNITS[line["unit"]]
    inferred = row["is_inferred"]
    per_node = line["accelerators_per_node"]
    return (
        close(row["value"], float(line["value"]) * factor)
        and row["unit"] == unit
        and row["unit_as_published"] == line["published_unit"]
        and row["availability"] == line["availability"].lower()
        and row["category"] == line["category"]
        and row["entry_id"] == line["result_id"].removeprefix("v")
        and row["benchmark_as_published"] == line["benchmark"]
        and row["nodes"] == int(line["nodes"])
        and (row["accelerators_per_node"] or 0) == (int(per_node) if per_node.isdigit() else 0)
        and (inferred == (line["inferred"] == "1") or (inferred is None and row["round"] == "6.0"))
        and _agrees_on_power(row, line)
    )


def _agrees_on_power(row: Mapping[str, Any], line: Mapping[str, str]) -> bool:
    ours = (row["power_watts"], row["energy_joules"])
    if not line["power"]:
        return ours == (None, None)
    power = float(line["power"])
    if line["power_unit"] == "Watts":
        return close(ours[0], power) and ours[1] is None
    return close(ours[1], power / 1000) and ours[0] is None


@pytest.mark.parametrize(
    ("round_", "rows", "measurements", "copies", "powered"),
    [("4.1", 937, 0, 151, 31), ("5.0", 914, 19, 214, 19), ("5.1", 1448, 0, 92, 24)]
    + [("6.0", 520, 0, 67, 0), ("6.1", 24, 0, 0, 0)],
)
def test_each_round_has_its_rows_measurements_copies_and_power(
    round_: str, rows: int, measurements: int, copies: int, powered: int
) -> None:
    table = figures(round_).sources.filter(kind="published table").row(0, named=True)
    assert (table["results"], table["measurements"], table["rejects"]) == (rows, measurements, 0)
    assert results(round_)["is_accuracy_copy"].sum() == copies
    power = pl.coalesce("power_watts", "energy_joules")
    assert results(round_).select(power.count()).item() == powered


@pytest.mark.parametrize("round_", ["4.1", "5.0", "5.1", "6.0"])
def test_each_division_and_category_has_its_rows_submitters_and_systems(round_: str) -> None:
    ours = {
        (row["division"], row["category"]): (row["rows"], row["submitters"], row["systems"])
        for row in results(round_)
        .group_by("division", "category")
        .agg(
            rows=pl.len(),
            submitters=pl.col("submitter_as_published").n_unique(),
            systems=pl.struct("submitter_as_published", "platform").n_unique(),
        )
        .rows(named=True)
    }
    with (REAL_DATA / "golden" / "counts.csv").open(encoding="utf-8") as file:
        expected = {
            (line["division"], line["category"]): (
                int(line["rows_published"]) - (int(line["rows_with_power"]) * (round_ == "5.0")),
                int(line["submitters"]),
                int(line["systems"]),
            )
            for line in csv.DictReader(file)
            if (line["suite"], line["round"]) == ("inference", round_)
        }
    assert ours == expected


@pytest.mark.parametrize("round_", ROUNDS)
def test_nothing_is_rejected_and_every_name_is_known(round_: str) -> None:
    assert figures(round_).rejects.is_empty()
    assert figures(round_).warnings.filter(pl.col("known_as").is_null()).is_empty()
    nulls = results(round_).select(
        *("submitter", "submitter_directory", "benchmark", "scenario", "unit", "category"),
        *("availability", "nodes", "value", "division", "metric"),
    )
    assert sum(nulls.null_count().row(0)) == 0


def test_two_systems_of_one_name_stay_two_results() -> None:
    assert entry("6.0", 51, 52).filter(model_used="llama2-70b-99", scenario="Offline").select(
        "entry_id", "value"
    ).sort("entry_id").rows() == [("6.0-0051", 6862.3), ("6.0-0052", 6901.9)]
    assert [entry("6.0", number).height for number in (44, 45)] == [3, 9]


def test_the_table_keeps_tokens_where_the_page_shows_samples() -> None:
    row = entry("6.0", 7).filter(benchmark="llama3.1-8b", scenario="Offline")
    assert row.select("value", "unit").rows() == [(806.105, "tokens/s")]


@pytest.mark.parametrize(
    ("round_", "match", "rows"),
    [
        ("5.1", {"benchmark": "whisper"}, 37),
        ("6.0", {"benchmark": "whisper"}, 37),
        ("5.1", {"benchmark": "llama3.1-8b", "scenario": "Interactive"}, 8),
        ("4.1", {"model_used": "neuralmagic_Llama-2-7b-chat-hf-FP8"}, 5),
    ],
)
def test_rows_under_a_wrong_label_are_tokens_per_second(
    round_: str, match: dict[str, str], rows: int
) -> None:
    frame = results(round_, **match)
    corrected = frame.filter(pl.col("unit_as_published") != "Tokens/s")
    assert (corrected.height, frame["unit"].unique().to_list()) == (rows, ["tokens/s"])


def test_no_other_label_is_corrected() -> None:
    corrected = {
        round_: results(round_)
        .filter(pl.col("unit_as_published").str.to_lowercase() != pl.col("unit"))
        .filter(pl.col("metric") == "throughput")
        .height
        for round_ in ROUNDS
    }
    assert corrected == {"4.1": 5, "5.0": 0, "5.1": 45, "6.0": 37, "6.1": 0}


def test_the_two_odd_clusters_count_what_really_ran() -> None:
    counts = entry("6.0", 1, 3).select("entry_id", "accelerators", "accelerators_as_published")
    assert counts.unique().sort("entry_id").rows() == [("6.0-0001", 87, 88), ("6.0-0003", 94, 96)]


@pytest.mark.parametrize(
    ("number", "nodes", "accelerators"), [(76, 72, 288), (79, 1, 1), (82, 2, 8), (94, 1, 8)]
)
def test_no_count_is_read_from_a_systems_name(number: int, nodes: int, accelerators: int) -> None:
    round_ = "5.1" if number == 94 else "6.0"
    counts = entry(round_, number).select("nodes", "accelerators").unique().rows()
    assert counts == [(nodes, accelerators)]


def test_the_inferred_flag_of_round_6_0_says_nothing() -> None:
    flags = results("6.0").group_by("category").agg(pl.col("is_inferred").unique()).rows()
    assert sorted(flags) == [("datacenter", [False]), ("edge", [None])]
    assert results("5.1")["is_inferred"].sum() == 536


def test_names_with_special_blanks_and_hyphens_are_plain() -> None:
    names = entry("5.1", 70, 71, 83, 93, 94).select("system_name", "processor", "operating_system")
    text = "".join(name or "" for row in names.rows() for name in row)
    assert not set(text) & set("\u2011\u202f\u00a0")
    assert entry("5.1", 70)["system_name"][0].startswith("(4x GB200")


def test_only_cpu_systems_lack_an_accelerator() -> None:
    blank = results("5.1").filter(pl.col("accelerators_per_node").is_null())
    assert blank["entry_id"].unique().to_list() == ["5.1-0387"]
    assert blank["accelerator"].unique().to_list() == ["Intel Arc 140T"]
    cpu_only = [results(round_).filter(pl.col("accelerator").is_null()) for round_ in ROUNDS]
    assert [frame.height for frame in cpu_only] == [110, 50, 877, 33, 0]
    assert all((frame["accelerators"] == 0).all() for frame in cpu_only)


def test_mixed_systems_have_several_products_and_no_value_for_each() -> None:
    mixed = pl.concat(results(round_, is_heterogeneous=True) for round_ in ROUNDS)
    assert mixed["entry_id"].unique().sort().to_list() == ["5.1-0065", "5.1-0091", "6.0-0031"]
    assert mixed["accelerator"].str.starts_with("heterogeneous: AMD").all()
    assert mixed["value_per_accelerator"].null_count() == mixed.height


def test_the_interactive_benchmark_of_round_5_0_is_a_scenario_on_server_only() -> None:
    named = results("5.0").filter(pl.col("model_used").str.contains("interactive"))
    found = named.select("benchmark", "scenario").unique().sort("benchmark").rows()
    assert found == [("llama2-70b", "Interactive"), ("llama2-70b-interactive", "Offline")]


def test_latency_in_seconds_is_told_in_milliseconds() -> None:
    seconds = results("6.0", unit_as_published="Latency (s)")
    assert seconds.height == 9
    assert seconds["unit"].unique().to_list() == ["ms"]
    ratio = seconds["value"] / seconds["value_as_published"].cast(pl.Float64)
    assert ((ratio - 1000).abs() < 1e-9).all()
