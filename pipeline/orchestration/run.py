"""Runs the graph in this process, for the command line.

Belongs here: the instance that a run is kept in. Why a run failed is told by ``failures``.
"""

import os

import dagster as dg

from pipeline.errors import RoundtableError
from pipeline.orchestration.failures import failure_of
from pipeline.orchestration.graph import JOB, all_rounds, build_defs
from pipeline.settings import REPOSITORY
from pipeline.warehouse.build import Build


def run_build(build: Build, record: bool) -> None:
    """Run every asset and check of a build.

    ``record`` keeps the run in the Dagster instance of the repository, so that its history shows
    in the web interface.

    Raises:
        CheckFailed: a blocking check failed, so nothing was published.
        RoundtableError: a step failed; the former warehouse stands.
    """
    build.warehouse.fresh_build_folder()
    rounds = list(build.rounds)
    job = build_defs(rounds, dg.ResourceDefinition.hardcoded_resource(build)).resolve_job_def(JOB)
    with _instance(record) as instance:
        result = job.execute_in_process(
            instance=instance,
            tags=all_rounds(rounds),
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )
    if not result.success:
        _, error = failure_of(result.all_events)
        raise error


def _instance(record: bool) -> dg.DagsterInstance:
    if not record:
        return dg.DagsterInstance.ephemeral()
    if not (REPOSITORY / "dagster.yaml").is_file():
        raise RoundtableError(
            "--record keeps history in a checkout's Dagster instance, and this is an installed "
            "package. Run it from a checkout, or leave --record out."
        )
    os.environ["DAGSTER_HOME"] = str(REPOSITORY)
    return dg.DagsterInstance.get()
