"""SQL models over many times the real results, in little memory.

Belongs here: running one mart over tables that ``bench.multiplying`` made, and judging its joins.
It is a command of its own, so that its memory is its own:

    python -m bench.marts list
    python -m bench.marts run main.records FOLDER

Marts run as in a build: those whose rows can be told apart by suite or round take a slice of them
at a time (``pipeline.warehouse.running``).
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.warehouse.models import TableName, models
from pipeline.warehouse.running import join, over, run_in_slices

MEMORY = "256MB"
"""What DuckDB may take while a model runs; the rest is spilled to disk."""

NEGLIGIBLE_ROWS = 1000
"""A join of fewer rows costs nothing, whatever its inputs are."""


def marts() -> list[TableName]:
    """Return the marts, each after those it reads."""
    return [table for table, model in models().items() if model.group == "marts"]


def run_model(table: TableName, folder: Path) -> dict[str, Any]:
    """Run a model over a folder's tables; return its rows, its slices and its widest join."""
    model = models()[table]
    tables = {read: folder / f"{read}.parquet" for read in model.reads}
    parts: list[Path] = []
    wide: list[dict[str, Any]] = []
    with over(tables) as connection, TemporaryDirectory(dir=folder) as beside:
        profile, made = Path(beside, "profile.json"), Path(beside, "made.parquet")
        connection.execute(f"set memory_limit = '{MEMORY}'")
        connection.execute(f"set temp_directory = '{beside}/spilled'")
        connection.execute("pragma enable_profiling = 'json'")
        connection.execute(f"pragma profiling_output = '{profile}'")
        for part in run_in_slices(connection, model, tables, Path(beside)):
            parts.append(part)
            wide += wide_joins(json.loads(profile.read_text("utf-8")))
        connection.execute("pragma disable_profiling")
        join(connection, parts, made)
        rows = connection.execute(f"select count(*) from read_parquet('{made}')").fetchall()[0][0]
    widest = max(wide, key=lambda found: found["rows"] / found["larger_input"], default=None)
    return {"rows": rows, "slices": len(parts), "widest_join": widest}


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
    parser = argparse.ArgumentParser(description="Run a mart over multiplied tables.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    running = commands.add_parser("run")
    running.add_argument("table")
    running.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "list":
        json.dump([str(table) for table in marts()], sys.stdout)
    else:
        table = TableName(*arguments.table.split("."))
        json.dump(run_model(table, arguments.folder), sys.stdout)


if __name__ == "__main__":
    main()
