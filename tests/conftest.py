"""Fixtures that several stages' tests share."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, settings

from pipeline.normalise.figures import frame_schema
from pipeline.schema.tables import staging_tables
from pipeline.settings import Settings
from pipeline.sources.choice import choose_source
from pipeline.warehouse.build import Build, Plan
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.models import TableName, models
from pipeline.warehouse.stamp import identity

# A soak takes more examples, other ones each time: pytest --hypothesis-profile soak
_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
_PROFILE = settings(deadline=None, suppress_health_check=_SLOW, database=None)
settings.register_profile("quick", _PROFILE, max_examples=25, derandomize=True)
settings.register_profile("soak", _PROFILE, max_examples=2000, print_blob=True)
settings.load_profile("quick")

REAL_DATA = Path(__file__).parents[2] / "shared"


class Made:
    """The models over some inner tables; each runs when a query first names it or what it reads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._models = dict(models())

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Answer a query over any of the tables."""
        for table in models():
            if re.search(rf"\b{table.name}\b", query):
                self._make(table)
        return self._connection.sql(query)

    def all_tables(self) -> duckdb.DuckDBPyConnection:
        """Run the models that no query has named yet; return what holds all tables."""
        for table in models():
            self._make(table)
        return self._connection

    def _make(self, table: TableName) -> None:
        model = self._models.pop(table, None)
        if model is not None:
            for needed in model.reads:
                self._make(needed)
            self._connection.execute(f"create table {table} as {model.sql}")


ModelRunner = Callable[..., Made]


def models_over(**frames: pl.DataFrame) -> Made:
    """Give the models over literal inner tables by name (``results=...``); others are empty.

    The frames may have any subset of the declared columns; the others are null.
    """
    connection = duckdb.connect(config={"threads": 1})  # as models run in a build
    connection.execute(empty_tables())
    for name, frame in frames.items():
        declared = [column for column in frame_schema(staging_tables()[name]) if column in frame]
        if declared:
            connection.register("given", frame.select(declared))
            connection.execute(f"insert into staging.{name} by name from given")
            connection.unregister("given")
    return Made(connection)


@cache
def empty_tables() -> str:
    """Return the statements that make all inner tables, which takes less time than from frames."""
    with duckdb.connect() as connection:
        connection.execute("create schema staging")
        for name, table in staging_tables().items():
            connection.register("given", frame_schema(table).to_frame())
            connection.execute(f"create table staging.{name} as from given")
        made = connection.execute("select sql from duckdb_tables()").fetchall()
    return "create schema staging;" + "".join(statement for (statement,) in made)


@pytest.fixture
def run_models() -> ModelRunner:
    """Give the function that gives the models over literal inner tables."""
    return models_over


def rows(made: Made, query: str) -> list[Mapping[str, object]]:
    """Return a query's rows as dictionaries."""
    return made.sql(query).pl().to_dicts()


@dataclass(frozen=True)
class Finished:
    """A finished command."""

    code: int
    out: str
    err: str


class Roundtable:
    """The command line as a process of its own, over one warehouse folder and no network."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            **{key: value for key, value in os.environ.items() if key != "GITHUB_TOKEN"},
            "ROUNDTABLE_HOME": str(home),
            "ROUNDTABLE_GITHUB_API": "http://127.0.0.1:9/api",
            "ROUNDTABLE_GITHUB_RAW": "http://127.0.0.1:9/raw",
            "ROUNDTABLE_GITHUB_CODELOAD": "http://127.0.0.1:9/codeload",
        }

    def __call__(
        self, *arguments: str | Path, under: Sequence[str] = (), **environment: str
    ) -> Finished:
        """Run a command to its end, ``under`` another one if that is given."""
        done = subprocess.run(
            [*under, sys.executable, "-m", "pipeline.cli", *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**self.environment, **environment},
            cwd=Path(__file__).parents[1],
            timeout=120,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def parquet(self) -> dict[str, bytes]:
        """Return the bytes of each published Parquet file by table."""
        return {file.stem: file.read_bytes() for file in (self.home / "parquet").glob("*.parquet")}


@pytest.fixture
def roundtable(tmp_path: Path) -> Roundtable:
    """Give the command line over a folder of its own."""
    return Roundtable(tmp_path / "home")


def shared_warehouse(factory: pytest.TempPathFactory, name: str, *source: str | Path) -> Roundtable:
    """Build a warehouse once for all workers of a test run; the tests only read it."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    command = Roundtable(base / name / "home")
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (command.home / "current").exists():
            built = command("build", "--strict", "--source", *source)
            assert built.code == 0, built.err
    return command


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Roundtable:
    """Give the command line over a warehouse built from the bundled figures; only to be read."""
    return shared_warehouse(tmp_path_factory, "bundled", "bundled")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Roundtable:
    """Give the command line over a warehouse built from the real tables and archives."""
    return shared_warehouse(tmp_path_factory, "published", REAL_DATA / "data", "--submissions")


def plan_of(source: str | Path, refresh: frozenset[str] | None = None) -> Plan:
    """Return the plan that ``roundtable build`` makes of a source and rounds.

    After a build of it the command finds nothing changed, and says in no time what there is.
    """
    choice = choose_source(str(source), Settings.from_environment(), lambda text: None)
    digest = identity(str(source), choice.source, refresh, ())
    return Plan(choice.source, choice.bundle, refresh, identity=digest)


def build_without_orchestrator(home: Path, plan: Plan) -> Build:
    """Run a build's steps one after the other and publish, which saves the orchestrator's time."""
    build = Build(Warehouse(home), plan, lambda text: None)
    build.warehouse.fresh_build_folder()
    for key in build.rounds:
        build.collect(key)
        build.normalise(key)
    build.stage()
    for model in models().values():
        build.run_model(model)
    build.publish()
    return build


@pytest.fixture
def bundled_copy(bundled: Roundtable, tmp_path: Path) -> Roundtable:
    """Give a copy of the bundled warehouse that a test may build on."""
    shutil.copytree(bundled.home, tmp_path / "home", symlinks=True)
    return Roundtable(tmp_path / "home")
