"""The steps of a build, one method each, exchanged as Parquet files in the warehouse's folder.

Belongs here: what a step reads and writes, and which figures serve a round whose file is at fault
or out of reach. In which order steps run, and what is told of them, is the orchestration's task.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from pipeline.claims.reading import package_claims
from pipeline.errors import FileFault, NothingToBuild
from pipeline.normalise.figures import Figures, frame_schema
from pipeline.normalise.results import file_reject
from pipeline.normalise.round import derived_figures, round_figures, with_logs
from pipeline.normalise.submissions.archive import read_archive
from pipeline.normalise.submissions.derived import DerivedTable
from pipeline.normalise.vocabulary import entries
from pipeline.rounds import Round, rounds_by_key
from pipeline.schema.tables import staging_tables
from pipeline.settings import PACKAGE
from pipeline.sources.archives import Hashed
from pipeline.sources.choice import Bundle
from pipeline.sources.files import Archive, Kind, Source, SourceFile
from pipeline.sources.http import Unreachable
from pipeline.warehouse.failure import forget_failure
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.models import Model, TableName, inputs, models
from pipeline.warehouse.publish import publish
from pipeline.warehouse.raw import Derived, keep_bytes, provenance, with_bytes
from pipeline.warehouse.running import run
from pipeline.warehouse.tables import read_figures, write_figures, write_frame

BUNDLE = PACKAGE / "bundled"
"""Figures that come with the package; see its README for how they are made."""

DOWNLOADS = 8
"""Attempts at an archive that comes over the wire: at two faults in five, one in 1,500 fails."""

VOCABULARIES = {
    "submitter_names": "submitters",
    "accelerator_names": "accelerators",
    "accelerator_products": "accelerator_products",
    "benchmarks": "benchmarks",
    "compatibility": "compatibility",
    "withdrawn_results": "withdrawn_results",
}
"""Inner tables that are vocabulary files, and the files' names."""


@dataclass(frozen=True)
class Plan:
    """What a build reads.

    ``source`` is None for bundled figures only. ``refresh`` names the rounds to read again, all
    others staying as they are in the last warehouse; None reads all. ``archives`` names the rounds
    whose submission archive is read too. ``identity`` is the digest of all that decides the
    outcome, kept with the release. ``failed`` names the rounds whose figures another run should
    have made, each with the reason why it did not.
    """

    source: Source | None
    bundle: Bundle
    refresh: frozenset[str] | None = None
    archives: frozenset[str] = frozenset()
    identity: str = ""
    failed: Mapping[str, str] = field(default_factory=dict)


class Build:
    """One build of a warehouse."""

    def __init__(self, warehouse: Warehouse, plan: Plan, say: Callable[[str], None]) -> None:
        """Take the warehouse, what is to be read, and how to tell of each step."""
        self.warehouse = warehouse
        self.plan = plan
        self.say = say
        self._folder = warehouse.build
        self._derived = Derived(warehouse.derived)

    @cached_property
    def rounds(self) -> dict[str, Round]:
        """The known rounds, and any that the source, the bundle or the last warehouse has."""
        keys = set(self._bundled_keys) if self.plan.bundle is Bundle.ALWAYS else set()
        if self.plan.source is not None:
            keys |= {*self.plan.source.round_keys(), *self.plan.archives}
        if self.plan.refresh is not None:
            keys |= {*_round_keys(self.warehouse.parquet / "rounds.parquet"), *self.plan.refresh}
        return rounds_by_key(keys)

    # -- read ---------------------------------------------------------------------------------

    def collect(self, round_key: str) -> list[SourceFile]:
        """Take a round's files from the source, and what its archive gives if that is wanted.

        Bytes and provenance are kept, and so is what was derived; a fault is kept to be told when
        the round is normalised.
        """
        files: list[SourceFile] = []
        faults: dict[str, FileFault] = {}
        source = self.plan.source
        if source is not None and self._is_refreshed(round_key):
            try:
                files = list(source.files(round_key))
            except FileFault as error:
                faults["files"] = error
            archive = self._archive(round_key)
            if archive is not None:
                try:
                    self._derive(archive)
                except FileFault as error:
                    faults["archive"] = error
        for file in files:
            keep_bytes(self.warehouse.snapshots, file)
        told = {
            "files": [provenance(file) for file in files],
            "faults": {
                what: [fault.file, fault.problem, fault.next_step] for what, fault in faults.items()
            },
        }
        target = self._manifest(round_key)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(told, indent=1), encoding="utf-8")
        return files

    def _archive(self, round_key: str) -> Archive | None:
        """Return the round's archive if it is to be read."""
        if self.plan.source is None or round_key not in self.plan.archives:
            return None
        return self.plan.source.archive(round_key)

    def _derive(self, archive: Archive) -> None:
        """Read an archive unless what it gives is kept; a broken download is begun again."""
        if self._derived.find(archive) is not None:
            return
        attempts = 1 if archive.origin == "folder" else DOWNLOADS
        for attempt in range(1, attempts + 1):
            self.say(f"{archive.round_key}: reading {archive.name}")
            is_open = False
            try:
                with archive.open() as stream:
                    is_open = True
                    derived = self._read_archive(archive, stream)
            except Unreachable as error:
                fault = FileFault(archive.name, error.problem, error.next_step)
            except FileFault as error:
                fault = error
            else:
                self._derived.keep(archive, derived)
                return
            # Opening makes attempts of its own; only what breaks on the way is begun again.
            if attempt == attempts or not is_open:
                raise fault

    def _read_archive(self, archive: Archive, stream: BinaryIO) -> DerivedTable:
        """Derive an archive's results, with the digest and size of all its bytes."""
        hashed = Hashed(stream)
        buffered = BufferedReader(hashed)
        derived = read_archive(buffered, archive.name, self.rounds[archive.round_key])
        while buffered.read(2**20):
            pass  # what follows the archive's end is of no use, and part of the file
        return replace(derived, sha256=hashed.sha256, bytes=hashed.bytes)

    # -- normalise ----------------------------------------------------------------------------

    def normalise(self, round_key: str) -> Figures:
        """Turn a round's files into figures, or take those that serve in their stead."""
        figures = self._figures(round_key)
        if figures.sources.height or figures.rejects.height:
            self.say(f"{round_key}: {figures.results.height} results")
        write_figures(figures, self.warehouse.figures(round_key))
        return figures

    def _figures(self, round_key: str) -> Figures:
        if round_key in self.plan.failed:
            return self._served_instead(round_key, self.plan.failed[round_key])
        if not self._is_refreshed(round_key):
            return self._last_good(round_key) or Figures.of()
        files: list[SourceFile] = []
        try:
            files = self._files(round_key)
            figures = self._read(files, round_key)
        except FileFault as error:
            sha256 = next((file.sha256 for file in files if file.name == error.file), None)
            reject = Figures.of(rejects=file_reject(error, round_key, sha256))
            served = self._served_instead(round_key, f"{error.file}: {error.problem}")
            return Figures.concat([served, reject])
        if figures is not None:
            return figures
        reason = self._unreachable.get(round_key)
        if reason is None and round_key in self.plan.archives:
            reason = "its archive is out of reach"
        if reason is not None:
            return self._served_instead(round_key, reason)
        return self._bundled(round_key) if self.plan.bundle is Bundle.ALWAYS else Figures.of()

    def _read(self, files: list[SourceFile], round_key: str) -> Figures | None:
        """Return what a round's files and its archive give; None if it has neither.

        Raises:
            FileFault: what should give the results cannot be used.
        """
        round, fault = self.rounds[round_key], self._fault(round_key, "archive")
        archive = self._archive(round_key)
        derived = self._derived.find(archive) if archive else None
        if fault is not None and not any(file.kind is Kind.TABLE for file in files):
            raise fault
        if not files and derived is None:
            return None
        figures = round_figures(files, round, has_logs=derived is not None)
        if archive is not None and derived is not None:
            figures = with_logs(figures, derived_figures(derived, archive, round))
        if fault is not None:
            rejects = file_reject(fault, round_key, archive.identity if archive else None)
            figures = Figures.concat([figures, Figures.of(rejects=rejects)])
        return self._with_bundled_reconciliation(figures, round_key)

    def _served_instead(self, round_key: str, reason: str) -> Figures:
        """Return the last good figures of a round, else the bundled ones, marked stale."""
        figures = self._last_good(round_key)
        is_own = figures is not None and set(figures.sources["origin"]) != {"bundled"}
        if not is_own and round_key in self._bundled_keys:
            figures = self._bundled(round_key)
        if figures is None:
            return Figures.of()
        stale = figures.sources.with_columns(
            is_stale=pl.lit(value=True), stale_reason=pl.lit(reason)
        )
        return replace(figures, sources=stale)

    def _last_good(self, round_key: str) -> Figures | None:
        try:
            figures = read_figures(self.warehouse.parquet, round_key)
        except ValueError:  # another version's warehouse, with other columns
            return None
        if figures.sources.is_empty():
            return None
        return figures

    def _bundled(self, round_key: str) -> Figures:
        figures = read_figures(BUNDLE, round_key)
        return replace(figures, sources=figures.sources.with_columns(origin=pl.lit("bundled")))

    def _with_bundled_reconciliation(self, figures: Figures, round_key: str) -> Figures:
        """Keep the bundle's comparison with the results page, if it was made with this very table.

        The page has no address to fetch its export from, so GitHub alone has nothing to compare.
        """
        if self.plan.bundle is not Bundle.ALWAYS or figures.page_cells.height:
            return figures
        bundled = self._bundled(round_key)
        tables = (
            frame.filter(pl.col("kind") == Kind.TABLE.value)["sha256"].to_list()
            for frame in (figures.sources, bundled.sources)
        )
        if next(tables) != next(tables):
            return figures
        with_page = pl.any_horizontal(pl.col("source_a", "source_b") == Kind.PAGE.value)
        with_logs = pl.any_horizontal(pl.col("source_a", "source_b") == Kind.LOGS.value)
        wanted = with_page if round_key in self.plan.archives else with_page & ~with_logs
        return replace(figures, reconciliation=bundled.reconciliation.filter(wanted))

    def _is_refreshed(self, round_key: str) -> bool:
        return self.plan.refresh is None or round_key in self.plan.refresh

    def _manifest(self, round_key: str) -> Path:
        return self._folder / "raw" / f"{round_key}.json"

    def _files(self, round_key: str) -> list[SourceFile]:
        fault = self._fault(round_key, "files")
        if fault is not None:
            raise fault
        lines = self._told(round_key)["files"]
        return [with_bytes(self.warehouse.snapshots, line) for line in lines]

    def _fault(self, round_key: str, what: str) -> FileFault | None:
        fault = self._told(round_key)["faults"].get(what)
        return FileFault(*fault) if fault else None

    def _told(self, round_key: str) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._manifest(round_key).read_text(encoding="utf-8"))
        return told

    @cached_property
    def _bundled_keys(self) -> list[str]:
        return [] if self.plan.bundle is Bundle.NEVER else _round_keys(BUNDLE / "sources.parquet")

    @cached_property
    def _unreachable(self) -> Mapping[str, str]:
        return self.plan.source.stale if self.plan.source is not None else {}

    # -- warehouse ----------------------------------------------------------------------------

    def stage(self) -> dict[str, pl.DataFrame]:
        """Write the tables that the models start from; return them by name.

        A round without figures is read here: one that was found upstream after the graph had been
        loaded has no partition yet, and a run that publishes others' figures has no other step.

        Raises:
            NothingToBuild: no round gives any result.
        """
        for key in self.rounds:
            if not self.warehouse.figures(key).is_dir():
                self.collect(key)
                self.normalise(key)
        parts = [read_figures(self.warehouse.figures(key)) for key in self.rounds]
        frames = Figures.concat(parts).frames()
        if frames["results"].is_empty():
            faults = [*self._unreachable.values(), *frames["rejects"]["reason"]]
            raise NothingToBuild(
                f"No round gives any result ({faults[0] if faults else 'no published table'}). "
                "Name another --source, or build with --source bundled."
            )
        frames["rounds"] = self._rounds_frame()
        frames |= {name: _vocabulary_frame(name, file) for name, file in VOCABULARIES.items()}
        frames |= package_claims().frames()
        frames |= {f"former_{name}": self._former(name) for name in ("results", "changes")}
        for name, frame in frames.items():
            write_frame(frame, self.table_file(TableName("staging", name)))
        return frames

    def publish(self) -> dict[str, Any]:
        """Make the tables the current release and return its stamp; the last failure is over."""
        told = {"identity": self.identity, "failed_checks": self.failed_checks()}
        stamp = publish(self.warehouse, self.tables(), told)
        forget_failure(self.warehouse)
        return stamp

    def keep_failed_check(self, text: str) -> None:
        """Keep what a check found that does not stop the build, for the release to tell."""
        with (self._folder / "failed_checks.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(text) + "\n")

    @property
    def identity(self) -> str:
        """Return the plan's identity; none if an archive broke on its way here.

        The next build is then not spared, although all it is made from has the same names.
        """
        broken = (
            key
            for key in self.plan.archives
            if self._fault(key, "archive") is not None
            and (archive := self._archive(key)) is not None
            and archive.origin != "folder"
        )
        return "" if any(broken) else self.plan.identity

    def failed_checks(self) -> list[str]:
        """Return what ``keep_failed_check`` kept, in order."""
        file = self._folder / "failed_checks.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    def run_model(self, model: Model) -> Path:
        """Run a model over the tables made so far and return its Parquet file."""
        self.say(f"model {model.table}")
        target = self.table_file(model.table)
        run(model, {table: self.table_file(table) for table in model.reads}, target)
        return target

    def table_file(self, table: TableName) -> Path:
        """Return where a table's Parquet file of this build is."""
        return self._folder / "tables" / f"{table}.parquet"

    def tables(self) -> dict[TableName, Path]:
        """Return the files of all tables: those the models start from and those they make."""
        return {table: self.table_file(table) for table in (*sorted(inputs()), *models())}

    def _former(self, name: str) -> pl.DataFrame:
        """Return a table of the last warehouse; empty if there is none of these columns."""
        schema = frame_schema(staging_tables()[f"former_{name}"])
        file = self.warehouse.parquet / f"{name}.parquet"
        former = pl.read_parquet(file, glob=False) if file.exists() else schema.to_frame()
        return former if former.schema == schema else schema.to_frame()

    def _rounds_frame(self) -> pl.DataFrame:
        positions: dict[str, int] = {}
        lines = []
        for round in self.rounds.values():
            positions[round.suite] = positions.get(round.suite, 0) + 1
            lines.append(
                {
                    "round_key": round.key,
                    "suite": round.suite,
                    "round": round.round,
                    "position": positions[round.suite],
                    "repository": round.repository,
                    "released_on": round.released_on,
                    "released_on_source": round.released_on_source,
                    "table_file": round.table,
                    "is_reviewed": round.reviewed,
                }
            )
        return pl.DataFrame(lines, schema=frame_schema(staging_tables()["rounds"]))


def _round_keys(file: Path) -> list[str]:
    """Return the rounds that a Parquet file has rows of; none if it is not there."""
    if not file.exists():
        return []
    return pl.read_parquet(file, glob=False, columns=["round_key"])["round_key"].unique().to_list()


def _vocabulary_frame(name: str, file: str) -> pl.DataFrame:
    """Return a vocabulary file as its declared inner table; blanks are nulls."""
    schema = frame_schema(staging_tables()[name])
    lines: Iterable[dict[str, str]] = entries(file)
    columns = {}
    for column, dtype in schema.items():
        text = pl.Series(column, [line[column] or None for line in lines], dtype=pl.String)
        columns[column] = _typed(text, dtype)
    return pl.DataFrame(columns)


def _typed(text: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return a vocabulary file's column as its declared type: lists by `|`, days as in ISO 8601."""
    if dtype == pl.List(pl.String):
        return text.str.split("|")
    return text.str.to_date("%Y-%m-%d") if dtype == pl.Date else text.cast(dtype)
