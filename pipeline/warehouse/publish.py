"""Assembles a release from a build's tables: database, Parquet, data package.

Belongs here: what a release holds. How it replaces the former one at once stands in ``layout``.
"""

import importlib.metadata
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from pipeline.schema.tables import public_tables, staging_tables
from pipeline.sources.files import Kind
from pipeline.warehouse.datapackage import ATTRIBUTION, LICENCE, write_datapackage
from pipeline.warehouse.layout import DATABASE, PARQUET, Warehouse
from pipeline.warehouse.models import TableName
from pipeline.warehouse.running import over, view, write_parquet

BLOCK_BYTES = 65_536
"""A quarter of DuckDB's own: most tables are small, and the file is a third smaller so."""


def publish(
    warehouse: Warehouse, tables: Mapping[TableName, Path], stamp: Mapping[str, Any]
) -> dict[str, Any]:
    """Assemble a release and make it the current one; return its stamp.

    The stamp is the one given with what the release holds: rows by table, stale rounds, rounds
    scored from GitHub's archives, and how many warnings nobody has reviewed.
    """
    prepared = warehouse.build / "release"
    shutil.rmtree(prepared, ignore_errors=True)
    (prepared / PARQUET).mkdir(parents=True)
    files = _write_parquet(tables, prepared / PARQUET)
    write_datapackage(prepared / PARQUET, files)
    _write_database(tables, files, prepared / DATABASE)
    complete = {**stamp, **_summary(files)}
    warehouse.publish(prepared, complete)
    return complete


def _write_parquet(tables: Mapping[TableName, Path], folder: Path) -> dict[str, Path]:
    with over(tables) as connection:
        commits = connection.execute(
            "select round_key, commit from main.sources where commit is not null order by all"
        ).fetchall()
        metadata = {
            "licence": LICENCE["name"],
            "attribution": ATTRIBUTION,
            "roundtable": importlib.metadata.version("roundtable"),
            "source_commits": json.dumps(dict(commits), sort_keys=True),
        }
        files = {}
        for name, table in public_tables().items():
            files[name] = folder / f"{name}.parquet"
            told = metadata | {"description": table.meaning}
            write_parquet(connection, f"select * from main.{name}", files[name], told)
    return files


def _write_database(
    tables: Mapping[TableName, Path], files: Mapping[str, Path], database: Path
) -> None:
    """Write all tables: the public ones in ``main``, what they are made from in ``staging``.

    An inner table that a public one repeats is left out, as is the last warehouse.
    """
    with duckdb.connect(database, config={"default_block_size": BLOCK_BYTES}) as connection:
        connection.execute("begin; create schema staging; create schema source")
        for table, file in sorted(tables.items()):
            is_public = table.name.removeprefix("former_") in public_tables()
            if table.schema == "staging" and is_public:
                continue
            wanted = files.get(table.name, file) if table.schema == "main" else file
            view(connection, TableName("source", table.name), wanted)
            connection.execute(f"create table {table} as select * from source.{table.name}")
            connection.execute(f"drop view source.{table.name}")
            _comment(connection, table)
        connection.execute("drop schema source; commit; checkpoint")


def _comment(connection: duckdb.DuckDBPyConnection, table: TableName) -> None:
    declared = (public_tables() if table.schema == "main" else staging_tables()).get(table.name)
    if declared is None:
        return
    comments = [f"comment on table {table} is {_text(declared.meaning)}"]
    comments += [
        f'comment on column {table}."{column.name}" is {_text(column.comment)}'
        for column in declared.columns
    ]
    connection.execute("; ".join(comments))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _summary(files: Mapping[str, Path]) -> dict[str, Any]:
    with over({TableName("main", name): file for name, file in files.items()}) as connection:
        rows = {
            name: connection.execute(f"select count(*) from main.{name}").fetchall()[0][0]
            for name in files
        }
        stale = connection.execute(
            "select round_key, any_value(stale_reason) from main.sources where is_stale "
            "group by all order by all"
        ).fetchall()
        new_warnings = connection.execute(
            "select count(*) from main.warnings where known_as is null"
        ).fetchall()[0][0]
        scored = connection.execute(
            "select distinct round_key from main.sources where kind = ? and origin = 'github' "
            "order by all",
            [Kind.LOGS.value],
        ).fetchall()
        rounds = connection.execute("select count(distinct round_key) from main.results")
        return {
            "rows": rows,
            "stale": dict(stale),
            "scored": [key for (key,) in scored],
            "new_warnings": new_warnings,
            "rounds": rounds.fetchall()[0][0],
        }
