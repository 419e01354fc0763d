"""The SQL models give on Spark what they give on DuckDB."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal

from pipeline.normalise.figures import frame_schema
from pipeline.schema.tables import Table, public_tables, staging_tables
from pipeline.warehouse.models import Model, ModelFault, TableName, inputs, models
from pipeline.warehouse.running import over, run
from tests.conftest import REAL_DATA, Roundtable

spark_sql = pytest.importorskip("pyspark.sql", reason="needs roundtable[spark]")
command = pytest.importorskip("pipeline.spark.__main__")
running = pytest.importorskip("pipeline.spark.run")
translating = pytest.importorskip("pipeline.spark.translate")


def java_version() -> int:
    """Return the major version of the Java that Spark would start, 0 without one."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    if java is None:
        return 0
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', told)
    return int(found[1]) if found else 0


pytestmark = pytest.mark.skipif(java_version() < 17, reason="Spark needs Java 17")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Give a small Spark of two threads that opens no port to others."""
    builder = spark_sql.SparkSession.builder.master("local[2]")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.adaptive.enabled": "false",
        # To compile Java for so few rows would take most of the time.
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def warehouse(request: pytest.FixtureRequest) -> Roundtable:
    """Give the warehouse of the real tables and archives; without them, of the bundled figures."""
    name = "published" if REAL_DATA.is_dir() else "bundled"
    found: Roundtable = request.getfixturevalue(name)
    return found


def inner_tables(built: Path, folder: Path) -> dict[TableName, Path]:
    """Copy what a build starts from, with a round corrected since and a result withdrawn."""
    folder.mkdir()
    files = {table: folder / f"{table}.parquet" for table in inputs()}
    for file in files.values():
        shutil.copyfile(built / file.name, file)
    results = pl.read_parquet(files[TableName("staging", "results")])
    last = results.filter(round_key="inference-6.0").with_row_index()
    former = last.filter(pl.col("index") % 50 != 0).with_columns(
        source_sha256=pl.lit("0" * 64),
        value=pl.when(pl.col("index") % 7 == 0).then(pl.col("value") * 1e-9 / 3).otherwise("value"),
        power_watts=pl.when(pl.col("index") % 11 == 0).then(1e16).otherwise("power_watts"),
        category=pl.when(pl.col("index") % 13 == 0).then(None).otherwise("category"),
        result_key=pl.when(pl.col("index") % 60 == 1)
        .then(pl.col("result_key") + "x")
        .otherwise("result_key"),
    )
    former.drop("index").write_parquet(files[TableName("staging", "former_results")])
    withdrawn = last.filter(pl.col("index").is_in([5, 500])).to_dicts()
    schema = frame_schema(staging_tables()["withdrawn_results"])
    lines = [
        {name: line.get(name) for name in schema}
        | {"reported_on": date(2026, 1, 1 + day), "reason": "test", "source": "test"}
        for day, line in enumerate(withdrawn)
    ]
    pl.DataFrame(lines, schema=schema).write_parquet(
        files[TableName("staging", "withdrawn_results")]
    )
    return files


def in_order(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    return frame.select(column.name for column in table.columns).sort(table.key, nulls_last=True)


def test_every_public_table_has_the_same_rows_on_spark(
    session: Any, warehouse: Roundtable, tmp_path: Path
) -> None:
    """Numbers to 1e-12, since a sum depends on its order; all else exactly."""
    files = inner_tables(warehouse.home / "build" / "tables", tmp_path / "tables")
    for table, model in models().items():
        files[table] = tmp_path / "duckdb" / f"{table}.parquet"
        run(model, files, files[table])
    output = tmp_path / "spark"
    running.run_models(session, str(tmp_path / "tables"), str(output), lambda text: None)
    for name, table in public_tables().items():
        expected = pl.read_parquet(files[TableName("main", name)])
        found = pl.read_parquet(output / f"{name}.parquet" / "*.parquet")
        assert expected.height > 0, name
        assert_frame_equal(
            in_order(found, table), in_order(expected, table), rel_tol=1e-12, abs_tol=0
        )


MEANINGS = [
    "list(x order by x)",
    "list(distinct s order by s)",
    "list(s order by b desc, x)",
    "list(x order by x) filter (where x > 100)",
    "first(s order by b desc, x)",
    "string_agg(distinct s, ', ' order by s) filter (where b)",
    "arg_min(s, x)",
    "arg_max(x, s)",
    "min({'x': s, 'y': x})",
    "max({'x': s, 'y': x})",
    "median(x)",
    "median(x) filter (where b)",
    "list_sort(list(x::varchar))",
    "list_sort(list('' || x || s))",
    "list_sort(list(format('{:.6g}', x)) filter (where abs(x) between 1e-4 and 1e6))",
    "list_sort(list(format('{:+.1f}%', x)) filter (where abs(x) < 1e6))",
    "list_contains(list(s), 'z')",
    "list_has_any(list(s), ['z'])",
    "(list(x order by x))[-1]",
    "(list(x order by x))[9]",
    "(list(x order by x))[3:]",
    "list_sort(flatten([list(s), null]))",
    "len(list(s))",
    "count(distinct row(s, b))",
    "regexp_replace(min(s), '^a|b$', '')",
]


def test_words_that_spark_takes_otherwise_mean_the_same(session: Any, tmp_path: Path) -> None:
    table = TableName("main", "given")
    values = [1e-7, 0.00012345678, 0.1, 1 / 3, 2.0, 12345678.25, 1e16, 1.2345e22, -3.5, None]
    given = pl.DataFrame(
        {
            "x": values,
            "s": ["b", None, "a", "ab", "b", None, "c", "a", "b", "a"],
            "b": [True, False, None, True, False, True, False, True, True, False],
        }
    )
    given.write_parquet(tmp_path / "given.parquet")
    columns = ", ".join(f"{word} as c{number}" for number, word in enumerate(MEANINGS))
    sql = f"select {columns} from main.given"
    with over({table: tmp_path / "given.parquet"}) as connection:
        (expected,) = connection.execute(sql).fetchall()
    session.read.parquet(str(tmp_path / "given.parquet")).createOrReplaceTempView("main_given")
    translated = translating.translate(
        Model(TableName("main", "m"), "marts", "", sql, frozenset({table})),
        {table: {"x": "double", "s": "string", "b": "boolean"}},
    )
    (row,) = session.sql(translated).collect()
    found = row.asDict(recursive=True).values()
    assert dict(zip(MEANINGS, found, strict=True)) == dict(zip(MEANINGS, expected, strict=True))


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("select format('{:x}', x) as y from main.t order by 1", "the format '{:x}'"),
        ("select regexp_replace(s, 'a', '') as y from main.t order by 1", "first match only: 'a'"),
        ("select list(x order by s desc) as y from main.t order by 1", "a list ordered by"),
        ("select z from main.t order by 1", "Column 'z' could not be resolved"),
    ],
)
def test_what_no_rule_translates_is_refused_by_name(sql: str, problem: str) -> None:
    model = Model(TableName("main", "m"), "marts", "", sql, frozenset({TableName("main", "t")}))
    with pytest.raises(ModelFault, match=r"main\.m cannot be translated") as refused:
        translating.translate(model, {TableName("main", "t"): {"x": "double", "s": "string"}})
    assert problem in str(refused.value)


def test_the_command_says_where_the_inner_tables_are(session: Any, tmp_path: Path) -> None:
    done = CliRunner().invoke(command.main, [str(tmp_path), str(tmp_path / "out")])
    assert done.exit_code == 1
    assert re.search(r"staging\.\w+\.parquet: cannot be read .*Run: roundtable build", done.output)
