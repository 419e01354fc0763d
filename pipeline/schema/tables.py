"""Reads the table declarations.

Belongs here: what the TOML files say, as typed objects, without importing a data library, so that
the command line can describe the tables at once. What is done with a declaration belongs elsewhere.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Column:
    """One column: its DuckDB type, unit (or none) and meaning."""

    name: str
    type: str
    meaning: str
    unit: str | None = None

    @property
    def comment(self) -> str:
        """Return the column's meaning with its unit, as stored in the database."""
        return f"{self.meaning} [unit: {self.unit}]" if self.unit else self.meaning


@dataclass(frozen=True)
class Table:
    """One table: what it holds, what makes a row unique, and its columns in order."""

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    example: str = ""


@cache
def public_tables() -> dict[str, Table]:
    """Return the declared public tables by name, in the order of their names."""
    return {file.stem: _read(file) for file in sorted(Path(__file__).parent.glob("*.toml"))}


@cache
def staging_tables() -> dict[str, Table]:
    """Return the declared inner tables, those that the models read, by name.

    Some look like a public table: those that it is made from, and the last warehouse's.
    """
    folder = Path(__file__).parent / "staging"
    inner = {file.stem: _read(file) for file in sorted(folder.glob("*.toml"))}
    same = ("results", "rejects", "warnings", "sources", "reconciliation", "runs")
    others = {
        "derived_results": "results",
        "former_results": "results",
        "former_changes": "changes",
    }
    alike = {name: name for name in same} | others
    return inner | {name: public_tables()[public] for name, public in alike.items()}


def _read(file: Path) -> Table:
    declared = tomllib.loads(file.read_text(encoding="utf-8"))
    columns = tuple(Column(**column) for column in declared["columns"])
    return Table(
        name=file.stem,
        meaning=declared["meaning"],
        key=tuple(declared["key"]),
        columns=columns,
        example=declared.get("example", "").strip(),
    )
