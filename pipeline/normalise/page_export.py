"""Read MLCommons' results-page exports: one row per published cell, exactly as printed.

Belongs here: the two shapes in which the page is exported, and what their columns mean. Canonical
names, numbers and units do not: here everything is still the page's own text.
"""

import codecs
import csv
import io
from collections.abc import Iterator
from itertools import pairwise

import polars as pl

from pipeline.errors import FileFault

SCHEMA = {
    "entry_id": pl.String,
    "submitter_as_published": pl.String,
    "availability": pl.String,
    "division": pl.String,
    "system_name": pl.String,
    "processor": pl.String,
    "accelerator_as_published": pl.String,
    "nodes": pl.String,
    "accelerators_per_node": pl.String,
    "accelerators": pl.String,
    "benchmark_as_published": pl.String,
    "scenario": pl.String,
    "value_as_published": pl.String,
    "unit_as_published": pl.String,
    "source_row": pl.Int64,
}

_RESULT = "Avg. Result at System Name"
_SYSTEM = {
    "Public ID": "entry_id",
    "Organization": "submitter_as_published",
    "Availability": "availability",
    "Division/Power": "division",
    "System Name": "system_name",
    "Processor": "processor",
    "Accelerator": "accelerator_as_published",
    "# of Nodes": "nodes",
}
_CELL = {
    "Model MLC": "benchmark_as_published",
    "Scenario": "scenario",
    "Units": "unit_as_published",
}
_LIST = {
    **_SYSTEM,
    **_CELL,
    "Accelerators per node": "accelerators_per_node",
    "Total Accelerators": "accelerators",
    _RESULT: "value_as_published",
}
_PIVOT_SYSTEM = {**_SYSTEM, "# of Accelerators": "accelerators_per_node"}
_PIVOT_MEASURES = {
    "# of Nodes": "nodes",
    "# of Accelerators": "accelerators_per_node",
    _RESULT: "value_as_published",
}
_AGAIN = "Export the results page again, or go back to the last good copy."

_Row = list[str]
_Record = dict[str, str | int | None]


def read_page_export(content: bytes, name: str) -> pl.DataFrame:
    """Return one row per published cell, every cell as text and null where the page has nothing.

    The shape is told from the bytes; `name` only labels errors. Shape A (5.0, 5.1) is a UTF-8 pivot
    under header rows, shape B (6.0) a tab-separated UTF-16 list that ends in half a code unit.
    Columns are found by header name; of a header that repeats, the first filled column counts.

    `accelerators_per_node` is shape B's `Accelerators per node` and shape A's `# of Accelerators`:
    despite its name, shape A counts per node (4 on the 18-node system it calls 72x).
    `accelerators` is shape B's `Total Accelerators`, how many really ran (87 on 11 nodes of 8);
    shape A prints no total, so there it is null. CPU-only systems have 0 per node, and their
    accelerator is "N/A" in shape A and null in shape B.

    `source_row` is the record of the file, counted from 1, that holds the value. Blanks around a
    cell are dropped; characters that the page lost from a name stay lost.
    """
    rows = _split(_decode(content, name), name)
    if "Model MLC" in map(_header, rows[0]):
        read = _read_list
    elif any("Model MLC" in _axes(cell) for cell in rows[0]):
        read = _read_pivot
    else:
        raise FileFault(name, "the headers are not those of a results-page export", _AGAIN)
    _check_width(rows, name)
    records = list(read(rows, name))
    if not records:
        raise FileFault(name, "the results-page export has headers but no results", _AGAIN)
    cells = pl.DataFrame(records, schema=SCHEMA)
    twice = cells.filter(
        cells.select("source_row", "benchmark_as_published", "scenario").is_duplicated()
    )
    if twice.height:
        problem = f"record {twice[0, 'source_row']} has two results for one model and scenario"
        raise FileFault(name, problem, _AGAIN)
    return cells


def _decode(content: bytes, name: str) -> str:
    """Decode by byte order mark, forgiving UTF-16 its last half code unit."""
    encoding = "utf-8-sig"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding, content = "utf-16", content[: len(content) // 2 * 2]
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} of the results-page export is not {encoding} text"
        raise FileFault(name, problem, _AGAIN) from error


def _split(text: str, name: str) -> list[_Row]:
    """Split into stripped cells, refusing a file that is empty or no table."""
    if not text.strip():
        raise FileFault(name, "the results-page export is empty", _AGAIN)
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [[cell.strip() for cell in row] for row in reader]
    except csv.Error as error:
        raise FileFault(name, f"the results-page export is no table: {error}", _AGAIN) from error
    while not rows[-1]:
        rows.pop()
    return rows


def _check_width(rows: list[_Row], name: str) -> None:
    """Refuse a record that is shorter or longer than the first."""
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            problem = f"record {number} has {len(row)} columns, the first has {len(rows[0])}"
            raise FileFault(name, problem, _AGAIN)


def _read_list(rows: list[_Row], name: str) -> Iterator[_Record]:
    """Read shape B: a header row, then a record per cell, kept even where its value is blank."""
    columns = _columns(rows[0], _LIST, name)
    for number, row in enumerate(rows[1:], 2):
        if any(row):
            yield {**_pick(row, columns), "source_row": number}


def _read_pivot(rows: list[_Row], name: str) -> Iterator[_Record]:
    """Read shape A: a block of rows per system, one per measure, and a column per cell."""
    first = next(i for i, cell in enumerate(rows[0]) if "Model MLC" in _axes(cell))
    axes = _axes(rows[0][first])
    if not set(_CELL) <= set(axes) or len(rows) <= len(axes):
        raise FileFault(name, "the pivot lacks a header row for model, scenario or unit", _AGAIN)
    header = rows[len(axes)]
    columns = _columns(header[: first - 1], _PIVOT_SYSTEM, name)
    keys = {field: rows[1 + axes.index(axis)] for axis, field in _CELL.items()}
    _fill_right(keys["benchmark_as_published"], first)
    for start, block in _blocks(rows, 1 + len(axes), columns["entry_id"][0], name):
        measures = {_header(row[first - 1]): row for row in block}
        if _RESULT not in measures:
            problem = f"the system at record {start} has no row {_RESULT!r}"
            raise FileFault(name, problem, _AGAIN)
        if len(measures) < len(block):
            problem = f"the system at record {start} has a row twice, or lacks the next one's id"
            raise FileFault(name, problem, _AGAIN)
        source_row = start + block.index(measures[_RESULT])
        system = _pick(block[0], columns)
        found = {_PIVOT_MEASURES[m]: row for m, row in measures.items() if m in _PIVOT_MEASURES}
        for at in range(first, len(header)):
            if not found["value_as_published"][at]:
                continue
            key = {field: row[at] or None for field, row in keys.items()}
            measured = {field: row[at] or system.get(field) for field, row in found.items()}
            yield {**system, **key, **measured, "source_row": source_row}


def _blocks(
    rows: list[_Row], start: int, id_column: int, name: str
) -> Iterator[tuple[int, list[_Row]]]:
    """Cut the pivot's body at each entry id; yield the record number and rows of each block."""
    starts = [i for i in range(start, len(rows)) if rows[i][id_column]]
    if len(rows) > start and start not in starts:
        raise FileFault(name, f"record {start + 1} belongs to no system", _AGAIN)
    for begin, end in pairwise([*starts, len(rows)]):
        yield begin + 1, rows[begin:end]


def _columns(header: _Row, wanted: dict[str, str], name: str) -> dict[str, list[int]]:
    """Find every column of each wanted header, or say which headers are missing."""
    names = [_header(cell) for cell in header]
    found = {
        field: [i for i, cell in enumerate(names) if cell == head] for head, field in wanted.items()
    }
    missing = [head for head, field in wanted.items() if not found[field]]
    if missing:
        problem = f"the results-page export has no column {', '.join(missing)}"
        raise FileFault(name, problem, _AGAIN)
    return found


def _pick(row: _Row, columns: dict[str, list[int]]) -> _Record:
    """Take each field from the first of its columns that is filled."""
    return {
        field: next((row[i] for i in places if row[i]), None) for field, places in columns.items()
    }


def _header(cell: str) -> str:
    """Return a header without doubled blanks and without the page's "(click + for details)"."""
    return " ".join(cell.replace("(click + for details)", "").split())


def _axes(cell: str) -> list[str]:
    """Return the names of the pivot's header rows, which its corner cell lists in their order."""
    return [part.strip() for part in cell.split("/")]


def _fill_right(row: _Row, first: int) -> None:
    """Repeat a name over the cells to its right, since the pivot prints it only on change."""
    for at in range(first + 1, len(row)):
        row[at] = row[at] or row[at - 1]
