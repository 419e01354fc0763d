"""What runs by itself beside the schedule: a look at upstream each day, and word of failures.

Belongs here: when a run is asked for, and who hears of one that failed. What such a run reads is
decided in ``warehouse.unattended``.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import dagster as dg

from pipeline.export.webhook import post_json
from pipeline.orchestration.failures import TELLING, failure_of
from pipeline.settings import Settings
from pipeline.sources.github import GitHub
from pipeline.sources.http import Unreachable
from pipeline.warehouse.failure import Failure
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.shared import current_warehouse
from pipeline.warehouse.unattended import is_lacking

DAY = 24 * 60 * 60

Requests = Callable[[dg.SensorEvaluationContext, str, list[str]], Sequence[dg.RunRequest]]
"""Gives the runs to ask for, from what they are for and the rounds to refresh; none means all."""


def upstream_sensor(
    job: str, requests: Requests, partitions: dg.PartitionsDefinition[str]
) -> dg.SensorDefinition:
    """Return the sensor that asks GitHub each day for new rounds and new commits.

    Where the partitions are dynamic, all rounds that are listed become some. The sensor's cursor
    holds the commit of each round's repository, null where that was never told.
    """

    @dg.sensor(
        job_name=job, minimum_interval_seconds=DAY, default_status=dg.DefaultSensorStatus.RUNNING
    )
    def upstream(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        """Every day: run for rounds that are new upstream or whose repository has changed."""
        settings = Settings.from_environment()
        warehouse = current_warehouse(settings, context.log.info)
        try:
            now = GitHub(settings).commits()
        except Unreachable as error:
            return dg.SkipReason(f"GitHub cannot be asked; all stays as it was seen last. {error}")
        if isinstance(partitions, dg.DynamicPartitionsDefinition):
            context.instance.add_dynamic_partitions(str(partitions.name), list(now))
        before = _read_cursor(context.cursor)
        is_first_build = not before and warehouse.release is None
        due = {
            key: commit
            for key, commit in now.items()
            if commit and (is_first_build or _is_due(before, key, commit, warehouse))
        }
        cursor = json.dumps(before | {key: now[key] or before.get(key) for key in now})
        if not due:
            return dg.SensorResult(skip_reason=f"{len(now)} rounds, none changed.", cursor=cursor)
        why = ", ".join(f"{key} {commit}" for key, commit in due.items())
        asked = requests(context, why, [] if is_first_build else list(due))
        return dg.SensorResult(run_requests=asked, cursor=cursor)

    return upstream


@dg.run_failure_sensor(default_status=dg.DefaultSensorStatus.RUNNING)
def failures(context: dg.RunFailureSensorContext) -> None:
    """After a failed run: keep why in ``last_failure.json``, and send it to the webhook if set."""
    settings = Settings.from_environment()
    run_id = context.dagster_run.run_id
    entries = context.instance.all_logs(run_id, of_type=TELLING)
    events = [entry.dagster_event for entry in entries if entry.dagster_event is not None]
    step, error = failure_of(events or [context.failure_event])
    told = Failure.of(
        str(error),
        "The former warehouse stands and the next run tries again. If it fails again, look at "
        "this run's log in Dagster, or run: roundtable build --debug",
        when=datetime.fromtimestamp(entries[-1].timestamp, UTC) if entries else None,
        run_id=run_id,
        step=step,
    )
    warehouse = Warehouse(settings.home)
    try:
        if not told.is_past(warehouse):
            told.keep(warehouse)
    except OSError as problem:
        context.log.error(f"{settings.home}: cannot be written ({problem.strerror}).")
    if settings.webhook is not None:
        post_json(settings.webhook, told.json, context.log.error)


def _is_due(before: Mapping[str, str | None], key: str, commit: str, warehouse: Warehouse) -> bool:
    """Return whether a run is to be asked for.

    At the very first look, and where a round did not tell its commit before, nothing is known to
    have changed: what the warehouse has is good until the schedule's next run.
    """
    if before.get(key) is not None:
        return before[key] != commit
    is_new = bool(before) and key not in before
    return is_new or is_lacking(warehouse, key)


def _read_cursor(text: str | None) -> dict[str, str | None]:
    """Return the commits by round; none if the cursor is empty or was set to something else."""
    try:
        cursor = json.loads(text or "{}")
    except ValueError:
        return {}
    return cursor if isinstance(cursor, dict) else {}
