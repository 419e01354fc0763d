"""What a run's log says, and when the run counts as failed: sources.md section 6, 1 to 3."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.normalise.submissions.training.logs import read_run
from tests.normalise.submissions.training.trees import (
    MINUTE,
    derive,
    failure,
    first_run,
    log,
    record,
    tree,
)

MARK = ":::MLLOG "


def is_malformed(content: bytes) -> bool:
    """Whether a log has a line that Python's json does not take for a record."""
    text = content.decode("latin-1").replace("\r", "\n")
    for line in text.split("\n"):
        _, mark, said = line.rpartition(MARK)
        if not mark:
            continue
        try:
            parsed = json.loads(said)
        except (ValueError, RecursionError):
            return True
        time_ms = parsed.get("time_ms") if isinstance(parsed, dict) else None
        if isinstance(time_ms, bool) or not isinstance(time_ms, int | float):
            return True
    return False


def test_a_run_lasts_from_run_start_to_run_stop() -> None:
    told = first_run(log(12.5, init=2))
    assert (told["minutes"], told["failure"], told["status"]) == (12.5, None, "success")
    assert told["started_at_ms"] == 2 * MINUTE


def test_the_last_run_start_before_the_first_run_stop_counts() -> None:
    content = "".join(
        (
            record("run_start", 0),
            record("run_start", 5 * MINUTE),
            record("run_stop", 12 * MINUTE, status="success"),
            record("run_start", 13 * MINUTE),
            record("run_stop", 99 * MINUTE, status="aborted"),
        )
    )
    told = first_run(content)
    assert (told["minutes"], told["status"], told["failure"]) == (7, "success", None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (record("run_start", 0), "no run_stop"),
        (record("run_stop", MINUTE, status="success"), "no run_start"),
        (record("run_stop", MINUTE, status="success") + record("run_start", 0), "no run_start"),
        (log(5, "aborted"), "aborted"),
        (log(5, "abort"), "abort"),
        (log(5, "Success"), "Success"),
        (record("run_start", 0) + record("run_stop", MINUTE), "status"),
        (record("run_start", 9) + record("run_stop", 9, status="success"), "run_stop"),
        (record("run_start", 9) + record("run_stop", 8, status="success"), "run_stop"),
        (record("run_start", 0) + record("run_stop", "NaN", status="success"), "run_st"),
        (record("run_start", 0) + record("run_stop", "9" * 400, status="success"), "run_st"),
        ("", "no :::MLLOG line"),
        ("an error before all\n", "no :::MLLOG line"),
        (b"\x00\xff\xfe" * 50, "no :::MLLOG line"),
    ],
)
def test_a_run_without_a_time_or_a_success_failed(content: bytes | str, reason: str) -> None:
    told = failure(content)
    assert told is not None
    assert reason in told


def test_a_line_that_two_processes_wrote_into_fails_the_run() -> None:
    begun, _, rest = record("opt_name", 5, '"adamw"').partition(', "metadata"')
    told = failure(log(10, lines=f"0: {begun}Org{rest[20:]}"))
    assert told is not None
    assert "malformed" in told


@pytest.mark.parametrize(
    "line",
    [
        MARK,
        f"{MARK}  ",
        f"{MARK}[]",
        f"{MARK}null",
        f'{MARK}{{"key": "x"}}',
        f'{MARK}{{"time_ms": "5"}}',
        f'{MARK}{{"time_ms": null}}',
        f'{MARK}{{"time_ms": true}}',
        f'{MARK}{{"time_ms": 5, "time_ms": "5"}}',
        f'{MARK}{{"time_ms": 5}} {{"time_ms": 6}}',
        f'{MARK}{{"time_ms":\n{MARK}5}}',
        f'{MARK}{{"time_ms": 5,}}',
        f'{MARK}{{"time_ms": 05}}',
        f"{MARK}{{'time_ms': 5}}",
        f'{MARK}{{"time_ms": 5, "a": "\t"}}',
        f'{MARK}{{"time_ms": 5, "a": "\\q"}}',
        record("x").strip() + " and more",
        record("x").strip()[:-1],
        record("x")[:40] + "\r" + record("x")[40:],
        f"rank 0 {MARK}lost {MARK}",
    ],
)
def test_a_line_that_is_no_record_with_a_numeric_time_fails_the_run(line: str) -> None:
    content = log(10, lines=f"{line}\n")
    assert is_malformed(content.encode("latin-1"))
    told = failure(content)
    assert told is not None
    assert "malformed" in told


@pytest.mark.parametrize(
    "line",
    [
        "rank 0: ordinary text, {not json",
        ":::MLLOG",
        ":::MLLOG\t{",
        f"0: {record('x')}",
        f"  12: {record('x')}",
        f"lost half a line {MARK}{{ {record('x')}",
        f"\r 50% 5/10 [00:01<00:01, 5it/s]{record('x')}",
        f'{MARK}{{"time_ms": 5.5}}',
        f'{MARK}{{"time_ms": NaN}}',
        f'{MARK}{{"time_ms": 1e400, "value": -Infinity}}',
        f'{MARK}{{"time_ms": "5", "time_ms": 5, "key": 7}}',
        f'{MARK}{{"time_ms": 5, "value": {"[" * 90}{"]" * 90}}}  ',
        record("x").strip() + "\r",
        "\x0b\x0c\x1c\x85",
    ],
)
def test_a_line_that_json_can_read_or_that_is_no_record_fails_no_run(line: str) -> None:
    content = log(10, lines=f"{line}\n")
    assert not is_malformed(content.encode("latin-1"))
    assert failure(content.encode("latin-1")) is None


def test_bytes_that_are_no_utf_8_fail_no_run() -> None:
    odd = record("caf\xe9", 5, '"caf\xe9"') + "caf\xe9 \xff\xfe\n" + record("x", 5, '"\xff"')
    assert failure(log(10, lines=odd).encode("latin-1")) is None


def test_a_record_starts_at_the_last_mark_of_its_line_whatever_stands_before() -> None:
    content = "".join(
        (
            "0: " + record("run_start", 0),
            "1: " + record("run_start", 99 * MINUTE).strip() + " " + record("run_start", MINUTE),
            "text " + record("run_stop", 8 * MINUTE, status="success"),
        )
    )
    assert first_run(content)["minutes"] == 7


def test_lines_may_end_as_on_windows_and_the_last_one_not_at_all() -> None:
    told = first_run(log(10).replace("\n", "\r\n").strip())
    assert (told["minutes"], told["failure"]) == (10, None)


@pytest.mark.parametrize(
    ("division", "init", "fails"),
    [("closed", 29.99, False), ("closed", 30, True), ("open", 30, False), ("open", 239.9, False),
     ("open", 240, True)],
)  # fmt: skip
def test_a_long_initialisation_fails_the_run_by_the_limit_of_its_division(
    division: str, init: float, fails: bool
) -> None:
    told = failure(log(10, init=init), division=division)
    assert (told is not None) is fails
    assert not fails or "init" in str(told)


def test_initialisation_lasts_from_the_first_init_start() -> None:
    late = log(10, init=31, lines="").replace(
        record("init_stop", 31 * MINUTE),
        record("init_start", 20 * MINUTE) + record("init_stop", 31 * MINUTE),
    )
    assert failure(late) is not None


def test_the_division_that_a_log_claims_is_of_no_use() -> None:
    claims = record("submission_division", 0, '"closed"')
    assert failure(log(10, init=60, lines=claims), division="open") is None
    claims = record("submission_division", 0, '"open"')
    assert failure(log(10, init=60, lines=claims), division="closed") is not None


def test_seed_batch_size_and_samples_are_told_of_each_run() -> None:
    lines = (
        record("seed", 5, "17367")
        + record("global_batch_size", 5, "8")
        + record("eval_accuracy", 6, "0.95", samples_count=3072)
        + record("eval_accuracy", 7, "0.92", samples_count=3840)
    )
    told = first_run(log(10, lines=lines))
    assert (told["seed"], told["global_batch_size"]) == ("17367", 8)
    assert told["samples_to_converge"] == 3840
    stop = record("run_stop", 9 * MINUTE, status="success", samples_count=3900)
    told = first_run(record("run_start", 0) + lines + stop)
    assert told["samples_to_converge"] == 3900


def test_epochs_are_no_samples() -> None:
    told = first_run(log(10, lines=record("eval_accuracy", 6, "0.9", epoch_num=35)))
    assert (told["samples_to_converge"], told["seed"], told["global_batch_size"]) == (None,) * 3


ODD_VALUES = ('"\\ud800"', "9" * 400, "1e999", "NaN", "[1, [2]]", "{}", "true", f'"{"7" * 9999}"')


@pytest.mark.parametrize("value", ODD_VALUES)
@pytest.mark.parametrize("key", ["seed", "global_batch_size"])
def test_an_odd_seed_or_batch_size_costs_no_run(key: str, value: str) -> None:
    assert failure(log(10, lines=record(key, 5, value))) is None


def test_an_odd_status_is_told_as_it_stands() -> None:
    told = first_run(log(10).replace('"success"', '"\\ud800"'))
    assert told["failure"] is not None


@given(content=st.binary(max_size=300), cut=st.integers(0, 900))
@settings(max_examples=60, deadline=None)
def test_no_bytes_in_a_log_are_an_error(content: bytes, cut: int) -> None:
    whole = log(10).encode()
    for odd in (content, whole[:cut], whole[:cut] + content + whole[cut:]):
        assert derive(tree(odd)).runs.height == 5


PIECES = (
    *(MARK, "\n", "\r", "\r\n", '"', "\\", "\\u00e9", "\xe9", "\x00", "\t", " ", ",", "x"),
    *("{", "}", '{"time_ms": 5}', '{"time_ms":', '{"time_ms": 5, "key": "x", "value": '),
    *("1", "-", "1.5", "1e5", "01", "NaN", "null", "true", "[", "]", ": ", record("run_stop", 5)),
)


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=14))
@settings(max_examples=400, deadline=None)
def test_lines_are_judged_as_json_judges_them(pieces: list[str]) -> None:
    content = "".join(pieces).encode("latin-1")
    assert (read_run(content).malformed is not None) == is_malformed(content)


def test_a_failure_shows_the_start_of_a_status_of_any_length() -> None:
    told = failure(log(status="x" * 10_000))
    assert told == f"status {'x' * 100}"
