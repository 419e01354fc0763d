"""Tries every fault, prints the table as it goes, and writes ``docs/faults.md`` and ``.json``.

``python -m soak`` runs all groups, ``python -m soak kills wire`` these alone, which writes no
table. DATA names a folder with real tables and archives; without it ``../shared/data`` serves if
it is there. Exits with 1 if anything was lost.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from soak import archives, clocks, disks, kills, mutations, readers, rounds, stored, wire
from soak.ground import Ground
from soak.home import REPOSITORY
from soak.table import Section, line, write
from soak.trial import Trial

AT_ONCE = 3
"""Groups that run at the same time; each has folders of its own."""

GROUPS: dict[str, Callable[[Ground], Iterator[Trial]]] = {
    "kills": kills.trials,
    "disks": disks.trials,
    "clocks": clocks.trials,
    "readers": readers.trials,
    "wire": wire.trials,
    "archives": archives.trials,
    "stored": stored.trials,
    "rounds": rounds.trials,
    "mutations": mutations.trials,
}


def main(names: list[str]) -> int:
    """Run the groups of these names, all if there are none; return the exit code."""
    unknown = sorted(set(names) - GROUPS.keys())
    if unknown:
        print(f"{unknown[0]}: no such group. There are: {', '.join(GROUPS)}.", file=sys.stderr)
        return 2
    work = Path(tempfile.mkdtemp(prefix="soak-"))
    ground = Ground(work, _data())
    began = time.monotonic()
    try:
        ground.good  # noqa: B018 - built before anything runs at the same time
        with ThreadPoolExecutor(AT_ONCE) as pool:
            sections = list(pool.map(lambda name: _run(name, ground), names or GROUPS))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if not names:
        write(sections, REPOSITORY / "docs", time.monotonic() - began, has_data=bool(ground.data))
    return int(any(trial.lost for section in sections for trial in section.trials))


def _run(name: str, ground: Ground) -> Section:
    """Run a group, and tell of each trial as soon as it is done."""
    section = Section(name, [])
    for trial in GROUPS[name](ground):
        section.trials.append(trial)
        losses = [f"    LOST {lost}" for lost in trial.lost]
        print("\n".join([line(trial), *losses]), flush=True)
    return section


def _data() -> Path | None:
    data = Path(os.environ.get("DATA") or REPOSITORY.parent / "shared" / "data")
    return data.resolve() if (data / "submissions").is_dir() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
