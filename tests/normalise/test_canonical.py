from collections.abc import Mapping
from datetime import date
from functools import cache

import pytest

from pipeline.normalise.figures import Figures
from tests.normalise.published_rows import (
    checker,
    checker_row,
    official,
    official_row,
    only_result,
    without,
)

MI355X = "AMD Instinct MI355X 288GB HBM3e"


def each(
    field: str, *changes: Mapping[str, object], round_key: str = "inference-6.0"
) -> list[object]:
    """Return a field of the results of rows that each have a platform of their own."""
    rows = [official_row(**{"Platform": f"P{n}", **change}) for n, change in enumerate(changes)]
    figures = official(*rows, round_key=round_key)
    assert figures.rejects.is_empty()
    return figures.results[field].to_list()


def test_a_row_becomes_one_canonical_result() -> None:
    result = only_result(official(official_row(**{"Total Accelerators": 8})))
    expected = {
        "suite": "inference",
        "round": "6.0",
        "round_key": "inference-6.0",
        "released_on": date(2026, 4, 1),
        "division": "closed",
        "category": "datacenter",
        "availability": "available",
        "deployment": None,
        "entry_id": "6.0-0001",
        "submitter": "AMD",
        "submitter_directory": "AMD",
        "organisations": ["AMD"],
        "accelerator": "AMD Instinct MI355X",
        "accelerator_as_published": MI355X,
        "accelerator_vendor": "AMD",
        "accelerator_memory_gb": 288,
        "benchmark": "llama2-70b",
        "benchmark_family": "llama2-70b",
        "accuracy_target": "99",
        "benchmark_as_published": "llama2-70b-99",
        "scenario": "Offline",
        "metric": "throughput",
        "value": 100.5,
        "unit": "tokens/s",
        "lower_is_better": False,
        "value_per_accelerator": 100.5 / 8,
        "is_withdrawn": False,
        "source_kind": "published table",
        "source_url": "https://there.test/summary_results.json",
        "source_commit": None,
    }
    assert {field: result[field] for field in expected} == expected


COUNTS: list[tuple[dict[str, object], tuple[int | None, ...]]] = [
    ({"Nodes": 4, "a#": 4}, (4, 4, 16, 16)),
    (
        {"Nodes": 11, "Accelerator": f"{MI355X} (x87)", "Total Accelerators": 88},
        (11, 8, 88, 87),
    ),
    ({"Nodes": 12, "Accelerator": f"{MI355X} (x94)"}, (12, 8, 96, 94)),
    ({"Nodes": 1, "Accelerator": f"{MI355X} (x4)"}, (1, 8, 8, 8)),
    (
        {"a#": 4, "Total Accelerators": 8, "Accelerator": f"{MI355X} (x6)"},
        (1, 4, 8, 8),
    ),
    ({"Nodes": 2, "Accelerator": f"{MI355X} (x8)"}, (2, 8, 16, 16)),
    ({"Nodes": 2, "Accelerator": f"{MI355X} (x87)"}, (2, 8, 16, 16)),
    ({"Nodes": 72, "a#": 4, "System": "72x GB300"}, (72, 4, 288, 288)),
    ({"a#": 8.0}, (1, 8, 8, 8)),
    ({"a#": "8", "Nodes": 2.0}, (2, 8, 16, 16)),
    ({"a#": "(6,2)"}, (1, None, None, None)),
    ({"a#": "N/A"}, (1, None, None, None)),
    ({"a#": "", "Accelerator": "Intel(R) Arc(TM) 140T GPU"}, (1, None, None, None)),
    ({"a#": 0}, (1, 0, 0, None)),
    ({"a#": "", "Accelerator": ""}, (1, 0, 0, 0)),
    ({"a#": "", "Accelerator": "N/A"}, (1, 0, 0, 0)),
    ({"a#": "N/A", "Accelerator": "-"}, (1, 0, 0, 0)),
]


@cache
def counts() -> list[tuple[int | None, ...]]:
    fields = ("nodes", "accelerators_per_node", "accelerators_as_published", "accelerators")
    rows = [official_row(**{"Platform": f"P{n}", **c}) for n, (c, _) in enumerate(COUNTS)]
    return official(*rows).results.select(fields).rows()


@pytest.mark.parametrize(("row", "case"), list(enumerate(COUNTS)))
def test_accelerators_are_counted_as_they_ran(
    row: int, case: tuple[dict[str, object], tuple[int | None, ...]]
) -> None:
    assert counts()[row] == case[1]


def test_a_mixed_system_has_a_total_and_no_value_per_accelerator() -> None:
    name = f"AMD Instinct MI325X 256GB HBM3E (x16), {MI355X} (x8)"
    result = only_result(official(official_row(**{"Accelerator": name, "Nodes": 3, "a#": 8})))
    assert (result["accelerators"], result["is_heterogeneous"]) == (24, True)
    assert result["value_per_accelerator"] is None


def test_there_is_no_value_per_accelerator_without_a_count() -> None:
    uncounted = ({"Accelerator": "", "a#": ""}, {"a#": "N/A"}, {"a#": 0})
    assert each("value_per_accelerator", *uncounted) == [None] * 3


@pytest.mark.parametrize("flag", [0, 1])
def test_the_inferred_flag_counts_only_in_rounds_where_it_can_be_trusted(flag: int) -> None:
    rows = [
        {"Suite": suite, "inferred": flag} for suite in ("datacenter", "edge", "datacenter,edge")
    ]
    assert each("is_inferred", *rows, round_key="inference-5.1") == [bool(flag)] * 3
    for untrusted in ("inference-6.0", "inference-9.9"):
        assert each("is_inferred", *rows, round_key=untrusted) == [False, None, None]


def test_an_inferred_flag_that_is_missing_is_not_known() -> None:
    figures = official(without(official_row(), "inferred"), round_key="inference-5.1")
    assert only_result(figures)["is_inferred"] is None


@pytest.mark.parametrize(
    "location",
    [
        "closed/AMD/results/8xMI355X_2xEPYC_9575F/llama2-70b-99/Offline",
        "./closed/AMD/results/8xMI355X_2xEPYC_9575F/llama2-70b-99/Offline/performance/run_1",
        " ./closed/AMD/results/8xMI355X_2xEPYC_9575F/llama2-70b-99/Offline ",
    ],
)
def test_the_submitters_directory_is_read_from_the_location(location: str) -> None:
    figures = official(official_row(Location=location, Submitter="Advanced Micro"))
    assert only_result(figures)["submitter_directory"] == "AMD"
    assert set(figures.warnings["field"]) == {"submitter"}


@pytest.mark.parametrize("location", ["", None, "closed"])
def test_without_a_location_the_submitters_name_stands_for_its_directory(location: object) -> None:
    result = only_result(official(official_row(Location=location, Submitter="Dell_MangoBoost")))
    assert result["submitter_directory"] == "Dell_MangoBoost"
    assert result["organisations"] == ["Dell", "MangoBoost"]


def test_an_entry_id_has_no_leading_v() -> None:
    published = ("6.0-0001", "v6.0-0001", " v6.0-0001 ", "")
    ids = each("entry_id", *({"ID": text} for text in published))
    assert ids == ["6.0-0001", "6.0-0001", "6.0-0001", None]


def test_a_system_of_both_categories_is_one_row_of_both() -> None:
    published = ("datacenter,edge", "Datacenter, Edge", "edge,datacenter", "edge,edge,datacenter")
    categories = each("category", *({"Suite": text} for text in published))
    assert categories == ["datacenter,edge"] * 4


def test_a_scenario_is_known_in_any_case() -> None:
    edge = {"Suite": "edge", "Model": "resnet", "Performance_Units": "Latency (ms)"}
    published = ("SingleStream", "singlestream", " SINGLESTREAM ")
    scenarios = each("scenario", *({**edge, "Scenario": text} for text in published))
    assert scenarios == ["SingleStream"] * 3


def test_availability_is_one_of_three_or_kept() -> None:
    spellings = {
        "available": "available",
        "Preview ": "preview",
        "RDI": "rdi",
        "Research, Development, or Internal": "rdi",
        "On Order": "On Order",
        "": None,
    }
    found = each("availability", *({"Availability": text} for text in spellings))
    assert found == list(spellings.values())


def test_a_benchmark_without_a_name_is_called_by_its_directory() -> None:
    unnamed = [{"Model": text} for text in ("", " ", None)]
    assert each("benchmark", *unnamed) == ["llama2-70b"] * 3
    assert each("benchmark_as_published", *unnamed) == ["llama2-70b-99"] * 3


def test_names_are_plain_and_blank_ones_are_null() -> None:
    row = official_row(System=" (4x\u202fGB200\u2011186GB)", Software=" ", Accuracy="")
    result = only_result(official(row))
    assert result["system_name"] == "(4x GB200-186GB)"
    assert (result["software"], result["accuracy"]) == (None, None)


def test_the_round_comes_from_the_data_and_an_unknown_model_is_kept_and_listed() -> None:
    row = checker_row(MlperfModel="llama9", Model="llama9")
    figures: Figures = checker(row, round_key="inference-5.0")
    result = only_result(figures)
    assert (result["round"], result["benchmark"], result["benchmark_family"]) == (
        "5.0",
        "llama9",
        "llama9",
    )
    assert figures.warnings.select("field", "value_as_published").rows() == [
        ("benchmark", "llama9")
    ]
