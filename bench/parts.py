"""The parts of the bench, one function each: what is measured against what.

Belongs here: commands, targets and ratios. How a command is measured stands in ``measuring``.
"""

import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.measuring import RUNS, CommandFailed, Usage, in_turn, medians, run
from bench.report import Report
from bench.wire import served

PYTHON = (sys.executable,)
ROUNDTABLE = (str(Path(sys.executable).with_name("roundtable")),)
IMPORT = (*PYTHON, "-c", "import dagster")

TRAINING, TRAINING_ARCHIVE = "training-5.1", "training_results_v5.1.tar.gz"

TIMES = {1: RUNS, 10: RUNS, 100: 1, 1000: 1}
"""How many times the rows a mart is run over, and how often: the largest take minutes."""

SECONDS = 900
"""Of CPU: a mart that takes more is stopped, and counts as failed."""

MEBIBYTES = 400
"""The most that the process of a mart may take."""


@dataclass(frozen=True)
class Bench:
    """What is measured with: the folder of tables and archives, and one to work in."""

    data: Path
    work: Path

    def build(self, *options: str, home: Path) -> Usage:
        """Measure a build from the folder."""
        command = (*ROUNDTABLE, "build", "--source", str(self.data), *options)
        return run(command, {"ROUNDTABLE_HOME": str(home)}).usage

    @cached_property
    def built(self) -> Path:
        """A warehouse of all rounds, archives read."""
        home = self.work / "built"
        self.build("--submissions", home=home)
        return home

    @cached_property
    def full_training(self) -> Path:
        """A training archive whose logs are as large as real ones."""
        padded = self.work / TRAINING_ARCHIVE
        source = self.data / "submissions" / TRAINING_ARCHIVE
        run((*PYTHON, "-m", "bench.pad_training", source, padded))
        return padded


def _compare(report: Report, name: str, **measures: Callable[[], Usage]) -> dict[str, Usage]:
    """Measure several things in turn; keep their medians among the figures."""
    taken = in_turn(measures)
    report.figures[name] = {what: asdict(usage) for what, usage in taken.items()}
    return taken


def cold_build(bench: Bench, report: Report) -> None:
    """(a) A build of all rounds against reading, parsing and writing alone.

    What importing Dagster takes, beyond a bare Python, is measured beside and left out.
    """
    for what, options in (("tables", ()), ("tables and archives", ("--submissions",))):
        home, folder = bench.work / "cold", bench.work / "floor"

        def build(home: Path = home, options: Sequence[str] = options) -> Usage:
            shutil.rmtree(home, ignore_errors=True)
            return bench.build("--full", *options, home=home)

        def floor(folder: Path = folder, options: Sequence[str] = options) -> Usage:
            shutil.rmtree(folder, ignore_errors=True)
            command = (*PYTHON, "-m", "bench.floor", "build", str(bench.data), str(folder))
            return run((*command, *options)).usage

        took = _compare(
            report,
            what,
            build=build,
            floor=floor,
            dagster=lambda: run(IMPORT).usage,
            python=lambda: run((*PYTHON, "-c", "pass")).usage,
        )
        cpu = took["build"].cpu - (took["dagster"].cpu - took["python"].cpu)
        peak = took["build"].peak - (took["dagster"].peak - took["python"].peak)
        without = "Dagster's import left out"
        what = f"cold build of {what} over its floor"
        report.add(f"{what}, CPU", 2.5, cpu / took["floor"].cpu, without)
        report.add(f"{what}, memory", 1.6, peak / took["floor"].peak, without)


def no_change(bench: Bench, report: Report) -> None:
    """(b) A build that finds nothing changed against importing Dagster."""
    took = _compare(
        report,
        "no change",
        no_change=lambda: bench.build("--submissions", home=bench.built),
        dagster=lambda: run(IMPORT).usage,
    )
    ratio = took["no_change"].cpu / took["dagster"].cpu
    report.add('no-change build over `python -c "import dagster"`, CPU', 0.15, ratio)


def start(bench: Bench, report: Report) -> None:
    """(c) The start of the command line."""
    took = _compare(report, "help", help=lambda: run((*ROUNDTABLE, "--help")).usage)
    report.add("`roundtable --help`, seconds of CPU", 0.3, took["help"].cpu)


def marts(bench: Bench, report: Report) -> None:
    """(d) Every mart over many times the results, in little memory; see ``bench.marts``."""
    names: list[str] = json.loads(run((*PYTHON, "-m", "bench.marts", "list")).printed)
    found: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in names}
    report.figures["d"] = found
    for times, runs in TIMES.items():
        folder = bench.work / f"times-{times}"
        tables = bench.built / "build" / "tables"
        command = (*PYTHON, "-m", "bench.multiplying", tables, folder)
        run((*command, "--times", str(times)))
        for name in names:
            smaller = [size for size, figures in found[name].items() if "problem" in figures]
            found[name][times] = (
                {"problem": f"not run, since x{smaller[0]} failed"}
                if smaller
                else _mart(name, folder, runs)
            )
            print(f"{name} x{times}:", found[name][times], flush=True)
        shutil.rmtree(folder)
    for name, by_times in found.items():
        _judge(report, name, by_times)
    report.table = [
        ["mart, seconds of CPU and MiB at the peak", *(f"x{times}" for times in TIMES)],
        *([name, *map(_shown, by_times.values())] for name, by_times in found.items()),
    ]


def _mart(name: str, folder: Path, runs: int) -> dict[str, Any]:
    """Run a mart; return the medians of what it took, its rows and wide joins, or its problem."""
    usages = []
    for _ in range(runs):
        try:
            finished = run((*PYTHON, "-m", "bench.marts", "run", name, folder), cpu_limit=SECONDS)
        except CommandFailed as error:
            told = [line for line in str(error).splitlines() if "Error" in line]
            return {"problem": (told or ["failed"])[-1]}
        if finished.is_cut:
            return {"problem": f"not done after {SECONDS} s of CPU"}
        usages.append(finished.usage)
    return {**asdict(medians(usages)), **json.loads(finished.printed)}


def _judge(report: Report, name: str, by_times: Mapping[int, Mapping[str, Any]]) -> None:
    *_, many, most = by_times
    few_cpu, cpu = by_times[many].get("cpu"), by_times[most].get("cpu")
    ratio = cpu / few_cpu if cpu and few_cpu else None
    problem = next(
        (f"x{size}: {at['problem']}" for size, at in by_times.items() if "problem" in at), ""
    )
    report.add(f"{name}, x{most} over x{many}, CPU", 15, ratio, problem)
    peaks = [found.get("peak") for found in by_times.values()]
    known = [peak for peak in peaks if peak is not None]
    report.add(f"{name}, peak MiB", MEBIBYTES, max(known) if known == peaks else None)
    joins = [found["widest_join"] for found in by_times.values() if found.get("widest_join")]
    widest = max(joins, key=lambda join: join["rows"] / join["larger_input"], default=None)
    grown = widest["rows"] / widest["larger_input"] if widest else None if problem else 1.0
    note = f"{widest['rows']} rows of {widest['larger_input']}" if widest else ""
    report.add(f"{name}, a join's rows over its larger input's, at most", 1, grown, note)


def _shown(found: Mapping[str, Any]) -> str:
    if found.get("problem", "").startswith("not run"):
        return "not run"
    return "failed" if "problem" in found else f"{found['cpu']:.2f} s, {found['peak']:.0f} MiB"


def wire(bench: Bench, report: Report) -> None:
    """(e) An archive streamed over a wire against the same downloaded first and then read."""
    with served(bench.full_training) as address:
        command = (*PYTHON, "-m", "bench.reading")
        took = _compare(
            report,
            "wire",
            streamed=lambda: run((*command, "stream", address, TRAINING)).usage,
            downloaded=lambda: run((*command, "download", address, TRAINING)).usage,
        )
    for what, ratio in (
        ("seconds", took["streamed"].elapsed / took["downloaded"].elapsed),
        ("CPU", took["streamed"].cpu / took["downloaded"].cpu),
    ):
        name = f"{TRAINING}'s archive streamed over downloaded and read, {what}"
        report.add(name, 1.3, ratio)


def training(bench: Bench, report: Report) -> None:
    """(f) A training round at its full size against unpacking it and parsing the lines wanted."""
    archive = bench.full_training
    took = _compare(
        report,
        "training",
        reading=lambda: run((*PYTHON, "-m", "bench.reading", "file", archive, TRAINING)).usage,
        floor=lambda: run((*PYTHON, "-m", "bench.floor", "training", archive)).usage,
    )
    ratio = took["reading"].cpu / took["floor"].cpu
    report.add(f"{TRAINING} at full size over its floor, CPU", 3, ratio)


PARTS: Mapping[str, tuple[str, Callable[[Bench, Report], None]]] = {
    "a": ("Cold build of all rounds from a folder", cold_build),
    "b": ("Build that finds nothing changed", no_change),
    "c": ("Start of the command line", start),
    "d": ("Marts over many times the rows, DuckDB held to 256 MB; x100 and x1000 once", marts),
    "e": ("One archive over a wire of 30 ms and 20 MB/s", wire),
    "f": ("A training round at its full size", training),
}
