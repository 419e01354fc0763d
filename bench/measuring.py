"""Measuring what a process costs, and several of them in turn.

Belongs here: the clockwork. Only the standard library is imported: a process that is started
counts the memory of the one that started it until its own program is loaded, so this one has to
be small.
"""

import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

RUNS = 5
"""How often each command of a comparison runs; the medians are compared."""

REPOSITORY = Path(__file__).parents[1]

# The package keeps its bytecode, as what it is held against does.
_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}


@dataclass(frozen=True)
class Usage:
    """What a process and those it waited for took: seconds, and MiB at the peak."""

    cpu: float
    elapsed: float
    peak: float


@dataclass(frozen=True)
class Finished:
    """What a process took, what it printed, and whether its time was up before it ended."""

    usage: Usage
    printed: str
    is_cut: bool = False


class CommandFailed(Exception):
    """A command that is measured failed; the message ends with what it said."""


def run(
    command: Sequence[str | Path],
    settings: Mapping[str, str] | None = None,
    cpu_limit: int | None = None,
) -> Finished:
    """Run a command in the repository and measure it; after ``cpu_limit`` seconds of CPU it is
    stopped.

    Raises:
        CommandFailed: it ended with another code than 0.
    """
    with TemporaryFile() as printed, TemporaryFile() as told:
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            stdout=printed,
            stderr=told,
            cwd=REPOSITORY,
            env={**_ENVIRONMENT, **(settings or {})},
        )
        if cpu_limit is not None:
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (cpu_limit, cpu_limit + 1))
        _, status, used = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        is_cut = process.returncode == -signal.SIGXCPU
        for file in (printed, told):
            file.seek(0)
        if process.returncode and not is_cut:
            text = told.read().decode(errors="replace").strip()
            raise CommandFailed(f"{' '.join(map(str, command))}\n{text[-2000:]}")
        peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        usage = Usage(used.ru_utime + used.ru_stime, elapsed, peak)
        return Finished(usage, printed.read().decode(), is_cut)


def in_turn(measures: Mapping[str, Callable[[], Usage]], runs: int = RUNS) -> dict[str, Usage]:
    """Measure all of them, then all again, as often as told; return each one's medians.

    Whatever else the machine does meanwhile is shared out among them.
    """
    found: dict[str, list[Usage]] = {name: [] for name in measures}
    for _ in range(runs):
        for name, measure in measures.items():
            found[name].append(measure())
    return {name: medians(usages) for name, usages in found.items()}


def medians(usages: Sequence[Usage]) -> Usage:
    """Return the median of each thing that was measured."""
    return Usage(
        cpu=statistics.median(usage.cpu for usage in usages),
        elapsed=statistics.median(usage.elapsed for usage in usages),
        peak=statistics.median(usage.peak for usage in usages),
    )
