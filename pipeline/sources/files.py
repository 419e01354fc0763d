"""What every source offers: files of a round, as untouched bytes with their provenance.

Belongs here: the types that sources share. How a file is found or fetched stands in the source's
own module; what is in a file is read by ``normalise``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

RESULTS_PAGE_URL = "https://mlcommons.org/benchmarks/inference-datacenter/"
LICENCE = "Apache-2.0"  # the LICENSE file of the mlcommons results repositories

MAX_TABLE_BYTES = 64 * 2**20
"""Largest published table accepted: the largest so far has 2.2 MB."""


class Kind(StrEnum):
    """What a file is; the values are the words used in ``results.source_kind``."""

    TABLE = "published table"
    PAGE = "results page"


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

    @property
    def stale(self) -> Mapping[str, str]:
        """Return the rounds that could not be brought up to date now, each with the reason."""
        ...

    def fingerprint(self) -> str:
        """Return a text that changes whenever any file offered changes."""
        ...


def table_url(repository: str, file: str) -> str:
    """Return the public address of a published table, whatever mirror it was fetched from."""
    return f"https://raw.githubusercontent.com/mlcommons/{repository}/HEAD/{file}"
