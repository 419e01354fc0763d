"""The bench's own judgement: what it calls a wide join, a missed target, and a median."""

import json
import sys
from pathlib import Path

import duckdb
import pytest

from bench.marts import wide_joins
from bench.measuring import CommandFailed, Usage, in_turn, run
from bench.report import Line, Report


@pytest.mark.parametrize(
    ("query", "is_wide"),
    [
        ("select a.i, b.i from t as a inner join t as b on a.i % 10 = b.i % 10", True),
        ("select a.i, b.i from t as a inner join t as b on a.i = b.i", False),
        (
            "with g as materialized (select i % 10 as g, count(*) as n from t group by all) "
            "select t.i, g.n from t inner join g on t.i % 10 = g.g",
            False,
        ),
    ],
)
def test_a_join_that_gives_more_rows_than_its_larger_input_is_found(
    tmp_path: Path, query: str, is_wide: bool
) -> None:
    profile = tmp_path / "profile.json"
    with duckdb.connect() as connection:
        connection.execute("create table t as select range as i from range(2000)")
        connection.execute("pragma enable_profiling = 'json'")
        connection.execute(f"pragma profiling_output = '{profile}'")
        connection.execute(f"copy ({query}) to '{tmp_path / 'rows.parquet'}'")
        connection.execute("pragma disable_profiling")
    found = wide_joins(json.loads(profile.read_text("utf-8")))
    assert [(join["rows"], join["larger_input"]) for join in found] == [(400_000, 2000)] * is_wide


def test_commands_take_turns_and_cpu_and_memory_are_those_of_the_command() -> None:
    order: list[str] = []

    def measure(name: str, command: str) -> Usage:
        order.append(name)
        return run((sys.executable, "-c", command)).usage

    took = in_turn(
        {
            "idle": lambda: measure("idle", "import time; time.sleep(0.2)"),
            "busy": lambda: measure("busy", "bytes(100 * 2**20); sum(range(10**7))"),
        },
        runs=3,
    )
    assert order == ["idle", "busy"] * 3
    assert took["idle"].elapsed > 0.2 > took["idle"].cpu
    assert took["busy"].cpu > took["idle"].cpu
    assert took["busy"].peak > 90


def test_what_failed_or_exceeds_its_target_is_told_as_not_met(tmp_path: Path) -> None:
    Report("a", "First", [Line("kept", 1, 1.0), Line("slow", 2.5, 2.6)]).write(tmp_path)
    Report("b", "Second", [Line("broken", 15, None, "Out of Memory")]).write(tmp_path)
    told = (tmp_path / "bench.md").read_text("utf-8")
    assert "| kept | 1 | 1 | yes |" in told
    assert "| slow | 2.5 | 2.6 | **no** |" in told
    assert "| broken (Out of Memory) | 15 | failed | **no** |" in told
    assert sorted(json.loads((tmp_path / "bench.json").read_text("utf-8"))) == ["a", "b"]


def test_a_command_that_takes_more_cpu_than_it_may_is_cut_and_one_that_fails_is_told() -> None:
    python = sys.executable
    assert run((python, "-c", "while True: pass"), cpu_limit=1).is_cut
    assert not run((python, "-c", "pass"), cpu_limit=10).is_cut
    with pytest.raises(CommandFailed, match="no such thing"):
        run((python, "-c", "raise SystemExit('no such thing')"), cpu_limit=10)
