"""Running SQL models over Parquet files.

Belongs here: how a query sees files as tables, how its rows become a file, and how a model gets
through tables that are larger than memory. Which models there are stands in ``models``.

A model whose rows can be told apart (``Model.slices``) runs over a slice of its tables at a time
where they are large, so that what its lists and groups hold in memory does not grow with them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from pipeline.warehouse.models import Model, ModelFault, TableName

ROUNDS = TableName("main", "rounds")

SLICE_ROWS = 100_000
"""How many rows a mart takes at a time if it can: every one does with 256 MB of them."""


def run(
    model: Model, tables: Mapping[TableName, Path], target: Path, slice_rows: int = SLICE_ROWS
) -> None:
    """Run a model over Parquet files and write its table to ``target`` (a Parquet file).

    ``tables`` gives the file of each table that the model reads. The same inputs give the same
    bytes: the model's total ``order by`` fixes the order of the rows, in slices as well.

    Raises:
        ModelFault: the SQL fails, or a table that it reads has no file.
    """
    missing = sorted(str(table) for table in model.reads - tables.keys())
    if missing:
        raise ModelFault(f"{model.table}: reads {missing[0]}, which has not been built.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(prefix=f"{target.name}.", dir=target.parent) as beside,
        over({table: tables[table] for table in model.reads}) as connection,
    ):
        # What does not fit in memory is put beside the table, not into the working directory.
        connection.execute(f"set temp_directory = {_literal(str(Path(beside, 'spilled')))}")
        try:
            parts = run_in_slices(connection, model, tables, Path(beside), slice_rows)
            join(connection, list(parts), target)
        except duckdb.Error as error:
            raise ModelFault(f"sql model {model.table} failed: {error}") from error


def run_in_slices(
    connection: duckdb.DuckDBPyConnection,
    model: Model,
    tables: Mapping[TableName, Path],
    folder: Path,
    slice_rows: int = SLICE_ROWS,
) -> Iterator[Path]:
    """Run a model slice by slice; give the file of each slice's rows, in order, once it is written.

    A table without the columns that slices are made by, but with a round's key, gives each slice
    the rounds that it has of ``main.rounds``. Others are read whole. There is one file at least.
    """
    reads = sorted(model.reads) if model.slices else []
    columns = {table: _columns(connection, table) for table in reads}
    cut = [table for table, names in columns.items() if {*model.slices} <= names]
    keyed = [
        table
        for table, names in columns.items()
        if ROUNDS in cut and table not in cut and "round_key" in names
    ]
    connection.execute("set parquet_metadata_cache = true")
    for place, condition in enumerate(_conditions(connection, model, cut, keyed, slice_rows)):
        if condition is not None:
            for table in cut:
                view(connection, table, tables[table], condition)
            for table in keyed:
                of_rounds = f"round_key in (select round_key from {ROUNDS})"
                view(connection, table, tables[table], of_rounds)
        part = folder / f"{place}.parquet"
        write_parquet(connection, model.sql, part)
        yield part


def join(connection: duckdb.DuckDBPyConnection, parts: Sequence[Path], target: Path) -> None:
    """Put Parquet files one behind the other; if it is one, it becomes the target itself."""
    if len(parts) == 1:
        parts[0].replace(target)
    else:
        rows = " union all ".join(f"from {_rows(part)}" for part in parts)
        write_parquet(connection, rows, target)


def over(tables: Mapping[TableName, Path]) -> duckdb.DuckDBPyConnection:
    """Return an in-memory database in which the Parquet files can be read as tables.

    It computes in one thread: over rows as few as these several gain nothing, and each of them
    takes memory of its own.
    """
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("create schema staging")
    for table, file in tables.items():
        view(connection, table, file)
    return connection


def view(
    connection: duckdb.DuckDBPyConnection, table: TableName, file: Path, condition: str = "true"
) -> None:
    """Make a Parquet file readable under a table's name, or those of its rows that fit."""
    connection.execute(f"create or replace view {table} as from {_rows(file)} where {condition}")


def write_parquet(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    target: Path,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a query's rows to a Parquet file, the same bytes for the same rows and metadata."""
    pairs = ", ".join(f"{key}: {_literal(value)}" for key, value in (metadata or {}).items())
    options = "format parquet, compression zstd, compression_level 9, parquet_version 'v2'"
    if pairs:
        options += f", kv_metadata {{{pairs}}}"
    connection.execute(f"copy ({query}) to {_literal(str(target))} ({options})")


def _conditions(
    connection: duckdb.DuckDBPyConnection,
    model: Model,
    cut: Sequence[TableName],
    keyed: Sequence[TableName],
    slice_rows: int,
) -> Sequence[str | None]:
    """Return a condition for each slice, in order; None alone where there is but one.

    Rows that are alike in the columns of slices stay together.
    """
    if not cut:
        return [None]
    key = ", ".join(model.slices)
    keys = [f"select {key} from {table}" for table in cut]
    keys += [f"select {key} from {ROUNDS} join {table} using (round_key)" for table in keyed]
    counts = connection.execute(
        f"select {key}, count(*) from ({' union all '.join(keys)}) group by all order by all"
    )
    slices: list[list[Sequence[object]]] = []
    room = 0
    for *values, rows in counts.fetchall():
        if None in values:
            return [None]  # no condition would find these rows
        if rows > room or not slices:
            slices.append([])
            room = slice_rows
        slices[-1].append(values)
        room -= rows
    if len(slices) < 2:
        return [None]
    return [_between(model.slices, part[0], part[-1]) for part in slices]


def _between(columns: Sequence[str], first: Sequence[object], last: Sequence[object]) -> str:
    """Return the condition that rows stand from one key to another.

    The first column is named apart, since by it alone a file's other row groups can be skipped.
    """
    low, high = (", ".join(map(_value, key)) for key in (first, last))
    names = ", ".join(columns)
    return (
        f"{columns[0]} between {_value(first[0])} and {_value(last[0])} "
        f"and row({names}) between row({low}) and row({high})"
    )


def _columns(connection: duckdb.DuckDBPyConnection, table: TableName) -> set[str]:
    return {name for name, *_ in connection.execute(f"describe {table}").fetchall()}


def _rows(file: Path) -> str:
    # read_parquet takes its argument for a glob, so a folder named "[a]" needs escaping.
    escaped = re.sub(r"([*?\[])", r"[\1]", str(file))
    return f"read_parquet({_literal(escaped)})"


def _value(value: object) -> str:
    return _literal(value) if isinstance(value, str) else str(value)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
