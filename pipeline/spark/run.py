"""Runs all models on Spark, over the Parquet files that a build starts from.

Belongs here: where tables are read and written, and in which order. What Spark makes of a model's
SQL stands in ``translate``. Addresses are whatever the session can reach: folders, ``s3a://``.
"""

from collections.abc import Callable, Mapping

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from pipeline.errors import RoundtableError
from pipeline.schema.tables import public_tables
from pipeline.spark.translate import Columns, translate, view_name
from pipeline.warehouse.models import Model, ModelFault, TableName, inputs, models

_TYPES: Mapping[str, str] = {
    "varchar": "string",
    "timestamp": "timestamp_ntz",
    "varchar[]": "array<string>",
}
"""Spark's names of the types that tables declare, where they differ from DuckDB's."""


def run_models(session: SparkSession, tables: str, output: str, say: Callable[[str], None]) -> None:
    """Run all models over inner tables, and write what they make.

    ``tables`` holds ``staging.<name>.parquet``, a file or a folder of files each, as a build leaves
    them in ``build/tables``. ``output`` gets ``<name>.parquet`` of each public table and
    ``staging/<name>.parquet`` of each inner one that a model makes, in place of what was there.

    Raises:
        ModelFault: a model cannot be translated, or fails.
        RoundtableError: an inner table cannot be read.
    """
    # An overflow or a division by zero is an error, not a null.
    session.conf.set("spark.sql.ansi.enabled", "true")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    # With it Spark 4.3 finds no valid plan for staging.page_matches; it spares copies, no more.
    rule = "org.apache.spark.sql.catalyst.optimizer.RemoveRedundantAliases"
    session.conf.set("spark.sql.optimizer.excludedRules", rule)
    columns = {table: _register(session, table, f"{tables}/{table}.parquet") for table in inputs()}
    for table, model in models().items():
        say(f"model {table}")
        folder = output if table.schema == "main" else f"{output}/{table.schema}"
        address = f"{folder}/{table.name}.parquet"
        _run(session, model, translate(model, columns), address)
        columns[table] = _register(session, table, address)


def _register(session: SparkSession, table: TableName, address: str) -> Columns:
    """Make Parquet readable as a view in Spark; return its columns."""
    try:
        found = session.read.parquet(address)
        found.createOrReplaceTempView(view_name(table))
    except PySparkException as error:
        raise RoundtableError(
            f"{address}: cannot be read ({_first_line(error)}). Run: roundtable build, "
            "then give the folder build/tables of its warehouse."
        ) from error
    return {field.name: field.dataType.simpleString() for field in found.schema}


def _run(session: SparkSession, model: Model, sql: str, address: str) -> None:
    try:
        rows = session.sql(sql)
        if model.table.schema == "main":
            rows = rows.to(_declared(model.table))
        rows.write.mode("overwrite").parquet(address)
    except PySparkException as error:
        raise ModelFault(
            f"sql model {model.table} failed on Spark: {_first_line(error)}"
        ) from error


def _declared(table: TableName) -> StructType:
    """Return a public table's declared columns and types."""
    return StructType(
        [
            StructField(column.name, DataType.fromDDL(_TYPES.get(column.type, column.type)))
            for column in public_tables()[table.name].columns
        ]
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
