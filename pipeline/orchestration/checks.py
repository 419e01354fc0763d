"""The checks as Dagster asset checks; blocking ones stop publication.

Belongs here: the translation only. What is checked stands in ``checks.tables``.
"""

from collections.abc import Iterator

import dagster as dg

from pipeline.checks.tables import Check, Outcome, all_checks, run_checks
from pipeline.orchestration.assets import asset_key
from pipeline.warehouse.build import Build
from pipeline.warehouse.models import TableName


def table_checks() -> dg.AssetChecksDefinition:
    """Return all checks as one step, which runs once every table is made."""

    @dg.multi_asset_check(
        specs=[_spec(check) for check in all_checks()],
        name="table_checks",
        required_resource_keys={"build"},
    )
    def check_tables(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        build: Build = context.resources.build
        former = build.warehouse.parquet / "results.parquet"
        outcomes = list(run_checks(build.tables(), former))
        build.keep_failed_checks(
            [str(o) for o in outcomes if not o.passed and not o.check.blocking]
        )
        found = {(o.check.table, o.check.name): o for o in outcomes}
        for check in all_checks():
            outcome = found.get((check.table, check.name), Outcome(check, True, "not applicable"))
            yield _result(check, outcome)

    return check_tables


def _spec(check: Check) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        name=check.name,
        asset=asset_key(TableName("main", check.table)),
        description=check.meaning,
        blocking=check.blocking,
    )


def _result(check: Check, outcome: Outcome) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=outcome.passed,
        check_name=check.name,
        asset_key=asset_key(TableName("main", check.table)),
        severity=dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN,
        description=outcome.problem or None,
        metadata={"rows": outcome.rows},
    )
