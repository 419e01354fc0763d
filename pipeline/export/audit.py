"""What ``roundtable audit`` tells: the verdict on a claim, and all that it was held against.

Belongs here: the wording and the formats. All figures come from the tables ``claims`` and
``claim_comparators``. Text from results and claims is made harmless in each format.
"""

import io
import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import duckdb

from pipeline.errors import UnusableCall
from pipeline.export.answers import printable, write_table
from pipeline.export.attribution import attribution_lines

FORMATS = ("table", "json", "markdown")

Row = Mapping[str, Any]

SHOWN_ROWS = 100
SHOWN_NAMES = 20

_LIST = """
    select claim_id, verdict, said_by, claimed, computed_value, comparators, claim
    from main.claims order by claim_id
"""
_COMPARATORS = """
    select * from main.claim_comparators where claim_id = $1
    order by statement, computed_value, benchmark, scenario, result_key, comparator_result_key
"""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|])")


def list_lines(connection: duckdb.DuckDBPyConnection, format: str) -> Iterator[str]:
    """Return all claims with their verdicts, a line each."""
    relation = connection.sql(_LIST)
    if format == "json":
        yield _json(_rows(relation))
    elif format == "markdown":
        yield from _markdown_table(_rows(relation))
        yield from _ending(format)
    else:
        yield from _plain_table(_rows(relation))
        yield from _ending(format)


def claim_lines(
    connection: duckdb.DuckDBPyConnection, claim_id: str | None, format: str
) -> Iterator[str]:
    """Return one claim in full, or every claim.

    Raises:
        UnusableCall: there is no such claim.
    """
    claims = _rows(connection.sql("from main.claims order by claim_id"))
    wanted = [claim for claim in claims if claim_id in (None, claim["claim_id"])]
    if not wanted:
        raise UnusableCall(_unknown(str(claim_id), [claim["claim_id"] for claim in claims]))
    told = [(claim, _comparators(connection, claim["claim_id"])) for claim in wanted]
    if format == "json":
        yield _json([{**claim, "held_against": rows} for claim, rows in told])
        return
    for claim, rows in told:
        yield from _markdown(claim, rows) if format == "markdown" else _plain(claim, rows)
        yield ""
    yield from _ending(format)


def _comparators(connection: duckdb.DuckDBPyConnection, claim_id: str) -> list[Row]:
    return _rows(connection.execute(_COMPARATORS, [claim_id]))


def _rows(answer: Any) -> list[Row]:
    columns = [column[0] for column in answer.description]
    return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]


def _unknown(claim_id: str, known: list[str]) -> str:
    near = get_close_matches(claim_id.upper(), known, n=1, cutoff=0.0)
    hint = f"Nearest is {near[0]}. " if near else ""
    return f"{claim_id}: no such claim. {hint}See all with: roundtable audit"


def _plain(claim: Row, rows: list[Row]) -> Iterator[str]:
    yield printable(f"{claim['claim_id']}: {claim['verdict']}")
    for name, text in _about(claim):
        yield printable(f"  {name:<13}{text}")
    if rows:
        yield ""
        yield from _plain_table([_told(row) for row in rows[:SHOWN_ROWS]])
    yield from _omitted(rows)


def _markdown(claim: Row, rows: list[Row]) -> Iterator[str]:
    yield f"## {_escaped(claim['claim_id'])}: {claim['verdict']}"
    yield ""
    for name, text in _about(claim):
        yield f"- **{name}**: {_escaped(text)}"
    if rows:
        yield ""
        yield from _markdown_table([_told(row) for row in rows[:SHOWN_ROWS]])
    yield from _omitted(rows)


def _about(claim: Row) -> Iterator[tuple[str, str]]:
    """Return what is said of a claim above its comparators."""
    published = f", {claim['published_on']}" if claim["published_on"] else ""
    yield "claim", claim["claim"]
    yield "claimed", claim["claimed"] or "no value"
    yield "finding", claim["finding"]
    if claim["verdict_flips"]:
        yield "flips", "which side is better depends on the comparator"
    if claim["differences"]:
        yield "differences", "; ".join(claim["differences"])
    if claim["note"]:
        yield "note", claim["note"]
    yield "said by", f"{claim['said_by']}: {claim['title']}{published}"
    if claim["url"]:
        yield "source", claim["url"]


def _told(row: Row) -> Row:
    """Return a comparator's columns as they are shown."""
    names = row["names"]
    cell = (row["benchmark"], row["accuracy_target"], row["scenario"])
    further = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return {
        "statement": row["statement"],
        "benchmark": " ".join(filter(None, cell)),
        "result": _result(row, ""),
        "value": row["value"],
        "against": _result(row, "comparator_"),
        "its value": row["comparator_value"],
        "computed": row["computed_value"],
        "reproduces": "yes" if row["reproduces"] else "no",
        "names": ", ".join(names[:SHOWN_NAMES]) + further,
        "differences": "; ".join(row["differences"]),
    }


def _result(row: Row, side: str) -> str:
    if row[f"{side}result_key"] is None:
        return ""
    count, accelerator = row[f"{side}accelerators"], row[f"{side}accelerator"]
    system = f"{count} x {accelerator}" if accelerator else "CPU only"
    where = row[f"{side}entry_id"] or row[f"{side}round_key"]
    return f"{row[f'{side}submitter']}, {system}, {where}"


def _omitted(rows: list[Row]) -> Iterator[str]:
    if len(rows) > SHOWN_ROWS:
        yield f"and {len(rows) - SHOWN_ROWS} more; see the table claim_comparators"


def _plain_table(rows: list[Row]) -> Iterator[str]:
    out = io.StringIO()
    write_table(_Shown(rows), out)
    yield from out.getvalue().splitlines()


def _markdown_table(rows: list[Row]) -> Iterator[str]:
    columns = _filled(rows)
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(_escaped(_text(row[name])) for name in columns)} |"


class _Shown:
    """Rows as what ``write_table`` takes, without columns that nothing stands in."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self.columns = _filled(rows)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return [tuple(row[name] for name in self.columns) for row in self._rows]


def _filled(rows: list[Row]) -> list[str]:
    names = list(rows[0]) if rows else []
    return [name for name in names if any(row[name] not in (None, "") for row in rows)]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", printable(text))


def _json(rows: list[Row]) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=1, default=str)


def _ending(format: str) -> Iterator[str]:
    for line in attribution_lines():
        yield from ("", line) if format == "markdown" else (line,)
