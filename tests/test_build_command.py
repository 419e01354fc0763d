import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.sources.choice import Bundle
from pipeline.sources.folder import Folder
from pipeline.warehouse.build import Plan
from tests.conftest import REAL_DATA, Roundtable, build_without_orchestrator
from tests.normalise.published_rows import Row, official_row, official_table

ROWS = [
    official_row(ID=f"6.0-{n:04}", Platform=f"p{n}", Performance_Result=100.0 + n)
    for n in range(1, 21)
]


def source(folder: Path, rows: list[Row] = ROWS, name: str = "inference-6.0") -> Path:
    """Write a folder with one published table and return it."""
    (folder / "published").mkdir(parents=True, exist_ok=True)
    file = folder / "published" / f"{name}.summary_results.json"
    version = "v" + name.split("-")[1]
    file.write_bytes(official_table(*({**row, "version": version} for row in rows)))
    return folder


def direct(roundtable: Roundtable, folder: Path, refresh: frozenset[str] | None = None) -> None:
    """Build without the orchestrator."""
    plan = Plan(Folder(folder), Bundle.AT_FAULT, refresh)
    build_without_orchestrator(roundtable.home, plan)


def values(roundtable: Roundtable) -> dict[str, float]:
    told = roundtable("query", "select platform, value from results", "--format", "json")
    return {line["platform"]: line["value"] for line in json.loads(told.out)}


def stale(roundtable: Roundtable) -> dict[str, str]:
    query = "select round_key, stale_reason from sources where is_stale"
    told = roundtable("query", query, "--format", "json")
    return {line["round_key"]: line["stale_reason"] for line in json.loads(told.out)}


def test_faults_losses_and_corrections_of_a_table_one_after_the_other(
    roundtable: Roundtable, tmp_path: Path
) -> None:
    """One warehouse through a cut file, a tenth of the rows, and a correction."""
    folder = source(tmp_path / "source")
    assert roundtable("build", "--source", folder).code == 0
    good, before = values(roundtable), roundtable.parquet()
    assert "Nothing has changed" in roundtable("build", "--source", folder).err

    file = folder / "published" / "inference-6.0.summary_results.json"
    file.write_bytes(file.read_bytes()[:-100])
    done = roundtable("build", "--source", folder, "--strict")
    assert done.code == 1
    assert "stale: inference-6.0" in done.err
    assert values(roundtable) == good
    assert file.name in stale(roundtable)["inference-6.0"]
    told = roundtable("query", "select file, source_row from rejects", "--format", "json").out
    assert json.loads(told) == [{"file": file.name, "source_row": 0}]

    done = roundtable("build", "--source", source(folder, ROWS[:2]))
    assert done.code == 1
    assert "Nothing was published" in done.err
    assert "rows_before=20, rows_now=2" in done.err
    assert roundtable.parquet()["results"] == before["results"]

    corrected = [dict(row) for row in ROWS[:-1]]
    corrected[0]["Performance_Result"] = 55.5
    corrected[1]["a#"] = 4
    source(folder, [*corrected, official_row(ID="6.0-0099", Platform="new")])
    done = roundtable("build", "--source", folder)
    assert done.code == 0
    assert "results of the last warehouse are gone (1 rows, first:" in done.err
    assert "platform=p20" in roundtable("status").out
    moved = [
        ("added", "result", None, "100.5 Tokens/s", "new"),
        ("value changed", "value", "101.0", "55.5", "p1"),
        ("field changed", "accelerators_as_published", "8", "4", "p2"),
        ("field changed", "accelerators_per_node", "8", "4", "p2"),
        ("removed", "result", "120.0 Tokens/s", None, "p20"),
    ]
    assert changes(roundtable) == moved
    before = roundtable.parquet()
    direct(roundtable, folder)
    assert roundtable.parquet() == before


def test_every_build_leaves_a_line_of_what_it_did(roundtable: Roundtable, tmp_path: Path) -> None:
    folder = source(tmp_path / "source")
    for _ in range(2):
        assert roundtable("build", "--source", folder).code == 0
    source(folder, ROWS[:2])
    assert roundtable("build", "--source", folder).code == 1
    lines = (roundtable.home / "builds.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    assert [line["outcome"] for line in told] == ["published", "nothing changed", "failed"]
    assert told[0]["rows"]["results"] == 20
    assert told[0]["bytes"] > 100_000
    assert "Nothing was published" in told[2]["error"]
    assert all(line["seconds"] >= 0 and line["peak_memory_bytes"] > 10**7 for line in told)


def changes(roundtable: Roundtable) -> list[tuple[object, ...]]:
    query = "select change, field, value_before, value_after, platform from changes"
    told = json.loads(roundtable("query", query, "--format", "json").out)
    return [tuple(line.values()) for line in told]


def test_unknown_and_hostile_names_are_kept_as_text_and_fail_only_a_strict_build(
    roundtable: Roundtable, tmp_path: Path
) -> None:
    name = "=cmd|'/c calc'!A1 <script>alert(1)</script> \x1b[2J '; drop table results; --"
    folder = source(tmp_path / "source", [official_row(System=name, Accelerator=name)])
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


def test_a_build_killed_at_any_instant_leaves_the_last_good_warehouse(
    roundtable: Roundtable, tmp_path: Path
) -> None:
    folder = source(tmp_path / "source")
    direct(roundtable, folder)
    good, before = values(roundtable), roundtable.parquet()
    source(folder, [{**row, "Performance_Result": 7.0} for row in ROWS])
    for instant in ("inference-6.0: 20 results", "model main.coverage_gaps"):
        build = subprocess.Popen(
            [sys.executable, "-m", "pipeline.cli", "build", "--source", str(folder)],
            env=roundtable.environment,
            cwd=Path(__file__).parents[1],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        assert build.stderr is not None
        assert any(line.startswith(instant) for line in iter(build.stderr.readline, ""))
        build.send_signal(signal.SIGKILL)
        build.communicate()
        assert roundtable.parquet() == before
        assert values(roundtable) == good
    assert roundtable("build", "--source", folder).code == 0
    assert set(values(roundtable).values()) == {7.0}


def test_only_the_rounds_named_are_refreshed(roundtable: Roundtable, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    other = [official_row(ID=f"5.1-{n:04}", Platform=f"q{n}") for n in range(1, 11)]
    source(folder)
    direct(roundtable, source(folder, other, "inference-5.1"))
    before = roundtable.parquet()
    changed = [{**row, "Performance_Result": 7.0} for row in (*other, *ROWS)]
    source(folder, changed[:10], "inference-5.1")
    source(folder, changed[10:])
    direct(roundtable, folder, frozenset(["inference-5.1"]))
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
    told = json.loads(roundtable("query", query, "--format", "json").out)
    assert told == [{"is_complete": False, "is_reviewed": False, "results": 1, "coverage": 0}]
    assert "incomplete, unreviewed" in roundtable("status").out


def test_two_builds_at_once_both_end_well(roundtable: Roundtable, tmp_path: Path) -> None:
    folder = source(tmp_path / "source")
    command = [sys.executable, "-m", "pipeline.cli", "build", "--source", str(folder)]
    builds = [
        subprocess.Popen(
            command,
            env=roundtable.environment,
            cwd=Path(__file__).parents[1],
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    told = [build.communicate(timeout=120)[1] for build in builds]
    assert [build.returncode for build in builds] == [0, 0]
    assert any("Another build is running" in text for text in told)
    assert len(values(roundtable)) == len(ROWS)


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
    assert {"inference-0.5", "inference-4.1", "inference-5.0", "inference-6.0"} <= set(
        stale(roundtable)
    )
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
