"""The checks as Dagster asset checks; blocking ones stop publication.

Belongs here: the translation only. What is checked stands in ``checks.tables``.
"""

from collections.abc import Iterable

import dagster as dg

from pipeline.checks.tables import (
    AGAINST_FORMER,
    Check,
    Outcome,
    check_rule,
    check_table,
    compare_with_former,
    key_check,
    rule_checks,
    schema_check,
)
from pipeline.schema.tables import public_tables
from pipeline.warehouse.build import Build
from pipeline.warehouse.models import Model, TableName, rules


def asset_key(table: TableName) -> dg.AssetKey:
    """Return a table's asset key: its name, inner tables under ``staging``."""
    return dg.AssetKey([table.name] if table.schema == "main" else [table.schema, table.name])


def declared_checks(model: Model) -> list[dg.AssetCheckSpec]:
    """Return the checks that a public table's asset makes of its own result."""
    table = public_tables().get(model.table.name) if model.table.schema == "main" else None
    return [_spec(schema_check(table)), _spec(key_check(table))] if table else []


def declared_results(build: Build, model: Model) -> list[dg.AssetCheckResult]:
    """Return what ``declared_checks`` find."""
    if not declared_checks(model):
        return []
    table = public_tables()[model.table.name]
    return _results(build, check_table(table, build.table_file(model.table)))


def rule_check(name: str) -> dg.AssetChecksDefinition:
    """Return a SQL rule as a check of its own."""
    check = rule_checks()[name]
    others = {asset_key(table) for table in rules()[name].reads} - {_key(check)}

    @dg.asset_check(
        asset=_key(check),
        name=name,
        description=check.meaning,
        blocking=check.blocking,
        additional_deps=sorted(others),
        required_resource_keys={"build"},
    )
    def rule(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        build: Build = context.resources.build
        return _results(build, [check_rule(name, build.tables())])[0]

    return rule


def former_checks() -> dg.AssetChecksDefinition:
    """Return the comparison of the results with the last warehouse's."""

    @dg.multi_asset_check(
        specs=[_spec(check) for check in AGAINST_FORMER],
        name="compare_with_last_warehouse",
        required_resource_keys={"build"},
    )
    def compare(context: dg.AssetCheckExecutionContext) -> Iterable[dg.AssetCheckResult]:
        build: Build = context.resources.build
        results = build.table_file(TableName("main", "results"))
        former = build.warehouse.parquet / "results.parquet"
        yield from _results(build, compare_with_former(results, former))

    return compare


def all_checks() -> list[dg.AssetChecksDefinition]:
    """Return the checks that are steps of their own."""
    return [*(rule_check(name) for name in sorted(rules())), former_checks()]


def _spec(check: Check) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        name=check.name,
        asset=_key(check),
        description=check.meaning,
        blocking=check.blocking,
    )


def _results(build: Build, outcomes: list[Outcome]) -> list[dg.AssetCheckResult]:
    """Translate outcomes; failures that do not block are kept for the release to tell."""
    for outcome in outcomes:
        if not outcome.passed and not outcome.check.blocking:
            build.keep_failed_check(f"{outcome.check.table}: {outcome.problem}")
    return [
        dg.AssetCheckResult(
            passed=outcome.passed,
            check_name=outcome.check.name,
            asset_key=_key(outcome.check),
            severity=dg.AssetCheckSeverity.ERROR
            if outcome.check.blocking
            else dg.AssetCheckSeverity.WARN,
            description=outcome.problem or None,
            metadata={"rows": outcome.rows},
        )
        for outcome in outcomes
    ]


def _key(check: Check) -> dg.AssetKey:
    return asset_key(TableName("main", check.table))
