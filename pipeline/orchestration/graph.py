"""Puts the graph together: assets, checks, job, schedule, and the resource they share.

Belongs here: ``build_defs``, which tests and the command line call with another build.
"""

from collections.abc import Iterator, Sequence

import dagster as dg

from pipeline.orchestration.assets import all_assets
from pipeline.orchestration.checks import all_checks
from pipeline.settings import Settings
from pipeline.sources.choice import choose_source
from pipeline.warehouse.build import Build, Plan
from pipeline.warehouse.journal import journalled
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.stamp import identity

JOB = "build"


@dg.resource
def build_from_environment(context: dg.InitResourceContext) -> Iterator[Build]:
    """Give the run a build of the default source, holding the warehouse until the run ends."""
    settings = Settings.from_environment()
    warehouse = Warehouse(settings.home)
    say = context.log.info if context.log else print
    with (
        warehouse.lock(say),
        journalled(warehouse, source="auto", run=context.run.run_id if context.run else None),
    ):
        choice = choose_source("auto", settings, say)
        digest = identity("auto", choice.source, refresh=None, submissions=False)
        if _is_whole(context.run):
            warehouse.fresh_build_folder()
        yield Build(warehouse, Plan(choice.source, choice.bundle, identity=digest), say)


def build_defs(
    rounds: Sequence[str], build: dg.ResourceDefinition = build_from_environment
) -> dg.Definitions:
    """Return the definitions for the given round keys, in order.

    ``build`` provides the ``warehouse.build.Build`` of a run; by default one of the ``auto``
    source with the environment's settings.
    """
    job = dg.define_asset_job(JOB, selection=dg.AssetSelection.all())

    @dg.schedule(
        job=job,
        cron_schedule="0 6 * * 1",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def weekly() -> dg.RunRequest:
        """Every Monday: fetch what changed, rebuild and publish."""
        return dg.RunRequest(tags=all_rounds(rounds))

    return dg.Definitions(
        assets=all_assets(dg.StaticPartitionsDefinition(list(rounds))),
        asset_checks=all_checks(),
        jobs=[job],
        schedules=[weekly],
        resources={"build": build},
        # The default executor starts a process a step, which costs seconds each.
        executor=dg.in_process_executor,
    )


def _is_whole(run: dg.DagsterRun | None) -> bool:
    """Return whether a run makes everything, rather than going on from what another left."""
    return run is None or (run.asset_selection is None and not run.is_resume_retry)


def all_rounds(rounds: Sequence[str]) -> dict[str, str]:
    """Return the tags of a run that makes all partitions at once."""
    return {
        "dagster/asset_partition_range_start": rounds[0],
        "dagster/asset_partition_range_end": rounds[-1],
    }
