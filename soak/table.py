"""The fault table: ``docs/faults.md`` for people, ``docs/faults.json`` for machines.

Belongs here: how trials are written down. A section may come from anywhere that gives trials.
"""

import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from soak.home import REPOSITORY
from soak.trial import QUESTIONS, Trial

ENGINES = ("duckdb", "polars", "dagster", "pyarrow", "requests", "urllib3")


@dataclass(frozen=True)
class Section:
    """A group of trials and its name."""

    name: str
    trials: list[Trial]


def line(trial: Trial) -> str:
    """Return a trial as one line of plain text."""
    if trial.left_out:
        return f"left out  {trial.fault}: {trial.left_out}"
    answers = ", ".join(f"{question} {trial.answer(question)}" for question in QUESTIONS)
    lost = f"{len(trial.lost)} LOST" if trial.lost else "ok"
    return f"{lost:<8}  {trial.fault}, {trial.tried}x in {trial.seconds:.0f} s: {answers}" + (
        f" ({trial.note})" if trial.note else ""
    )


def write(sections: Sequence[Section], folder: Path, seconds: float, has_data: bool) -> None:
    """Write both files."""
    header = _header(seconds, has_data)
    told = {
        **header,
        "sections": {
            section.name: [trial.as_json() for trial in section.trials] for section in sections
        },
    }
    (folder / "faults.json").write_text(
        json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (folder / "faults.md").write_text(_markdown(sections, header), encoding="utf-8")


def _header(seconds: float, has_data: bool) -> dict[str, object]:
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    ).stdout.strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit or None,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"{memory:.0f} GiB",
        "python": platform.python_version(),
        **{engine: importlib.metadata.version(engine) for engine in ENGINES},
        "data": "real tables and archives" if has_data else "only what the trials make themselves",
        "minutes": round(seconds / 60, 1),
    }


def _markdown(sections: Sequence[Section], header: dict[str, object]) -> str:
    trials = [trial for section in sections for trial in section.trials]
    tried, lost = sum(trial.tried for trial in trials), sum(len(trial.lost) for trial in trials)
    lines = [
        "# Faults",
        "",
        f"What was tried against the warehouse, how often, and what was lost: **{lost or 'nothing'}"
        f"**{'' if lost else f' in {tried} attempts'}. `make soak` makes this page and "
        "`faults.json` anew; `make test` keeps one case of each.",
        "",
        "After each attempt four questions are asked. *Answers*: a query answers, and database and "
        "Parquet hold, alike, the tables of one release that was made undisturbed. *Whole*: every "
        "release is complete, the links lead to one, and nothing undeclared lies in the folder. "
        "*Clear*: what is said names file, round or folder and the next step, without a "
        "traceback. *Heals*: the next build that nothing disturbs ends with exit code 0 and, byte "
        "for byte, the Parquet files of a warehouse that was never disturbed, and leaves no part "
        "of a file behind. A dash: not asked, since a process that is killed can say nothing.",
        "",
        ", ".join(f"{key} {value}" for key, value in header.items() if value),
        "",
    ]
    for section in sections:
        lines += [
            f"## {section.name.capitalize()}",
            "",
            "| fault | tried | answers | whole | clear | heals | lost | measured | kept by |",
            "|---|--:|--:|--:|--:|--:|---|---|---|",
            *(_row(trial) for trial in section.trials),
            "",
        ]
    return "\n".join(lines)


def _row(trial: Trial) -> str:
    if trial.left_out:
        cells = [trial.fault, "0", *("–" * 4), "–", f"left out: {trial.left_out}"]
    else:
        answers = (trial.answer(question) for question in QUESTIONS)
        lost = "; ".join(trial.lost) or "nothing"
        cells = [trial.fault, str(trial.tried), *answers, lost, trial.note]
    cells.append(f"`{trial.kept_by}`")
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
