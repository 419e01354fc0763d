"""Faults on the wire: each kind of the mirror at a rate of 0.3.

Belongs here: what a service answers badly. Archives that are at fault in themselves, or cut at a
chosen place, are tried in ``archives``.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from soak.ground import REAL_INFERENCE, TRAINING, Ground, table_file
from soak.home import Home, unclear
from soak.trial import ANSWERS, CLEAR, HEALS, WHOLE, Trial
from soak.upstream import KINDS, Service, upstream

RATE = 0.3
BUILD = ("build", "--submissions")
"""Tables and archives from GitHub, bundled figures for all other rounds."""

_BAD = "test_a_bad_answer_is_followed_by_another_attempt"
KEPT_BY = {
    "429": "test_a_429_is_asked_again_after_the_seconds_it_asks_for",
    "403": "test_a_used_up_rate_limit_that_lifts_at_once_is_waited_for",
    "500": "test_a_failing_service_is_asked_again",
    "502": "test_a_failing_service_is_asked_again",
    "slow": "test_a_slow_first_answer_is_still_an_answer",
    **dict.fromkeys(("reset", "cut", "html", "garbage"), _BAD),
}
"""The test of each kind, in ``tests/sources/test_http.py``."""

TIMED = ("sources",)
"""The only table that tells of a run: when, and by which ETag, a file was fetched."""


def trials(ground: Ground) -> Iterator[Trial]:
    """Fetch and derive everything anew while every third answer is bad in one way."""
    mirror = ground.data.parent / "tools" / "github_mirror.py" if ground.data else None
    mirror = mirror if mirror and mirror.is_file() else None
    data = _served(ground)
    with upstream(mirror, data) as service:
        calm = _calm(ground, service)
    good, contents = calm.parquet(TIMED), calm.contents(TIMED)
    for kind in KINDS:
        trial = Trial(
            f"{kind} on {RATE:.0%} of requests",
            f"tests/sources/test_http.py::{KEPT_BY[kind]}",
        )
        with trial.attempt("build") as attempt:
            with upstream(mirror, data, kind, RATE) as service:
                home = calm.copy(ground.folder("wire") / "home", **service.environment)
                for kept in ("snapshots", "derived"):
                    shutil.rmtree(home.path / kept)
                done = home(*BUILD, "--full")
                told = service.stats()
            stale = [line for line in done.err.splitlines() if line.startswith("stale: ")]
            attempt.ask(ANSWERS, home.unlike(contents, but=TIMED))
            attempt.ask(WHOLE, home.half_made())
            if done.code or stale:
                attempt.ask(CLEAR, unclear(done.err, "stale: "))
            with upstream(mirror, data) as service:
                home = Home(home.path, **service.environment)
                attempt.ask(HEALS, home.unhealed(BUILD, good, TIMED))
            bad = sum(count for name, count in told.items() if name.startswith("fault"))
            trial.note = f"{bad} of {sum(told.values())} answers" + "; told stale" * bool(stale)
            if mirror is None:
                trial.note += "; by a server of the trials' own, since the mirror is not here"
        yield trial


def _served(ground: Ground) -> Path:
    """Return a folder to serve: two real tables and a small archive of each suite, if here."""
    if ground.data is None:
        return ground.source
    folder = ground.folder("served")
    (folder / "published").mkdir()
    (folder / "submissions").mkdir()
    for round_ in ("5.1", "6.0"):
        shutil.copy(table_file(ground.data, round_), folder / "published")
    for name in (REAL_INFERENCE, TRAINING):
        shutil.copy(ground.data / "submissions" / name, folder / "submissions")
    return folder


def _calm(ground: Ground, service: Service) -> Home:
    """Return what is built undisturbed, twice, so that nothing is new to the second build.

    Raises:
        RuntimeError: that fails, so that there is nothing to try.
    """
    home = Home(ground.folder("calm") / "home", **service.environment)
    for option in ((), ("--full",)):
        done = home(*BUILD, *option)
        if done.code != 0:
            raise RuntimeError(f"an undisturbed build fails: {done.err}")
    shutil.rmtree(home.path / "build")
    return home
