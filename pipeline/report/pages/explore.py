"""Explore: every result in one table that can be filtered, sorted, copied and cited.

Belongs here: the results column by column, as the script of the page reads them.
"""

import json
from collections.abc import Sequence
from typing import Any

from pipeline.export.answers import printable
from pipeline.report.figures import Column, Page, Row, Table
from pipeline.report.reading import Published
from pipeline.report.wording import linkable, round_name

_RESULTS = """
    with retrieved as (
        select round_key, kind, max(fetched_at)::date as retrieved_on from sources group by all
    )
    select
        results.suite, results.round_key, results.division, results.category,
        results.availability, results.submitter,
        coalesce(results.system_name, results.platform) as system_name, results.accelerator,
        results.accelerators, results.nodes, results.benchmark, results.accuracy_target,
        results.scenario, results.value, results.unit, results.entry_id, results.is_accuracy_copy,
        results.source_kind, results.source_url, results.source_commit, results.result_key,
        retrieved.retrieved_on::varchar as retrieved_on
    from results inner join rounds on results.round_key = rounds.round_key
    left join retrieved
        on results.round_key = retrieved.round_key and results.source_kind = retrieved.kind
    where not results.is_withdrawn
    order by results.suite, rounds.position desc, results.source_url, results.entry_id,
        results.benchmark, results.scenario, results.result_key
"""

COLUMNS = (
    Column("round", "Round"),
    Column("benchmark", "Benchmark"),
    Column("accuracy_target", "Target, %"),
    Column("scenario", "Scenario"),
    Column("submitter", "Submitter"),
    Column("accelerators", "Count", "count"),
    Column("accelerator", "Accelerator"),
    Column("value", "Value", "number"),
    Column("unit", "Unit"),
    Column("source_url", "Source", "address"),
    Column("nodes", "Nodes", "count"),
    Column("division", "Division"),
    Column("category", "Category"),
    Column("availability", "Availability"),
    Column("entry_id", "Entry"),
    Column("copy", "Copy of 99 run"),
    Column("source_kind", "From"),
    Column("system_name", "System"),
    Column("result_key", "Result key"),
)

_UNSEEN = (
    Column("suite", "Suite"),
    Column("source_commit", "Commit"),
    Column("retrieved_on", "Retrieved on"),
)
"""What filters and citations need besides."""

FILTERS = ("suite", "round", "benchmark", "accelerator", "submitter")


def pages(published: Published) -> list[Page]:
    """Return the page; without its script it shows each suite's latest round."""
    latest = {found.key for found in published.latest_rounds}
    rows = _rows(published)
    shown = [row for row in rows if row["round_key"] in latest and row["division"] == "closed"]
    names = " and ".join(found.name for found in published.latest_rounds)
    return [
        Page(
            name="explore",
            menu="Explore",
            title="Explore all results",
            lead=(
                f"{len(rows):,} results of {len({row['round_key'] for row in rows})} rounds, each "
                "with the file its value stands in."
            ),
            template="explore.html",
            headline=f"{len(rows):,} results, each with the file it stands in",
            more={
                "results": rows,
                "table": Table(f"Closed results of {names}", COLUMNS, shown),
                "filters": [(key, key.capitalize(), _options(rows, key)) for key in FILTERS],
                "footnote": published.footnote(
                    (found.key for found in published.rounds), "stated", derived=False
                ),
            },
        )
    ]


def _rows(published: Published) -> list[dict[str, Any]]:
    rows = published.rows(_RESULTS)
    for row in rows:
        row["round"] = round_name(row["round_key"])
        row["benchmark"] = published.benchmark(row["suite"], row["benchmark"])
        row["accelerator"] = row["accelerator"] or "CPU only"
        row["copy"] = "yes" if row["is_accuracy_copy"] else "no"
    return rows


def _options(rows: Sequence[Row], key: str) -> list[str]:
    found = dict.fromkeys(printable(row[key]) for row in rows if row[key] is not None)
    return list(found) if key in ("suite", "round") else sorted(found, key=str.casefold)


def script(rows: Sequence[Row]) -> str:
    """Return the results as a script that sets one global, column by column.

    Names are numbers into a list of them. An address tells how many of its parts between slashes
    it shares with the one before, and the rest. ``<``, ``>`` and ``&`` are escaped, and all that is
    not ASCII.
    """
    columns = [
        _addresses(rows, column)
        if column.kind == "address"
        else _numbers(rows, column)
        if column.kind in ("count", "number")
        else _names(rows, column)
        for column in (*_UNSEEN, *COLUMNS)
    ]
    text = json.dumps({"columns": columns, "rows": len(rows)}, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return f"globalThis.roundtable = {text};\n"


def _names(rows: Sequence[Row], column: Column) -> dict[str, Any]:
    cells = ["" if row[column.key] is None else printable(row[column.key]) for row in rows]
    names = sorted(set(cells), key=lambda name: (name.casefold(), name))
    place = {name: at for at, name in enumerate(names)}
    return _head(column) | {"names": names, "cells": [place[cell] for cell in cells]}


def _numbers(rows: Sequence[Row], column: Column) -> dict[str, Any]:
    return _head(column) | {"cells": [row[column.key] for row in rows]}


def _addresses(rows: Sequence[Row], column: Column) -> dict[str, Any]:
    shared: list[int] = []
    rest: list[str] = []
    before: list[str] = []
    for row in rows:
        parts = (linkable(row[column.key]) or "").split("/")
        same = next(
            (at for at, (a, b) in enumerate(zip(parts, before, strict=False)) if a != b),
            min(len(parts), len(before)),
        )
        shared.append(same)
        rest.append("".join(f"/{part}" for part in parts[same:]))
        before = parts
    return _head(column) | {"shared": shared, "rest": rest}


def _head(column: Column) -> dict[str, Any]:
    return {"key": column.key, "title": column.title, "kind": column.kind}
