"""Keeps the bytes that were fetched, by their hash, with a record of where they came from.

Belongs here: ``<home>/snapshots``, which holds one object a content (named by its SHA-256) and
``index.json`` (what was fetched last, by repository and file). Nothing here knows the network or
what is in a file. Repository and file names are keys of the index, never parts of a path.

Every file is replaced as a whole, so a run killed at any instant leaves a good store. What cannot
be read, or is not the bytes it was, counts as absent and is fetched again.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from pipeline.errors import RoundtableError
from pipeline.sources.files import LICENCE

_SHA256 = re.compile(r"[0-9a-f]{64}")


class SnapshotsUnwritable(RoundtableError):
    """Fetched bytes cannot be kept."""


@dataclass(frozen=True)
class Snapshot:
    """The provenance of one file; ``fetched_at`` is UTC, without a zone."""

    url: str
    commit: str
    sha256: str
    bytes: int
    etag: str | None
    fetched_at: datetime
    licence: str = LICENCE


class Snapshots:
    """The files fetched last, and which files were found not to exist; safe for threads."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "snapshots"
        self._index = self._folder / "index.json"
        self._lock = Lock()
        self._files, self._absent = _read_index(self._index)

    def repositories(self) -> list[str]:
        """Return the repositories of which any file was ever kept."""
        return sorted({key.partition("/")[0] for key in self._files})

    def find(self, repository: str, file: str) -> tuple[Snapshot, bytes] | None:
        """Return a file kept and its bytes, or None where it is absent or no longer intact."""
        snapshot = self._files.get(f"{repository}/{file}")
        if snapshot is None:
            return None
        try:
            content = (self._folder / snapshot.sha256).read_bytes()
        except OSError:
            return None
        return (snapshot, content) if _sha256(content) == snapshot.sha256 else None

    def keep(
        self, repository: str, file: str, content: bytes, *, url: str, commit: str, etag: str | None
    ) -> Snapshot:
        """Keep the bytes just fetched and where they came from; older bytes stay as objects.

        Raises:
            SnapshotsUnwritable: the disk is full, or the folder may not be written.
        """
        now = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
        snapshot = Snapshot(url, commit, _sha256(content), len(content), etag, now)
        with self._lock:
            self._write(self._folder / snapshot.sha256, content)
            self._files[f"{repository}/{file}"] = snapshot
            self._write_index()
        return snapshot

    def confirm(self, repository: str, file: str, commit: str) -> Snapshot:
        """Record that a file kept is the same at ``commit``.

        Raises:
            SnapshotsUnwritable: see ``keep``.
        """
        key = f"{repository}/{file}"
        with self._lock:
            if self._files[key].commit != commit:
                self._files[key] = replace(self._files[key], commit=commit)
                self._write_index()
            return self._files[key]

    def is_absent(self, repository: str, file: str, commit: str) -> bool:
        """Return whether a file is known not to exist at ``commit``."""
        return self._absent.get(f"{repository}/{file}") == commit

    def keep_absence(self, repository: str, file: str, commit: str) -> None:
        """Record that a file does not exist at ``commit``.

        Raises:
            SnapshotsUnwritable: see ``keep``.
        """
        with self._lock:
            self._absent[f"{repository}/{file}"] = commit
            self._write_index()

    def _write_index(self) -> None:
        files = {
            key: asdict(snapshot) | {"fetched_at": f"{snapshot.fetched_at.isoformat()}Z"}
            for key, snapshot in sorted(self._files.items())
        }
        index = {"files": files, "absent": dict(sorted(self._absent.items()))}
        self._write(self._index, json.dumps(index, indent=1).encode())

    def _write(self, path: Path, content: bytes) -> None:
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            raise SnapshotsUnwritable(
                f"{self._folder} cannot be written: {error.strerror}. "
                "Make room or change its permissions, or set ROUNDTABLE_HOME to another folder."
            ) from None


def _read_index(path: Path) -> tuple[dict[str, Snapshot], dict[str, str]]:
    """Return the index; what is unreadable in it counts as not there."""
    try:
        index = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}, {}
    found = {key: _read_snapshot(entry) for key, entry in _mapping(index, "files").items()}
    files = {key: snapshot for key, snapshot in found.items() if snapshot}
    return files, {key: str(commit) for key, commit in _mapping(index, "absent").items()}


def _read_snapshot(entry: object) -> Snapshot | None:
    try:
        snapshot = Snapshot(**entry)  # type: ignore[arg-type]
        fetched_at = datetime.fromisoformat(snapshot.fetched_at).replace(tzinfo=None)  # type: ignore[arg-type]
        good = _SHA256.fullmatch(snapshot.sha256)
    except (TypeError, ValueError):
        return None
    return replace(snapshot, fetched_at=fetched_at) if good else None


def _mapping(index: Any, name: str) -> Mapping[str, Any]:
    value = index.get(name) if isinstance(index, dict) else None
    return value if isinstance(value, dict) else {}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
