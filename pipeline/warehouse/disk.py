"""A disk that is full, said in plain words.

Belongs here: knowing it from an error. DuckDB, Polars and the orchestrator wrap what the system
says in errors of their own, so that only its words are left to know it by.
"""

import contextlib
import errno
import os
from collections.abc import Iterator

from pipeline.errors import RoundtableError
from pipeline.warehouse.layout import Warehouse

_PROBLEMS = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}


class DiskFull(RoundtableError):
    """There is no room for what a build makes; the former warehouse stands."""


@contextlib.contextmanager
def full_disk_told(warehouse: Warehouse) -> Iterator[None]:
    """Say plainly if what happens inside fails for want of room.

    Raises:
        DiskFull: the disk that holds the warehouse is full; in place of whatever was raised.
    """
    try:
        yield
    except Exception as error:
        said = str(error).strip()
        for number, problem in _PROBLEMS.items():
            if os.strerror(number) in said:
                raise DiskFull(
                    f"{warehouse.home}: {problem}; the former warehouse stands. Make room there, "
                    "or set ROUNDTABLE_HOME to a folder with more, and build again.\n"
                    + said.partition("\n")[0]
                ) from error
        raise
