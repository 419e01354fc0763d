"""The vocabulary: names, units, columns and compatibility, as CSV files that anyone can extend.

Belongs here: reading the files beside this module. Each line of each file names its source. How a
name is looked up stands in ``names`` and ``units``.
"""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class ColumnMap:
    """A column of a published table, the raw field it fills (or ''), and if it is always there."""

    column: str
    field: str
    required: bool


@cache
def entries(name: str) -> tuple[dict[str, str], ...]:
    """Return the lines of ``<name>.csv``, in order."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def table_columns() -> dict[str, list[ColumnMap]]:
    """Return the columns of each form of published table."""
    forms: dict[str, list[ColumnMap]] = {}
    for line in entries("table_columns"):
        column = ColumnMap(line["column"], line["field"], line["required"] == "yes")
        forms.setdefault(line["format"], []).append(column)
    return forms
