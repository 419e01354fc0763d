"""How a warehouse folder is laid out, and how a new state replaces the old one at once.

Belongs here: paths, the lock, and the swap. A release is a folder that holds the database and the
Parquet files of one build; ``current`` is a link to it, and what users open are links through
``current``. Replacing that one link changes everything together, a reader keeps the files that it
has open, and a build killed at any instant leaves ``current`` where it was. The stamp has the
SHA-256 of every file of its release: when a build begins, one that is damaged gives way to the one
before it.

    roundtable.duckdb -> current/roundtable.duckdb
    parquet           -> current/parquet
    current           -> releases/<number>
    releases/<number>/{roundtable.duckdb, parquet/, stamp.json}
    snapshots/        raw bytes by their SHA-256
    derived/          what was derived from archives
    build/            what the running build has made so far
    last_failure.json why the last build failed, if it did (see ``failure``)

No data library is imported here: the check whether there is anything to do comes before them.
"""

import contextlib
import fcntl
import hashlib
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

PART = ".part"
"""Ends the name of a file or folder that is being written; the name begins with a dot."""


class Warehouse:
    """A warehouse folder."""

    def __init__(self, home: Path) -> None:
        """Take the folder, which need not exist yet."""
        self.home = home
        self.database = home / DATABASE
        self.parquet = home / PARQUET
        self.snapshots = home / "snapshots"
        self.derived = home / "derived"
        self.build = home / "build"
        self._current = home / "current"
        self._releases = home / "releases"

    def figures(self, round_key: str) -> Path:
        """Return the folder in which the running build keeps a round's figures."""
        return self.build / "figures" / round_key

    @property
    def release(self) -> Path | None:
        """Return the folder of the current release; None if there is no complete one."""
        if not (self._current / STAMP).is_file() or not (self._current / DATABASE).is_file():
            return None
        return self._current.resolve()

    def stamp(self) -> dict[str, Any]:
        """Return what the current release says of itself; empty if there is none."""
        release = self.release
        return {} if release is None else _read_stamp(release)

    @contextlib.contextmanager
    def lock(self, say: Callable[[str], None]) -> Iterator[None]:
        """Hold the warehouse for whoever writes to it; a second build waits, and says so.

        What an earlier build left is put in order first: the parts of files that it was writing
        when it was killed are removed, and a damaged release gives way to the one before it.

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
            for folder in (self.snapshots, self.derived):
                for part in folder.glob(f".*{PART}"):
                    _remove(part)
            self._leave_damaged_release(say)
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
        told = {**stamp, "files": _digests(prepared)}
        (prepared / STAMP).write_text(json.dumps(told, indent=1, sort_keys=True), encoding="utf-8")
        for path in sorted(prepared.rglob("*")):
            _sync(path)
        _sync(prepared)
        before = self.release
        self._releases.mkdir(exist_ok=True)
        release = self._releases / str(max(map(_number, self._numbered()), default=0) + 1)
        prepared.rename(release)
        _sync(self._releases)
        _point(self.database, Path("current") / DATABASE)
        _point(self.parquet, Path("current") / PARQUET)
        _point(self._current, Path("releases") / release.name)
        _sync(self.home)
        # The one before stays: a reader may be between opening two of its files.
        kept = {release.name, before.name if before else None}
        for other in self._numbered():
            if other.name not in kept:
                self._discard(other)
        return release

    def _leave_damaged_release(self, say: Callable[[str], None]) -> None:
        """Make the newest intact release the current one, if the current one is damaged."""
        if not self._current.is_symlink():
            return
        current = self._current.resolve()
        file = _damaged_file(current)
        if file is None:
            return
        others = sorted(self._numbered(), key=_number, reverse=True)
        intact = (each for each in others if each.name != current.name and not _damaged_file(each))
        former = next(intact, None)
        if former is not None:
            _point(self._current, Path("releases") / former.name)
        else:
            self._current.unlink()
        _sync(self.home)
        if current.exists():
            self._discard(current)
        serves = "The release before it serves" if former else "Nothing serves"
        say(f"{current / file}: damaged. {serves} until this build has published.")

    def _numbered(self) -> list[Path]:
        return list(self._releases.glob("[0-9]*"))

    def _discard(self, release: Path) -> None:
        """Remove a release; it is moved first, so that none is ever half there."""
        self.build.mkdir(exist_ok=True)
        leaving = self.build / f"release-{release.name}"
        shutil.rmtree(leaving, ignore_errors=True)
        release.rename(leaving)
        shutil.rmtree(leaving, ignore_errors=True)


def _number(release: Path) -> int:
    return int(release.name)


def _digests(release: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a release but its stamp, by its path there."""
    digests = {}
    for file in sorted(release.rglob("*")):
        if file.is_file() and file.name != STAMP:
            with file.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
            digests[str(file.relative_to(release))] = digest
    return digests


def _damaged_file(release: Path) -> str | None:
    """Return the first file that is not as its stamp says; None if all are, or it says nothing."""
    stamp = _read_stamp(release)
    if not stamp:
        return STAMP
    told = stamp.get("files", {})
    found = _digests(release) if told else {}
    return next((name for name in sorted(told) if told[name] != found.get(name)), None)


def _read_stamp(release: Path) -> dict[str, Any]:
    try:
        stamp = json.loads((release / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


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
