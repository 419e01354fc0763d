"""SQL models over many times the real results, in little memory.

Belongs here: multiplying the tables that marts read, running one mart over them, and judging its
joins. Each is a command of its own, so that its memory is its own:

    python -m bench.marts list
    python -m bench.marts multiply TABLES FOLDER --times 100
    python -m bench.marts run main.records FOLDER

Tables are multiplied as a build made them, so that each mart is run for itself. Every replica is a
world of its own: suite, rounds and result keys carry its number, and nothing of one meets anything
of another. So all work grows with the rows and with nothing else: what takes longer than that is
the mart's own doing. The first replica stays as it is. Names of submitters, products and benchmarks
are the same in all. Public claims are not multiplied: they find what they are about in the first
replica, among all results. scale_out, which knows the training suite by its name, takes the other
replicas of training for inference.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb

from pipeline.warehouse.models import TableName, models, over, write_parquet

MEMORY = "256MB"
"""What DuckDB may take while a model runs; the rest is spilled to disk."""

AMPLE_MEMORY = "6GB"
"""What it may take to multiply the tables, which is not measured."""

NEGLIGIBLE_ROWS = 1000
"""A join of fewer rows costs nothing, whatever its inputs are."""

_REPLICA = {
    "suite": "suite || '~' || replica",
    "round_key": "replace(round_key, '-', '~' || replica || '-')",
    "result_key": "left(md5(result_key || replica), 16)",
}
"""Columns that tell replicas apart, and what they hold in all but the first."""


def multiply(source: Path, target: Path, times: int) -> None:
    """Write every table that a mart reads; those that tell of results with many times the rows."""
    target.mkdir(parents=True)
    for table in sorted({table for mart in marts() for table in models()[mart].reads}):
        with over({table: source / f"{table}.parquet"}) as connection:
            limit(connection, target, AMPLE_MEMORY)
            connection.execute("set preserve_insertion_order = false")
            columns = [row[0] for row in connection.execute(f"describe {table}").fetchall()]
            replaced = [
                f"if(replica = 0, {column}, {_REPLICA[column]}) as {column}"
                for column in columns
                if column in _REPLICA
            ]
            query = f"from {table}"
            if replaced and not table.name.startswith("claim"):
                query = (
                    f"select * exclude (replica) replace ({', '.join(replaced)}) from {table} "
                    f"cross join (from range({times}) as replicas (replica))"
                )
            written = target / f"{table}.parquet"
            connection.execute(f"copy ({query}) to '{written}' (row_group_size 50000)")


def marts() -> list[TableName]:
    """Return the marts, each after those it reads."""
    return [table for table, model in models().items() if model.group == "marts"]


def run_model(table: TableName, folder: Path) -> dict[str, Any]:
    """Run a model over a folder's tables; return its rows, and its wide joins."""
    model, written = models()[table], folder / f"made.{table}.parquet"
    profile = written.with_suffix(".json")
    with over({read: folder / f"{read}.parquet" for read in model.reads}) as connection:
        limit(connection, folder, MEMORY)
        connection.execute("pragma enable_profiling = 'json'")
        connection.execute(f"pragma profiling_output = '{profile}'")
        write_parquet(connection, model.sql, written)
        connection.execute("pragma disable_profiling")
        rows = connection.execute(f"select count(*) from read_parquet('{written}')").fetchall()[0][
            0
        ]
    written.unlink()
    return {"rows": rows, "wide_joins": wide_joins(json.loads(profile.read_text("utf-8")))}


def limit(connection: duckdb.DuckDBPyConnection, folder: Path, memory: str) -> None:
    """Limit DuckDB's memory; what it spills goes into the folder."""
    connection.execute(f"set memory_limit = '{memory}'")
    connection.execute(f"set temp_directory = '{folder / 'temporary'}'")


def wide_joins(profile: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the joins of a profiled plan that give more rows than the larger of their inputs."""
    return [
        join
        for operator in profile["operator"]
        for join in _joins(operator)
        if join["rows"] > max(join["larger_input"], NEGLIGIBLE_ROWS)
    ]


def _joins(node: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give every join of a part of a plan, with its rows and those of its larger input."""
    children = node.get("children", [])
    if node["type"].endswith(("_JOIN", "CROSS_PRODUCT")):
        conditions = node["extra_info"].get("Conditions", [])
        yield {
            "rows": node["intermediate_rows"],
            "larger_input": max(map(_rows, children)),
            "conditions": [conditions] if isinstance(conditions, str) else conditions,
        }
    for child in children:
        yield from _joins(child)


def _rows(node: Mapping[str, Any]) -> int:
    """Return how many rows a part of a plan gives; the last part of a CTE gives its rows."""
    is_cte = node["type"].endswith("CTE") and node["children"]
    rows: int = _rows(node["children"][-1]) if is_cte else node["intermediate_rows"]
    return rows


def main() -> None:
    """Read the command line; tell what there is, or what a model made, as JSON."""
    parser = argparse.ArgumentParser(description="Multiply results, or run a model over them.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    multiplying = commands.add_parser("multiply")
    multiplying.add_argument("source", type=Path)
    multiplying.add_argument("target", type=Path)
    multiplying.add_argument("--times", type=int, required=True)
    running = commands.add_parser("run")
    running.add_argument("table")
    running.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "list":
        json.dump([str(table) for table in marts()], sys.stdout)
    elif arguments.command == "multiply":
        multiply(arguments.source, arguments.target, arguments.times)
    else:
        table = TableName(*arguments.table.split("."))
        json.dump(run_model(table, arguments.folder), sys.stdout)


if __name__ == "__main__":
    main()
