from pathlib import Path

import polars as pl
import pytest

from pipeline.checks.tables import (
    LOSS,
    MISSING,
    MOVED,
    Check,
    check_rule,
    check_table,
    compare_with_former,
    rule_checks,
)
from pipeline.normalise.figures import frame_schema
from pipeline.schema.tables import public_tables
from pipeline.warehouse.models import TableName


def results(count: int, **columns: object) -> pl.DataFrame:
    """Return results of one round with unique keys; ``columns`` are the same on all rows."""
    lines = [
        {
            "round_key": "inference-6.0",
            "result_key": f"k{row}",
            "entry_id": f"6.0-{row:04}",
            "platform": f"p{row}",
            "metric": "throughput",
            "unit": "tokens/s",
            "value": 1.0,
            "lower_is_better": False,
            "source_kind": "published table",
            **columns,
        }
        for row in range(count)
    ]
    return pl.DataFrame(lines, schema=frame_schema(public_tables()["results"]))


def file(folder: Path, frame: pl.DataFrame, name: str = "results") -> Path:
    frame.write_parquet(folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


def test_a_table_of_its_declared_columns_with_unique_keys_passes(tmp_path: Path) -> None:
    outcomes = check_table(public_tables()["results"], file(tmp_path, results(3)))
    assert [outcome.passed for outcome in outcomes] == [True, True]


def test_a_missing_or_mistyped_column_fails_the_schema_check(tmp_path: Path) -> None:
    wrong = results(1).drop("unit").with_columns(pl.col("nodes").cast(pl.Float64))
    schema, key = check_table(public_tables()["results"], file(tmp_path, wrong))
    assert not schema.passed
    assert {"unit varchar missing", "nodes double"} <= set(schema.rows)
    assert not key.passed


def test_columns_in_another_order_fail_the_schema_check(tmp_path: Path) -> None:
    turned = results(1).select(reversed(results(1).columns))
    assert not check_table(public_tables()["results"], file(tmp_path, turned))[0].passed


def test_a_repeated_key_fails_and_is_shown(tmp_path: Path) -> None:
    twice = pl.concat([results(2), results(1)])
    outcome = check_table(public_tables()["results"], file(tmp_path, twice))[1]
    assert not outcome.passed
    assert "platform=p0" in outcome.rows[0]


@pytest.mark.parametrize(
    ("kept", "loses", "misses"), [(20, True, True), (18, True, False), (17, False, False)]
)
def test_a_round_may_lose_a_tenth_of_its_rows_and_each_is_listed(
    tmp_path: Path, kept: int, loses: bool, misses: bool
) -> None:
    former = file(tmp_path, results(20), "former")
    found = {o.check: o for o in compare_with_former(file(tmp_path, results(kept)), former)}
    assert found[LOSS].passed is loses
    assert found[MISSING].passed is misses
    assert len(found[MISSING].rows) == 20 - kept
    assert LOSS.blocking
    assert not MISSING.blocking


def test_a_round_that_is_not_built_now_is_not_called_lost(tmp_path: Path) -> None:
    former = file(tmp_path, results(20), "former")
    other = file(tmp_path, results(1, round_key="inference-5.1"))
    assert all(outcome.passed for outcome in compare_with_former(other, former))


def test_an_entry_id_on_another_system_is_warned_of(tmp_path: Path) -> None:
    former = file(tmp_path, results(2), "former")
    moved = results(2).with_columns(platform=pl.Series(["p0", "elsewhere"]))
    found = {o.check: o for o in compare_with_former(file(tmp_path, moved), former)}
    assert not found[MOVED].passed
    assert "6.0-0001" in found[MOVED].rows[0]
    assert not MOVED.blocking


def test_a_former_file_of_other_columns_is_not_compared(tmp_path: Path) -> None:
    former = file(tmp_path, pl.DataFrame({"x": [1]}), "former")
    outcomes = compare_with_former(file(tmp_path, results(1)), former)
    assert [outcome.problem for outcome in outcomes] == ["nothing to compare with"] * 3


def rule(folder: Path, name: str, **frames: pl.DataFrame) -> bool:
    tables = {}
    for table in public_tables().values():
        frame = frames.get(table.name, frame_schema(table).to_frame())
        tables[TableName("main", table.name)] = file(folder, frame, table.name)
    return check_rule(name, tables).passed


def test_a_unit_that_does_not_fit_its_metric_breaks_a_rule(tmp_path: Path) -> None:
    name = "units_are_known"
    assert rule(tmp_path, name, results=results(1))
    assert not rule(tmp_path, name, results=results(1, unit="fps"))
    assert not rule(tmp_path, name, results=results(1, unit="ms"))
    assert not rule(tmp_path, name, results=results(1, value=float("inf")))
    assert not rule(tmp_path, name, results=results(1, lower_is_better=True))


def test_a_row_that_is_not_accounted_for_breaks_a_rule(tmp_path: Path) -> None:
    line = {
        "round_key": "inference-6.0",
        "file": "f",
        "kind": "published table",
        "rows": 3,
        "results": 2,
        "measurements": 1,
        "rejects": 0,
        "comparisons": 0,
    }
    source = pl.DataFrame([line], schema=frame_schema(public_tables()["sources"]))
    name = "rows_are_accounted_for"
    assert rule(tmp_path, name, results=results(2), sources=source)
    assert not rule(tmp_path, name, results=results(1), sources=source)
    lost = source.with_columns(rows=pl.lit(4, dtype=pl.Int64))
    assert not rule(tmp_path, name, results=results(2), sources=lost)


def test_rules_are_checks_of_the_last_table_they_read() -> None:
    checks = rule_checks()
    assert checks["units_are_known"].table == "results"
    assert checks["coverage_counts_each_result_once"].table == "coverage"
    assert all(isinstance(check, Check) and check.blocking for check in checks.values())
