import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pipeline.warehouse.failure import FILE
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_database
from tests.conftest import REAL_DATA, Finished, Roundtable, build_without_orchestrator, plan_of
from tests.normalise.published_rows import Row, official_row, official_table

ROWS = [
    official_row(ID=f"6.0-{n:04}", Platform=f"p{n}", Performance_Result=100.0 + n)
    for n in range(1, 21)
]

STALE = "select round_key, stale_reason from sources where is_stale"


def source(folder: Path, rows: list[Row] = ROWS, name: str = "inference-6.0") -> Path:
    """Write a folder with one published table and return it."""
    (folder / "published").mkdir(parents=True, exist_ok=True)
    file = folder / "published" / f"{name}.summary_results.json"
    version = "v" + name.split("-")[1]
    file.write_bytes(official_table(*({**row, "version": version} for row in rows)))
    return folder


def direct(roundtable: Roundtable, folder: Path) -> None:
    """Build as the command does, without the orchestrator."""
    build_without_orchestrator(roundtable.home, plan_of(folder))


def started(roundtable: Roundtable, folder: Path) -> subprocess.Popen[str]:
    """Start a build of a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", "build", "--source", str(folder)],
        env=roundtable.environment,
        cwd=Path(__file__).parents[1],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


@dataclass
class History:
    """One warehouse through several builds: what each said, and a copy of what it left."""

    roundtable: Roundtable
    folder: Path
    steps: dict[str, tuple[Finished, Roundtable]] = field(default_factory=dict)

    def keep(self, name: str, *arguments: str | Path) -> None:
        """Run a command and keep what it said and left."""
        done = self.roundtable(*arguments)
        copy = self.roundtable.home.with_name(name)
        shutil.copytree(self.roundtable.home, copy, symlinks=True)
        self.steps[name] = done, Roundtable(copy)


@dataclass
class Killed:
    """A warehouse, what stood in it, and what stood there after each build that was killed."""

    roundtable: Roundtable
    folder: Path
    good: dict[str, float]
    parquet: dict[str, bytes]
    left: list[tuple[dict[str, float], dict[str, bytes]]] = field(default_factory=list)


def answer(roundtable: Roundtable, query: str) -> list[tuple[Any, ...]]:
    """Return a query's rows."""
    with open_database(Warehouse(roundtable.home)) as connection:
        return connection.execute(query).fetchall()


def values(roundtable: Roundtable) -> dict[str, float]:
    return dict(answer(roundtable, "select platform, value from results"))


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Take one warehouse through a good table, a cut one, a tenth of its rows, and a correction."""
    folder = source(tmp_path_factory.mktemp("source"))
    file = folder / "published" / "inference-6.0.summary_results.json"
    history = History(Roundtable(tmp_path_factory.mktemp("warehouse") / "home"), folder)
    direct(history.roundtable, folder)
    history.keep("good", "build", "--source", folder)
    file.write_bytes(file.read_bytes()[:-100])
    direct(history.roundtable, folder)
    history.keep("cut", "build", "--source", folder, "--strict")
    source(folder, ROWS[:2])
    history.keep("a tenth", "build", "--source", folder)
    corrected = [dict(row) for row in ROWS[:-1]]
    corrected[0]["Performance_Result"] = 55.5
    corrected[1]["a#"] = 4
    source(folder, [*corrected, official_row(ID="6.0-0099", Platform="new")])
    history.keep("corrected", "build", "--source", folder)
    return history


def test_what_is_unchanged_is_not_built_again(history: History) -> None:
    done, _ = history.steps["good"]
    assert done.code == 0
    assert "Nothing has changed" in done.err


def test_a_cut_table_is_a_reject_and_the_last_good_one_serves(history: History) -> None:
    done, then = history.steps["cut"]
    assert done.code == 1
    assert "stale: inference-6.0" in done.err
    assert values(then) == values(history.steps["good"][1])
    file = "inference-6.0.summary_results.json"
    assert answer(then, "select file, source_row from rejects") == [(file, 0)]
    ((round_key, reason),) = answer(then, STALE)
    assert round_key == "inference-6.0"
    assert file in reason


def test_a_table_of_a_tenth_of_the_rows_is_not_published(history: History) -> None:
    done, then = history.steps["a tenth"]
    assert done.code == 1
    assert "Nothing was published" in done.err
    assert "rows_before=20, rows_now=2" in done.err
    assert then.parquet()["results"] == history.steps["good"][1].parquet()["results"]


def test_status_tells_of_a_failed_build_until_one_ends_well(history: History) -> None:
    _, failed = history.steps["a tenth"]
    assert failed("build", "--source", "no-such-folder").code == 2
    first = failed("status").out.partition("\n")[0]
    assert first.startswith("LAST BUILD FAILED")
    assert "Nothing was published" in first
    _, corrected = history.steps["corrected"]
    assert "FAILED" not in corrected("status").out
    assert not (corrected.home / FILE).exists()


def test_a_correction_is_told_value_by_value(history: History) -> None:
    done, then = history.steps["corrected"]
    assert done.code == 0
    assert "results of the last warehouse are gone (1 rows, first:" in done.err
    assert "platform=p20" in then("status").out
    moved = [
        ("added", "result", None, "100.5 Tokens/s", "new"),
        ("value changed", "value", "101.0", "55.5", "p1"),
        ("field changed", "accelerators_as_published", "8", "4", "p2"),
        ("field changed", "accelerators_per_node", "8", "4", "p2"),
        ("removed", "result", "120.0 Tokens/s", None, "p20"),
    ]
    query = "select change, field, value_before, value_after, platform from changes"
    assert answer(then, query) == moved
    before = then.parquet()
    direct(then, history.folder)
    assert then.parquet() == before


def test_every_build_leaves_a_line_of_what_it_did(history: History) -> None:
    lines = (history.roundtable.home / "builds.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    outcomes = ["nothing changed", "nothing changed", "failed", "published"]
    assert [line["outcome"] for line in told] == outcomes
    assert "Nothing was published" in told[2]["error"]
    assert told[3]["rows"]["results"] == 20
    assert told[3]["bytes"] > 100_000
    assert all(line["seconds"] >= 0 and line["peak_memory_bytes"] > 10**7 for line in told)


def test_unknown_and_hostile_names_are_kept_as_text_and_fail_only_a_strict_build(
    roundtable: Roundtable, tmp_path: Path
) -> None:
    name = "=cmd|'/c calc'!A1 <script>alert(1)</script> \x1b[2J '; drop table results; --"
    folder = source(tmp_path / "source", [official_row(System=name, Accelerator=name)])
    direct(roundtable, folder)
    strict = roundtable("build", "--source", folder, "--strict")
    assert strict.code == 1
    assert "--strict" in strict.err
    assert "accelerator: =cmd" in roundtable("status").out
    for command in (["status"], ["query", "select * from results"]):
        told = roundtable(*command)
        assert told.code == 0
        assert "\x1b" not in told.out + told.err
    assert roundtable("export", tmp_path / "out", "--format", "csv").code == 0
    assert "'=cmd" in (tmp_path / "out" / "accelerators.csv").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def killed(history: History, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """Kill two builds over a good warehouse whose source has changed since."""
    roundtable = Roundtable(tmp_path_factory.mktemp("warehouse") / "home")
    shutil.copytree(history.steps["good"][1].home, roundtable.home, symlinks=True)
    changed = [{**row, "Performance_Result": 7.0} for row in ROWS]
    folder = source(tmp_path_factory.mktemp("source"), changed)
    killed = Killed(roundtable, folder, values(roundtable), roundtable.parquet())
    for instant in ("inference-6.0: 20 results", "model main.coverage_gaps"):
        build = started(roundtable, folder)
        assert build.stderr is not None
        assert any(line.startswith(instant) for line in iter(build.stderr.readline, ""))
        build.send_signal(signal.SIGKILL)
        build.communicate()
        killed.left.append((values(roundtable), roundtable.parquet()))
    return killed


def test_a_build_killed_at_any_instant_leaves_the_last_good_warehouse(killed: Killed) -> None:
    assert len(killed.good) == len(ROWS)
    assert killed.left == [(killed.good, killed.parquet)] * 2


def test_two_builds_at_once_both_end_well(killed: Killed) -> None:
    """They go on from what killed builds have left."""
    builds = [started(killed.roundtable, killed.folder) for _ in range(2)]
    told = [build.communicate(timeout=120)[1] for build in builds]
    assert [build.returncode for build in builds] == [0, 0]
    assert any("Another build is running" in text for text in told)
    now = values(killed.roundtable)
    assert (len(now), set(now.values())) == (len(ROWS), {7.0})


def test_only_the_rounds_named_are_refreshed(roundtable: Roundtable, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    other = [official_row(ID=f"5.1-{n:04}", Platform=f"q{n}") for n in range(1, 11)]
    source(folder)
    direct(roundtable, source(folder, other, "inference-5.1"))
    changed = [{**row, "Performance_Result": 7.0} for row in (*other, *ROWS)]
    source(folder, changed[:10], "inference-5.1")
    source(folder, changed[10:])
    before = roundtable.parquet()
    build_without_orchestrator(roundtable.home, plan_of(folder, frozenset(["inference-5.1"])))
    now = values(roundtable)
    assert {now[f"q{n}"] for n in range(1, 11)} == {7.0}
    assert now["p1"] == 101.0
    assert roundtable.parquet()["results"] != before["results"]


def test_a_part_of_a_round_is_in_results_but_in_no_mart(
    roundtable: Roundtable, tmp_path: Path
) -> None:
    folder = source(tmp_path / "source")
    part = official_table(official_row(ID="6.1-0001", version="v6.1"))
    (folder / "published" / "inference-6.1-first1.summary_results.json").write_bytes(part)
    direct(roundtable, folder)
    query = """
        select round.is_complete, round.is_reviewed, round.results,
            (select count(*) from coverage where round_key = 'inference-6.1') as coverage
        from rounds as round where round_key = 'inference-6.1'
    """
    assert answer(roundtable, query) == [(False, False, 1, 0)]
    assert "incomplete, unreviewed" in roundtable("status").out


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser can write everywhere")
def test_a_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    done = Roundtable(tmp_path / "home")("build", "--source", "bundled")
    assert done.code == 1
    assert "Set ROUNDTABLE_HOME" in done.err


def test_auto_without_a_network_builds_from_the_bundle_and_says_so(roundtable: Roundtable) -> None:
    started = time.monotonic()
    done = roundtable("build", "--submissions")
    assert done.code == 0
    assert time.monotonic() - started < 30
    told = [line for line in done.err.splitlines() if "out of reach" in line]
    assert len(told) == 1
    stale = {round_key for round_key, _ in answer(roundtable, STALE)}
    assert {"inference-0.5", "inference-4.1", "inference-5.0", "inference-6.0"} <= stale
    assert roundtable("build", "--strict").code == 1


@pytest.mark.skipif(not REAL_DATA.is_dir(), reason="the published tables are not here")
def test_the_bundle_gives_what_the_published_tables_give(
    bundled: Roundtable, published: Roundtable
) -> None:
    ours, theirs = bundled.parquet(), published.parquet()
    same = {name for name, content in theirs.items() if ours[name] == content}
    assert same >= {"coverage", "coverage_gaps", "software_gains", "vendor_ratios"}
    assert same >= {"scale_out", "partner_spread"}
    assert same >= {"reconciliation", "compatibility", "warnings", "rejects"}
    query = "select * from results where round_key <> 'inference-6.1'"
    told = [command("query", query, "--format", "csv").out for command in (bundled, published)]
    assert told[0] == told[1]
