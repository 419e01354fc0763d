"""Why a run failed, in words that a user can act on.

Belongs here: reading Dagster's events. Who is told is the business of ``run`` and ``sensors``.
"""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from pipeline.errors import CheckFailed, RoundtableError

TELLING = {
    dg.DagsterEventType.ASSET_CHECK_EVALUATION,
    dg.DagsterEventType.STEP_FAILURE,
    dg.DagsterEventType.RUN_FAILURE,
}
"""The kinds of events that ``failure_of`` looks at."""


def failure_of(events: Sequence[dg.DagsterEvent]) -> tuple[str | None, RoundtableError]:
    """Return the step at which a run failed, None if at none, and the error to be told.

    A failed blocking check comes first, since it is what makes its step fail.
    """
    failed = [
        (event.step_key, found)
        for event in events
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION
        and (found := event.asset_check_evaluation_data).blocking
        and not found.passed
    ]
    if failed:
        (step, first), more = failed[0], len(failed) - 1
        return step, CheckFailed(
            "Nothing was published, the former warehouse stands. Failed check on "
            f"{first.asset_key.to_user_string()}: {first.description}"
            + (f" (and {more} more)" if more else "")
        )
    for event in events:
        if event.is_step_failure:
            text = _root(event.step_failure_data.error) or "unknown error"
            return event.step_key, RoundtableError(f"Step {event.step_key} failed: {text}")
    problem = "Run again with --debug."
    for event in events:
        if event.is_job_failure:
            # A run whose process was killed has no data on why.
            data: Any = event.job_failure_data
            problem = (_root(data.error) if data else "") or event.message or problem
    return None, RoundtableError(f"The run failed outside its steps. {problem}")


def _root(error: Any) -> str:
    """Return the message at the bottom of an error's causes, without the exception's name."""
    while error is not None and error.cause is not None:
        error = error.cause
    text = error.message.strip() if error is not None else ""
    return text.partition(": ")[2] or text
