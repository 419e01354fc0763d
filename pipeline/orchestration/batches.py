"""One run a round, and one that publishes what these made, under whichever run launcher.

Belongs here: what differs where a table store is set, so that runs may be on several machines: the
jobs, who asks for their runs, and the build that a run is given. What runs hand each other stands
in ``warehouse.shared``.

A batch is the runs of one occasion: a week, or what changed upstream. Once each of its rounds has a
run that has ended, well or not, one run publishes.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg

from pipeline.orchestration.assets import READ, all_assets
from pipeline.orchestration.checks import all_checks
from pipeline.orchestration.failures import TELLING, failure_of
from pipeline.orchestration.graph import EXECUTOR, ROUNDS, WEEKLY, configured
from pipeline.orchestration.sensors import failures, upstream_sensor
from pipeline.rounds import ROUND_KEY, new_round
from pipeline.settings import Settings
from pipeline.warehouse.build import Build
from pipeline.warehouse.failure import Failure
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.shared import publish_build, round_build
from pipeline.warehouse.store import StoreFault, TableStore

ROUND, PUBLISH = "round", "publish"

BATCH, SIZE = "roundtable/batch", "roundtable/batch_size"
"""The tags of a batch's runs: its name, and how many rounds it has."""

PARTITION = "dagster/partition"
"""The tag by which Dagster tells a run's partition."""

FINISHED = {
    dg.DagsterRunStatus.SUCCESS,
    dg.DagsterRunStatus.FAILURE,
    dg.DagsterRunStatus.CANCELED,
}

MEMORY = timedelta(days=8)
"""For how long a batch that has ended may wait to be published, with the daemon down."""

FAILED = dg.Field(
    {str: str},
    default_value={},
    description="For a run that publishes: the rounds whose runs failed, each with the reason. "
    "Their last good figures serve.",
)


@dg.resource(config_schema={"rounds": ROUNDS, "failed": FAILED})
def build_of_batch(context: dg.InitResourceContext) -> Iterator[Build]:
    """Give a run of one round a build of this round, and any other one that publishes."""
    settings = Settings.from_environment()
    if settings.store is None:
        raise StoreFault("ROUNDTABLE_STORE is not set here. Set it wherever runs are launched.")
    store = TableStore(settings.store)
    say = context.log.info if context.log else print
    rounds = context.resource_config["rounds"]
    key = context.run.tags.get(PARTITION) if context.run else None
    if key is not None:
        with round_build(settings, store, key, frozenset(rounds), say) as build:
            yield build
    else:
        failed = context.resource_config["failed"]
        run = context.run.run_id if context.run else None
        with publish_build(settings, store, rounds, failed, run, say) as build:
            yield build


def shared_defs(rounds: Sequence[str]) -> dg.Definitions:
    """Return the definitions for runs on several machines, with the given rounds known.

    The rounds are dynamic partitions, since those that are found upstream need runs of their own,
    and all machines share the instance that keeps them.
    """
    partitions = dg.DynamicPartitionsDefinition(name="rounds")
    read = dg.AssetSelection.groups(READ)
    round = dg.define_asset_job(ROUND, selection=read)
    publish = dg.define_asset_job(PUBLISH, selection=dg.AssetSelection.all() - read)

    def batch(instance: dg.DagsterInstance, name: str, changed: list[str]) -> list[dg.RunRequest]:
        """Return a request for each round's run; no round that changed means all rounds."""
        instance.add_dynamic_partitions("rounds", list(rounds))
        keys = changed or instance.get_dynamic_partitions("rounds")
        keys = sorted(filter(ROUND_KEY.fullmatch, keys), key=lambda key: new_round(key).order)
        return [
            dg.RunRequest(
                run_key=f"{name} {key}",
                partition_key=key,
                run_config=configured(rounds=[key] if changed else []),
                tags={BATCH: name, SIZE: str(len(keys))},
            )
            for key in keys
        ]

    @dg.schedule(
        job=round,
        cron_schedule=WEEKLY,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def weekly(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
        """Every Monday: a run for each round that fetches what changed."""
        return batch(context.instance, f"{context.scheduled_execution_time:%G-W%V}", [])

    def changed_rounds(
        context: dg.SensorEvaluationContext, why: str, changed: list[str]
    ) -> list[dg.RunRequest]:
        # Without a release there is nothing that the other rounds could stay as.
        has_release = Warehouse(Settings.from_environment().home).release is not None
        name = f"upstream {hashlib.sha256(why.encode()).hexdigest()[:12]}"
        return batch(context.instance, name, changed if has_release else [])

    return dg.Definitions(
        assets=all_assets(partitions, dg.BackfillPolicy.multi_run(max_partitions_per_run=1)),
        asset_checks=all_checks(),
        jobs=[round, publish],
        schedules=[weekly],
        sensors=[upstream_sensor(ROUND, changed_rounds, partitions), ended_batches, failures],
        resources={"build": build_of_batch},
        executor=EXECUTOR,
    )


@dg.sensor(
    job_name=PUBLISH, minimum_interval_seconds=30, default_status=dg.DefaultSensorStatus.RUNNING
)
def ended_batches(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Publish a batch once all its runs have ended; one batch at a time, the oldest first."""
    instance = context.instance
    going_on = [status for status in dg.DagsterRunStatus if status not in FINISHED]
    if instance.get_runs(dg.RunsFilter(job_name=PUBLISH, statuses=going_on), limit=1):
        return dg.SkipReason("A run is publishing.")
    lately = dg.RunsFilter(job_name=ROUND, updated_after=datetime.now(UTC) - MEMORY)
    runs = reversed(instance.get_runs(lately))
    for name in dict.fromkeys(run.tags[BATCH] for run in runs if BATCH in run.tags):
        is_published = instance.get_runs(dg.RunsFilter(job_name=PUBLISH, tags={BATCH: name}))
        request = None if is_published else _publication(instance, name)
        if request is not None:
            return request
    return dg.SkipReason("No batch has ended that is not published.")


def _publication(instance: dg.DagsterInstance, batch: str) -> dg.RunRequest | None:
    """Return the request for the run that publishes a batch; None while runs of it go on."""
    runs = instance.get_runs(dg.RunsFilter(job_name=ROUND, tags={BATCH: batch}))
    last = {run.tags[PARTITION]: run for run in reversed(runs)}  # a run may have been tried again
    if len(last) < int(runs[0].tags[SIZE]) or any(not run.is_finished for run in last.values()):
        return None
    failed = {key: _reason(instance, run) for key, run in last.items() if not run.is_success}
    made = sorted(last.keys() - failed.keys(), key=lambda key: new_round(key).order)
    return dg.RunRequest(
        run_key=batch, run_config=configured(rounds=made, failed=failed), tags={BATCH: batch}
    )


def _reason(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """Return why a round's run gave no figures, in one line without secrets."""
    if run.status is dg.DagsterRunStatus.CANCELED:
        return "its run was stopped"
    entries = instance.all_logs(run.run_id, of_type=TELLING)
    events = [entry.dagster_event for entry in entries if entry.dagster_event is not None]
    _, error = failure_of(events)
    return f"its run failed: {' '.join(Failure.of(str(error), '').error)}"
