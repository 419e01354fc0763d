"""Opening the published database, so that a query can read it and nothing else.

Belongs here: the read-only connection and its locks. How an answer is shown is ``export``'s task.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from pipeline.errors import RoundtableError
from pipeline.warehouse.layout import Warehouse

_CUT = (duckdb.IOException, duckdb.SerializationException)
_CHECKSUM = "Corrupt database file"
"""How DuckDB says that a block is not what its checksum says; that error has no class of its own.
"""


@contextmanager
def damage_told(warehouse: Warehouse) -> Iterator[None]:
    """Say of a database that cannot be read to its end that it is damaged, and what to do.

    Raises:
        RoundtableError: DuckDB cannot read what the database holds.
    """
    try:
        yield
    except duckdb.Error as error:
        if not isinstance(error, _CUT) and _CHECKSUM not in str(error):
            raise
        raise RoundtableError(
            f"{warehouse.database}: damaged ({_first_line(error)}).\nRun: roundtable build"
        ) from error


def open_database(warehouse: Warehouse) -> duckdb.DuckDBPyConnection:
    """Open the current release's database.

    The connection cannot write, attach, read or write files, load extensions or reach a network,
    and these locks cannot be taken off.

    Raises:
        RoundtableError: there is no warehouse yet, or its database cannot be opened.
    """
    release = warehouse.release
    if release is None:
        raise RoundtableError(f"{warehouse.home}: no warehouse yet. Run: roundtable build")
    try:
        connection = duckdb.connect(release / warehouse.database.name, read_only=True)
        # DuckDB lets queries write where it would spill to, whatever else is locked.
        connection.execute("set temp_directory = ''")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
    except duckdb.Error as error:
        raise RoundtableError(
            f"{warehouse.database}: cannot be opened ({_first_line(error)}).\nRun: roundtable build"
        ) from error
    return connection


@contextmanager
def open_for_own_queries(warehouse: Warehouse) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the current release's database for queries that rely on this version's tables.

    Raises:
        RoundtableError: there is no warehouse yet, another version made it, or it is damaged.
    """
    with open_database(warehouse) as connection, damage_told(warehouse):
        try:
            yield connection
        except (duckdb.BinderException, duckdb.CatalogException) as error:
            raise RoundtableError(
                f"{warehouse.database}: made by another version. Run: roundtable build"
            ) from error


def _first_line(error: duckdb.Error) -> str:
    return str(error).strip().partition("\n")[0]
