"""Builds and readers at once: nobody waits for a reader, and no reader sees two states.

Belongs here: what happens at the same time on one warehouse.
"""

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from soak.ground import Ground
from soak.home import REPOSITORY, Home
from soak.trial import ANSWERS, CLEAR, HEALS, WHOLE, Trial

PAIRS = 3
HELD = 2
PROCESSES, CONNECTIONS = 20, 10
PUBLISHED = 3

_READER = textwrap.dedent("""
    import sys
    from pathlib import Path
    import duckdb
    home = Path(sys.argv[1])
    query = "select count(*), bit_xor(hash(t)) from main.results as t"
    def ask(connection):
        connection.execute("set enable_progress_bar = false")
        return connection.execute(query).fetchall()[0]
""")
_HOLDS = _READER + textwrap.dedent("""
    database = home / "roundtable.duckdb"
    with duckdb.connect(database, read_only=True) as connection:
        print(*ask(connection), flush=True)
        sys.stdin.readline()
        print(*ask(connection), flush=True)
""")
_MANY = _READER + textwrap.dedent("""
    from concurrent.futures import ThreadPoolExecutor
    import os
    count = int(sys.argv[2])
    def read(_):
        # DuckDB shares one database a path among the connections of a process that are open.
        database = (home / "current").resolve() / "roundtable.duckdb"
        with duckdb.connect(database, read_only=True) as connection:
            return ask(connection)
    print("ready", flush=True)
    with ThreadPoolExecutor(count) as pool:
        while not (home / "stop").exists():
            for answer in pool.map(read, range(count)):
                print(*answer, flush=True)
""")


def trials(ground: Ground) -> Iterator[Trial]:
    """Run builds beside builds, and readers beside builds."""
    yield _pairs(ground)
    yield _held(ground)
    yield _many(ground)


def _pairs(ground: Ground) -> Trial:
    trial = Trial(
        "two builds at once",
        "tests/test_build_command.py::test_two_builds_at_once_both_end_well",
    )
    waited = 0
    for number in range(PAIRS):
        with trial.attempt(f"pair {number}") as attempt:
            home = ground.fresh(f"pair-{number}")
            # The later one is the one that waits; either source may be the last to be published.
            orders = (ground.source_before, ground.source)
            builds = [
                home.start("build", "--full", "--submissions", "--source", source)
                for source in orders
            ]
            told = [build.communicate()[1] for build in builds]
            said = [text for text in told if "waiting for it to end" in text]
            waited += len(said)
            attempt.ask(CLEAR, [] if len(said) == 1 else [f"{len(said)} say that they wait"])
            codes = [build.returncode for build in builds]
            if codes != [0, 0]:
                attempt.lose(f"exit with {codes}: {told}")
            last = 0 if told[0] in said else 1
            published = _value(home)
            is_last = published == (50.5, 75.5)[last]
            attempt.ask(ANSWERS, [] if is_last else [f"not the second's: {published}"])
            attempt.ask(WHOLE, home.half_made())
            attempt.ask(HEALS, _not_built(home, ground))
    trial.note = f"{waited} said that they wait, and what they built stands"
    return trial


def _value(home: Home) -> float:
    query = "select value from results where round_key = 'inference-6.0' and platform = 'p1'"
    return float(home("query", query, "--format", "csv").out.splitlines()[1])


def _not_built(home: Home, ground: Ground) -> list[str]:
    done = home(*ground.build)
    return [*([] if done.code == 0 else [done.err]), *home.leftovers()]


def _held(ground: Ground) -> Trial:
    trial = Trial(
        "a reader holds the database open throughout a publish",
        "tests/warehouse/test_layout.py::test_a_reader_keeps_the_database_that_it_opened",
    )
    for number in range(HELD):
        with trial.attempt(f"reader {number}") as attempt:
            home = ground.fresh(f"held-{number}")
            reader = subprocess.Popen(
                [sys.executable, "-c", _HOLDS, str(home.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert reader.stdout is not None
            first = reader.stdout.readline()
            attempt.ask(HEALS, home.unhealed(ground.build, ground.good))
            second = reader.communicate("\n")[0]
            same = first == second and first.strip()
            attempt.ask(ANSWERS, [] if same else [f"{first!r}, then {second!r}"])
            attempt.ask(WHOLE, [*home.half_made(), *home.unlike(ground.known[1])])
    trial.note = "it reads on what it opened; the build neither waits nor fails"
    return trial


def _many(ground: Ground) -> Trial:
    trial = Trial(
        f"{PROCESSES * CONNECTIONS} readers at once during {PUBLISHED} publishes",
        "tests/warehouse/test_layout.py::"
        "test_readers_at_once_each_see_one_release_while_others_are_published",
    )
    with trial.attempt("all of them") as attempt:
        home = ground.fresh("many")
        known = {_answer(each.path) for each in (ground.before, ground.after)}
        command = [sys.executable, "-c", _MANY, str(home.path), str(CONNECTIONS)]
        readers = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(PROCESSES)
        ]
        for reader in readers:
            assert reader.stdout is not None
            reader.stdout.readline()
        told = []
        for number in range(PUBLISHED):
            source = (ground.source, ground.source_before)[number % 2]
            build = home.start("build", "--full", "--submissions", "--source", source)
            while build.poll() is None:
                query = "select count(*) as n, bit_xor(hash(t)) as h from main.results as t"
                asked = home("query", query, "--format", "csv")
                told.append(
                    asked.out.splitlines()[1].replace(",", " ") if not asked.code else asked.err
                )
            if build.wait() != 0:
                attempt.lose(f"build {number}: {build.communicate()[1]}")
        (home.path / "stop").touch()
        ended = [reader.communicate() for reader in readers]
        (home.path / "stop").unlink()
        answers = [line for out, _ in ended for line in out.splitlines()]
        errors = [err for _, err in ended if err]
        wrong = [line for line in (*answers, *told) if line not in known]
        attempt.ask(ANSWERS, [*errors[:3], *wrong[:3]])
        attempt.ask(WHOLE, home.half_made())
        attempt.ask(HEALS, _not_built(home, ground))
        trial.note = (
            f"{PROCESSES} processes of {CONNECTIONS} connections: {len(answers)} answers, and "
            f"{len(told)} of `roundtable query`, of {len(set(answers) | set(told))} releases"
        )
    trial.tried = PROCESSES * CONNECTIONS
    return trial


def _answer(home: Path) -> str:
    code = _READER + "print(*ask(duckdb.connect(home / 'roundtable.duckdb')))"
    command = [sys.executable, "-c", code, str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    return done.stdout.strip()
