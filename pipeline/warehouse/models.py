"""The SQL models: which there are, what each reads, and what its header says.

Belongs here: everything about a model that its file tells. A model is one file
``sql/<folder>/<table>.sql``, a single ``select``; models in ``sql/staging`` make inner tables
(schema ``staging``), all others public ones (schema ``main``). Running one stands in ``running``.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import duckdb

from pipeline.errors import RoundtableError
from pipeline.settings import sql_folder

_SLICES = re.compile(r"^Slices: ([a-z_, ]+)[.]$", re.MULTILINE)


class ModelFault(RoundtableError):
    """A SQL model cannot be used; the message names the file."""


@dataclass(frozen=True, order=True)
class TableName:
    """A table's schema and name, as models write them."""

    schema: str
    name: str

    def __str__(self) -> str:
        """Return the qualified name."""
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True)
class Model:
    """A model's table, its SQL, the tables it reads, and what its rows can be told apart by.

    ``slices`` names columns of its tables: no row meets one that differs in them, and its own
    table's order begins with them. Empty: any row may meet any other.
    """

    table: TableName
    group: str
    description: str
    sql: str
    reads: frozenset[TableName]
    slices: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """Return a digest of the SQL, which changes when the model does."""
        return hashlib.sha256(self.sql.encode()).hexdigest()[:16]


@cache
def models() -> Mapping[TableName, Model]:
    """Return all models, each after those it reads.

    Raises:
        ModelFault: a file is not a single select, or reads a table without naming its schema.
    """
    files = [file for file in _files() if file.parent.name != "checks"]
    found = {model.table: model for model in map(_read, files)}
    order = TopologicalSorter({table: model.reads & found.keys() for table, model in found.items()})
    return {table: found[table] for table in order.static_order()}


@cache
def rules() -> Mapping[str, Model]:
    """Return the SQL rules of ``sql/checks`` by name: each selects the rows that break it."""
    found = [_read(file) for file in _files() if file.parent.name == "checks"]
    return {model.table.name: model for model in found}


def inputs() -> set[TableName]:
    """Return the tables that models read and no model makes."""
    made = models().keys()
    return {table for model in models().values() for table in model.reads} - made


def _files() -> list[Path]:
    return sorted(sql_folder().glob("*/*.sql"))


def _read(file: Path) -> Model:
    sql = file.read_text(encoding="utf-8").strip().removesuffix(";")
    group = file.parent.name
    schema = "staging" if group == "staging" else "main"
    description = _header(sql)
    slices = _SLICES.search(description)
    return Model(
        table=TableName(schema, file.stem),
        group=group,
        description=description,
        sql=sql,
        reads=tables_read(sql, file),
        slices=tuple(slices[1].split(", ")) if slices else (),
    )


def _header(sql: str) -> str:
    """Return the leading comment of a model as one text."""
    lines = []
    for line in sql.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return "\n".join(lines).strip()


def tables_read(sql: str, file: Path) -> frozenset[TableName]:
    """Return the tables a select reads, from DuckDB's own parse tree; ``file`` is for messages.

    References to the select's own CTEs have no schema, which is how they are told apart. The shape
    of the tree is pinned by tests, since DuckDB does not document it.

    Raises:
        ModelFault: it is not a single select, or reads a table without naming its schema.
    """
    parser = _parser().cursor()
    tree = json.loads(parser.execute("select json_serialize_sql($1)", [sql]).fetchall()[0][0])
    if tree.get("error"):
        raise ModelFault(f"{file.name}: not a single select: {tree.get('error_message')}")
    nodes = list(_nodes(tree))
    ctes = {entry["key"] for node in nodes for entry in _cte_entries(node)}
    read = [
        (node["schema_name"], node["table_name"])
        for node in nodes
        if node.get("type") == "BASE_TABLE"
    ]
    for schema, name in read:
        if not schema and name not in ctes:
            raise ModelFault(f"{file.name}: name the schema of {name}")
    return frozenset(TableName(schema, name) for schema, name in read if schema)


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """Return a database that only parses; opening one for each model would take longer."""
    return duckdb.connect()


def _nodes(tree: object) -> Iterable[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _cte_entries(node: dict[str, Any]) -> Iterable[dict[str, Any]]:
    cte_map = node.get("cte_map")
    return cte_map.get("map", []) if isinstance(cte_map, dict) else []
