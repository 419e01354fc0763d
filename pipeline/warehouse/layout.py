"""How a warehouse folder is laid out, and how a new state replaces the old one at once.

Belongs here: paths, the lock, and the swap. A release is a folder that holds the database and the
Parquet files of one build; ``current`` is a link to it, and what users open are links through
``current``. Replacing that one link changes everything together, a reader keeps the files that it
has open, and a build killed at any instant leaves ``current`` where it was.

    roundtable.duckdb -> current/roundtable.duckdb
    parquet           -> current/parquet
    current           -> releases/<number>
    releases/<number>/{roundtable.duckdb, parquet/, stamp.json}
    snapshots/        raw bytes by their SHA-256
    build/            what the running build has made so far
    last_failure.json why the last build failed, if it did (see ``failure``)

No data library is imported here: the check whether there is anything to do comes before them.
"""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pipeline.errors import RoundtableError

DATABASE = "roundtable.duckdb"
PARQUET = "parquet"
STAMP = "stamp.json"

KEPT_RELEASES = 2
"""The current release and the one before: a reader may be between opening two of its files."""


class Warehouse:
    """A warehouse folder."""

    def __init__(self, home: Path) -> None:
        """Take the folder, which need not exist yet."""
        self.home = home
        self.database = home / DATABASE
        self.parquet = home / PARQUET
        self.snapshots = home / "snapshots"
        self.build = home / "build"
        self._current = home / "current"
        self._releases = home / "releases"

    @property
    def release(self) -> Path | None:
        """Return the folder of the current release; None if there is no complete one."""
        if not (self._current / STAMP).is_file() or not (self._current / DATABASE).is_file():
            return None
        return self._current.resolve()

    def stamp(self) -> dict[str, Any]:
        """Return what the current release says of itself; empty if there is none."""
        release = self.release
        if release is None:
            return {}
        try:
            stamp = json.loads((release / STAMP).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) else {}

    @contextlib.contextmanager
    def lock(self, say: Callable[[str], None]) -> Iterator[None]:
        """Hold the warehouse for one build; a second build waits, and says so.

        Raises:
            RoundtableError: the folder cannot be written.
        """
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            file = (self.home / ".lock").open("a")
        except OSError as error:
            raise RoundtableError(
                f"{self.home}: cannot be written ({error.strerror}). "
                "Set ROUNDTABLE_HOME to a folder that can."
            ) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("Another build is running on this warehouse; waiting for it to end.")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def fresh_build_folder(self) -> Path:
        """Return the empty folder that a build works in, without what a killed build left."""
        shutil.rmtree(self.build, ignore_errors=True)
        self.build.mkdir(parents=True)
        return self.build

    def publish(self, prepared: Path, stamp: dict[str, Any]) -> Path:
        """Make a prepared folder (database and Parquet) the current release.

        Everything is on disk before the one link changes. Returns the release's folder.
        """
        (prepared / STAMP).write_text(json.dumps(stamp, indent=1, sort_keys=True), encoding="utf-8")
        for path in sorted(prepared.rglob("*")):
            _sync(path)
        _sync(prepared)
        self._releases.mkdir(exist_ok=True)
        numbers = sorted(int(path.name) for path in self._releases.glob("[0-9]*"))
        release = self._releases / str(numbers[-1] + 1 if numbers else 1)
        prepared.rename(release)
        _sync(self._releases)
        _point(self.database, Path("current") / DATABASE)
        _point(self.parquet, Path("current") / PARQUET)
        _point(self._current, Path("releases") / release.name)
        _sync(self.home)
        for number in numbers[: 1 - KEPT_RELEASES]:
            shutil.rmtree(self._releases / str(number), ignore_errors=True)
        return release


def _point(link: Path, target: Path) -> None:
    """Make ``link`` a symbolic link to ``target``, replacing what stands there at once."""
    if link.is_symlink() and link.readlink() == target:
        return
    new = link.with_name(f".{link.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(target)
    new.replace(link)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
