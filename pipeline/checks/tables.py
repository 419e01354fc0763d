"""Checks of a build's tables: declared schema, unique keys, SQL rules, and rows lost since before.

Belongs here: what is checked and whether a failure blocks. A failed blocking check means that
nothing is published; the others are listed. How checks are run is the orchestration's task.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from pipeline.schema.tables import Table
from pipeline.warehouse.models import TableName, models, rules
from pipeline.warehouse.running import over

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


LOSS = Check(
    "results", "no_round_shrinks", f"No round loses more than {LARGEST_LOSS:.0%} of its rows"
)
MISSING = Check("results", "no_result_goes_missing", "No result of a round goes missing", False)
MOVED = Check("results", "no_entry_moves", "No entry id moves to another system", False)
AGAINST_FORMER = (LOSS, MISSING, MOVED)


def schema_check(table: Table) -> Check:
    """Return the check of a table's columns."""
    return Check(table.name, "schema", "Columns, their order and types are as declared")


def key_check(table: Table) -> Check:
    """Return the check of a table's key."""
    return Check(table.name, "unique_key", f"One row per {', '.join(table.key)}")


def rule_checks() -> dict[str, Check]:
    """Return the SQL rules as checks, by name; each is about the last table made that it reads."""
    made = [table.name for table in models()]
    return {
        name: Check(
            max((table.name for table in rule.reads), key=made.index),
            name,
            rule.description.partition("\n")[0],
        )
        for name, rule in rules().items()
    }


def check_table(table: Table, file: Path) -> list[Outcome]:
    """Check a table's Parquet file against its declaration."""
    with over({TableName("main", table.name): file}) as connection:
        schema = _check_schema(connection, table)
        if not schema.passed:
            return [schema, Outcome(key_check(table), False, "not checked: the columns are wrong")]
        return [schema, _check_key(connection, table)]


def check_rule(name: str, tables: Mapping[TableName, Path]) -> Outcome:
    """Run a SQL rule over a build's Parquet files."""
    rule, check = rules()[name], rule_checks()[name]
    with over({table: tables[table] for table in rule.reads}) as connection:
        return _outcome(connection, rule.sql, check, f"broken rule: {check.meaning}")


def compare_with_former(results: Path, former_results: Path) -> list[Outcome]:
    """Compare the rounds that this build and the last warehouse both have.

    Without a former file, or with one of another version's columns, there is nothing to compare.
    """
    nothing = [Outcome(check, True, "nothing to compare with") for check in AGAINST_FORMER]
    if not former_results.exists():
        return nothing
    tables = {TableName("main", "results"): results, TableName("staging", "former"): former_results}
    with over(tables) as connection:
        columns = set(connection.table("staging.former").columns)
        if not {"round_key", "result_key", "entry_id", "platform"} <= columns:
            return nothing
        return [
            _outcome(connection, query, check, problem)
            for check, (query, problem) in _COMPARISONS.items()
        ]


_COMPARISONS = {
    LOSS: (
        f"""
        with before as (select round_key, count(*) as rows from staging.former group by all),
        now as (select round_key, count(*) as rows from main.results group by all)
        select before.round_key, before.rows as rows_before, now.rows as rows_now
        from before inner join now using (round_key)
        where now.rows < {1 - LARGEST_LOSS} * before.rows
        order by all
        """,
        "a round lost too many rows; if MLCommons withdrew them, start again in a new folder",
    ),
    MISSING: (
        """
        select round_key, submitter, platform, model_used, scenario, result_key
        from staging.former
        where
            round_key in (select round_key from main.results)
            and result_key not in (select result_key from main.results)
        order by all
        """,
        "results of the last warehouse are gone",
    ),
    MOVED: (
        """
        with places as (
            select round_key, entry_id, list(distinct platform) as platforms
            from staging.former where entry_id is not null group by all
        )
        select distinct now.round_key, now.entry_id, places.platforms as was, now.platform as is_now
        from main.results as now
        inner join places using (round_key, entry_id)
        where not list_contains(places.platforms, now.platform)
        order by all
        """,
        "entry ids now stand for another system",
    ),
}


def _check_schema(connection: duckdb.DuckDBPyConnection, table: Table) -> Outcome:
    check = schema_check(table)
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
    return _outcome(connection, query, key_check(table), "keys are not unique")


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
