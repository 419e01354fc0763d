"""Fixtures that several stages' tests share."""

from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import polars as pl
import pytest

from pipeline.normalise.figures import frame_schema
from pipeline.schema.tables import staging_tables
from pipeline.warehouse.models import TableName, models, run, view

REAL_DATA = Path(__file__).parents[2] / "shared"

ModelRunner = Callable[..., duckdb.DuckDBPyConnection]


@pytest.fixture
def run_models(tmp_path: Path) -> ModelRunner:
    """Run all models over literal inner tables; those not given are empty.

    Returns a function that takes frames by name (``results=...``), in any subset of the declared
    columns (the others are null), and gives a connection in which every table can be queried.
    """

    def runner(**frames: pl.DataFrame) -> duckdb.DuckDBPyConnection:
        files: dict[TableName, Path] = {}
        for name, table in staging_tables().items():
            schema = frame_schema(table)
            given = frames.get(name, schema.to_frame())
            frame = pl.concat([schema.to_frame(), given], how="diagonal_relaxed")
            files[TableName("staging", name)] = tmp_path / f"staging.{name}.parquet"
            frame.select(schema.names()).write_parquet(files[TableName("staging", name)])
        for table_name, model in models().items():
            files[table_name] = tmp_path / f"{table_name}.parquet"
            run(model, files, files[table_name])
        connection = duckdb.connect()
        connection.execute("create schema staging")
        for table_name, file in files.items():
            view(connection, table_name, file)
        return connection

    return runner


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[Mapping[str, object]]:
    """Return a query's rows as dictionaries."""
    return connection.sql(query).pl().to_dicts()
