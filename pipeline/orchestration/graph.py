"""Puts the graph together: assets, checks, job, schedule, sensors, and the resource they share.

Belongs here: ``build_defs``, which tests and the command line call with another build.
"""

from collections.abc import Iterator, Sequence

import dagster as dg

from pipeline.orchestration.assets import all_assets
from pipeline.orchestration.checks import all_checks
from pipeline.orchestration.sensors import failures, upstream_sensor
from pipeline.settings import Settings
from pipeline.warehouse.build import Build
from pipeline.warehouse.journal import journalled
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.unattended import unattended_plan

JOB = "build"
WEEKLY = "0 6 * * 1"

EXECUTOR = dg.in_process_executor
"""Dagster's default starts a process a step, which costs seconds each."""

ROUNDS = dg.Field(
    [str],
    default_value=[],
    description="The rounds to refresh, such as training-6.0, each from its archive where it has "
    "no published table; the others stay. Empty: all rounds.",
)


@dg.resource(config_schema={"rounds": ROUNDS})
def build_from_environment(context: dg.InitResourceContext) -> Iterator[Build]:
    """Give the run a build of the default source, holding the warehouse until the run ends."""
    settings = Settings.from_environment()
    warehouse = Warehouse(settings.home)
    say = context.log.info if context.log else print
    changed = frozenset(context.resource_config["rounds"])
    run = context.run.run_id if context.run else None
    ran = {"source": "auto", "rounds": sorted(changed), "run": run}
    with warehouse.lock(say), journalled(warehouse, **ran):
        if _is_whole(context.run):
            warehouse.fresh_build_folder()
        yield Build(warehouse, unattended_plan(warehouse, settings, changed, say), say)


def build_defs(
    rounds: Sequence[str], build: dg.ResourceDefinition = build_from_environment
) -> dg.Definitions:
    """Return the definitions for the given round keys, in order.

    ``build`` provides the ``warehouse.build.Build`` of a run; by default one of the ``auto``
    source with the environment's settings.
    """
    job = dg.define_asset_job(JOB, selection=dg.AssetSelection.all())
    partitions = dg.StaticPartitionsDefinition(list(rounds))

    @dg.schedule(
        job=job,
        cron_schedule=WEEKLY,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def weekly() -> dg.RunRequest:
        """Every Monday: fetch what changed, rebuild and publish."""
        return dg.RunRequest(tags=all_rounds(rounds))

    def one_run(
        context: dg.SensorEvaluationContext, why: str, changed: list[str]
    ) -> list[dg.RunRequest]:
        config = configured(rounds=changed)
        return [dg.RunRequest(run_key=why, run_config=config, tags=all_rounds(rounds))]

    return dg.Definitions(
        assets=all_assets(partitions, dg.BackfillPolicy.single_run()),
        asset_checks=all_checks(),
        jobs=[job],
        schedules=[weekly],
        sensors=[upstream_sensor(JOB, one_run, partitions), failures],
        resources={"build": build},
        executor=EXECUTOR,
    )


def configured(**values: object) -> dict[str, object]:
    """Return the configuration of a run whose build is given these values."""
    return {"resources": {"build": {"config": values}}}


def _is_whole(run: dg.DagsterRun | None) -> bool:
    """Return whether a run makes everything, rather than going on from what another left."""
    return run is None or (run.asset_selection is None and not run.is_resume_retry)


def all_rounds(rounds: Sequence[str]) -> dict[str, str]:
    """Return the tags of a run that makes all partitions at once."""
    return {
        "dagster/asset_partition_range_start": rounds[0],
        "dagster/asset_partition_range_end": rounds[-1],
    }
