"""Files of the warehouse that are no longer what they were: a bit flipped, a half lost.

Belongs here: damage to what a build has kept. Damage while it is being written is tried in
``kills`` and ``disks``.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from soak.ground import Ground
from soak.home import Home, unclear
from soak.trial import ANSWERS, CLEAR, HEALS, WHOLE, Trial
from soak.upstream import server


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)


def _cut(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


FLIPPED = "a flipped byte"
DAMAGE: dict[str, Callable[[Path], None]] = {
    FLIPPED: _flip,
    "half of it": _cut,
    "empty": _empty,
    "gone": Path.unlink,
}


def trials(ground: Ground) -> Iterator[Trial]:
    """Damage snapshots, what was derived, and the current release."""
    yield _snapshots(ground)
    yield _derived(ground)
    yield _release(ground)


def _snapshots(ground: Ground) -> Trial:
    trial = Trial(
        "corrupt snapshot of a fetched table",
        "tests/sources/test_github.py::test_a_harmed_snapshot_is_fetched_again",
    )
    build = ("build", "--source", "github")
    timed = ("sources",)
    with server(ground.source) as service:
        template = Home(ground.folder("fetched") / "home", **service.environment)
        if (done := template(*build)).code:
            raise RuntimeError(f"an undisturbed build fails: {done.err}")
        known, good = template.contents(timed), template.parquet(timed)
        objects = sorted(path.name for path in (template.path / "snapshots").iterdir())
        for name, damage in DAMAGE.items():
            for kept in objects:
                with trial.attempt(f"{kept[:12]}: {name}") as attempt:
                    home = template.copy(ground.folder("snap") / "home", **service.environment)
                    damage(home.path / "snapshots" / kept)
                    attempt.ask(ANSWERS, home.unlike(known, but=timed))
                    attempt.ask(WHOLE, home.half_made())
                    attempt.ask(HEALS, home.unhealed(build, good, timed))
                    if _bytes(home, kept) != _bytes(template, kept) and kept != "index.json":
                        attempt.lose("the object is not whole again")
    trial.note = f"{len(objects)} files, each {', '.join(DAMAGE)}; fetched again"
    return trial


def _bytes(home: Home, kept: str) -> bytes:
    file = home.path / "snapshots" / kept
    return file.read_bytes() if file.exists() else b""


def _derived(ground: Ground) -> Trial:
    trial = Trial(
        "corrupt file of what was derived from an archive",
        "tests/warehouse/test_archives_in_builds.py::"
        "test_what_was_derived_and_is_damaged_is_derived_again",
    )
    build = (*ground.build, "--full")
    home = ground.after.copy(ground.folder("derived-again") / "home")
    if (done := home(*build)).code:
        raise RuntimeError(f"an undisturbed build fails: {done.err}")
    good = home.parquet()
    folder = sorted((ground.after.path / "derived").glob("training-*"))[0]
    names = sorted(path.name for path in folder.iterdir())
    for name in DAMAGE:
        for kept in names if name == FLIPPED else ("raw.parquet",):
            with trial.attempt(f"{kept}: {name}") as attempt:
                home = ground.after.copy(ground.folder("derive") / "home")
                DAMAGE[name](home.path / "derived" / folder.name / kept)
                attempt.ask(ANSWERS, home.unlike(ground.known[1]))
                done = home(*build)
                if done.code != 0:
                    attempt.lose(f"exits with {done.code}: {done.err}")
                attempt.ask(CLEAR, unclear(done.err, "training-5.1: reading"))
                attempt.ask(WHOLE, home.half_made())
                wrong = [] if home.parquet() == good else ["other tables than undisturbed"]
                attempt.ask(HEALS, [*wrong, *home.leftovers()])
    trial.note = (
        f"{', '.join(names)}, a byte flipped in each; one of them also cut, "
        "emptied, removed; the archive is read again"
    )
    return trial


def _release(ground: Ground) -> Trial:
    trial = Trial(
        "corrupt file of the current release",
        "tests/warehouse/test_layout.py::test_a_damaged_release_gives_way_to_the_one_before_it",
    )
    files = (
        "roundtable.duckdb",
        "parquet/results.parquet",
        "parquet/sources.parquet",
        "stamp.json",
    )
    answered = 0
    for name in DAMAGE:
        for kept in files if name == FLIPPED else files[:2]:
            with trial.attempt(f"{kept}: {name}") as attempt:
                home = ground.after.copy(ground.folder("release") / "home")
                DAMAGE[name]((home.path / "current").resolve() / kept)
                query = "select sum(value), bit_xor(hash(r)) from results as r"
                asked = home("query", query, "--format", "csv")
                if asked.code == 0:
                    answered += 1
                    right = ground.after("query", query, "--format", "csv").out
                    attempt.ask(ANSWERS, [] if asked.out == right else ["a wrong answer"])
                else:
                    attempt.ask(CLEAR, unclear(asked.err, "roundtable build"))
                attempt.ask(HEALS, home.unhealed(ground.build, ground.good))
                attempt.ask(ANSWERS, home.unlike(*ground.known))
                attempt.ask(WHOLE, home.half_made())
    trial.note = (
        f"{', '.join(files)}, a byte flipped in each; two of them also cut, emptied, removed; "
        f"{answered} queries were answered, rightly, the others refused"
    )
    return trial
