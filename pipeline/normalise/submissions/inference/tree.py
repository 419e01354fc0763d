"""The submission tree: which paths are read, and what each of them is.

Belongs here: the layout of sources.md section 4, in all its rounds. What is in a file is read by
the module of its kind; strays and audit runs are told apart by path alone (F21, F22).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from pipeline.rounds import Round


class Part(StrEnum):
    """What a file of the tree is; the values are the words used in the list of files used."""

    DETAIL = "detail log"
    SUMMARY = "summary log"
    HARNESS = "harness summary"
    POWER = "power samples"
    CLIENT = "power client"
    SERVER = "power server"
    ACCURACY = "accuracy"
    MEASUREMENTS = "measurements"
    SYSTEM = "system"
    MAPPING = "model mapping"


LOGS = (Part.DETAIL, Part.HARNESS, Part.SUMMARY)
"""The files a value may come from, the one that counts first."""

RUN_LOGS_ARE_MLLOG_FROM = (1, 0)
"""Before 1.0 the detail log has another form, and the summary gives all that counts."""

SCENARIOS = ("Offline", "Server", "Interactive", "SingleStream", "MultiStream")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file stands; names are those of its directories, '' where it is above them.

    ``scenario`` is the directory as spelled, ``run`` the number of the run.
    """

    part: Part
    division: str
    submitter: str
    system: str = ""
    model: str = ""
    scenario: str = ""
    run: int = 0


_RUN_FILES = {
    "mlperf_log_detail.txt": Part.DETAIL,
    "mlperf_log_summary.txt": Part.SUMMARY,
    "result_summary.json": Part.HARNESS,
    "spl.txt": Part.POWER,
}
_SCENARIO_FILES = {
    "performance/result_summary.json": Part.HARNESS,
    "performance/power/client.json": Part.CLIENT,
    "performance/power/server.json": Part.SERVER,
    "accuracy/accuracy.txt": Part.ACCURACY,
    "measurements.json": Part.MEASUREMENTS,
}
_TREE = re.compile(r"(closed|open|network)/([^/]+)/(?:(results|measurements|systems)/)?(.+)")
_RUN_FILE = re.compile(r"performance/run_(0|[1-9][0-9]{0,2})/([^/]+)")


def place_of(path: str) -> Place | None:
    """Return what a path of the archive is, or None for files that are not read."""
    match = _TREE.fullmatch(path)
    if match is None:
        return None
    division, submitter, folder, rest = match.groups()
    if folder == "systems":
        is_system = rest.endswith(".json") and "/" not in rest
        name = rest.removesuffix(".json")
        return Place(Part.SYSTEM, division, submitter, name) if is_system else None
    if folder is None:
        is_mapping = rest == "model_mapping.json"
        return Place(Part.MAPPING, division, submitter) if is_mapping else None
    system, model, scenario, file = (*rest.split("/", 3), "", "", "")[:4]
    part, run = _measurement(file) if folder == "measurements" else _result(file)
    if part is None:
        return None
    return Place(part, division, submitter, system, model, scenario, run)


def _measurement(file: str) -> tuple[Part | None, int]:
    is_measurement = file.endswith(".json") and "/" not in file
    return (Part.MEASUREMENTS if is_measurement else None), 0


def _result(file: str) -> tuple[Part | None, int]:
    """Return what a file in a scenario's folder is, and of which run; the harness has one run."""
    if file in _SCENARIO_FILES:
        part = _SCENARIO_FILES[file]
        return part, int(part is Part.HARNESS)
    match = _RUN_FILE.fullmatch(file)
    return (_RUN_FILES.get(match[2]), int(match[1])) if match else (None, 0)


def wanted_in(round: Round) -> Callable[[str], bool]:
    """Return whether a path is read in a round."""
    reads_detail = round.order[1] >= RUN_LOGS_ARE_MLLOG_FROM

    def wanted(path: str) -> bool:
        place = place_of(path)
        return place is not None and (reads_detail or place.part is not Part.DETAIL)

    return wanted


def is_in_tree(path: str) -> bool:
    """Whether a path stands where results and descriptions do, whatever it is."""
    match = _TREE.fullmatch(path)
    return match is not None and match[3] is not None


def scenario_of(directory: str) -> str:
    """Return the scenario a directory or log names, whatever its case, blanks and dashes (F22).

    A name that is no scenario is returned as it is.
    """
    spelled = re.sub(r"[\s_-]", "", directory).casefold()
    return next((name for name in SCENARIOS if name.casefold() == spelled), directory)
