"""What every source offers: files of a round, as untouched bytes with their provenance.

Belongs here: the types that sources share. How a file is found or fetched stands in the source's
own module; what is in a file is read by ``normalise``.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO, Protocol
from urllib.parse import quote

RESULTS_PAGE_URL = "https://mlcommons.org/benchmarks/inference-datacenter/"
LICENCE = "Apache-2.0"  # the LICENSE file of the mlcommons results repositories

MAX_TABLE_BYTES = 64 * 2**20
"""Largest published table accepted: the largest so far has 2.2 MB."""


class Kind(StrEnum):
    """What a file is; the values are the words used in ``results.source_kind``."""

    TABLE = "published table"
    PAGE = "results page"
    LOGS = "submission logs"


@dataclass(frozen=True)
class SourceFile:
    """One file of a round: its bytes and where they came from."""

    round_key: str
    kind: Kind
    name: str
    url: str
    content: bytes
    sha256: str
    origin: str
    commit: str | None = None
    etag: str | None = None
    fetched_at: datetime | None = None
    is_partial: bool = False
    stale_reason: str | None = None
    size: int | None = None

    @property
    def bytes(self) -> int:
        """Return the file's size; archives have one without their content."""
        return len(self.content) if self.size is None else self.size


@dataclass(frozen=True)
class Archive:
    """A round's submission archive, a gzipped tar, which is streamed and never kept.

    ``identity`` changes when its bytes do: their SHA-256, or the commit it is made of.
    """

    round_key: str
    name: str
    url: str
    origin: str
    identity: str
    commit: str | None
    open: Callable[[], AbstractContextManager[BinaryIO]]


class Source(Protocol):
    """A place that offers files, by round."""

    def round_keys(self) -> Sequence[str]:
        """Return the keys of the rounds it knows of, also of those it has no file of."""
        ...

    def files(self, round_key: str) -> Sequence[SourceFile]:
        """Return the files of a round.

        Raises:
            RoundtableError: a file cannot be had; the message says what to do.
        """
        ...

    def archive(self, round_key: str) -> Archive | None:
        """Return the round's submission archive, if it has one."""
        ...

    @property
    def stale(self) -> Mapping[str, str]:
        """Return the rounds that could not be brought up to date now, each with the reason."""
        ...

    def fingerprint(self) -> str:
        """Return a text that changes whenever any file offered changes."""
        ...


def archive_url(repository: str) -> str:
    """Return the public address of a repository's archive."""
    return f"https://codeload.github.com/mlcommons/{repository}/tar.gz/HEAD"


def file_url(repository: str, commit: str | None, path: str) -> str:
    """Return the public address of a file of a repository's archive, as it was at a commit."""
    place = quote(path.strip("/"))
    return f"https://raw.githubusercontent.com/mlcommons/{repository}/{commit or 'HEAD'}/{place}"


def folder_url(repository: str, commit: str | None, path: str) -> str:
    """Return the public address of a folder of a repository's archive, as it was at a commit."""
    place = quote(path.strip("/"))
    return f"https://github.com/mlcommons/{repository}/tree/{commit or 'HEAD'}/{place}"


def table_url(repository: str, file: str) -> str:
    """Return the public address of a published table, whatever mirror it was fetched from."""
    return f"https://raw.githubusercontent.com/mlcommons/{repository}/HEAD/{file}"
