"""Runs become the time to train: which of them are dropped, and when there is no score."""

import json

import pytest

from tests.normalise.submissions.training.trees import (
    DIRECTORY,
    derive,
    log,
    minutes,
    reject,
    runs,
    system,
    tree,
)

UNET3D = "Org/results/box/unet3d"


def scaled(factor: object) -> dict[str, bytes | str]:
    return tree(log(10)) | {f"{DIRECTORY}/scaling.json": json.dumps({"scaling_factor": factor})}


def test_the_fastest_and_the_slowest_run_are_dropped() -> None:
    files = system() | runs([log(each) for each in (90, 20, 30, 52, 10)])
    assert minutes(files) == (20 + 30 + 52) / 3
    told = derive(files).runs
    assert told["dropped_as"].to_list() == ["slowest", None, None, None, "fastest"]
    assert told["is_counted"].to_list() == [False, True, True, True, False]


def test_a_failed_run_is_the_slowest_that_is_dropped() -> None:
    files = system() | runs([log(each) for each in (20, 30, 52, 10)] + [log(1, "aborted")])
    assert minutes(files) == (20 + 30 + 52) / 3
    told = derive(files).runs
    assert told["dropped_as"].to_list() == [None, None, None, "fastest", "failed"]
    assert "aborted" in told["failure"][4]


def test_more_failed_runs_than_are_dropped_give_no_score() -> None:
    files = system() | runs([log(20), log(1, "abort"), log(30), log(1, "aborted"), log(40)])
    assert reject(files).startswith("2 of 5 runs failed")
    told = derive(files).runs
    assert told["source_row"].to_list() == [1] * 5
    assert not told["is_counted"].any()
    assert told["failure"].is_not_null().to_list() == [False, True, False, True, False]


def test_no_run_of_a_result_without_score_counts_or_is_dropped() -> None:
    failed = system() | runs([log(20), log(1, "abort"), log(30), log(1, "abort"), log(40)])
    without_system = runs([log(each) for each in (10, 20, 30, 40, 50)])
    for files in (failed, without_system, scaled("much")):
        told = derive(files).runs
        assert told.height == 5
        assert not told["is_counted"].any()
        assert told["dropped_as"].to_list() == [None] * 5


def test_forty_runs_of_unet3d_with_four_failed_drop_the_four_fastest_only() -> None:
    good = [log(each) for each in range(1, 37)]
    files = system() | runs([log(1, "aborted")] * 4 + good, UNET3D)
    assert minutes(files) == sum(range(5, 37)) / 32
    assert (
        derive(files).runs["dropped_as"].drop_nulls().to_list() == ["failed"] * 4 + ["fastest"] * 4
    )


def test_forty_good_runs_of_unet3d_drop_four_at_each_end() -> None:
    files = system() | runs([log(each) for each in range(1, 41)], UNET3D)
    assert minutes(files) == sum(range(5, 37)) / 32


def test_five_failed_runs_of_unet3d_give_no_score() -> None:
    files = system() | runs([log(1, "aborted")] * 5 + [log(2)] * 35, UNET3D)
    assert reject(files).startswith("5 of 40 runs failed")


def test_the_mean_is_scaled_by_the_factor_beside_the_runs() -> None:
    assert minutes(scaled(1.5)) == 1.5 * 30
    derived = derive(scaled(1.5))
    counted = derived.runs.filter("is_counted")
    assert counted["scaling_factor"].unique().to_list() == [1.5]
    recomputed = float(counted["minutes"].mean()) * 1.5  # type: ignore[arg-type]
    assert float(derived.table.frame["value"][0]) == recomputed
    assert derive(tree(log(10))).runs["scaling_factor"].unique().to_list() == [1.0]


@pytest.mark.parametrize("factor", ["much", None, 0, -1, [1], "NaN", 10**400])
def test_a_factor_that_is_none_leaves_the_result_without_a_score(factor: object) -> None:
    text = '{"scaling_factor": NaN}' if factor == "NaN" else json.dumps({"scaling_factor": factor})
    assert "scaling" in reject(tree(log(10)) | {f"{DIRECTORY}/scaling.json": text})


@pytest.mark.parametrize("content", ["", "{", "[]", '"scaling_factor"', "\x00\xff", "[" * 10**5])
def test_scaling_that_cannot_be_read_is_never_taken_for_none(content: str) -> None:
    files = tree(log(10)) | {f"{DIRECTORY}/scaling.json": content}
    assert "scaling" in reject(files)


@pytest.mark.parametrize(
    ("benchmark", "required"),
    [("resnet", 5), ("bert", 10), ("gpt3", 3), ("rgat", 10), ("ssd", 5), ("gnmt", 10),
     ("transformer", 10)],
)  # fmt: skip
@pytest.mark.parametrize("surplus", [-1, 1])
def test_a_wrong_number_of_runs_gives_no_score(benchmark: str, required: int, surplus: int) -> None:
    directory = f"Org/results/box/{benchmark}"
    logs = [log(each) for each in range(1, required + surplus + 1)]
    problem = reject(system() | runs(logs, directory))
    assert str(required) in problem
    assert str(required + surplus) in problem


def test_a_benchmark_that_nobody_listed_needs_three_runs_and_drops_one_at_each_end() -> None:
    new = "Org/results/box/new_benchmark"
    assert minutes(system() | runs([log(10), log(20), log(60)], new)) == 20
    assert minutes(system() | runs([log(10), log(20), log(30), log(60)], new)) == 25
    assert "3" in reject(system() | runs([log(10), log(20)], new))
