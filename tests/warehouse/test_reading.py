"""The database as it is opened for queries: locked, and told if it is damaged."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from pipeline.errors import RoundtableError
from pipeline.warehouse.layout import DATABASE, Warehouse
from pipeline.warehouse.reading import open_database, open_for_own_queries


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a warehouse's release, and beside the database what it might spill to."""
    home = tmp_path_factory.mktemp("home")
    folder = home / "releases" / "1"
    (folder / "roundtable.duckdb.tmp").mkdir(parents=True)
    (folder / "stamp.json").write_text("{}")
    (folder / "secret.csv").write_text("secret\n1\n")
    with duckdb.connect(folder / "roundtable.duckdb") as connection:
        connection.execute("create table results as select 1 as value")
    (home / "current").symlink_to("releases/1")
    return folder


@pytest.fixture
def query(release: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_database(Warehouse(release.parents[1])) as connection:
        yield connection


FILES = [
    "{release}/secret.csv",
    "{release}/roundtable.duckdb.tmp/x",
    "https://x.test/x",
    "s3://x/x",
]
READERS = ["read_csv", "read_json", "read_parquet", "read_text", "read_blob", "sniff_csv"]


@pytest.mark.parametrize(
    "statement",
    [
        *(f"select * from {reader}('{{release}}/secret.csv')" for reader in READERS),
        "select * from '{release}/secret.csv'",
        "select * from glob('{release}/*')",
        "select * from query('from read_text(''{release}/secret.csv'')')",
        "select * from parquet_metadata('{release}/secret.csv')",
        "select * from read_csv('https://x.test/x.csv')",
        "select * from read_parquet('s3://x/x.parquet')",
        *(f"copy results to '{file}'" for file in FILES),
        "copy results to '{release}/roundtable.duckdb.wal'",
        "copy (select 1 as a, 2 as b) to '{release}/roundtable.duckdb.tmp/x' (partition_by (a))",
        "select 1; copy results to '{release}/x'",
        "copy results from '{release}/secret.csv'",
        "export database '{release}/roundtable.duckdb.tmp/x'",
        "import database '{release}'",
        "attach '{release}/other.duckdb'",
        "attach '{release}/roundtable.duckdb' as other (read_only false)",
        "attach ':memory:' as other",
        "create table x as select 1",
        "insert into results values (2)",
        "update results set value = 2",
        "delete from results",
        "drop table results",
        "create persistent secret s (type s3)",
        "install httpfs",
        "load httpfs",
        "load '{release}/x.duckdb_extension'",
        "set enable_external_access = true",
        "reset enable_external_access",
        "set global lock_configuration = false",
        "set temp_directory = '{release}'",
        "set allowed_directories = ['/']",
        "set home_directory = '{release}'",
        "pragma enable_profiling = 'json'",
        "pragma profiling_output = '{release}/x'",
        "call enable_logging(storage = 'file', storage_path = '{release}')",
        "select getenv('HOME')",
    ],
)
def test_a_query_cannot_write_read_files_reach_a_network_or_take_the_locks_off(
    query: duckdb.DuckDBPyConnection, release: Path, statement: str
) -> None:
    before = _files(release)
    with pytest.raises(duckdb.Error):
        query.sql(statement.format(release=release)).fetchall()
    assert _files(release) == before


def test_no_variable_of_the_program_is_a_table(query: duckdb.DuckDBPyConnection) -> None:
    secrets = {"token": ["t0ken"]}
    for name in ("secrets", "query", "FILES"):
        with pytest.raises(duckdb.CatalogException):
            query.sql(f"select * from {name}").fetchall()
    assert secrets


@pytest.mark.parametrize("damage", ["a flipped byte", "half of it", "nothing left"])
def test_a_damaged_database_is_told_as_such_with_the_next_step(tmp_path: Path, damage: str) -> None:
    warehouse = Warehouse(tmp_path)
    prepared = warehouse.fresh_build_folder() / "release"
    prepared.mkdir()
    with duckdb.connect(prepared / DATABASE) as connection:
        connection.execute("create table t as select hash(range) % 1000 as v from range(500000)")
    database = warehouse.publish(prepared, {}) / DATABASE
    content = bytearray(database.read_bytes())
    if damage == "a flipped byte":
        content[len(content) // 2] ^= 1
    else:
        del content[len(content) // 2 if damage == "half of it" else 0 :]
    database.write_bytes(content)
    with (
        pytest.raises(RoundtableError, match="(?s)roundtable.duckdb: .*\nRun: roundtable build$"),
        open_for_own_queries(warehouse) as opened,
    ):
        opened.execute("select sum(v) from t").fetchall()


def _files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
