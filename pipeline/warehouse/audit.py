"""Holds anyone's own claims against a built warehouse, by the very models that the build runs.

Belongs here: running those models over the published tables, in memory. The warehouse stays as it
is; how the outcome is shown is ``export``'s task.
"""

from collections.abc import Mapping

import duckdb
import polars as pl

from pipeline.errors import RoundtableError, UnusableCall
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.models import Model, ModelFault, TableName, models

MEMORY = "2GB"
"""A claim over any result against any other makes hundreds of millions of pairs."""


def audit_claims(
    warehouse: Warehouse, claims: Mapping[str, pl.DataFrame]
) -> duckdb.DuckDBPyConnection:
    """Return a database in memory whose ``claims`` and ``claim_comparators`` are of these claims.

    ``claims`` are the inner tables that the claims' models start from, by name.

    Raises:
        RoundtableError: there is no warehouse yet, or it has not the tables that are needed.
        UnusableCall: the claims select too much.
    """
    release = warehouse.release
    if release is None:
        raise RoundtableError(f"{warehouse.home}: no warehouse yet. Run: roundtable build")
    connection = duckdb.connect()
    try:
        database = str(release / warehouse.database.name).replace("'", "''")
        connection.execute(f"set memory_limit = '{MEMORY}'; set temp_directory = ''")
        connection.execute(f"attach '{database}' as published (read_only)")
        connection.execute("create schema staging")
        for name, frame in claims.items():
            connection.register("given", frame)
            connection.execute(f"create table staging.{name} as from given")
            connection.unregister("given")
        wanted = _claim_models(claims)
        made = {TableName("staging", name) for name in claims} | {model.table for model in wanted}
        for table in sorted({table for model in wanted for table in model.reads} - made):
            connection.execute(f"create view {table} as from published.{table}")
        for model in wanted:
            connection.execute(f"create table {model.table} as {model.sql}")
    except duckdb.OutOfMemoryException as error:
        raise UnusableCall(
            "The claims select too many pairs of results to compare. "
            "Narrow subject and comparator, by benchmark, accelerator or round."
        ) from error
    except duckdb.CatalogException as error:
        raise RoundtableError(
            f"{warehouse.database}: is of another version. Run: roundtable build --full"
        ) from error
    except duckdb.Error as error:
        raise ModelFault(f"the claims could not be held against the results: {error}") from error
    return connection


def _claim_models(claims: Mapping[str, pl.DataFrame]) -> list[Model]:
    """Return the models between the claims and their verdicts, each after those it reads."""
    touched = {TableName("staging", name) for name in claims}
    wanted = []
    for table, model in models().items():
        if model.reads & touched:
            touched.add(table)
            wanted.append(model)
    return wanted
