import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

from pipeline.errors import RoundtableError
from pipeline.warehouse.layout import DATABASE, PARQUET, STAMP, Warehouse


def prepare(warehouse: Warehouse, value: int) -> Path:
    prepared = warehouse.fresh_build_folder() / "release"
    (prepared / PARQUET).mkdir(parents=True)
    with duckdb.connect(prepared / DATABASE) as connection:
        connection.execute(f"create table t as select {value} as v")
        connection.execute(f"copy t to '{prepared / PARQUET / 't.parquet'}'")
    return prepared


def read(warehouse: Warehouse) -> tuple[int, int]:
    with duckdb.connect() as connection:
        connection.execute(f"attach '{warehouse.database}' as db (read_only)")
        database = connection.execute("select v from db.t").fetchall()[0][0]
        parquet = connection.execute(
            f"select v from read_parquet('{warehouse.parquet / 't.parquet'}')"
        ).fetchall()[0][0]
    return database, parquet


def test_database_and_parquet_change_together(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    for value in (1, 2, 3):
        warehouse.publish(prepare(warehouse, value), {"n": value})
        assert read(warehouse) == (value, value)
        assert warehouse.stamp()["n"] == value


def test_a_reader_keeps_the_database_that_it_opened(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    warehouse.publish(prepare(warehouse, 1), {})
    reader = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
                import duckdb
                connection = duckdb.connect({str(warehouse.database)!r}, read_only=True)
                print(connection.execute("select v from t").fetchall()[0][0], flush=True)
                input()
                print(connection.execute("select sum(v) from t").fetchall()[0][0], flush=True)
            """),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout is not None
    assert reader.stdin is not None
    assert reader.stdout.readline() == "1\n"
    for value in (2, 3, 4):
        warehouse.publish(prepare(warehouse, value), {})
    reader.stdin.write("\n")
    reader.stdin.flush()
    assert reader.stdout.readline() == "1\n"
    assert reader.wait(10) == 0
    assert read(warehouse) == (4, 4)


def test_old_releases_do_not_pile_up(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    for value in range(5):
        warehouse.publish(prepare(warehouse, value), {})
    assert sorted(path.name for path in (tmp_path / "releases").iterdir()) == ["4", "5"]


def test_a_release_that_was_never_current_leaves_the_one_before_it_in_place(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    for value in (1, 2):
        warehouse.publish(prepare(warehouse, value), {})
    killed = tmp_path / "releases" / "3"  # renamed, and killed before the link changed
    prepare(warehouse, 3).rename(killed)
    warehouse.publish(prepare(warehouse, 4), {})
    assert sorted(path.name for path in (tmp_path / "releases").iterdir()) == ["2", "4"]


@pytest.mark.parametrize("file", [DATABASE, f"{PARQUET}/t.parquet", STAMP])
def test_a_damaged_release_gives_way_to_the_one_before_it(tmp_path: Path, file: str) -> None:
    warehouse = Warehouse(tmp_path)
    for value in (1, 2):
        release = warehouse.publish(prepare(warehouse, value), {})
    content = bytearray((release / file).read_bytes())
    content[len(content) // 2] ^= 0xFF
    (release / file).write_bytes(content)
    told: list[str] = []
    with warehouse.lock(told.append):
        assert read(warehouse) == (1, 1)
    assert f"{file}: damaged" in told[0]
    with warehouse.lock(told.append):
        warehouse.publish(prepare(warehouse, 3), {})
    assert len(told) == 1
    assert read(warehouse) == (3, 3)


def test_a_damaged_release_with_none_before_it_is_no_release(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    (warehouse.publish(prepare(warehouse, 1), {}) / DATABASE).unlink()
    told: list[str] = []
    with warehouse.lock(told.append):
        assert warehouse.stamp() == {}
    assert "Nothing serves" in told[0]


def test_parts_of_files_that_a_killed_build_was_writing_are_removed(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    (tmp_path / "derived" / ".training-5.1-abc.part").mkdir(parents=True)
    (tmp_path / "snapshots").mkdir()
    for name in (".index.json.1.part", "kept"):
        (tmp_path / "snapshots" / name).touch()
    with warehouse.lock(print):
        left = [path.name for path in tmp_path.glob("*/*")]
    assert left == ["kept"]


_READER = """
    import duckdb
    from concurrent.futures import ThreadPoolExecutor
    def read(_):
        with duckdb.connect({database!r}, read_only=True) as connection:
            connection.execute("set enable_progress_bar = false")
            return connection.execute("select min(v), max(v), count(*) from t").fetchall()[0]
    with ThreadPoolExecutor(10) as pool:
        while True:
            for answer in pool.map(read, range(10)):
                print(*answer, flush=True)
"""


def test_readers_at_once_each_see_one_release_while_others_are_published(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    warehouse.publish(prepare(warehouse, 0), {})
    code = textwrap.dedent(_READER).format(database=str(warehouse.database))
    readers = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers: set[str] = set()
    for value in range(1, 4):
        warehouse.publish(prepare(warehouse, value), {})
        for reader in readers:
            assert reader.stdout is not None
            for answer in reader.stdout:
                answers.add(answer)
                if answer == f"{value} {value} 1\n":
                    break
            else:
                pytest.fail("a reader has ended")
    for reader in readers:
        reader.kill()
        reader.communicate()
    assert answers <= {f"{value} {value} 1\n" for value in range(4)}


def test_what_a_killed_build_left_is_no_release(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    warehouse.publish(prepare(warehouse, 1), {})
    prepare(warehouse, 2)
    assert read(warehouse) == (1, 1)
    warehouse.publish(prepare(warehouse, 3), {})
    assert read(warehouse) == (3, 3)


def test_a_warehouse_without_its_database_has_no_release(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    release = warehouse.publish(prepare(warehouse, 1), {"n": 1})
    (release / DATABASE).unlink()
    assert warehouse.release is None
    assert warehouse.stamp() == {}


def test_a_second_build_says_that_one_is_running_and_waits(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        from pathlib import Path
        from pipeline.warehouse.layout import Warehouse
        with Warehouse(Path({str(tmp_path)!r})).lock(lambda text: print(text, flush=True)):
            print("in", flush=True)
    """)
    with Warehouse(tmp_path).lock(print):
        second = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        assert second.stdout is not None
        assert "waiting" in second.stdout.readline()
        assert second.poll() is None
    assert second.stdout.readline() == "in\n"
    assert second.wait(10) == 0


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(RoundtableError, match="Set ROUNDTABLE_HOME"),
        Warehouse(tmp_path / "file" / "home").lock(print),
    ):
        pass
