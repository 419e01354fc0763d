"""Builds killed with SIGKILL at random instants.

Belongs here: only that. What a half-written file does is tried in ``stored``.
"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from soak.ground import Ground
from soak.trial import ANSWERS, HEALS, WHOLE, Trial

KILLS = 50
AT_ONCE = 2
SEED = 6


def trials(ground: Ground) -> Iterator[Trial]:
    """Kill builds at instants spread evenly over a build's duration, every second one's group."""
    trial = Trial(
        "kill -9 at a random instant of a build",
        "tests/test_build_command.py::"
        "test_a_build_killed_at_any_instant_leaves_the_last_good_warehouse",
    )
    longest = _duration(ground)
    chosen = random.Random(SEED)
    instants = [chosen.uniform(0, longest) for _ in range(KILLS)]
    published = []

    def kill(number: int) -> None:
        with trial.attempt(f"kill {number} at {instants[number]:.2f} s") as attempt:
            home = ground.fresh(f"kill-{number}")
            build = home.start(*ground.build)
            try:
                build.communicate(timeout=instants[number])
            except subprocess.TimeoutExpired:
                kill_it = os.killpg if number % 2 else os.kill
                kill_it(build.pid, signal.SIGKILL)
                build.communicate()
            attempt.ask(ANSWERS, home.unlike(*ground.known))
            published.append(home.contents() == ground.known[1])
            attempt.ask(WHOLE, home.half_made())
            attempt.ask(HEALS, home.unhealed(ground.build, ground.good))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(kill, range(KILLS)))
    trial.note = (
        f"over {longest:.1f} s, half of them the whole process group; "
        f"{sum(published)} had published before"
    )
    yield trial


def _duration(ground: Ground) -> float:
    """Return how long a build takes while as many run as are killed at once."""
    ground.known  # noqa: B018 - built first, so that nothing else runs meanwhile

    def build(number: int) -> float:
        home = ground.fresh(f"timed-{number}")
        began = time.monotonic()
        home(*ground.build)
        return time.monotonic() - began

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return max(pool.map(build, range(AT_ONCE)))
