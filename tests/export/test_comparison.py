import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.export.attribution import NOT_VERIFIED, attribution_lines
from pipeline.export.comparison import compare
from pipeline.sources.choice import Bundle
from pipeline.sources.folder import Folder
from pipeline.warehouse.build import Plan
from pipeline.warehouse.layout import Warehouse
from tests.conftest import Roundtable, build_without_orchestrator
from tests.normalise.published_rows import official_row, official_table


def compared(bundled: Roundtable, *arguments: str) -> dict[str, Any]:
    done = bundled("compare", *arguments, "--format", "json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def published(folder: Path, *rows: dict[str, Any]) -> Warehouse:
    """Build a warehouse of 6.0 from rows that differ from an AMD one as given."""
    (folder / "published").mkdir()
    table = official_table(
        *(
            official_row(**{"ID": f"6.0-{n:04}", "Platform": f"p{n}", **row})
            for n, row in enumerate(rows, start=1)
        )
    )
    (folder / "published" / "inference-6.0.summary_results.json").write_bytes(table)
    home = folder / "home"
    build_without_orchestrator(home, Plan(Folder(folder), Bundle.NEVER))
    return Warehouse(home)


def test_accelerators_are_compared_as_vendor_ratios_says_in_the_latest_round_with_both(
    bundled: Roundtable,
) -> None:
    found = compared(bundled, "mi355x", "b200")
    assert (found["kind"], found["round_key"], found["is_latest"]) == (
        "accelerator",
        "inference-6.0",
        True,
    )
    query = (
        "select result_key_a, result_key_b, division_a, ratio_best, ratio_median, "
        "ratio_vendors_own, comparators, verdict_flips from vendor_ratios "
        f"where accelerator_a = '{found['a']}' and accelerator_b = '{found['b']}' "
        "and round_key = 'inference-6.0' order by all"
    )
    ratios = json.loads(bundled("query", query, "--format", "json").out)
    told = [{name: row[name] for name in ratios[0]} for row in found["comparisons"]]
    assert sorted(told, key=lambda row: (row["result_key_a"], row["result_key_b"])) == ratios
    assert {row["division_a"] for row in ratios} == {"closed", "open"}
    only_open = compared(bundled, "mi355x", "b200", "--division", "open")["comparisons"]
    assert {row["division_a"] for row in only_open} == {"open"}


def test_all_that_differs_between_the_two_best_results_is_said(bundled: Roundtable) -> None:
    rows = compared(bundled, "mi355x", "b200")["comparisons"]
    (row,) = [row for row in rows if row["benchmark"] == "wan-2.2-t2v-a14b"]
    assert [told.partition(": ")[0] for told in row["differences"]] == [
        "division",
        "precision",
        "submitter",
        "host",
        "software",
        "what keeps the open result from being closed is not in the tables",
    ]
    assert "precision: bf16,fp8 against fp32" in row["differences"]


def test_what_one_has_and_the_other_lacks_is_told(bundled: Roundtable) -> None:
    coverage = compared(bundled, "mi355x", "b200")["coverage"]
    by_benchmark = {row["benchmark"]: row for row in coverage}
    assert by_benchmark["gpt-oss-120b"]["only_b"] == ["Interactive"]
    gap = by_benchmark["deepseek-r1"]
    assert (gap["status_a"], gap["status_b"]) == ("gap", "covered")
    assert "llama2-70b" not in by_benchmark
    sizes = compared(bundled, "gb300", "mi355x")["sizes"]
    assert {"accelerators": 87, "nodes": 11} in sizes[-1]["sizes_b"]


def test_people_read_a_note_on_scores_from_logs_and_markdown_is_whole(bundled: Roundtable) -> None:
    training = ["compare", "mi355x", "b200", "--round", "training-5.1"]
    assert f"From submission logs. {NOT_VERIFIED}" in bundled(*training).out
    inference = bundled("compare", "mi355x", "b200", "--format", "markdown").out
    assert NOT_VERIFIED not in inference
    lines = inference.splitlines()
    assert lines[0].startswith("### AMD Instinct MI355X against NVIDIA B200-SXM, inference-6.0 (")
    header = next(line for line in lines if line.startswith("|  | category"))
    row = next(line for line in lines if line.startswith("| 1 | datacenter | gpt-oss-120b |"))
    assert header.count(" | ") == row.count(" | ")
    assert lines[-1] == attribution_lines()[-1]


def test_submitters_are_compared_on_the_same_accelerator_where_they_share_one(
    tmp_path: Path,
) -> None:
    b200 = {"Accelerator": "NVIDIA B200-SXM-180GB"}
    latency = {
        "Suite": "edge",
        "UsedModel": "resnet",
        "Model": "resnet",
        "Scenario": "SingleStream",
        "Performance_Units": "Latency (ms)",
    }
    warehouse = published(
        tmp_path,
        {"Performance_Result": 90.0},
        {"Performance_Result": 100.0},
        {"Performance_Result": 900.0, **b200},
        {"Performance_Result": 80.0, "Submitter": "Dell"},
        {"Performance_Result": 125.0, "Submitter": "Dell"},
        {"Performance_Result": 40.0, "Submitter": "Dell"},
        {"Performance_Result": 999.0, "Submitter": "Dell", "Category": "open"},
        {"Performance_Result": 10.0, "Scenario": "Server", **b200},
        {"Performance_Result": 20.0, "Scenario": "Server", "Submitter": "Dell"},
        {"Performance_Result": 2.0, **latency},
        {"Performance_Result": 3.0, "Submitter": "Dell", **latency},
    )
    found = compare(warehouse, "amd", "dell")
    names = ("scenario", "accelerator_a", "accelerator_b", "best_a", "ratio_best", "ratio_median")
    told = [tuple(row[name] for name in names) for row in found.comparisons]
    mi355x, nvidia = "AMD Instinct MI355X", "NVIDIA B200-SXM"
    assert told == [
        ("Offline", mi355x, mi355x, 100.0, pytest.approx(0.8), pytest.approx(1.25)),
        ("Server", nvidia, mi355x, 10.0, pytest.approx(0.5), pytest.approx(0.5)),
        ("SingleStream", mi355x, mi355x, 2.0, pytest.approx(1.5), pytest.approx(1.5)),
    ]
    assert [row["verdict_flips"] for row in found.comparisons] == [True, False, False]
    assert found.comparisons[0]["comparators"] == 3
    assert f"accelerator: {nvidia} against {mi355x}" in found.comparisons[1]["differences"]
