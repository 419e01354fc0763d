"""How the files of a tree become rows and rejects, with every fault known of submissions."""

import gzip
import io
from hashlib import sha256

import pytest

from pipeline.errors import FileFault
from pipeline.normalise.submissions.archive import read_archive
from pipeline.normalise.submissions.derived import RUNS_SCHEMA
from pipeline.normalise.submissions.training import derive as training
from pipeline.normalise.vocabulary import entries
from pipeline.rounds import new_round
from tests.normalise.submissions.inference.trees import COMMIT, archive
from tests.normalise.submissions.training.trees import (
    DIRECTORY,
    SYSTEM,
    derive,
    log,
    record,
    reject,
    row,
    runs,
    system,
    tree,
)


def test_a_row_says_all_that_its_submission_declares() -> None:
    described = {
        "submitter": "ORG Inc",
        "division": "closed",
        "status": "Available on-premise",
        "system_name": "Box (8x Chip)",
        "system_type": "datacenter",
        "number_of_nodes": "2",
        "host_processor_model_name": "CPU",
        "host_processors_per_node": "2",
        "accelerator_model_name": "Chip",
        "accelerators_per_node": 8,
        "framework": "Frame 1",
        "operating_system": "OS",
    }
    files = tree(log(10), **described) | {f"{DIRECTORY}/scaling.json": '{"scaling_factor": 2}'}
    derived = derive(files)
    (only,) = derived.table.frame.to_dicts()
    assert only.pop("power_unit") is None
    assert only == {
        "source_row": 1,
        "entry_id": None,
        "submitter": "ORG Inc",
        "availability": "Available on-premise",
        "division": "closed",
        "category": None,
        "system_name": "Box (8x Chip)",
        "platform": "box",
        "model_used": "resnet",
        "benchmark": "resnet",
        "scenario": None,
        "accuracy": None,
        "nodes": "2",
        "processor": "CPU",
        "processors_per_node": "2",
        "accelerator": "Chip",
        "accelerators_per_node": "8",
        "total_accelerators": None,
        "location": "closed/Org/results/box/resnet",
        "software": "Frame 1",
        "operating_system": "OS",
        "version": "5.0",
        "inferred": "0",
        "weight_data_types": None,
        "value": "60.0",
        "unit": "minutes",
        "power": None,
    }
    assert derived.commit == COMMIT
    used = derived.files
    assert set(used["path"]) == set(files)
    assert used["source_row"].unique().to_list() == [1]
    assert used["run_path"].unique().to_list() == [DIRECTORY]
    assert used.filter(path=SYSTEM)["sha256"].to_list() == [
        sha256(str(files[SYSTEM]).encode()).hexdigest()
    ]
    giving = used.filter("gives_value")["path"].to_list()
    assert {f"{DIRECTORY}/result_{number:02}.txt" for number in range(5)} <= set(giving)
    assert SYSTEM not in giving
    assert dict(derived.runs.schema) == dict(RUNS_SCHEMA)
    assert derived.runs["log"].to_list() == sorted(derived.runs["log"].to_list())
    assert derived.runs["sha256"][0] == sha256(log(10).encode()).hexdigest()


def test_submitter_and_platform_come_from_path_and_system_file_and_never_from_the_log() -> None:
    claims = "".join(
        record(f"submission_{name}", 5, f'"{value}"')
        for name, value in (
            ("org", "SUBMISSION_ORG_PLACEHOLDER"),
            ("platform", "reference_implementation"),
            ("status", "cloud"),
            ("division", "open"),
            ("benchmark", "bert"),
        )
    )
    only = row(tree(log(10, lines=claims), status="onprem"))
    assert (only["submitter"], only["platform"], only["availability"]) == ("Org", "box", "onprem")
    assert (only["division"], only["benchmark"]) == ("closed", "resnet")


@pytest.mark.parametrize("submitter", [None, "", "  "])
def test_the_directory_stands_in_for_a_submitter_that_is_not_named(submitter: str | None) -> None:
    assert row(tree(log(10), submitter=submitter))["submitter"] == "Org"


def test_the_division_is_that_of_the_system_file() -> None:
    only = row(tree(log(10), division="open"))
    assert (only["division"], only["location"].split("/")[0]) == ("open", "open")


@pytest.mark.parametrize(
    "described",
    ["", "{", "[]", "{}", '{"division": null}', '{"division": " "}', '{"division": "a/b"}', "\x00"],
)
def test_a_system_file_that_names_no_division_leaves_its_results_without_one(
    described: str,
) -> None:
    assert "division" in reject(tree(log(10)) | {SYSTEM: described})


def test_results_without_a_system_file_are_rejected_and_their_runs_kept() -> None:
    files = runs([log(each) for each in (10, 20, 30, 40, 50)])
    assert "system file" in reject(files | {"Org/systems/Box.json": '{"division": "closed"}'})
    assert derive(files).runs["minutes"].to_list() == [10, 20, 30, 40, 50]


def test_counts_are_kept_as_they_stand() -> None:
    only = row(tree(log(10), number_of_nodes=1.0, accelerators_per_node="0"))
    assert (only["nodes"], only["accelerators_per_node"]) == ("1.0", "0")


def test_of_a_key_that_stands_twice_the_last_one_counts() -> None:
    twice = '{"division": "open", "system_name": "Old", "division": "closed", "system_name": "Box"}'
    only = row(tree(log(10)) | {SYSTEM: twice})
    assert (only["division"], only["system_name"]) == ("closed", "Box")


def test_windows_line_ends_and_other_alphabets_in_a_system_file_are_fine() -> None:
    described = '{\r\n"division": "closed",\r\n"system_name": "8\u00d7Chip"\r\n}'
    assert row(tree(log(10)) | {SYSTEM: described})["system_name"] == "8\u00d7Chip"


def test_text_that_cannot_be_stored_costs_no_result() -> None:
    described = '{"division": "closed", "system_name": "\\ud800 Box"}'
    assert row(tree(log(10)) | {SYSTEM: described})["system_name"].endswith(" Box")


def test_strays_beside_the_runs_are_no_runs() -> None:
    strays = (
        "unet3d.log",
        "nvlog.json.1",
        "compliance_1.out",
        "result_5.log",
        "result_5.txt.gz",
        "Result_5.txt",
        "my_result_5.txt",
        "old/result_5.txt",
        "power/result_5.txt",
        "test/power/result_5/node_0.txt",
    )
    files = tree(log(10)) | {f"{DIRECTORY}/{name}": log(1) for name in strays}
    files["Org/results/box/result_5.txt"] = log(1)
    files["Org/benchmarks/box/resnet/result_5.txt"] = log(1)
    derived = derive(files)
    assert derived.runs.height == 5
    assert derived.table.frame["value"].to_list() == ["30.0"]
    assert derived.table.rejects == []


def test_names_of_runs_may_be_any_after_result() -> None:
    names = ("240930043022868987627_01", "0", "1-2_raw_3", "x", "10")
    logs = (10, 20, 30, 40, 50)
    files = system() | {
        f"{DIRECTORY}/result_{name}.txt": log(each) for name, each in zip(names, logs, strict=True)
    }
    assert row(files)["value"] == "30.0"


def test_rows_and_rejects_are_numbered_together_in_the_order_of_their_paths() -> None:
    five = [log(each) for each in (10, 20, 30, 40, 50)]
    other = {"Other/systems/box.json": '{"division": "closed"}'}
    files = runs(five, "Other/results/box/ssd") | other | system()
    files |= runs(five[:4], "Org/results/box/resnet") | runs(five, "Org/results/box/maskrcnn")
    derived = derive(files)
    assert derived.table.frame.select("source_row", "submitter", "benchmark").rows() == [
        (1, "Org", "maskrcnn"),
        (3, "Other", "ssd"),
    ]
    assert [(odd.source_row, odd.value) for odd in derived.table.rejects] == [(2, DIRECTORY)]
    assert derived.runs["source_row"].to_list() == [1] * 5 + [2] * 4 + [3] * 5
    assert set(derived.files["source_row"]) == {1, 3}


def test_two_results_may_share_the_very_same_logs() -> None:
    five = [log(each) for each in (10, 20, 30, 40, 50)]
    twin = {"Org/systems/twin.json": '{"division": "closed"}'}
    files = system() | twin | runs(five) | runs(five, "Org/results/twin/resnet")
    assert derive(files).table.frame["value"].to_list() == ["30.0", "30.0"]


def test_a_system_without_results_and_scaling_without_runs_are_no_results() -> None:
    idle = {
        "Org/systems/idle.json": '{"division": "closed"}',
        "Org/results/idle/bert/scaling.json": '{"scaling_factor": 2}',
    }
    derived = derive(tree(log(10)) | idle)
    assert derived.table.frame["platform"].to_list() == ["box"]
    assert derived.table.rejects == []


CLEMSON = "Clemson/results/7x8xH100-SXM5-80GB/llama2_70b_lora"


def test_a_known_result_whose_logs_are_not_there_is_told_as_not_read() -> None:
    missing = tree(log(10)) | {f"{CLEMSON}/scaling.json": '{"scaling_factor": 1.1}'}
    (only,) = derive(missing, "4.1").table.rejects
    assert only.problem.startswith("not read")
    assert "failed" not in only.problem
    assert only.source_row == 2
    assert "7x8xH100-SXM5-80GB" in only.value
    assert derive(missing, "5.0").table.rejects == []


def test_a_known_result_whose_logs_are_there_is_a_result() -> None:
    there = tree(log(10)) | runs([log(each) for each in range(1, 11)], CLEMSON)
    there["Clemson/systems/7x8xH100-SXM5-80GB.json"] = '{"division": "closed"}'
    derived = derive(there, "4.1")
    assert derived.table.rejects == []
    assert derived.table.frame["submitter"].to_list() == ["Clemson", "Org"]


@pytest.mark.parametrize(
    "mark", [":::MLPv0.5.0 resnet 1541.5 (a.py:1) run_start", ":::MLL 1558.5 {"]
)
def test_logs_of_the_first_rounds_are_told_as_a_form_that_is_not_read(mark: str) -> None:
    files = system() | runs([f"{mark}\n"] * 5)
    assert "not read" in reject(files, "0.6")


def test_a_refused_member_is_told_and_costs_no_other_result() -> None:
    derived = derive(tree(log(10)) | {f"{DIRECTORY}/../resnet/result_09.txt": log(10)})
    assert [odd.problem for odd in derived.table.rejects] == ["a path that leaves its folder"]
    assert derived.table.frame["value"].to_list() == ["30.0"]


def test_of_a_log_that_stands_twice_neither_is_a_run() -> None:
    packed = gzip.decompress(archive(tree(log(10)), "5.0").read())
    again = gzip.decompress(archive({f"{DIRECTORY}/result_00.txt": log(11)}, "5.0").read())
    end = packed.rindex(b"result_04.txt")  # where the last member begins, before the end blocks
    end = packed.index(b"\0" * 1024, end + 512)
    stream = io.BytesIO(gzip.compress(packed[: end + -end % 512] + again))
    derived = read_archive(stream, "archive.tar.gz", new_round("training-5.0"))
    assert derived.table.frame.is_empty()
    problems = [odd.problem for odd in derived.table.rejects]
    assert "4" in problems[0]
    assert problems[1] == "stands twice in the archive"


def test_an_archive_without_any_run_is_none_of_training() -> None:
    for files in (system(), {"README.md": "nothing"}):
        with pytest.raises(FileFault, match="no result in it"):
            derive(files)


def test_an_archive_is_read_by_the_rules_of_its_suite() -> None:
    for suite, expected in (("training", "30.0"), ("inference", None)):
        stream = archive(tree(log(10)), "5.0")
        round_ = new_round(f"{suite}-5.0")
        if expected is None:
            with pytest.raises(FileFault, match="no result in it"):
                read_archive(stream, "archive.tar.gz", round_)
        else:
            table = read_archive(stream, "archive.tar.gz", round_).table
            assert table.frame["value"].to_list() == [expected]


def test_a_run_that_the_checker_is_known_to_have_rejected_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = {
        "round_key": "training-5.0",
        "submitter_directory": "Org",
        "platform": "box",
        "benchmark": "resnet",
        "log": "result_02.txt",
        "reason": "a hyperparameter that the rules do not allow",
        "source": "a test",
    }

    def with_rejected(name: str) -> tuple[dict[str, str], ...]:
        return (line,) if name == "rejected_runs" else entries(name)

    monkeypatch.setattr(training, "entries", with_rejected)
    derived = derive(tree(log(10)))
    told = derived.runs.row(2, named=True)
    assert "hyperparameter" in told["failure"]
    assert derived.table.frame["value"].to_list() == [repr((20 + 40 + 50) / 3)]
    assert told["dropped_as"] == "failed"


def test_rejects_and_refused_members_are_numbered_on() -> None:
    files = {"a/results/box/resnet/result_0.txt": log(), f"{DIRECTORY}/../x": ""} | tree(log())
    table = derive(files).table
    assert [odd.source_row for odd in table.rejects] == [2, 3]
