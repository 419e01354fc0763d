"""Writes rows as a table for people, CSV, JSON or Parquet.

Belongs here: the formats, and making text from published files harmless in each: control
characters cannot reach a terminal, and no cell of a CSV file is a formula to a spreadsheet.
"""

import csv
import json
import math
import re
import sys
import unicodedata
from pathlib import Path
from typing import IO, Any, Literal, Protocol

from pipeline.export.attribution import attribution_lines

FORMATS = ("table", "csv", "json", "parquet")

_HIDDEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Unicode's categories of characters that show nothing, or change what is shown around them."""
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_WIDEST = 10_000


class Relation(Protocol):
    """The part of a DuckDB relation that is used here."""

    @property
    def columns(self) -> list[str]:
        """Return the column names."""
        ...

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        ...


def printable(text: str) -> str:
    """Return the text with control, format and direction characters written out."""
    if text.isprintable():
        return text
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) in _HIDDEN else char for char in text
    )


def escaped(text: str) -> str:
    """Return the text as it has to be written in Markdown to be read as it is."""
    return _MARKDOWN.sub(r"\\\1", text)


def printable_rows(relation: Relation) -> list[dict[str, Any]]:
    """Return the rows by column name, each text (also in lists) made printable."""
    columns = relation.columns
    return [
        dict(zip(columns, map(_printable_value, row), strict=True)) for row in relation.fetchall()
    ]


def _printable_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_printable_value(item) for item in value]
    return printable(value) if isinstance(value, str) else value


def write(relation: Any, format: str, output: Path | None) -> None:
    """Write a DuckDB relation in one of FORMATS, to a file or to standard output.

    A table, which people read, ends with whose results these are.

    Raises:
        OSError: the file cannot be written.
    """
    if format == "parquet":
        if output is not None:
            write_parquet(relation, output)
        return
    writers = {"table": _write_attributed, "csv": write_csv, "json": write_json}
    if output is None:
        writers[format](relation, sys.stdout)
        return
    with output.open("w", encoding="utf-8", newline="") as out:
        writers[format](relation, out)


def _write_attributed(relation: Relation, out: IO[str]) -> None:
    write_table(relation, out)
    out.writelines(line + "\n" for line in attribution_lines())


def write_table(relation: Relation, out: IO[str]) -> None:
    """Write rows as aligned columns, one line a row, control characters made visible."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns, rows = relation.columns, relation.fetchall()
    table = Table(box=SIMPLE, pad_edge=False)
    for at, name in enumerate(columns):
        is_number = all(isinstance(row[at], int | float | None) for row in rows)
        justify: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(Text(printable(name)), justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(shown(value))) for value in row))
    # A narrow terminal must not cut numbers, so lines are as long as the widest row.
    Console(file=out, width=_WIDEST, highlight=False).print(table)
    out.write(f"{len(rows)} row{'' if len(rows) == 1 else 's'}\n")


def write_csv(relation: Relation, out: IO[str]) -> None:
    """Write rows as CSV; lists joined by `|`, and text that starts a formula after a quote."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(name) for name in relation.columns])
    writer.writerows([_cell(value) for value in row] for row in relation.fetchall())


def write_json(relation: Relation, out: IO[str]) -> None:
    """Write rows as a JSON list of objects, one a line."""
    columns = relation.columns
    lines = (
        json.dumps(dict(zip(columns, map(_jsonable, row), strict=True)), ensure_ascii=False)
        for row in relation.fetchall()
    )
    out.write("[" + ",\n ".join(lines) + "]\n")


def write_parquet(relation: Any, file: Path) -> None:
    """Write a DuckDB relation to a Parquet file."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(relation.to_arrow_table(), file, compression="zstd")


def shown(value: Any) -> str:
    """Return a value as people read it: nothing for null, lists by comma, ten digits."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(shown(item) for item in value)
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = "|".join("" if item is None else str(item) for item in value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return value


def _jsonable(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str | list):
        return value
    return str(value)
