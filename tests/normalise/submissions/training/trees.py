"""Literal training trees: the logs of runs, the system beside them, and what is derived of both."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.normalise.submissions.derived import DerivedTable
from pipeline.normalise.submissions.training.derive import read_training
from pipeline.rounds import new_round
from tests.normalise.submissions.inference.trees import archive

DIRECTORY = "Org/results/box/resnet"
SYSTEM = "Org/systems/box.json"
MINUTE = 60_000

Files = dict[str, bytes | str]


def record(key: str, time_ms: object = 0, value: str = "null", **metadata: object) -> str:
    """Return a line of a log; ``value`` is JSON."""
    told = json.dumps({"file": "/workspace/train.py", "lineno": 7, **metadata})
    return (
        f':::MLLOG {{"namespace": "", "time_ms": {time_ms}, "event_type": "POINT_IN_TIME", '
        f'"key": "{key}", "value": {value}, "metadata": {told}}}\n'
    )


def log(minutes: float = 10, status: str = "success", *, init: float = 1, lines: str = "") -> str:
    """Return a run's log; ``init`` is how many minutes it initialised, ``lines`` are inside."""
    start = int(init * MINUTE)
    stop = start + int(minutes * MINUTE)
    return "".join(
        (
            record("init_start", 0),
            record("init_stop", start),
            record("run_start", start),
            lines,
            record("run_stop", stop, status=status),
        )
    )


def runs(logs: Sequence[bytes | str], directory: str = DIRECTORY) -> Files:
    """Return logs as the runs of a benchmark, in order, from result_00.txt on."""
    return {f"{directory}/result_{number:02}.txt": content for number, content in enumerate(logs)}


def system(**fields: object) -> Files:
    """Return a system file of the closed division, with fields added or replaced."""
    described = {"division": "closed", "submitter": "Org", "system_name": "Box", **fields}
    return {SYSTEM: json.dumps(described)}


def tree(first: bytes | str, **fields: object) -> Files:
    """Return five runs, the first as given and the others of 20, 30, 40 and 50 minutes."""
    return system(**fields) | runs([first, *(log(minutes) for minutes in (20, 30, 40, 50))])


def derive(files: Mapping[str, bytes | str], round_: str = "5.0") -> DerivedTable:
    """Derive the results of a tree."""
    return read_training(archive(files, round_), "archive.tar.gz", new_round(f"training-{round_}"))


def row(files: Mapping[str, bytes | str], round_: str = "5.0") -> dict[str, Any]:
    """Return the one row of a tree without rejects."""
    table = derive(files, round_).table
    assert table.rejects == []
    (only,) = table.frame.to_dicts()
    return only


def minutes(files: Mapping[str, bytes | str]) -> float:
    """Return the time to train of a tree's one row."""
    only = row(files)
    assert only["unit"] == "minutes"
    return float(only["value"])


def reject(files: Mapping[str, bytes | str], round_: str = "5.0") -> str:
    """Return why a tree gives no row."""
    table = derive(files, round_).table
    assert table.frame.is_empty()
    (only,) = table.rejects
    return only.problem


def first_run(content: bytes | str, **fields: object) -> dict[str, Any]:
    """Return what is told of a log that is the first of five runs."""
    return derive(tree(content, **fields)).runs.row(0, named=True)


def failure(content: bytes | str, **fields: object) -> str | None:
    """Return why a log counts as a failed run, or None."""
    told: str | None = first_run(content, **fields)["failure"]
    return told
