"""One training archive becomes the raw table of its round, with the files and runs of each row.

Belongs here: how the files of a tree belong together: the runs of a benchmark, their power and
scaling, and the system that is described beside them. What a file says is read by the module of
its kind; what the runs give is decided in ``scores``.
"""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, TypeVar

import polars as pl

from pipeline.normalise.published import RAW_FIELDS, RAW_SCHEMA, Oddity, RawTable
from pipeline.normalise.submissions.derived import FILES_SCHEMA, RUNS_SCHEMA, DerivedTable
from pipeline.normalise.submissions.descriptions import SYSTEM_FIELDS, system_fields
from pipeline.normalise.submissions.refused import no_result, refused_members
from pipeline.normalise.submissions.training.logs import Run, read_run
from pipeline.normalise.submissions.training.power import (
    Drawn,
    energy,
    node_power,
    switch_power,
)
from pipeline.normalise.submissions.training.scores import (
    INIT_LIMIT_MINUTES,
    Score,
    failure_of,
    rule_of,
    score,
)
from pipeline.normalise.submissions.training.tree import (
    Part,
    Place,
    is_in_tree,
    is_wanted,
    place_of,
)
from pipeline.normalise.vocabulary import entries
from pipeline.rounds import Round
from pipeline.sources.archives import Member, Refused, read_members

FIELDS = {key: name for key, name in SYSTEM_FIELDS.items() if name != "category"} | {
    "division": "division"
}
"""Training knows no category; the division stands in the system file, not in the path."""

Directory = tuple[str, str, str]
"""Directories of submitter, system and benchmark: what identifies a result within a round."""

_Said = TypeVar("_Said")


@dataclass(frozen=True, slots=True)
class Read:
    """A file that was read."""

    place: Place
    path: str
    sha256: str


@dataclass
class Tree:
    """All that was read of one archive; what files say is kept by their digest, once."""

    files: list[Read] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    nodes: dict[str, Drawn] = field(default_factory=dict)
    switches: dict[str, Drawn] = field(default_factory=dict)
    factors: dict[str, float | None] = field(default_factory=dict)
    systems: dict[str, dict[str, str]] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    commit: str | None = None


@dataclass(frozen=True)
class Scored:
    """A benchmark's directory: its files, its system's, the runs in order, and what they give."""

    row: int
    directory: Directory
    system: Read | None
    scaling: Read | None
    runs: Sequence[Read]
    power: Sequence[Read]
    described: Mapping[str, str]
    factor: float | None
    joules: Sequence[float | None]
    score: Score

    @property
    def path(self) -> str:
        """Return the path of the directory."""
        submitter, system, benchmark = self.directory
        return f"{submitter}/results/{system}/{benchmark}"

    @property
    def division(self) -> str:
        """Return the division that the system file names, '' if none."""
        return self.described.get("division", "").strip().lower()

    @property
    def problem(self) -> tuple[str, str] | None:
        """Return the field and the problem for which there is no result, or None."""
        if self.system is None:
            return "platform", "no system file, so its division is not known"
        if not self.division:
            return "division", "the system file names no division"
        if self.division not in INIT_LIMIT_MINUTES:
            return "division", "division not known, so its rules are not"
        if self.factor is None:
            return "scaling_factor", "scaling.json cannot be read"
        return None if self.score.problem is None else ("value", self.score.problem)


def read_training(stream: BinaryIO, name: str, round: Round) -> DerivedTable:
    """Read an archive of a round, streamed, and score every result in it; ``name`` is for messages.

    Each directory of a benchmark is a row of the table or a reject, numbered in the order of their
    paths; results whose logs are known to be missing follow, then members that were refused.

    Raises:
        FileFault: the archive is cut or damaged, or holds no results.
    """
    tree = _read_tree(stream, name)
    scored = _scored(tree, round)
    if not scored:
        raise no_result(name, round, tree.refused, is_in_tree)
    rejects = [Oddity(of.row, *of.problem, of.path) for of in scored if of.problem is not None]
    not_read = _not_read({of.directory for of in scored}, round, after=len(scored))
    refused = refused_members(tree.refused, is_in_tree, after=len(scored) + len(not_read))
    results = [of for of in scored if of.problem is None]
    table = RawTable(_raw(results, round), _warnings(results), [*rejects, *not_read, *refused])
    return DerivedTable(table, _files(results), tree.commit, runs=_runs(scored, tree))


def _read_tree(stream: BinaryIO, name: str) -> Tree:
    """Read all that is wanted; of a path that stands twice neither file is kept."""
    tree = Tree()
    for item in read_members(stream, name, is_wanted):
        place = place_of(item.path)
        if isinstance(item, Refused):
            tree.refused.append(item)
        elif place is not None:
            _read_file(item, place, tree)
    refused = {item.path for item in tree.refused}
    tree.files = sorted(
        (file for file in tree.files if file.path not in refused), key=lambda file: file.path
    )
    return tree


def _read_file(member: Member, place: Place, tree: Tree) -> None:
    tree.files.append(Read(place, member.path, member.sha256))
    tree.commit = member.commit
    if place.part is Part.RUN:
        _once(tree.runs, member, read_run)
    elif place.part is Part.SCALING:
        _once(tree.factors, member, _scaling_factor)
    elif place.part is Part.NODE_POWER:
        _once(tree.nodes, member, node_power)
    elif place.part is Part.SYSTEM:
        _once(tree.systems, member, lambda content: system_fields(content, FIELDS))
    else:
        _once(tree.switches, member, switch_power)


def _once(known: dict[str, _Said], member: Member, read: Callable[[bytes], _Said]) -> None:
    if member.sha256 not in known:
        known[member.sha256] = read(member.content)


def _scaling_factor(content: bytes) -> float | None:
    """Read ``scaling.json``, which MLCommons' own summarizer rewrites when it runs."""
    try:
        factor = json.loads(content)["scaling_factor"]
        factor = float(factor)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None
    return factor if math.isfinite(factor) and factor > 0 else None


def _scored(tree: Tree, round: Round) -> list[Scored]:
    """Return each directory that holds runs, in the order of their paths."""
    systems = {
        (file.place.submitter, file.place.system): file
        for file in tree.files
        if file.place.part is Part.SYSTEM
    }
    by_directory: dict[Directory, list[Read]] = defaultdict(list)
    for file in tree.files:
        if file.place.part is not Part.SYSTEM:
            place = file.place
            by_directory[place.submitter, place.system, place.benchmark].append(file)
    rejected = _rejected_runs(round)
    found: list[Scored] = []
    for directory, files in by_directory.items():
        runs = [file for file in files if file.place.part is Part.RUN]
        if runs:
            system = systems.get(directory[:2])
            found.append(_score_of(len(found) + 1, directory, files, runs, system, rejected, tree))
    return found


def _score_of(
    row: int,
    directory: Directory,
    files: Sequence[Read],
    runs: Sequence[Read],
    system: Read | None,
    rejected: Mapping[str, str],
    tree: Tree,
) -> Scored:
    scaling = next((file for file in files if file.place.part is Part.SCALING), None)
    power = [f for f in files if f.place.part in (Part.NODE_POWER, Part.SWITCH_POWER)]
    described = tree.systems[system.sha256] if system else {}
    division = described.get("division", "").strip().lower()
    logs = [tree.runs[run.sha256] for run in runs]
    joules = [_energy(run, log, power, tree) for run, log in zip(runs, logs, strict=True)]
    failures = [
        failure_of(log, division, rejected.get(run.path))
        for run, log in zip(runs, logs, strict=True)
    ]
    return Scored(
        row=row,
        directory=directory,
        system=system,
        scaling=scaling,
        runs=runs,
        power=power,
        described=described,
        factor=tree.factors[scaling.sha256] if scaling else 1.0,
        joules=joules,
        score=score(logs, failures, joules, rule_of(directory[2])),
    )


def _energy(run: Read, log: Run, power: Sequence[Read], tree: Tree) -> float | None:
    """Return the joules of a run; switches alone are none."""
    files = [file for file in power if file.place.run == run.place.run]
    nodes = [tree.nodes[f.sha256] for f in files if f.place.part is Part.NODE_POWER]
    switches = [tree.switches[f.sha256] for f in files if f.place.part is Part.SWITCH_POWER]
    if log.milliseconds is None or not nodes:
        return None
    return energy([*nodes, *switches], log.milliseconds)


def _rejected_runs(round: Round) -> dict[str, str]:
    """Return why runs are known to have been rejected by MLCommons' checker, by their path."""
    path = ("submitter_directory", "results", "platform", "benchmark", "log")
    return {
        "/".join(line.get(name, name) for name in path): line["reason"]
        for line in entries("rejected_runs")
        if line["round_key"] == round.key
    }


def _not_read(found: set[Directory], round: Round, after: int) -> list[Oddity]:
    """Return the results known to be in the round whose logs are not in the archive."""
    known = [
        (line["submitter_directory"], line["platform"], line["benchmark"])
        for line in entries("unread_results")
        if line["round_key"] == round.key
    ]
    missing = [directory for directory in known if directory not in found]
    return [
        Oddity(row, "value", "not read: its logs are not in the archive", "/".join(directory))
        for row, directory in enumerate(missing, start=after + 1)
    ]


def _raw(scored: Iterable[Scored], round: Round) -> pl.DataFrame:
    """Return the results as a published table would hold them."""
    rows = []
    for of in scored:
        submitter, system, benchmark = of.directory
        minutes, joules, factor = of.score.minutes, of.score.joules, of.factor
        assert minutes is not None and factor is not None
        rows.append(
            {
                "source_row": of.row,
                **of.described,
                "submitter": of.described.get("submitter", "").strip() or submitter,
                "platform": system,
                "model_used": benchmark,
                "benchmark": benchmark,
                "location": f"{of.division}/{of.path}",
                "version": round.round,
                "inferred": "0",
                "value": repr(minutes * factor),
                "unit": "minutes",
                "power": None if joules is None else repr(joules * factor),
                "power_unit": None if joules is None else "Joules",
            }
        )
    complete = [{name: row.get(name) for name in ("source_row", *RAW_FIELDS)} for row in rows]
    return pl.DataFrame(complete, schema=RAW_SCHEMA)


def _warnings(scored: Iterable[Scored]) -> list[Oddity]:
    return [
        Oddity(of.row, "power", "power logs that give no energy", of.path)
        for of in scored
        if of.power and of.score.joules is None
    ]


def _files(scored: Iterable[Scored]) -> pl.DataFrame:
    rows = [
        (of.row, of.path, file.place.part.value, file.path, file.sha256, file in of.runs)
        for of in scored
        for file in (of.system, of.scaling, *of.runs, *of.power)
        if file is not None
    ]
    return pl.DataFrame(rows, schema=FILES_SCHEMA, orient="row")


def _runs(scored: Iterable[Scored], tree: Tree) -> pl.DataFrame:
    rows = []
    for of in scored:
        for file, outcome, joules in zip(of.runs, of.score.outcomes, of.joules, strict=True):
            run = tree.runs[file.sha256]
            milliseconds = run.milliseconds
            rows.append(
                {
                    "source_row": of.row,
                    "log": file.path,
                    "sha256": file.sha256,
                    "started_at_ms": None if run.started is None else int(run.started),
                    "minutes": None if milliseconds is None else milliseconds / 60000,
                    "status": run.status,
                    "failure": outcome.failure,
                    "is_counted": outcome.counts and of.problem is None,
                    "dropped_as": outcome.dropped_as if of.problem is None else None,
                    "seed": run.seed,
                    "global_batch_size": run.global_batch_size,
                    "samples_to_converge": run.samples_to_converge,
                    "energy_joules": joules,
                    "scaling_factor": of.factor,
                }
            )
    return pl.DataFrame(rows, schema=RUNS_SCHEMA)
