"""Disks that are full, or cannot be written.

Belongs here: faults of the file system as a whole. It needs the right to mount a small tmpfs.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from soak.ground import Ground
from soak.home import Home, unclear
from soak.trial import ANSWERS, CLEAR, HEALS, WHOLE, Trial

ROOM = (0, 0.03, 0.1, 0.2, 0.45, 0.9)
"""Parts of the room that an undisturbed build takes: it fails at its start, on the way, at the end.
"""
READ_ONLY = 2
SPARE_KIB = 64 * 1024


def trials(ground: Ground) -> Iterator[Trial]:
    """Build on disks too small by more or less, and on one that is read-only."""
    full = Trial(
        "disk full",
        "tests/warehouse/test_disk.py::test_a_full_disk_is_said_in_plain_words",
    )
    read_only = Trial(
        "read-only warehouse",
        "tests/warehouse/test_disk.py::"
        "test_a_read_only_warehouse_answers_and_says_that_it_cannot_be_written",
    )
    folder = ground.folder("disk")
    try:
        with _tmpfs(folder, SPARE_KIB):
            pass
    except (OSError, subprocess.CalledProcessError):
        for trial in (full, read_only):
            trial.left_out = "a small tmpfs cannot be mounted (that takes root)"
            yield trial
        return
    before, needed = _room(ground, folder)
    stopped = []
    for part in ROOM:
        with full.attempt(f"{part:.0%} of the room needed") as attempt, _tmpfs(folder, SPARE_KIB):
            home = ground.before.copy(folder / "home")
            _resize(folder, before + int(needed * part))
            done = home(*ground.build)
            stopped.append(_reached(done.err))
            attempt.ask(ANSWERS, home.unlike(*ground.known))
            attempt.ask(WHOLE, home.half_made())
            attempt.ask(CLEAR, unclear(done.err, "disk is full", str(folder), "Make room"))
            if done.code != 1:
                attempt.lose(f"exits with {done.code}")
            _resize(folder, SPARE_KIB)
            attempt.ask(HEALS, home.unhealed(ground.build, ground.good))
    sizes = ", ".join(f"{part:.0%}" for part in ROOM)
    full.note = (
        f"a tmpfs with {sizes} of the {needed} KiB that a build takes; stopped after "
        f"{', '.join(dict.fromkeys(stopped))}"
    )
    yield full
    for _ in range(READ_ONLY):
        with read_only.attempt("tmpfs mounted read-only") as attempt, _tmpfs(folder, SPARE_KIB):
            home = ground.before.copy(folder / "home")
            _mount("remount,ro", folder)
            done = home(*ground.build)
            attempt.ask(ANSWERS, [*home.unlike(ground.known[0]), *_unanswered(home)])
            attempt.ask(WHOLE, home.half_made())
            attempt.ask(CLEAR, unclear(done.err, str(folder), "ROUNDTABLE_HOME"))
            _mount("remount,rw", folder)
            attempt.ask(HEALS, home.unhealed(ground.build, ground.good))
    read_only.note = "query, status and export answer"
    yield read_only


def _unanswered(home: Home) -> list[str]:
    out = home.path.parents[1] / "export"
    shutil.rmtree(out, ignore_errors=True)
    done = {"status": home("status"), "export": home("export", out)}
    return [f"{name}: {told.err.strip()}" for name, told in done.items() if told.code != 0]


def _reached(told: str) -> str:
    """Return the step at which a build stopped, from the last line that it told."""
    lines = [line for line in told.splitlines() if re.match(r"model|[a-z]+-\d", line)]
    last = lines[-1] if lines else "its very start"
    return "a model" if last.startswith("model") else last


def _room(ground: Ground, folder: Path) -> tuple[int, int]:
    """Return the KiB that the good warehouse takes there, and what a build takes on top."""
    ground.known  # noqa: B018 - built first, elsewhere
    with _tmpfs(folder, SPARE_KIB):
        home = ground.before.copy(folder / "home")
        before = _used(folder)
        home(*ground.build)
        return before, _used(folder) - before


def _used(folder: Path) -> int:
    return shutil.disk_usage(folder).used // 1024


@contextmanager
def _tmpfs(folder: Path, kib: int) -> Iterator[None]:
    command = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


def _resize(folder: Path, kib: int) -> None:
    _mount(f"remount,size={kib}k", folder)


def _mount(options: str, folder: Path) -> None:
    subprocess.run(["mount", "-o", options, str(folder)], check=True, capture_output=True)
