"""Literal submission trees: archives as GitHub makes them, and the logs of a run."""

import io
import tarfile
from collections.abc import Mapping
from typing import Any

from pipeline.normalise.submissions.derived import DerivedTable
from pipeline.normalise.submissions.inference.derive import read_inference
from pipeline.rounds import new_round

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SYSTEM = "closed/Org/results/box"
RUN = f"{SYSTEM}/resnet50/Offline/performance/run_1"


def archive(files: Mapping[str, bytes | str], round_: str = "6.0") -> io.BytesIO:
    """Return a gzipped tar of the files, in the order given, under a top folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(f"inference_results_v{round_}-{COMMIT}/{path}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    packed.seek(0)
    return packed


def derive(files: Mapping[str, bytes | str], round_: str = "6.0") -> DerivedTable:
    """Derive the results of a tree."""
    round = new_round(f"inference-{round_}")
    return read_inference(archive(files, round_), "archive.tar.gz", round)


def rows(files: Mapping[str, bytes | str], round_: str = "6.0") -> list[dict[str, Any]]:
    """Return the derived rows of a tree, which has no rejects."""
    table = derive(files, round_).table
    assert table.rejects == []
    return table.frame.to_dicts()


def rejects(files: Mapping[str, bytes | str], round_: str = "6.0") -> list[tuple[str, str, str]]:
    """Return what was rejected of a tree that gives no rows: field, problem, value."""
    table = derive(files, round_).table
    assert table.frame.is_empty()
    return [(odd.field, odd.problem, odd.value) for odd in table.rejects]


def mllog(key: str, value: object, *, is_error: bool = False) -> str:
    """Return a line of a detail log; ``value`` is as LoadGen writes it, strings quoted."""
    flag = "true" if is_error else "false"
    return (
        f':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 0.5, "namespace": '
        f'"mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": {{"is_error": {flag}, '
        '"is_warning": false, "file": "results.cc", "line_no": 674, "pid": 7, "tid": 7}}\n'
    )


def detail(scenario: str = "Offline", validity: str = "VALID", **fields: object) -> str:
    """Return a detail log; the fields' names are its keys, with ``__`` for the dot."""
    named = {key.replace("__", "."): value for key, value in fields.items()}
    said = {"effective_scenario": f'"{scenario}"', "result_validity": f'"{validity}"', **named}
    return "".join(mllog(key, value) for key, value in said.items())


def summary(scenario: str = "Offline", validity: str = "VALID", *lines: str) -> str:
    """Return a summary with lines such as ``Samples per second: 5``."""
    said = [f"Scenario : {scenario}", "Mode     : PerformanceOnly", *lines]
    return "\n".join([*said, f"Result is : {validity}", "", "No errors encountered during test.\n"])
