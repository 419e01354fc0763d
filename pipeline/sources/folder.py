"""A folder with ``published/`` tables: for tests, mirrors and machines without a network.

Belongs here: how files in such a folder are named and read. The names are those that MLCommons
uses, after the round: ``inference-6.0.summary_results.json``, ``inference-5.0.summary.json``,
``inference-6.0.results-page-export.csv``. A name with ``-firstN`` is a part of a round.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.errors import FileFault, UnusableCall
from pipeline.rounds import REPOSITORY, new_round
from pipeline.sources.files import (
    MAX_TABLE_BYTES,
    RESULTS_PAGE_URL,
    Archive,
    Kind,
    SourceFile,
    archive_url,
    table_url,
)

FILE_NAME = re.compile(
    r"(?P<round_key>(?:inference|training)-[0-9]{1,2}\.[0-9]{1,2})(?P<part>-first[0-9]+)?"
    r"\.(?P<name>summary_results\.json|summary\.json|results-page-export\.csv)"
)

ARCHIVE_NAME = re.compile(REPOSITORY.pattern + r"\.tar\.gz")


class Folder:
    """The files of ``<path>/published`` whose names say which round they belong to."""

    def __init__(self, path: Path) -> None:
        """Take the folder.

        Raises:
            UnusableCall: there is no such folder, or it has neither published/ nor submissions/.
        """
        if not (path / "published").is_dir() and not (path / "submissions").is_dir():
            raise UnusableCall(
                f"{path} has neither a published/ nor a submissions/ folder. "
                "Give the folder that holds them, or one of auto, github, bundled."
            )
        self._files: dict[str, list[tuple[Path, re.Match[str]]]] = {}
        self._submissions = path / "submissions"
        self.unread: list[str] = []
        """Files in published/ whose names do not say what they are."""
        for file in sorted((path / "published").glob("*")):
            match = FILE_NAME.fullmatch(file.name)
            if match and file.is_file():
                self._files.setdefault(match["round_key"], []).append((file, match))
            else:
                self.unread.append(file.name)

    def round_keys(self) -> Sequence[str]:
        """Return the rounds that at least one file is named after."""
        archives = (
            match
            for file in self._submissions.glob("*.tar.gz")
            if (match := ARCHIVE_NAME.fullmatch(file.name))
        )
        keys = self._files.keys() | {f"{m['suite']}-{m['round']}" for m in archives}
        return sorted(keys, key=lambda key: new_round(key).order)

    def files(self, round_key: str) -> Sequence[SourceFile]:
        """Return the round's files, tables before page exports.

        Raises:
            FileFault: a file is too large to be a published table, or cannot be read.
        """
        files = [self._read(file, match) for file, match in self._files.get(round_key, [])]
        return sorted(files, key=lambda file: (file.kind is Kind.PAGE, file.name))

    def archive(self, round_key: str) -> Archive | None:
        """Return ``submissions/<repository>.tar.gz``, if it lies there."""
        repository = new_round(round_key).repository
        file = self._submissions / f"{repository}.tar.gz"
        if not file.is_file():
            return None
        return Archive(
            round_key=round_key,
            name=file.name,
            url=archive_url(repository),
            origin="folder",
            identity=_sha256(file),
            commit=None,
            open=lambda: file.open("rb"),
        )

    @property
    def stale(self) -> Mapping[str, str]:
        """Return nothing: what lies in a folder is what there is."""
        return {}

    def fingerprint(self) -> str:
        """Return a digest over the names and bytes of all published files."""
        digest = hashlib.sha256()
        for entries in self._files.values():
            for file, _ in entries:
                digest.update(f"{file.name}\n{_sha256(file)}\n".encode())
        return digest.hexdigest()

    def _read(self, file: Path, match: re.Match[str]) -> SourceFile:
        try:
            size = file.stat().st_size
            content = file.read_bytes() if size <= MAX_TABLE_BYTES else b""
        except OSError as error:
            raise FileFault(
                file.name, f"cannot be read ({error.strerror})", "Check its permissions."
            ) from error
        if size > MAX_TABLE_BYTES:
            raise FileFault(
                file.name,
                f"{size} bytes, more than any published table ({MAX_TABLE_BYTES})",
                "Check that it is the right file.",
            )
        is_page = match["name"].endswith(".csv")
        repository = new_round(match["round_key"]).repository
        return SourceFile(
            round_key=match["round_key"],
            kind=Kind.PAGE if is_page else Kind.TABLE,
            name=file.name,
            url=RESULTS_PAGE_URL if is_page else table_url(repository, match["name"]),
            content=content,
            sha256=hashlib.sha256(content).hexdigest(),
            origin="folder",
            is_partial=match["part"] is not None,
        )


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
