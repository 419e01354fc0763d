"""Reads a published table, ``summary_results.json`` or ``summary.json``, into one raw frame.

Belongs here: the two JSON forms, recognised by shape, with their drift in columns and types. Every
value stays the text that the file holds; what it means is decided in ``results``. The columns of
both forms are listed in ``vocabulary/table_columns.csv``.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.errors import FileFault
from pipeline.normalise.vocabulary import ColumnMap, table_columns

RAW_FIELDS = (
    "entry_id",
    "submitter",
    "availability",
    "division",
    "category",
    "system_name",
    "platform",
    "model_used",
    "benchmark",
    "scenario",
    "accuracy",
    "nodes",
    "processor",
    "processors_per_node",
    "accelerator",
    "accelerators_per_node",
    "total_accelerators",
    "location",
    "software",
    "operating_system",
    "version",
    "inferred",
    "weight_data_types",
    "value",
    "unit",
    "power",
    "power_unit",
)
RAW_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "source_row": pl.Int64,
    **dict.fromkeys(RAW_FIELDS, pl.String),
}
NUMBER_FIELDS = frozenset(
    (
        "nodes",
        "processors_per_node",
        "accelerators_per_node",
        "total_accelerators",
        "value",
        "power",
    )
)


@dataclass(frozen=True)
class Oddity:
    """Something worth saying of a row (0: of the whole file), named by the source's own field."""

    source_row: int
    field: str
    problem: str
    value: str


@dataclass(frozen=True)
class RawTable:
    """A table as published: a frame of RAW_SCHEMA, what was odd, and what is no row at all."""

    frame: pl.DataFrame
    warnings: list[Oddity]
    rejects: list[Oddity]

    @property
    def rows(self) -> int:
        """Return how many rows the file has."""
        return self.frame.height + len(self.rejects)


class _Number(str):
    """A JSON number kept as the very text of the file."""

    __slots__ = ()


def read_published_table(content: bytes, file: str) -> RawTable:
    """Read a table's bytes; ``file`` is its name, for messages.

    Raises:
        FileFault: the file is cut, no JSON, of an unknown shape, has a key twice, lacks a column
            that is always there, or holds no rows.
    """
    entries = _entries(_parse(content, file), file)
    objects = {row: entry for row, entry in entries if isinstance(entry, dict)}
    found = {column for entry in objects.values() for column in entry}
    columns = _recognise(found, file)
    fields = {c.column: c.field for c in columns if c.field}
    warnings = [
        Oddity(0, _text(column), "column not known", "")
        for column in sorted(found - {c.column for c in columns})
    ]
    rows = []
    for row, entry in objects.items():
        raw = {fields[column]: value for column, value in entry.items() if column in fields}
        warnings += _numbers_as_text(row, raw)
        rows.append((row, *(_text_or_null(raw.get(field)) for field in RAW_FIELDS)))
    rejects = [
        Oddity(row, "", "the row is no JSON object", _text(entry))
        for row, entry in entries
        if not isinstance(entry, dict)
    ]
    return RawTable(pl.DataFrame(rows, schema=RAW_SCHEMA, orient="row"), warnings, rejects)


def _parse(content: bytes, file: str) -> object:
    def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entry = dict(pairs)
        if len(entry) < len(pairs):
            (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
            raise FileFault(file, f"the key {key[:100]!r} stands twice in one object", REFETCH)
        return entry

    try:
        return json.loads(
            content.decode("utf-8-sig"),
            object_pairs_hook=without_duplicates,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_Number,
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise FileFault(file, f"not readable as JSON ({error})", REFETCH) from error
    except RecursionError as error:
        raise FileFault(file, "nested too deeply for a table", REFETCH) from error


REFETCH = "Fetch it again, or report it to MLCommons if it is so at the source."


def _entries(parsed: object, file: str) -> list[tuple[int, object]]:
    """Number the rows from 1, in the order of the file."""
    if isinstance(parsed, dict) and all(key.isascii() and key.isdigit() for key in parsed):
        parsed = list(parsed.values())
    if not isinstance(parsed, list):
        raise FileFault(file, "neither a list of rows nor an object keyed by number", REFETCH)
    if not parsed:
        raise FileFault(file, "the table is empty", REFETCH)
    return list(enumerate(parsed, start=1))


def _recognise(found: set[str], file: str) -> list[ColumnMap]:
    """Return the columns of the form that the file has the most of."""
    forms = table_columns()
    columns = max(forms.values(), key=lambda form: len(found & {c.column for c in form}))
    missing = [c.column for c in columns if c.required and c.column not in found]
    if missing:
        raise FileFault(
            file,
            f"the column {missing[0]!r} is missing",
            "If MLCommons renamed it, add the new name to normalise/vocabulary/table_columns.csv.",
        )
    return columns


def _numbers_as_text(row: int, raw: dict[str, object]) -> Iterator[Oddity]:
    for field in sorted(NUMBER_FIELDS & raw.keys()):
        value = raw[field]
        if isinstance(value, str) and not isinstance(value, _Number) and value.strip():
            yield Oddity(row, field, "a number written as text", _text(value))


def _text_or_null(value: object) -> str | None:
    return None if value is None else _text(value)


def _text(value: object) -> str:
    text = str(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A lone surrogate, written as an escape, is no text that can be stored.
    return text.encode("utf-8", "replace").decode("utf-8")
