"""Checks of a build's tables: declared schema, unique keys, SQL rules, and rows lost since before.

Belongs here: what is checked and whether a failure blocks. A failed blocking check means that
nothing is published; the others are listed. How checks are run is the orchestration's task.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from pipeline.schema.tables import Table, public_tables
from pipeline.warehouse.models import TableName, checks, over, view

LARGEST_LOSS = 0.10
"""A round that loses more of its rows than this is not published; fewer can be a retraction."""

SHOWN_ROWS = 20


@dataclass(frozen=True)
class Check:
    """One check on a public table."""

    table: str
    name: str
    meaning: str
    blocking: bool = True


@dataclass(frozen=True)
class Outcome:
    """What a check found; ``rows`` are some of those at fault, as text."""

    check: Check
    passed: bool
    problem: str = ""
    rows: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return the failure in one line."""
        return f"{self.check.table}: {self.problem}"


SCHEMA, UNIQUE_KEY = "schema", "unique_key"
LOSS = Check(
    "results", "no_round_shrinks", f"No round loses more than {LARGEST_LOSS:.0%} of its rows"
)
MISSING = Check("results", "no_row_goes_missing", "No result of a round goes missing", False)
MOVED = Check("results", "no_entry_moves", "No entry id moves to another system", False)


def all_checks() -> list[Check]:
    """Return every check, in the order in which they run."""
    declared = [
        check
        for table in public_tables().values()
        for check in (
            Check(table.name, SCHEMA, "Columns, their order and types are as declared"),
            Check(table.name, UNIQUE_KEY, f"One row per {', '.join(table.key)}"),
        )
    ]
    rules = [
        Check(_checked_table(model.reads), name, model.description.split("\n")[0])
        for name, model in checks().items()
    ]
    return [*declared, *rules, LOSS, MISSING, MOVED]


def run_checks(tables: Mapping[TableName, Path], former_results: Path) -> Iterator[Outcome]:
    """Run every check over a build's Parquet files.

    ``former_results`` is the results file of the last warehouse; without one, nothing is compared.
    """
    with over(tables) as connection:
        for table in public_tables().values():
            schema = _check_schema(connection, table)
            yield schema
            if schema.passed:
                yield _check_key(connection, table)
        for check in all_checks():
            if check.name in checks():
                yield _check_rule(connection, check)
        if former_results.exists():
            connection.execute("create schema former")
            yield from _compare_with_former(connection, former_results)


def _check_schema(connection: duckdb.DuckDBPyConnection, table: Table) -> Outcome:
    check = Check(table.name, SCHEMA, "")
    relation = connection.table(f"main.{table.name}")
    found = [
        (name, str(type).lower())
        for name, type in zip(relation.columns, relation.types, strict=True)
    ]
    declared = [(column.name, column.type) for column in table.columns]
    wrong = [f"{name} {type}" for name, type in found if (name, type) not in declared]
    wrong += [f"{name} {type} missing" for name, type in declared if (name, type) not in found]
    if found == declared:
        return Outcome(check, passed=True)
    return Outcome(check, False, f"not as declared: {'; '.join(wrong) or 'other order'}", wrong)


def _check_key(connection: duckdb.DuckDBPyConnection, table: Table) -> Outcome:
    key = ", ".join(f'"{column}"' for column in table.key)
    query = f"""
        select {key}, count(*) as rows from main.{table.name} group by {key}
        having count(*) > 1 order by all
    """
    return _outcome(connection, query, Check(table.name, UNIQUE_KEY, ""), "keys are not unique")


def _check_rule(connection: duckdb.DuckDBPyConnection, check: Check) -> Outcome:
    return _outcome(connection, checks()[check.name].sql, check, f"broken rule: {check.meaning}")


def _outcome(
    connection: duckdb.DuckDBPyConnection, query: str, check: Check, problem: str
) -> Outcome:
    relation = connection.sql(query)
    columns = relation.columns
    found = relation.fetchall()
    rows = [
        ", ".join(f"{name}={value}" for name, value in zip(columns, row, strict=True))
        for row in found[:SHOWN_ROWS]
    ]
    if not found:
        return Outcome(check, passed=True)
    return Outcome(check, False, f"{problem} ({len(found)} rows, first: {rows[0]})", rows)


def _compare_with_former(
    connection: duckdb.DuckDBPyConnection, former_results: Path
) -> Iterator[Outcome]:
    """Compare the rounds that both warehouses have."""
    former = TableName("former", "results")
    with over({}) as probe:
        columns = set(probe.read_parquet(str(former_results)).columns)
    if not {"round_key", "result_key", "entry_id", "platform"} <= columns:
        return  # another version's warehouse
    view(connection, former, former_results)
    yield _outcome(
        connection,
        f"""
        select former.round_key, former.rows as rows_before, coalesce(now.rows, 0) as rows_now
        from (select round_key, count(*) as rows from former.results group by all) as former
        inner join (select round_key, count(*) as rows from main.results group by all) as now
            using (round_key)
        where now.rows < {1 - LARGEST_LOSS} * former.rows
        order by all
        """,
        LOSS,
        "a round lost too many rows; if they were withdrawn on purpose, start a new warehouse",
    )
    yield _outcome(
        connection,
        """
        select round_key, submitter, platform, model_used, scenario, result_key
        from former.results as former
        where
            round_key in (select round_key from main.results)
            and result_key not in (select result_key from main.results)
        order by all
        """,
        MISSING,
        "results of the last warehouse are gone",
    )
    yield _outcome(
        connection,
        """
        select distinct now.round_key, now.entry_id, former.platform as was, now.platform as is_now
        from main.results as now
        inner join former.results as former using (round_key, entry_id)
        where
            now.platform not in (
                select platform from former.results
                where round_key = now.round_key and entry_id = now.entry_id
            )
        order by all
        """,
        MOVED,
        "entry ids now stand for another system",
    )


def _checked_table(reads: frozenset[TableName]) -> str:
    """Return the table a rule is about: the one whose name sorts first among those it reads."""
    return min(table.name for table in reads)
