import json
from pathlib import Path

import duckdb
import pytest

from pipeline.schema.tables import public_tables, staging_tables
from pipeline.warehouse.models import (
    ModelFault,
    TableName,
    inputs,
    models,
    rules,
    tables_read,
)

T = TableName


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("select * from main.a", {T("main", "a")}),
        (
            "with b as (select 1), c as (select * from b) select * from c join staging.d using (x)",
            {T("staging", "d")},
        ),
        ("select 1 where exists (select 1 from main.a)", {T("main", "a")}),
        (
            "select * from main.a union all select * from staging.b",
            {T("main", "a"), T("staging", "b")},
        ),
        (
            "with recursive r as (select 1 as n union all select n + 1 from r, main.a where n < 3) "
            "select * from r",
            {T("main", "a")},
        ),
        ("select (select max(v) from main.a) as v, [1, 2] as l", {T("main", "a")}),
        ("select * from (pivot main.a on x in (1, 2) using sum(y))", {T("main", "a")}),
    ],
)
def test_the_tables_a_model_reads_come_from_its_sql(sql: str, reads: set[TableName]) -> None:
    assert tables_read(sql, Path("m.sql")) == reads


def test_a_table_without_a_schema_is_refused() -> None:
    with pytest.raises(ModelFault, match=r"m\.sql: name the schema of results"):
        tables_read("select * from results", Path("m.sql"))


@pytest.mark.parametrize("sql", ["create table x as select 1", "selec 1"])
def test_only_a_single_select_is_a_model(sql: str) -> None:
    with pytest.raises(ModelFault, match=r"m\.sql"):
        tables_read(sql, Path("m.sql"))


def test_every_table_read_is_declared_or_made() -> None:
    declared = {T("staging", name) for name in staging_tables()}
    assert inputs() <= declared


def test_every_public_table_is_declared_and_made() -> None:
    made = {table.name for table in models() if table.schema == "main"}
    assert made == set(public_tables())


def test_every_model_and_rule_opens_with_what_it_is() -> None:
    for model in [*models().values(), *rules().values()]:
        assert len(model.description) > 40, model.table


def test_every_model_and_rule_ends_in_an_order() -> None:
    with duckdb.connect() as connection:
        for model in [*models().values(), *rules().values()]:
            answer = connection.execute("select json_serialize_sql($1)", [model.sql])
            root = json.loads(answer.fetchall()[0][0])["statements"][0]["node"]
            kinds = [modifier["type"] for modifier in root["modifiers"]]
            assert "ORDER_MODIFIER" in kinds, model.table
