"""Training's submission tree: which paths are read, and what each of them is.

Belongs here: the layout of sources.md section 4. What is in a file is read by the module of its
kind; strays beside the runs (F36) are told apart by path alone.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class Part(StrEnum):
    """What a file of the tree is; the values are the words used in the list of files used."""

    RUN = "run log"
    SCALING = "scaling"
    NODE_POWER = "node power"
    SWITCH_POWER = "switch power"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file stands; names are those of its directories, '' where it is above them.

    ``run`` is the name of the run's log without its suffix, also for the power beside it.
    """

    part: Part
    submitter: str
    system: str
    benchmark: str = ""
    run: str = ""


_TREE = re.compile(r"[^/]+/(results|systems)/")
_SYSTEM = re.compile(r"([^/]+)/systems/([^/]+)\.json")
_RESULT = re.compile(r"([^/]+)/results/([^/]+)/([^/]+)/(.+)")
_RUN = re.compile(r"(result_[^/]*)\.txt")
_POWER = re.compile(r"power/(result_[^/]*)/(node|sw)_[^/]*\.txt")


def place_of(path: str) -> Place | None:
    """Return what a path of the archive is, or None for files that are not read."""
    system = _SYSTEM.fullmatch(path)
    if system is not None:
        return Place(Part.SYSTEM, submitter=system[1], system=system[2])
    result = _RESULT.fullmatch(path)
    if result is None:
        return None
    file = result[4]
    if file == "scaling.json":
        return Place(Part.SCALING, result[1], result[2], result[3])
    run, power = _RUN.fullmatch(file), _POWER.fullmatch(file)
    if run is not None:
        return Place(Part.RUN, result[1], result[2], result[3], run[1])
    if power is not None:
        part = Part.NODE_POWER if power[2] == "node" else Part.SWITCH_POWER
        return Place(part, result[1], result[2], result[3], power[1])
    return None


def is_wanted(path: str) -> bool:
    """Return whether a path is read."""
    return place_of(path) is not None


def is_in_tree(path: str) -> bool:
    """Whether a path stands where results and descriptions do, whatever it is."""
    return _TREE.match(path) is not None
