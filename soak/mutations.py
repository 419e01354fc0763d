"""Changes real files a little, many times, and holds what the readers make of them to account.

Belongs here: the changes, and what must hold after each of them: no exception but a FileFault that
names the file, every row accounted for, and what was not changed comes out as it did before.

A change is made to a window: some rows of a table, some systems of a results page or an archive, so
that thousands of changes take minutes. All of it follows from the seed.

    python -m soak.mutations --data DATA [--seed N] [--times N] [--rounds KEY,KEY]
"""

import argparse
import csv
import io
import json
import re
import sys
import tarfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Protocol

import polars as pl

from pipeline.errors import FileFault
from pipeline.normalise.figures import Figures
from pipeline.normalise.published import read_published_table
from pipeline.normalise.results import ORIGINS_SCHEMA, normalise_table
from pipeline.normalise.round import derived_figures, round_figures
from pipeline.normalise.submissions.archive import read_archive
from pipeline.normalise.submissions.inference.tree import place_of as inference_place
from pipeline.normalise.submissions.training.tree import place_of as training_place
from pipeline.rounds import Round, rounds_by_key
from pipeline.sources.archives import Member, read_members
from pipeline.sources.files import Archive, Kind, SourceFile
from pipeline.sources.folder import Folder
from soak.ground import Ground
from soak.trial import Trial

WINDOW_ROWS = 40
WINDOW_SYSTEMS = 3
CHANGES_A_WINDOW = 25

TIMES = 200
"""Changes to each file in a soak."""

KEPT_BY = "tests/test_mutations.py::test_every_change_of_a_file_of_any_form_is_borne"

RELATED_FIELDS = ("is_accuracy_copy", "power_watts", "energy_joules")
"""What follows from other rows of a table, so that changing those may change it."""

RELATED_REASONS = (
    "two values for one key",
    "repeats an earlier row",
    "a power measurement without its result",
)
"""Why a row of a table is rejected for what other rows say."""

Made = Mapping[Any, frozenset[tuple[Any, ...]]]
"""What a reader made of each row of a table, or each system of a page or an archive."""


@dataclass
class Tally:
    """What became of the changes of one kind to one kind of file.

    Each change is one of kept, warned, rejected and refused, or raised an exception. ``lost``
    counts those after which rows are not accounted for, ``spoiled`` those after which something
    unchanged came out otherwise; all three must be 0.
    """

    file: str
    change: str
    times: int = 0
    kept: int = 0
    warned: int = 0
    rejected: int = 0
    refused: int = 0
    exceptions: int = 0
    lost: int = 0
    spoiled: int = 0


@dataclass
class Outcome:
    """The tallies of a run, and a line on each change that was not borne."""

    tallies: list[Tally] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Change:
    """Changed bytes, what was ``touched``, and how many rows there may be now.

    A table's rows behind ``after`` stand ``by`` places further down than before.
    """

    kind: str
    content: bytes
    touched: frozenset[Any]
    rows: range
    after: int = 0
    by: int = 0


class Window(Protocol):
    """A part of a file that changes are made to."""

    file: str
    name: str

    @property
    def content(self) -> bytes:
        """Return the bytes as they are before any change."""
        ...

    def change(self, random: Random) -> Change:
        """Return one change."""
        ...

    def read(self, content: bytes) -> Figures:
        """Read bytes as a build does.

        Raises:
            FileFault: the file cannot be used.
        """
        ...

    def made(self, figures: Figures, change: Change | None) -> Made:
        """Return what became of each row or system, by its name before the change."""
        ...


class Table:
    """Some rows of a published table."""

    file = "published table"

    def __init__(self, name: str, round: Round, rows: Sequence[str], is_keyed: bool) -> None:
        """Take rows as JSON; a keyed table is an object of them, not a list."""
        self.name, self._round, self._rows, self._is_keyed = name, round, rows, is_keyed

    @property
    def content(self) -> bytes:
        """Return the window as a table of its own."""
        return self._packed([row.encode() for row in self._rows])

    def change(self, random: Random) -> Change:
        """Change a row, or a field of it."""
        at = random.randrange(len(self._rows))
        kind, make = random.choice(sorted(_ROW_CHANGES.items()))
        instead = make(self._rows[at], random)
        rows = [row.encode() for row in self._rows]
        rows[at : at + 1] = instead
        by = len(instead) - 1
        content, count = self._packed(rows), range(len(rows), len(rows) + 1)
        return Change(kind, content, frozenset({at + 1}), count, after=at + 1 + min(by, 0), by=by)

    def read(self, content: bytes) -> Figures:
        """Read a table; as its ``source_url`` each result has the number of its row."""
        table = read_published_table(content, self.name)
        numbers = pl.Series("source_row", range(1, table.rows + 1), dtype=pl.Int64)
        origins = numbers.to_frame().with_columns(
            source_url=numbers.cast(pl.String), source_sha256=pl.lit("")
        )
        file = _source_file(self.name, self._round, Kind.TABLE, content)
        return normalise_table(table, file, self._round, origins.select(*ORIGINS_SCHEMA))

    def made(self, figures: Figures, change: Change | None) -> Made:
        """Return each row's result or the reason of its reject; a measurement is made nothing."""
        results = figures.results.drop("source_sha256", "source_url", *RELATED_FIELDS)
        numbers = figures.results["source_url"].cast(pl.Int64)
        rejects = figures.rejects.select("source_row", "reason").rows()
        made = [
            *zip(numbers, _comparable(results), strict=True),
            *((number, (reason,)) for number, reason in rejects),
        ]
        after, by = (change.after, change.by) if change else (0, 0)
        return _grouped((row - by if row > after else row, what) for row, what in made)

    def _packed(self, rows: Sequence[bytes]) -> bytes:
        if self._is_keyed:
            return b"{" + b",\n".join(b'"%d": ' % at + row for at, row in enumerate(rows)) + b"}"
        return b"[" + b",\n".join(rows) + b"]"


class Page:
    """Some systems of a results page's export, each of one or more records."""

    file = "results page"

    def __init__(
        self, name: str, round: Round, head: Sequence[list[str]], systems: Sequence[list[list[str]]]
    ) -> None:
        """Take the records of the header, the last of them with the ids' column, and systems'."""
        self.name, self._round, self._head, self._systems = name, round, head, systems
        self._id = head[-1].index("Public ID")

    @property
    def content(self) -> bytes:
        """Return the window as an export of its own."""
        return self._packed(self._systems)

    def change(self, random: Random) -> Change:
        """Change a record, or a cell of it."""
        at = random.randrange(len(self._systems))
        system = [list(record) for record in self._systems[at]]
        record = random.randrange(len(system))
        kind, make = random.choice(sorted(_RECORD_CHANGES.items()))
        system[record : record + 1] = make(system[record], random)
        systems = [*self._systems[:at], system, *self._systems[at + 1 :]]
        ids = {line[self._id] for line in (*self._systems[at], *system) if self._id < len(line)}
        cells = sum(map(self._cells, (record for system in systems for record in system)))
        touched = frozenset(text.strip().removeprefix("v") or None for text in ids)
        return Change(kind, self._packed(systems), touched, range(cells, cells + 1))

    def read(self, content: bytes) -> Figures:
        """Read an export as one that is held against a table."""
        file = _source_file(self.name, self._round, Kind.PAGE, content)
        figures = round_figures([file], self._round, has_logs=True)
        whole_file = figures.rejects.filter(source_row=0)
        if whole_file.height:
            raise FileFault(whole_file[0, "file"], whole_file[0, "reason"], "")
        return figures

    def made(self, figures: Figures, change: Change | None) -> Made:
        """Return the cells by entry id."""
        cells = figures.page_cells.drop("source_row", "source_sha256")
        return _grouped(zip(cells["entry_id"], _comparable(cells), strict=True))

    @property
    def _first(self) -> int | None:
        """Return the first column of results where each system has a column a cell."""
        corner = [
            at for at, cell in enumerate(self._head[0]) if "Model MLC" in cell and "/" in cell
        ]
        return corner[0] if corner else None

    def _cells(self, record: list[str]) -> int:
        """Return how many published cells a record has."""
        if self._first is None:
            return int(any(cell.strip() for cell in record))
        is_result = record[self._first - 1].startswith("Avg. Result") if record else False
        return is_result * sum(bool(cell.strip()) for cell in record[self._first :])

    def _packed(self, systems: Sequence[list[list[str]]]) -> bytes:
        text = io.StringIO(newline="")
        delimiter = "," if self._first is not None else "\t"
        writer = csv.writer(text, delimiter=delimiter)
        writer.writerows([*self._head, *(record for system in systems for record in system)])
        return text.getvalue().encode("utf-8", "surrogatepass")


class Submissions:
    """All files of some systems of a submission archive."""

    file = "submission archive"

    def __init__(self, name: str, round: Round, files: Sequence[tuple[str, bytes]]) -> None:
        """Take files as path and content."""
        self.name, self._round, self._files = name, round, files

    @property
    def content(self) -> bytes:
        """Return the window as an archive of its own."""
        return _archive(self._files)

    def change(self, random: Random) -> Change:
        """Change a file, a line or a value of it, or a byte of the whole archive."""
        at = random.randrange(len(self._files))
        path, content = self._files[at]
        kind, make = random.choice(sorted(_FILE_CHANGES.items()))
        files = [*self._files[:at], *make((path, content), random), *self._files[at + 1 :]]
        packed = _archive(files)
        if kind == _FLIP_PACKED:
            packed = _flipped(packed, random)
        submitter, system = _system(path, self._round) or ("", "")
        systems = {_system(other, self._round) for other, _ in self._files}
        of_submitter = {each for each in systems if each and each[0] == submitter}
        touched = {(submitter, system)} if system else of_submitter
        return Change(kind, packed, frozenset(touched), range(10**9))

    def read(self, content: bytes) -> Figures:
        """Read an archive and derive its results."""
        derived = read_archive(io.BytesIO(content), self.name, self._round)
        raw = derived.table
        numbers = sorted([*raw.frame["source_row"], *(odd.source_row for odd in raw.rejects)])
        if numbers != list(range(1, len(numbers) + 1)):
            raise AssertionError(f"rows are numbered {numbers}")
        archive = Archive(self._round.key, self.name, "", "folder", "", None, lambda: io.BytesIO())
        return derived_figures(derived, archive, self._round)

    def made(self, figures: Figures, change: Change | None) -> Made:
        """Return the results by the directories of submitter and system."""
        results, places = figures.results, ("submitter_directory", "platform")
        keys = results.select(places).rows()
        return _grouped(zip(keys, _comparable(results.drop("source_url")), strict=True))


@dataclass(frozen=True)
class _Source:
    """A file of a data folder, and how a window of it is drawn."""

    name: str
    draw: Callable[[Random], Window]


def mutate(data: Path, seed: int, times: int, rounds: frozenset[str] | None = None) -> Outcome:
    """Make ``times`` changes to each table, page and archive of a data folder.

    ``rounds`` are the keys of those to look at, all if None.

    Raises:
        FileFault: a file cannot be used before any change.
        UnusableCall: the folder is none of published tables and archives.
    """
    outcome, tallies = Outcome(), defaultdict[tuple[str, str], Tally](lambda: Tally("", ""))
    for source in _sources(Folder(data), rounds):
        random = Random(f"{seed} {source.name}")
        for start in range(0, times, CHANGES_A_WINDOW):
            window = source.draw(random)
            before = window.read(window.content)
            for number in range(start, min(start + CHANGES_A_WINDOW, times)):
                change = window.change(random)
                tally = tallies[window.file, change.kind]
                tally.file, tally.change = window.file, change.kind
                problem = _judge(window, before, change, tally)
                if problem:
                    outcome.faults.append(
                        f"{window.name}, change {number}, {change.kind}: {problem}"
                    )
    outcome.tallies = [tallies[key] for key in sorted(tallies)]
    return outcome


def trials(ground: Ground) -> Iterator[Trial]:
    """Change every file of the data, and tell by kind of change what became of it."""
    if ground.data is None:
        yield Trial("changed files", KEPT_BY, left_out="no folder of real tables and archives")
        return
    began = time.monotonic()
    outcome = mutate(ground.data, seed=1, times=TIMES)
    seconds = time.monotonic() - began
    changes = sum(tally.times for tally in outcome.tallies)
    for kind in sorted({tally.change for tally in outcome.tallies}):
        of_kind = [tally for tally in outcome.tallies if tally.change == kind]
        counted = {
            name: sum(getattr(tally, name) for tally in of_kind)
            for name in ("times", "kept", "warned", "rejected", "refused", "exceptions")
        }
        times = counted.pop("times")
        yield Trial(
            f"{kind}, of each {', '.join(sorted({tally.file for tally in of_kind}))}",
            KEPT_BY,
            note=", ".join(f"{name} {count}" for name, count in counted.items()),
            tried=times,
            seconds=seconds * times / changes,
            lost=[fault for fault in outcome.faults if f", {kind}: " in fault],
        )


def _judge(window: Window, before: Figures, change: Change, tally: Tally) -> str | None:
    """Count what becomes of a change; return what is wrong with that, or None."""
    tally.times += 1
    try:
        figures = window.read(change.content)
    except FileFault as fault:
        tally.refused += 1
        tally.exceptions += fault.file != window.name
        return None if fault.file == window.name else f"the fault is of {fault.file!r}"
    except Exception as error:
        tally.exceptions += 1
        return f"{type(error).__name__}: {error}"
    (line,) = figures.sources.rows(named=True)
    used = line["results"] + line["measurements"] + line["comparisons"]
    if line["rows"] != used + line["rejects"] or line["rows"] not in change.rows:
        tally.lost += 1
        return f"{line['rows']} rows, {used} used and {line['rejects']} rejected"
    if figures.rejects.height > before.rejects.height:
        tally.rejected += 1
    elif figures.warnings.height > before.warnings.height:
        tally.warned += 1
    else:
        tally.kept += 1
    spoiled = _spoiled(window.made(before, None), window.made(figures, change), change)
    tally.spoiled += bool(spoiled)
    return f"{sorted(map(str, spoiled))[0]} came out otherwise" if spoiled else None


def _spoiled(before: Made, now: Made, change: Change) -> list[Any]:
    """Return the rows or systems that were not touched and came out otherwise."""
    related = {(reason,) for reason in RELATED_REASONS}
    differ = [
        name
        for name in before.keys() | now.keys()
        if before.get(name) != now.get(name) and name not in change.touched
    ]
    return [
        name
        for name in differ
        if not related & {*before.get(name, frozenset()), *now.get(name, frozenset())}
    ]


def _sources(folder: Folder, rounds: frozenset[str] | None) -> Iterator[_Source]:
    known = rounds_by_key({*folder.round_keys()})
    for key in folder.round_keys():
        if rounds is not None and key not in rounds:
            continue
        round = known[key]
        for file in folder.files(key):
            yield _page(file, round) if file.kind is Kind.PAGE else _table(file, round)
        archive = folder.archive(key)
        if archive is not None:
            yield _submissions(archive, round)


def _table(file: SourceFile, round: Round) -> _Source:
    parsed = json.loads(file.content)
    is_keyed = isinstance(parsed, dict)
    rows = [json.dumps(row) for row in (parsed.values() if is_keyed else parsed)]

    def draw(random: Random) -> Table:
        start = random.randrange(max(1, len(rows) - WINDOW_ROWS + 1))
        return Table(file.name, round, rows[start : start + WINDOW_ROWS], is_keyed)

    return _Source(file.name, draw)


def _page(file: SourceFile, round: Round) -> _Source:
    is_utf_16 = file.content.startswith(b"\xff\xfe")
    # The export in UTF-16 ends in half a character.
    text = (
        file.content[: len(file.content) // 2 * 2].decode("utf-16")
        if is_utf_16
        else file.content.decode("utf-8-sig")
    )
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if is_utf_16 else ","))
    header = next(at for at, line in enumerate(lines) if "Public ID" in line)
    place = lines[header].index("Public ID")
    systems: list[list[list[str]]] = []
    for line in filter(None, lines[header + 1 :]):
        if not systems or line[place] not in ("", systems[-1][0][place]):
            systems.append([])
        systems[-1].append(line)

    def draw(random: Random) -> Page:
        some = random.sample(systems, min(WINDOW_SYSTEMS, len(systems)))
        return Page(file.name, round, lines[: header + 1], some)

    return _Source(file.name, draw)


def _submissions(archive: Archive, round: Round) -> _Source:
    files: dict[tuple[str, str], list[tuple[str, bytes]]] = defaultdict(list)
    with archive.open() as stream:
        for item in read_members(stream, archive.name, lambda path: bool(_system(path, round))):
            if isinstance(item, Member) and (system := _system(item.path, round)):
                files[system].append((item.path, item.content))
    # A submitter's own files, and systems without results, go with each system that has some.
    runs = {system for system, own in files.items() if any("/results/" in path for path, _ in own)}

    def draw(random: Random) -> Submissions:
        some = random.sample(sorted(runs), min(WINDOW_SYSTEMS, len(runs)))
        shared = {(submitter, "") for submitter, _ in some}
        own = [file for system in sorted({*some, *shared}) for file in files.get(system, [])]
        return Submissions(archive.name, round, own)

    return _Source(archive.name, draw)


def _system(path: str, round: Round) -> tuple[str, str] | None:
    """Return the directories of submitter and system that a path is of, None if it is not read."""
    place = (inference_place if round.suite == "inference" else training_place)(path)
    return None if place is None else (place.submitter, place.system)


def _source_file(name: str, round: Round, kind: Kind, content: bytes) -> SourceFile:
    return SourceFile(round.key, kind, name, "", content, "", "folder")


def _archive(files: Sequence[tuple[str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as tar:
        for path, content in files:
            member = tarfile.TarInfo(f"top-{'0' * 40}/{path}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _comparable(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    lists = [name for name, kind in frame.schema.items() if kind == pl.List]
    return frame.with_columns(pl.col(lists).list.join("|")).rows()


def _grouped(made: Iterator[tuple[Any, tuple[Any, ...]]]) -> Made:
    grouped = defaultdict(set)
    for name, what in made:
        grouped[name].add(what)
    return {name: frozenset(what) for name, what in grouped.items()}


def _flipped(content: bytes, random: Random) -> bytes:
    if not content:
        return b"\xff"
    changed = bytearray(content)
    changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _retyped(value: object, random: Random) -> object:
    """Return a value of another type: number, text, null, list or object."""
    others: list[object] = [None, [value], {"value": value}, True, [], {}, -1, 0, 1e400, 10**30]
    if isinstance(value, str):
        others += ["", value + "\u2011", value.swapcase(), len(value), "\ud800", "\x00"]
    else:
        others += [str(value), f" {value}\n", f"{value} x"]
    return random.choice(others)


# --- Rows of a table, as JSON ---


def _with_field(
    row: str, random: Random, change: Callable[[str, Any], list[tuple[str, Any]]]
) -> bytes:
    """Return a row in which one field became several, or none."""
    pairs = list(json.loads(row).items())
    at = random.randrange(len(pairs))
    pairs[at : at + 1] = change(*pairs[at])
    return ("{" + ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in pairs) + "}").encode()


_ROW_CHANGES: Mapping[str, Callable[[str, Random], list[bytes]]] = {
    "flip a byte": lambda row, random: [_flipped(row.encode(), random)],
    "drop a field": lambda row, random: [_with_field(row, random, lambda key, value: [])],
    "duplicate a field": lambda row, random: [
        _with_field(row, random, lambda key, value: [(key, value)] * 2)
    ],
    "retype a field": lambda row, random: [
        _with_field(row, random, lambda key, value: [(key, _retyped(value, random))])
    ],
    "drop a row": lambda row, random: [],
    "duplicate a row": lambda row, random: [row.encode()] * 2,
    "retype a row": lambda row, random: [json.dumps(_retyped(json.loads(row), random)).encode()],
}


# --- Records of a page, as cells ---


def _with_cell(record: list[str], random: Random, change: Callable[[str], list[str]]) -> list[str]:
    filled = [at for at, cell in enumerate(record) if cell] or [0]
    at = random.choice(filled)
    return [*record[:at], *change(record[at]), *record[at + 1 :]]


def _flipped_text(text: str, random: Random) -> str:
    at = random.randrange(len(text)) if text else 0
    return (
        text[:at]
        + chr(random.choice([0, 10, 34, 44, 0x2011, random.randrange(256)]))
        + text[at + 1 :]
    )


_RECORD_CHANGES: Mapping[str, Callable[[list[str], Random], list[list[str]]]] = {
    "flip a byte": lambda record, random: [
        _with_cell(record, random, lambda cell: [_flipped_text(cell, random)])
    ],
    "drop a field": lambda record, random: [
        _with_cell(record, random, lambda cell: random.choice([[], [""]]))
    ],
    "duplicate a field": lambda record, random: [
        _with_cell(record, random, lambda cell: [cell, cell])
    ],
    "retype a field": lambda record, random: [
        _with_cell(record, random, lambda cell: [str(_retyped(cell, random))])
    ],
    "drop a row": lambda record, random: [],
    "duplicate a row": lambda record, random: [record, record],
}


# --- Files of an archive ---

_FLIP_PACKED = "flip a byte of the archive"
_SAID = re.compile(rb'(?<=[:=] )("[^"\n]*"|[^\s,"}]+)|(?<=[:=])([^\s,"}]+)')


def _with_line(content: bytes, random: Random, change: Callable[[bytes], list[bytes]]) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    at = random.randrange(len(lines))
    return b"".join([*lines[:at], *change(lines[at]), *lines[at + 1 :]])


def _with_value(content: bytes, random: Random) -> bytes:
    """Return a file in which what follows one colon or equals sign is of another type."""
    found = list(_SAID.finditer(content))
    if not found:
        return content
    said = random.choice(found)
    text = said[0].decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    written = json.dumps(_retyped(value, random)).encode()
    return content[: said.start()] + written + content[said.end() :]


_File = tuple[str, bytes]
_FILE_CHANGES: Mapping[str, Callable[[_File, Random], list[_File]]] = {
    "flip a byte": lambda file, random: [(file[0], _flipped(file[1], random))],
    "drop a field": lambda file, random: [(file[0], _with_line(file[1], random, lambda line: []))],
    "duplicate a field": lambda file, random: [
        (file[0], _with_line(file[1], random, lambda line: [line, line]))
    ],
    "retype a field": lambda file, random: [(file[0], _with_value(file[1], random))],
    "cut a file": lambda file, random: [(file[0], file[1][: random.randrange(len(file[1]) + 1)])],
    "drop a file": lambda file, random: [],
    "duplicate a file": lambda file, random: [file, file],
    _FLIP_PACKED: lambda file, random: [file],
}


def main() -> None:
    """Print the tallies as a table, then what was not borne; exit with 1 if there is any."""
    parser = argparse.ArgumentParser(prog="python -m soak.mutations", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of tables and archives")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=100, help="changes to each file")
    parser.add_argument("--rounds", help="keys such as inference-6.0,inference-5.1; default all")
    given = parser.parse_args()
    rounds = frozenset(given.rounds.split(",")) if given.rounds else None
    outcome = mutate(given.data, given.seed, given.times, rounds)
    print("\t".join(Tally.__dataclass_fields__))
    for tally in outcome.tallies:
        print("\t".join(map(str, asdict(tally).values())))
    for fault in outcome.faults:
        print(fault)
    sys.exit(bool(outcome.faults))


if __name__ == "__main__":
    main()
