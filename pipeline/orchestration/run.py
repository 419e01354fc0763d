"""Runs the graph in this process, for the command line.

Belongs here: turning a run's outcome into an error a user can act on.
"""

import os

import dagster as dg

from pipeline.errors import CheckFailed, RoundtableError
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
    _refuse_failed_checks(result)
    if not result.success:
        raise _failure(result)


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


def _refuse_failed_checks(result: dg.ExecuteInProcessResult) -> None:
    failed = [e for e in result.get_asset_check_evaluations() if e.blocking and not e.passed]
    if failed:
        first, more = failed[0], len(failed) - 1
        raise CheckFailed(
            "Nothing was published, the former warehouse stands. Failed check on "
            f"{first.asset_key.to_user_string()}: {first.description}"
            + (f" (and {more} more)" if more else "")
        )


def _failure(result: dg.ExecuteInProcessResult) -> RoundtableError:
    """Return the error at the bottom of the first failed step."""
    for event in result.all_events:
        if event.is_step_failure:
            error = event.step_failure_data.error
            while error is not None and error.cause is not None:
                error = error.cause
            text = error.message.strip() if error is not None else "unknown error"
            # Dagster puts the exception's qualified name before its message.
            return RoundtableError(
                f"Step {event.step_key} failed: {text.partition(': ')[2] or text}"
            )
    return RoundtableError("The run failed before its first step. Run again with --debug.")
