"""Submission archives that are cut, and archives made to do harm.

Belongs here: making such archives, and building from them. What is refused of an archive, and why,
is told in ``pipeline.sources.archives``.
"""

import gzip
import io
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from soak.ground import INFERENCE, REAL_INFERENCE, TRAINING, Ground
from soak.home import Home, unclear
from soak.trial import ANSWERS, CLEAR, HEALS, WHOLE, Trial
from soak.upstream import server
from tests.normalise.submissions.inference.trees import COMMIT, RUN, detail

TENTHS = range(1, 10)
MILLION = 1_000_000
LONGEST_SECONDS = 240
MOST_MEMORY = 2**30
"""What a build of the largest harmful archive may take."""

TOP = f"inference_results_v4.0-{COMMIT}"
OUTSIDE = Path(tempfile.gettempdir()) / "roundtable-was-here"

Named = tuple[str, Callable[[Path], None], str]


def trials(ground: Ground) -> Iterator[Trial]:
    """Cut an archive of each suite at every tenth, and offer archives that do harm."""
    yield from _cuts(ground)
    yield _poisoned(ground)


def _cuts(ground: Ground) -> Iterator[Trial]:
    inference = REAL_INFERENCE if ground.data else INFERENCE
    whole = (ground.data or ground.source) / "submissions"
    names = (inference, TRAINING)
    folder = ground.folder("cut")
    (folder / "submissions").mkdir()
    for name in names:
        shutil.copy(whole / name, folder / "submissions")
    template = ground.built(Home(ground.work / "cut-before"), folder)
    good = template.parquet()
    trial = Trial(
        "archives of both suites cut at every 10 %, in a folder",
        "tests/sources/test_archives.py::test_an_archive_cut_anywhere_is_refused",
    )
    build: tuple[str | Path, ...] = ("build", "--source", folder, "--submissions")
    for tenth in TENTHS:
        with trial.attempt(f"cut at {tenth}0 %") as attempt:
            for name in names:
                content = (whole / name).read_bytes()
                (folder / "submissions" / name).write_bytes(content[: len(content) * tenth // 10])
            home = template.copy(ground.folder("cut-home") / "home")
            done = home(*build)
            attempt.ask(ANSWERS, _served(home, template, done.code))
            attempt.ask(WHOLE, home.half_made())
            attempt.ask(CLEAR, unclear(done.err, *names, "stale: ", "the archive is cut"))
            for name in names:
                shutil.copy(whole / name, folder / "submissions")
            attempt.ask(HEALS, home.unhealed(build, good))
    trial.tried *= len(names)
    trial.note = f"{inference} and {TRAINING}; their rounds stay as they were, marked stale"
    yield trial
    trial = Trial(
        "archives of both suites cut at every 10 %, on the wire",
        "tests/warehouse/test_archives_in_builds.py::"
        "test_a_build_whose_download_broke_off_is_not_taken_for_one_that_need_not_run_again",
    )
    build = ("build", "--source", "github", "--submissions")
    with server(folder) as service:
        home = Home(ground.folder("wire-before") / "home", **service.environment)
        if (done := home(*build)).code:
            raise RuntimeError(f"an undisturbed build fails: {done.err}")
        template, timed = home, ("sources",)
        good = template.parquet(timed)
    for tenth in TENTHS:
        with trial.attempt(f"cut at {tenth}0 %") as attempt:
            with server(folder, archive_part=tenth / 10) as service:
                home = template.copy(ground.folder("cut-home") / "home", **service.environment)
                shutil.rmtree(home.path / "derived")
                done = home(*build, "--full")
            attempt.ask(ANSWERS, _served(home, template, done.code))
            attempt.ask(WHOLE, home.half_made())
            attempt.ask(CLEAR, unclear(done.err, *names, "stale: "))
            with server(folder) as service:
                home = Home(home.path, **service.environment)
                attempt.ask(HEALS, home.unhealed(build, good, timed))
    trial.tried *= len(names)
    trial.note = "each download is begun again eight times"
    yield trial


def _served(home: Home, template: Home, code: int) -> list[str]:
    """Return what is lost of the results, which a bad archive must leave as they were."""
    if code != 0:
        return [f"the build exits with {code}"]
    found, good = home.parquet(), template.parquet()
    wrong = [f"{name} differs" for name in ("results", "runs") if found[name] != good[name]]
    return [*wrong, *home.unlike(home.contents())]


# -- archives that do harm --------------------------------------------------------------------


def _poisoned(ground: Ground) -> Trial:
    trial = Trial(
        "poisoned archive",
        "tests/sources/test_archives.py::"
        "test_what_is_no_file_of_the_tree_is_refused_by_name_and_the_rest_is_read",
    )
    notes = []
    folder = ground.folder("poison")
    shutil.copytree(ground.source / "published", folder / "published")
    shutil.copytree(ground.source / "submissions", folder / "submissions")
    archive = folder / "submissions" / INFERENCE
    good = archive.read_bytes()
    template = ground.built(Home(ground.work / "poison-before"), folder)
    build = ("build", "--source", folder, "--submissions")
    for name, write, said in POISONS:
        with trial.attempt(name) as attempt:
            write(archive)
            home = template.copy(ground.folder("poison-home") / "home")
            done = home(*build)
            attempt.ask(ANSWERS, _served(home, template, done.code))
            attempt.ask(WHOLE, [*home.half_made(), *_escaped(home)])
            told = (
                done.err + home("query", "select file, reason from rejects", "--format", "csv").out
            )
            attempt.ask(CLEAR, unclear(told, *([said] if said else ())))
            cost = home.journal()
            notes.append(
                f"{name} {cost['seconds']:.0f} s, {cost['peak_memory_bytes'] / 2**20:.0f} MiB"
            )
            if cost["seconds"] > LONGEST_SECONDS or cost["peak_memory_bytes"] > MOST_MEMORY:
                attempt.lose(f"takes {notes[-1]}")
            archive.write_bytes(good)
            attempt.ask(HEALS, home.unhealed(build, template.parquet()))
    trial.note = "; ".join(notes)
    return trial


def _escaped(home: Home) -> list[str]:
    out = [OUTSIDE, home.path.parent / "escaped", REPOSITORY_ESCAPE]
    return [f"{path} was written" for path in out if path.exists()]


REPOSITORY_ESCAPE = Path(__file__).parents[1] / "escaped"


def _tar(members: Iterable[tarfile.TarInfo | tuple[str, bytes]]) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        with (
            gzip.open(file, "wb", compresslevel=1) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as tar,
        ):
            for member in members:
                if isinstance(member, tarfile.TarInfo):
                    tar.addfile(member)
                    continue
                path, content = member
                info = tarfile.TarInfo(path)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))

    return write


def _special(path: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type, info.linkname = kind, link
    return info


def _bomb(file: Path) -> None:
    """Write 1 GiB of zeros as one wanted log, in some 5 MiB."""
    info = tarfile.TarInfo(f"{TOP}/{RUN}/mlperf_log_detail.txt")
    info.size = 2**30
    with gzip.open(file, "wb", compresslevel=1) as packed:
        packed.write(info.tobuf())
        zeros = bytes(2**24)
        for _ in range(info.size // len(zeros)):
            packed.write(zeros)
        packed.write(bytes(1024))


def _many(before: str, after: str) -> Callable[[Path], None]:
    """Write a million empty members, numbered between two texts.

    By hand, since ``tarfile`` takes minutes: but for its number and checksum every header is alike.
    """

    def write(file: Path) -> None:
        info = tarfile.TarInfo(f"{TOP}/{before}0000000{after}")
        header = info.tobuf(tarfile.USTAR_FORMAT)
        first, _, _ = header.partition(b"0000000" + after.encode())
        number_ends = len(first) + 7
        zeros = int(header[148:156].strip(b"\0 "), 8) - 7 * ord("0")
        with gzip.open(file, "wb", compresslevel=1) as packed:
            for number in range(MILLION):
                digits = b"%07d" % number
                packed.write(
                    first
                    + digits
                    + header[number_ends:148]
                    + b"%06o\0 " % (zeros + sum(digits))
                    + header[156:]
                )
            packed.write(bytes(1024))

    return write


def _zip(file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"{TOP}/../../../escaped", "x")
        packed.writestr(f"{TOP}/zeros", bytes(2**26))


RUN_OF_BOX = "/resnet50/Offline/performance/run_1/mlperf_log_detail.txt"
GOOD = (f"{TOP}/{RUN}/mlperf_log_detail.txt", detail(result_samples_per_second=12.5).encode())
"""The only result of the archive that these take the place of: it must not be lost."""

BAD = f"{TOP}/closed/Org/results/bad{RUN_OF_BOX}"
POISONS: tuple[Named, ...] = (
    ("a bomb of 1 GiB", _bomb, "more than a file"),
    ("a bomb in a bomb", _tar([GOOD, (BAD, gzip.compress(gzip.compress(bytes(2**28))))]), "log"),
    (
        "traversal",
        _tar([GOOD, (f"{TOP}/../../../../escaped", b"x"), (f"{TOP}/a/../../../escaped", b"x")]),
        "leaves its folder",
    ),
    ("absolute paths", _tar([GOOD, (str(OUTSIDE), b"x")]), "leaves its folder"),
    (
        "links and devices",
        _tar(
            [
                GOOD,
                _special(BAD, tarfile.SYMTYPE, "/etc/passwd"),
                _special(f"{BAD}.1", tarfile.LNKTYPE, "/etc/passwd"),
                _special(f"{BAD}.2", tarfile.CHRTYPE),
                _special(f"{BAD}.3", tarfile.FIFOTYPE),
            ]
        ),
        "link",
    ),
    ("one path 1,000 times", _tar([GOOD, *((BAD, b"%d" % n) for n in range(1000))]), "twice"),
    (
        "null bytes and long names",
        _tar([GOOD, (f"{TOP}/{'n' * 60_000}/{'m' * 3_000}", b"x"), (f"{TOP}/a\x00b", b"x")]),
        "",
    ),
    ("a million members unread", _many("code/", ".py"), "no result in it"),
    ("a million empty logs", _many("closed/Org/results/box", RUN_OF_BOX), "more than 200000 files"),
    ("a million traversals", _many("../../", "x"), "more than 200000 files"),
    ("a zip in its place", _zip, "not a gzip archive"),
)
"""Each harmful archive: its name, what writes it, and what has to be said of it."""
