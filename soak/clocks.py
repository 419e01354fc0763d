"""Clocks that go backwards.

Belongs here: builds under another time. It needs ``faketime`` (Debian's package of that name).
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator

from soak.ground import Ground, rows, write_table
from soak.home import Home, unclear
from soak.trial import ANSWERS, CLEAR, HEALS, WHOLE, Trial

STEPS = ("-1h", "-3y")


def trials(ground: Ground) -> Iterator[Trial]:
    """Build, fail and build again after the clock was set back, and set it back meanwhile."""
    between = Trial(
        "clock set back between two builds",
        "tests/warehouse/test_failure.py::test_a_failure_is_kept_although_the_clock_was_set_back",
    )
    during = Trial(
        "clock set back during a build",
        "tests/warehouse/test_failure.py::test_a_failure_is_kept_although_the_clock_was_set_back",
    )
    if shutil.which("faketime") is None:
        for trial in (between, during):
            trial.left_out = "faketime is not installed"
            yield trial
        return
    for step in STEPS:
        with between.attempt(step) as attempt:
            home = _under(ground, f"clock{step}", FAKETIME=step)
            # A round that shrinks to a tenth fails the build, which has to be told.
            small = ground.folder("small")
            write_table(small, rows(1.5, count=2))
            failed = home("build", "--source", small)
            told = home("status").out
            attempt.ask(ANSWERS, home.unlike(ground.known[0]))
            attempt.ask(WHOLE, home.half_made())
            problems = [] if failed.code == 1 else [f"exits with {failed.code}"]
            problems += [] if "LAST BUILD FAILED" in told else ["status tells of no failure"]
            attempt.ask(CLEAR, [*problems, *unclear(failed.err, "inference-6.0", "stands")])
            attempt.ask(HEALS, home.unhealed(ground.build, ground.good))
            if "LAST BUILD FAILED" in home("status").out:
                attempt.lose("status still tells of the failure")
            _look_at_journal(home, attempt.lose)
    between.note = f"by {', '.join(STEPS)}, under faketime: a build that fails, one that is good"
    yield between
    for step in STEPS:
        with during.attempt(step) as attempt:
            clock = ground.folder("clock") / "faketimerc"
            clock.write_text("+0")
            fake = {"FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}
            home = _under(ground, f"clock-during{step}", **fake)
            build = home.start(*ground.build)
            assert build.stderr is not None
            for line in build.stderr:
                if line.startswith("model"):
                    break
            clock.write_text(step)
            said = build.communicate()[1]
            if build.returncode != 0:
                attempt.lose(f"exits with {build.returncode}: {said}")
            attempt.ask(ANSWERS, home.unlike(ground.known[1]))
            attempt.ask(WHOLE, home.half_made())
            attempt.ask(HEALS, home.unhealed((*ground.build, "--full"), _again(ground)))
            seconds = home.journal()["seconds"]
            if not 0 <= seconds < 600:
                attempt.lose(f"the journal tells of {seconds} s")
    during.note = "when the first model runs"
    yield during


def _again(ground: Ground) -> dict[str, str]:
    """Return what the undisturbed warehouse becomes by the same build once more."""
    home = ground.after.copy(ground.folder("after-again") / "home")
    home(*ground.build, "--full")
    return home.parquet()


def _under(ground: Ground, name: str, **clock: str) -> Home:
    """Return a copy of the good warehouse whose commands run under another clock."""
    library = subprocess.run(
        ["faketime", "-m", "now", "printenv", "LD_PRELOAD"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    fixed = {"LD_PRELOAD": library, "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}
    return ground.fresh(name, **fixed, **clock)


def _look_at_journal(home: Home, lose: Callable[[str], None]) -> None:
    journal = (home.path / "builds.jsonl").read_text(encoding="utf-8").splitlines()
    outcomes = [json.loads(line)["outcome"] for line in journal]
    if outcomes != ["published", "failed", "published"]:
        lose(f"the journal tells of {outcomes}")
