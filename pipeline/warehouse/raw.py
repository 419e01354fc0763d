"""What a build has read: bytes and their provenance, and what was derived from archives.

Belongs here: keeping raw material between the step that reads it and the one that uses it, and
from one build to the next. What it means is ``normalise``'s task.
"""

import hashlib
import json
import shutil
from dataclasses import asdict
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.errors import FileFault
from pipeline.normalise.published import Oddity, RawTable
from pipeline.normalise.submissions.derived import DerivedTable
from pipeline.settings import PACKAGE
from pipeline.sources.files import Archive, Kind, SourceFile
from pipeline.warehouse.layout import PART
from pipeline.warehouse.tables import write_frame

SUMS = "sha256.json"
"""The digests of the files beside it."""


def keep_bytes(snapshots: Path, file: SourceFile) -> None:
    """Keep a file's bytes under their SHA-256, in place of any that are no longer intact."""
    target = snapshots / file.sha256
    if not target.exists() or target.read_bytes() != file.content:
        snapshots.mkdir(parents=True, exist_ok=True)
        part = snapshots / f".{file.sha256}{PART}"
        part.write_bytes(file.content)
        part.replace(target)


def provenance(file: SourceFile) -> dict[str, Any]:
    """Return all that is known of a file but its bytes, as JSON values."""
    return {
        "round_key": file.round_key,
        "kind": file.kind.value,
        "name": file.name,
        "url": file.url,
        "sha256": file.sha256,
        "origin": file.origin,
        "commit": file.commit,
        "etag": file.etag,
        "fetched_at": file.fetched_at.isoformat() if file.fetched_at else None,
        "is_partial": file.is_partial,
        "stale_reason": file.stale_reason,
    }


def with_bytes(snapshots: Path, line: dict[str, Any]) -> SourceFile:
    """Return the file that ``provenance`` described, its bytes read from where they are kept.

    Raises:
        FileFault: the bytes are no longer what they were.
    """
    content = (snapshots / line["sha256"]).read_bytes()
    if hashlib.sha256(content).hexdigest() != line["sha256"]:
        raise FileFault(line["name"], "its stored bytes have changed", "Build again.")
    fetched_at = datetime.fromisoformat(line["fetched_at"]) if line["fetched_at"] else None
    kind = Kind(line["kind"])
    return SourceFile(**{**line, "kind": kind, "fetched_at": fetched_at, "content": content})


class Derived:
    """What was derived from archives, kept until the archive or the code that reads it changes."""

    def __init__(self, folder: Path) -> None:
        """Take the folder, which need not exist yet."""
        self._folder = folder

    def find(self, archive: Archive) -> DerivedTable | None:
        """Return what was derived from this very archive by this very code, if it is kept intact.

        What is damaged counts as not kept, so that the archive is read again.
        """
        folder = self._place(archive)
        if not _is_intact(folder):
            return None
        told = json.loads((folder / "oddities.json").read_text(encoding="utf-8"))
        table = RawTable(
            frame=pl.read_parquet(folder / "raw.parquet", glob=False),
            warnings=[Oddity(**line) for line in told["warnings"]],
            rejects=[Oddity(**line) for line in told["rejects"]],
        )
        files = pl.read_parquet(folder / "files.parquet", glob=False)
        runs = pl.read_parquet(folder / "runs.parquet", glob=False)
        return DerivedTable(table, files, **told["archive"], runs=runs)

    def keep(self, archive: Archive, derived: DerivedTable) -> None:
        """Keep what was derived, in place of what older bytes or code gave for the round."""
        folder = self._place(archive)
        part = folder.with_name(f".{folder.name}{PART}")
        shutil.rmtree(part, ignore_errors=True)
        write_frame(derived.table.frame, part / "raw.parquet")
        write_frame(derived.files, part / "files.parquet")
        write_frame(derived.runs, part / "runs.parquet")
        told = {
            "archive": {
                "commit": derived.commit,
                "sha256": derived.sha256,
                "bytes": derived.bytes,
            },
            "warnings": [asdict(oddity) for oddity in derived.table.warnings],
            "rejects": [asdict(oddity) for oddity in derived.table.rejects],
        }
        (part / "oddities.json").write_text(json.dumps(told), encoding="utf-8")
        (part / SUMS).write_text(json.dumps(_digests(part)), encoding="utf-8")
        for older in self._folder.glob(f"{archive.round_key}-*"):
            shutil.rmtree(older)
        part.rename(folder)

    def _place(self, archive: Archive) -> Path:
        digest = hashlib.sha256(f"{archive.identity}\n{_reader_digest()}".encode()).hexdigest()
        return self._folder / f"{archive.round_key}-{digest[:24]}"


def _is_intact(folder: Path) -> bool:
    """Return whether a folder holds all the files, and the bytes, that were kept in it."""
    try:
        told = json.loads((folder / SUMS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(told == _digests(folder))


def _digests(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
        if file.name != SUMS
    }


@cache
def _reader_digest() -> str:
    """Return a digest of the code and vocabulary that read archives."""
    digest = hashlib.sha256()
    folders = (PACKAGE / "normalise" / "submissions", PACKAGE / "normalise" / "vocabulary")
    files = (path for folder in folders for path in folder.rglob("*"))
    for file in sorted(path for path in files if path.suffix in (".py", ".csv")):
        digest.update(file.read_bytes())
    for module in (
        "sources/archives",
        "normalise/names",
        "normalise/published",
        "normalise/rounds",
        "rounds",
    ):
        digest.update((PACKAGE / f"{module}.py").read_bytes())
    return digest.hexdigest()
