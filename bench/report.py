"""What was measured, held against its targets: as Markdown for people and as JSON.

Belongs here: verdicts and how they are shown. What is measured is the task of ``parts``. Each part
stands with the machine, versions, date and commit that it was measured with, so that a part can be
measured again alone.
"""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.measuring import REPOSITORY, RUNS

HEADER = f"""\
# Bench

Written by `make bench DATA=folder`; `bench.json` has the figures behind it. Ratios are of one run,
of the medians of {RUNS} runs in turn with what they are held against, unless a part says otherwise.
CPU is the user and system time of a process and its children, memory its peak (`ru_maxrss`).
"""


@dataclass(frozen=True)
class Line:
    """One thing measured; ``target`` is the most it may be, ``measured`` None where it failed."""

    what: str
    target: float
    measured: float | None
    note: str = ""

    @property
    def is_met(self) -> bool:
        """Whether it is as good as it must be."""
        return self.measured is not None and self.measured <= self.target

    def __str__(self) -> str:
        """Return it as a row of a table."""
        shown = "failed" if self.measured is None else f"{self.measured:.3g}"
        what = f"{self.what} ({self.note})" if self.note else self.what
        return f"| {what} | {self.target:g} | {shown} | {'yes' if self.is_met else '**no**'} |"


@dataclass
class Report:
    """What a part gave: lines with a target, a table without, and the figures behind them."""

    part: str
    title: str
    lines: list[Line] = field(default_factory=list)
    table: Sequence[Sequence[str]] = ()
    figures: dict[str, Any] = field(default_factory=dict)

    def add(self, what: str, target: float, measured: float | None, note: str = "") -> None:
        """Keep a line and show it."""
        self.lines.append(Line(what, target, measured, note))
        print(self.part, self.lines[-1], flush=True)

    def write(self, folder: Path) -> None:
        """Put the part into ``bench.json``, in place of what it gave before; write ``bench.md``."""
        file = folder / "bench.json"
        parts: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
        parts[self.part] = {"about": circumstances(), **asdict(self)}
        parts = dict(sorted(parts.items()))
        file.write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")
        text = "\n".join([HEADER, *map(_section, parts.values())])
        (folder / "bench.md").write_text(text, encoding="utf-8")


def _section(part: Mapping[str, Any]) -> str:
    about = ", ".join(f"{name} {value}" for name, value in part["about"].items())
    lines = [Line(**line) for line in part["lines"]]
    rows = ["| measured | target | figure | met |", "|---|---:|---:|---|", *map(str, lines)]
    table = [f"| {' | '.join(cells)} |" for cells in part["table"]]
    if table:
        table.insert(1, "|---" * len(part["table"][0]) + "|")
        table.insert(0, "")
    return "\n".join([f"## ({part['part']}) {part['title']}", "", about, "", *rows, *table, ""])


def circumstances() -> dict[str, str]:
    """Return what the figures depend on: machine and its load, versions, date and commit."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    changed = _git("status", "--porcelain", "--", "pipeline", "sql", "bench")
    return {
        "processors": f"{os.cpu_count()} ({platform.machine()})",
        "memory": f"{memory:.0f} GiB",
        "load": f"{os.getloadavg()[1]:.1f}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("duckdb", "polars", "dagster")},
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": _git("rev-parse", "--short", "HEAD") + (" with changes" if changed else ""),
    }


def _git(*words: str) -> str:
    """Return what git says, "not known" where there is no repository."""
    told = subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True)
    return told.stdout.strip() if told.returncode == 0 else "not known"
