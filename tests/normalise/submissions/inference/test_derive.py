"""How the files of a tree become rows and rejects, with every fault known of submissions."""

import gzip
import io
import json
import tarfile
from hashlib import sha256

import pytest

from pipeline.errors import FileFault
from pipeline.normalise.submissions.inference.derive import read_inference
from pipeline.rounds import new_round
from tests.normalise.submissions.inference.trees import (
    COMMIT,
    RUN,
    archive,
    derive,
    detail,
    mllog,
    rejects,
    rows,
    summary,
)

DETAIL, SUMMARY = f"{RUN}/mlperf_log_detail.txt", f"{RUN}/mlperf_log_summary.txt"
GOOD = detail(result_samples_per_second=806.105)
GOOD_SUMMARY = summary("Offline", "VALID", "Samples per second: 806.11")


def test_a_row_says_all_that_its_submission_declares() -> None:
    system = {
        "submitter": "ORG Inc",
        "system_name": "Box (8x Chip)",
        "status": "available",
        "system_type": "datacenter",
        "accelerator_model_name": "Chip",
        "accelerators_per_node": 8,
        "number_of_nodes": "2",
        "host_processor_model_name": "CPU",
        "host_processors_per_node": 2,
        "framework": "Frame 1",
        "operating_system": "OS",
        "division": "open",
    }
    files = {
        "closed/Org/systems/box.json": json.dumps(system),
        DETAIL: GOOD,
        "closed/Org/results/box/resnet50/Offline/accuracy/accuracy.txt": (
            "accuracy=76.078%, good=38039, total=50000\nhash=1\n"
        ),
        "closed/Org/measurements/box/resnet50/Offline/cmd.json": '{"command": "run"}',
        "closed/Org/measurements/box/resnet50/Offline/box_TRT_Offline.json": (
            '{"weight_data_types": "int8"}'
        ),
    }
    derived = derive(files, "6.0")
    (row,) = derived.table.frame.to_dicts()
    assert row == {
        "source_row": 1,
        "entry_id": None,
        "submitter": "ORG Inc",
        "availability": "available",
        "division": "closed",
        "category": "datacenter",
        "system_name": "Box (8x Chip)",
        "platform": "box",
        "model_used": "resnet50",
        "benchmark": "resnet",
        "scenario": "Offline",
        "accuracy": "acc: 76.078",
        "nodes": "2",
        "processor": "CPU",
        "processors_per_node": "2",
        "accelerator": "Chip",
        "accelerators_per_node": "8",
        "total_accelerators": None,
        "location": RUN,
        "software": "Frame 1",
        "operating_system": "OS",
        "version": "6.0",
        "inferred": "0",
        "weight_data_types": "int8",
        "value": "806.105",
        "unit": "Samples/s",
        "power": None,
        "power_unit": None,
    }
    assert derived.commit == COMMIT
    assert [(row["use"], row["path"]) for row in derived.files.to_dicts()] == [
        ("accuracy", "closed/Org/results/box/resnet50/Offline/accuracy/accuracy.txt"),
        ("detail log", DETAIL),
        ("measurements", "closed/Org/measurements/box/resnet50/Offline/box_TRT_Offline.json"),
        ("system", "closed/Org/systems/box.json"),
    ]
    assert derived.files["sha256"][1] == sha256(GOOD.encode()).hexdigest()


def test_a_system_without_a_description_is_a_result_without_hardware() -> None:
    (row,) = rows({DETAIL: GOOD, "closed/Org/systems/Box.json": '{"number_of_nodes": 1}'})
    assert (row["value"], row["submitter"]) == ("806.105", "Org")
    hardware = ("accelerator", "accelerators_per_node", "nodes", "processor", "category")
    assert [row[field] for field in hardware] == [None] * 5


@pytest.mark.parametrize(
    "system", ["{", "[]", '"box"', "\ufeff{}", '{"accelerator_model_name": null}']
)
def test_a_description_that_cannot_be_read_costs_no_result(system: str) -> None:
    (row,) = rows({DETAIL: GOOD, "closed/Org/systems/box.json": system})
    assert (row["value"], row["accelerator"]) == ("806.105", None)


def test_odd_counts_and_names_are_kept_as_they_stand() -> None:
    odd = '{"accelerators_per_node": "(6,2)", "host_processors_per_node": "2 (big); 4 (LITTLE)", '
    odd += '"accelerator_model_name": "-", "number_of_nodes": 1.0, "framework": ["a", "b"]}'
    (row,) = rows({DETAIL: GOOD, "closed/Org/systems/box.json": odd})
    assert (row["accelerators_per_node"], row["accelerator"]) == ("(6,2)", "-")
    assert row["processors_per_node"] == "2 (big); 4 (LITTLE)"
    assert (row["nodes"], row["software"]) == ("1.0", "['a', 'b']")


@pytest.mark.parametrize("cut", ["", detail()[:60], mllog("loadgen_version", '"5.1"'), detail()])
def test_the_summary_serves_where_the_detail_log_is_missing_empty_or_cut(cut: str) -> None:
    derived = derive({DETAIL: cut, SUMMARY: GOOD_SUMMARY})
    assert derived.table.frame["value"].to_list() == ["806.11"]
    assert derived.files.select("use", "path").rows() == [("summary log", SUMMARY)]
    assert rows({SUMMARY: GOOD_SUMMARY})[0]["value"] == "806.11"


def test_the_detail_log_counts_where_both_are_there() -> None:
    for files in ({DETAIL: GOOD, SUMMARY: GOOD_SUMMARY}, {SUMMARY: GOOD_SUMMARY, DETAIL: GOOD}):
        assert rows(files)[0]["value"] == "806.105"


NOTHING = "the log says nothing of a result"


@pytest.mark.parametrize(
    ("log", "field", "problem", "shown"),
    [
        ("", "scenario", NOTHING, ""),
        ("1 ERROR encountered. See detailed log.\n", "scenario", "the run has errors", ""),
        (summary("Offline", "INVALID", "Samples per second: 5"), "result_samples_per_second",
         "the run is not valid", "INVALID in "),
        (summary("Offline", "VALID", "Result is : INVALID", "Samples per second: 5"),
         "result_samples_per_second", "the run is not valid", "INVALID and VALID in "),
        (summary("Offline", "VALID", "Samples per second: inf"), "result_samples_per_second",
         "no number above zero", "inf in "),
        (summary("Offline", "VALID", "Samples per second: 0"), "result_samples_per_second",
         "no number above zero", "0 in "),
        (summary("Offline", "VALID", "Samples per second: nan"), "result_samples_per_second",
         "no number above zero", "nan in "),
        (summary("Offline", "VALID"), "result_samples_per_second",
         "the log does not hold the field of the result", ""),
        ("Result is : VALID\nSamples per second: 5\n", "scenario",
         "the log does not say what scenario was run", ""),
    ],
)  # fmt: skip
def test_a_missing_valid_run_is_a_reject_with_its_reason(
    log: str, field: str, problem: str, shown: str
) -> None:
    assert rejects({SUMMARY: log}) == [(field, problem, f"{shown}{RUN}")]


@pytest.mark.parametrize(
    "log",
    [detail(validity="INVALID", result_samples_per_second=5), detail(result_samples_per_second=0)],
)
def test_no_summary_serves_for_a_detail_log_that_gives_no_result(log: str) -> None:
    assert len(rejects({DETAIL: log, SUMMARY: GOOD_SUMMARY})) == 1


def test_an_error_beside_valid_makes_a_run_invalid_from_1_0_on() -> None:
    log = GOOD + mllog("error_runtime", '"Ran out of queries"', is_error=True)
    for round_ in ("1.0", "6.0"):
        ((_, problem, _),) = rejects({DETAIL: log}, round_)
        assert problem == "the run has errors"
    warned = derive({SUMMARY: GOOD_SUMMARY + "1 ERROR encountered. See detailed log.\n"}, "0.7")
    assert warned.table.frame["value"].to_list() == ["806.11"]
    problems = [(odd.field, odd.problem) for odd in warned.table.warnings]
    assert problems == [("value", "errors were logged beside a valid result")]


def server_runs(*runs: tuple[int, str, float]) -> dict[str, str]:
    folder = "closed/Org/results/box/resnet/Server/performance"
    return {
        f"{folder}/run_{number}/mlperf_log_summary.txt": summary(
            "Server", validity, f"Scheduled samples per second : {value}"
        )
        for number, validity, value in runs
    }


def test_the_last_valid_of_five_server_runs_counts_up_to_0_7() -> None:
    five = [(number, "VALID", 100.0 + number) for number in (1, 5, 2, 3, 4)]
    assert rows(server_runs(*five), "0.7")[0]["value"] == "105.0"
    (row,) = rows(server_runs(*five[2:], (5, "INVALID", 105.0)), "0.5")
    assert (row["value"], row["location"][-5:]) == ("104.0", "run_4")
    assert rows(server_runs(*five), "1.0")[0]["value"] == "101.0"


def test_only_run_1_counts_elsewhere_and_without_it_there_is_no_result() -> None:
    second = {path.replace("run_1", "run_2"): log for path, log in {DETAIL: GOOD}.items()}
    accuracy = {"closed/Org/results/box/resnet50/Offline/accuracy/accuracy.txt": "accuracy=1%"}
    assert rejects(second | accuracy) == [
        ("scenario", "no run_1 in the scenario's folder", RUN),
    ]


def test_two_folders_of_one_scenario_are_two_rows_and_share_the_accuracy() -> None:
    accuracy = {"closed/Org/results/box/resnet50/Offline/accuracy/accuracy.txt": "accuracy=1.5%"}
    other = {DETAIL.replace("Offline", "offline"): GOOD}
    two = rows({DETAIL: GOOD} | other | accuracy)
    assert [(row["scenario"], row["accuracy"]) for row in two] == [("Offline", "acc: 1.5")] * 2
    assert [row["location"].split("/")[5] for row in two] == ["Offline", "offline"]


def test_rows_come_in_the_order_of_their_paths_whatever_the_archives() -> None:
    files = {DETAIL.replace("box", name): GOOD for name in ("b", "a", "c")}
    first, second = derive(files), derive(dict(reversed(files.items())))
    assert first.table.frame["platform"].to_list() == ["a", "b", "c"]
    assert first.table.frame.equals(second.table.frame)
    assert first.files.equals(second.files)


def test_rows_and_rejects_are_numbered_together() -> None:
    bad = detail(validity="INVALID", result_samples_per_second=5)
    logs = {"a": bad, "b": GOOD, "c": bad}
    derived = derive({DETAIL.replace("box", name): log for name, log in logs.items()})
    assert derived.table.frame["source_row"].to_list() == [2]
    assert [odd.source_row for odd in derived.table.rejects] == [1, 3]


def test_an_archive_without_a_result_is_no_archive_of_submissions() -> None:
    with pytest.raises(FileFault, match="no result in it"):
        derive({"training/Org/results/box/resnet/result_0.txt": ":::MLLOG {}"})


def test_an_archive_whose_results_are_all_refused_says_why(monkeypatch) -> None:
    monkeypatch.setattr("pipeline.sources.archives.MAX_MEMBER_BYTES", 10)
    with pytest.raises(FileFault, match=r"no result in it \(1 refused, the first: \d+ bytes, more"):
        derive({DETAIL: GOOD})


def test_of_a_log_that_stands_twice_neither_counts() -> None:
    packed = archive({DETAIL: GOOD, SUMMARY: GOOD_SUMMARY})
    inside = io.BytesIO(gzip.decompress(packed.read()))
    with tarfile.open(fileobj=inside, mode="a") as tar:
        member = tarfile.TarInfo(f"inference_results_v6.0-{COMMIT}/{DETAIL}")
        tar.addfile(member, io.BytesIO())
    derived = read_inference(
        io.BytesIO(gzip.compress(inside.getvalue())), "a.tar.gz", new_round("inference-6.0")
    )
    assert derived.table.frame["value"].to_list() == ["806.11"]
    assert [(odd.problem, odd.value) for odd in derived.table.rejects] == [
        ("stands twice in the archive", DETAIL)
    ]
