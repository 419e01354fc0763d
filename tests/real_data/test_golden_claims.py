"""The package's claims against every golden claim, and that each of them can fail."""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import polars as pl
import pytest

from pipeline.claims.reading import package_claims
from pipeline.warehouse.models import models
from tests.conftest import REAL_DATA, Roundtable

pytestmark = pytest.mark.skipif(not REAL_DATA.is_dir(), reason="no ../shared here")

Row = Mapping[str, Any]

ENTRY_ID = re.compile(r"\d\.\d-\d{4}")
COUNTED = {  # what the golden value's text counts, and which of our columns has it
    "S11": ("reproducing", "18"),
    "S12": ("reproducing", "10"),
    "S26": ("computed_value", "11"),
    "P24": ("computed_value", "16"),
    "P34": ("computed_value", "0.0989"),
    "P41": ("computed_value", "451"),
}
WITHOUT_COMPARATORS = ("S01", "S02", "S17", "S26")
"""Their range is of other readings, which do not turn the verdict."""


@pytest.fixture(scope="module")
def warehouse(published: Roundtable) -> Iterator[duckdb.DuckDBPyConnection]:
    """Read the warehouse built from the published tables."""
    with duckdb.connect(str(published.home / "roundtable.duckdb"), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def ours(warehouse: duckdb.DuckDBPyConnection) -> dict[str, Row]:
    """Return our claims by id."""
    rows = warehouse.sql("from main.claims").pl().to_dicts()
    return {row["claim_id"]: row for row in rows}


def golden() -> list[dict[str, str]]:
    """Return all golden claims."""
    rows = []
    for name in ("seed_claims", "public_claims"):
        with (REAL_DATA / "golden" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows += list(csv.DictReader(file))
    return rows


def test_every_golden_claim_is_there_with_its_verdict(ours: Mapping[str, Row]) -> None:
    expected = {row["id"]: row["verdict"] for row in golden()}
    assert {claim: row["verdict"] for claim, row in ours.items()} == expected


def test_every_golden_value_is_computed(ours: Mapping[str, Row]) -> None:
    wrong = []
    compared = 0
    for row in golden():
        column, expected = COUNTED.get(row["id"], ("computed_value", row["computed_value"]))
        if not re.fullmatch(r"-?\d+(\.\d+)?", expected) or row["id"] == "S33":
            continue  # of S33, which is not checkable, another figure is told
        compared += 1
        if not _equal(ours[row["id"]][column], expected):
            wrong.append((row["id"], expected, ours[row["id"]][column]))
    assert wrong == []
    assert compared >= 46


def test_every_golden_range_has_its_number_ends_median_and_ids(ours: Mapping[str, Row]) -> None:
    wrong = []
    compared = 0
    for row in golden():
        if not row["sens_n"] or row["id"] in WITHOUT_COMPARATORS:
            continue
        compared += 1
        own = ours[row["id"]]
        agrees = own["comparators"] == int(row["sens_n"]) and all(
            not row[f"sens_{end}"] or _equal(own[f"computed_{end}"], row[f"sens_{end}"])
            for end in ("min", "median", "max")
        )
        agrees &= all(
            set(ENTRY_ID.findall(row[f"sens_{end}_id"]))
            <= {own[f"entry_id_{end}"], own[f"comparator_entry_id_{end}"]}
            for end in ("min", "max")
            if "5.0-" not in row[f"sens_{end}_id"]  # attached by value; ours are null there
        )
        if not agrees:
            wrong.append((row, own))
    assert wrong == []
    assert compared == 29


def test_every_golden_pair_is_the_one_that_is_told(ours: Mapping[str, Row]) -> None:
    wrong = []
    compared = 0
    for row in golden():
        pairs = ("subject_rows", "entry_id"), ("comparator_rows", "comparator_entry_id")
        if not row["subject_value"] or not row["comparator_value"]:
            continue
        for side, column in pairs:
            (expected,) = ENTRY_ID.findall(row[side])
            compared += 1
            if not expected.startswith("5.0-") and ours[row["id"]][column] != expected:
                wrong.append((row["id"], expected, ours[row["id"]][column]))
    assert wrong == []
    assert compared == 42


def _equal(value: float | None, golden: str) -> bool:
    """Compare at the digits that are shown."""
    return value is not None and round(value, len(golden.partition(".")[2])) == float(golden)


def test_each_claim_turns_when_its_rows_are_changed(warehouse: duckdb.DuckDBPyConnection) -> None:
    """A claim whose verdict and value stay whatever its subject's rows say would be no check.

    Of values, ratios and rankings the subject's results are scaled. Of counts and lists they are
    taken away; where that changes nothing, for nothing was there, what is claimed is put in place.
    """
    world = _world(warehouse)
    frames = package_claims().frames()
    unmoved = []
    for claim, kind, *before in warehouse.sql(
        "select claim_id, kind, verdict, computed_value from main.claims"
    ).fetchall():
        if kind == "not checkable":
            continue
        for name, frame in frames.items():
            world.register("given", frame.filter(pl.col("claim_id") == claim))
            world.execute(f"create or replace table staging.{name} as from given")
        for change in ("scaled", "removed", "placed"):
            world.execute(f"delete from {change}")
        is_scaled = kind in ("value", "ratio", "ranking")
        world.execute(
            f"insert into {'scaled' if is_scaled else 'removed'} "
            "select result_key from claimed_rows where claim_id = $1",
            [claim],
        )
        after = _outcome(world)
        if after == before and not is_scaled:
            _place(world)
            after = _outcome(world)
        if after == before:
            unmoved.append(claim)
    assert unmoved == []


def _world(warehouse: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Return the results since 4.1 as tables whose rows can be scaled, removed and placed."""
    world = duckdb.connect(config={"threads": 1})  # as models run in a build
    world.execute("create schema staging; create schema given")
    since = "where round in ('4.1', '5.0', '5.1', '6.0')"
    for name, where in {
        "results": since,
        "rounds": since,
        "compatibility": "",
        "submitters": "",
        "accelerators": "",
        "benchmarks": "",
    }.items():
        world.register("copied", warehouse.sql(f"from main.{name} {where}").to_arrow_table())
        world.execute(f"create table given.{name} as from copied")
    rows = "select claim_id, result_key from staging.claim_rows where side = 'subject'"
    world.register("copied", warehouse.sql(rows).to_arrow_table())
    world.execute("create table claimed_rows as from copied")
    for table in ("main.rounds", "main.submitters", "main.accelerators", "main.benchmarks"):
        world.execute(f"create view {table} as from {table.replace('main', 'given')}")
    world.execute(
        """
        create table scaled (result_key varchar);
        create table removed (result_key varchar);
        create table placed as from given.results limit 0;
        create view staging.compatibility as from given.compatibility;
        create view staging.results as
            select * replace (
                case when result_key in (from scaled) then value * 0.37 else value end as value
            )
            from given.results where result_key not in (from removed)
            union all from placed;
        create view main.results as from staging.results;
        """
    )
    return world


def _place(world: duckdb.DuckDBPyConnection) -> None:
    """Put a result in place as the claim's subject is, under the name that is claimed."""
    columns = {"vendor": "accelerator_vendor", "organisation": "submitter"}
    other = {"organisation": "Somebody", "availability": "preview"}
    changes = {"result_key": "'placed'"}
    for fact, operator, text in world.sql(
        """
        select fact, operator, texts[1] from staging.claim_conditions where fact <> 'round'
        union all
        select counted, 'is', claimed_names[1] from staging.claim_statements
        where claimed_names is not null
        """
    ).fetchall():
        text = text if operator == "is" else other[fact]
        changes[columns.get(fact, fact)] = f"'{text}'"
        if fact == "organisation":
            changes["organisations"] = f"['{text}']"
    replaced = ", ".join(f"{text} as {column}" for column, text in changes.items())
    world.execute(
        f"insert into placed select * replace ({replaced}) from given.results "
        "where round = '6.0' and accelerator is not null order by result_key limit 1"
    )


def _outcome(world: duckdb.DuckDBPyConnection) -> list[Any]:
    names = ("comparable_results", "claim_rows", "claim_comparators", "claim_verdicts", "claims")
    for table, model in models().items():
        if table.name in names:
            world.execute(f"create or replace table {table} as {model.sql}")
    return list(world.sql("select verdict, computed_value from main.claims").fetchall()[0])
