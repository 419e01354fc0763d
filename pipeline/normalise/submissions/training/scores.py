"""The scoring rule: runs become the time to train, sources.md section 6.

Belongs here: which runs failed and why, which of them count, and what they give. Where a run
stands, and what its log says, is read before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from pipeline.normalise.submissions.training.logs import Run
from pipeline.normalise.vocabulary import entries

INIT_LIMIT_MINUTES = {"closed": 30, "open": 240}
"""Longest initialisation, sources.md section 6, 3b; a division of no such limit has none."""

LEAST_RUNS = 3
"""Fewest runs of any benchmark's rule, asked of one that the vocabulary does not list."""

SHOWN_OF_STATUS = 100
"""Characters of a status, which is "success" or "aborted", that a failure tells."""

FASTEST, SLOWEST, FAILED = "fastest", "slowest", "failed"


@dataclass(frozen=True)
class Rule:
    """How many runs a benchmark asks for, and how many are dropped at each end."""

    runs: int
    dropped: int
    is_exact: bool = True


@dataclass(frozen=True)
class Outcome:
    """What becomes of a run: why it failed, and as what it is dropped; None where it is not."""

    failure: str | None
    dropped_as: str | None = None
    counts: bool = False


@dataclass(frozen=True)
class Score:
    """The outcome of each run, in their order; ``problem`` says why there is no score, or None.

    ``minutes`` and ``joules`` are means over the runs that count, before scaling.
    """

    outcomes: Sequence[Outcome]
    problem: str | None = None
    minutes: float | None = None
    joules: float | None = None


def rule_of(benchmark: str) -> Rule:
    """Return the rule of a benchmark's directory; one not listed drops one run at each end."""
    return _rules().get(benchmark.casefold(), Rule(LEAST_RUNS, 1, is_exact=False))


def failure_of(run: Run, division: str, rejected_for: str | None = None) -> str | None:
    """Return why a run failed, or None.

    ``rejected_for`` is a reason for which MLCommons' checker is known to have rejected it.
    """
    if not run.has_records:
        return "no :::MLLOG line: empty, or of a form that is not read"
    if run.malformed is not None:
        return f"malformed :::MLLOG line: {run.malformed}"
    if run.milliseconds is None:
        return "no run_stop" if run.stopped is None else "no run_start before run_stop"
    if run.milliseconds <= 0:
        return "run_stop not after run_start"
    if run.status != "success":
        return f"status {(run.status or 'not stated')[:SHOWN_OF_STATUS]}"
    limit = INIT_LIMIT_MINUTES.get(division)
    if limit is not None and _init_minutes(run) >= limit:
        return f"initialisation of {limit} minutes or more"
    return rejected_for


def score(
    runs: Sequence[Run], failures: Sequence[str | None], joules: Sequence[float | None], rule: Rule
) -> Score:
    """Score the runs of a benchmark; ``failures`` and ``joules`` are of each run, in their order.

    A failed run is the slowest one dropped. Energy is over the runs that count for time, and None
    if one of them lacks it.
    """
    failed = [at for at, failure in enumerate(failures) if failure is not None]
    good = sorted(set(range(len(runs))) - set(failed), key=lambda at: (_minutes(runs[at]), at))
    if len(runs) < rule.runs or (rule.is_exact and len(runs) > rule.runs):
        return _no_score(failures, f"{len(runs)} runs, where {rule.runs} are required")
    if len(failed) > rule.dropped:
        first = failures[failed[0]]
        return _no_score(failures, f"{len(failed)} of {len(runs)} runs failed, first: {first}")
    last = len(good) - (rule.dropped - len(failed))
    counted = good[rule.dropped : last]
    dropped = {
        **dict.fromkeys(failed, FAILED),
        **dict.fromkeys(good[: rule.dropped], FASTEST),
        **dict.fromkeys(good[last:], SLOWEST),
    }
    energies = [joules[at] for at in counted]
    known = [energy for energy in energies if energy is not None]
    return Score(
        outcomes=[
            Outcome(failure, dropped.get(at), at in counted) for at, failure in enumerate(failures)
        ],
        minutes=sum(_minutes(runs[at]) for at in counted) / len(counted),
        joules=sum(known) / len(known) if len(known) == len(energies) else None,
    )


def _no_score(failures: Sequence[str | None], problem: str) -> Score:
    return Score([Outcome(failure) for failure in failures], problem)


def _minutes(run: Run) -> float:
    return (run.milliseconds or 0.0) / 60000


def _init_minutes(run: Run) -> float:
    if run.init_started is None or run.init_stopped is None:
        return 0.0
    return (run.init_stopped - run.init_started) / 60000


@cache
def _rules() -> dict[str, Rule]:
    return {
        line["benchmark"].casefold(): Rule(int(line["runs"]), int(line["dropped_each_side"]))
        for line in entries("training_runs")
    }
