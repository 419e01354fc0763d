"""The command ``python -m pipeline.spark TABLES OUTPUT``.

Belongs here: its arguments and its session. Options of Spark itself are given Spark's own way.
"""

import click
from pyspark.sql import SparkSession

from pipeline.errors import RoundtableError
from pipeline.spark.run import run_models


@click.command()
@click.argument("tables")
@click.argument("output")
def main(tables: str, output: str) -> None:
    """Run the SQL models on Spark over the inner tables of a build, TABLES; write to OUTPUT."""
    session = SparkSession.builder.appName("roundtable").getOrCreate()
    try:
        run_models(session, tables.rstrip("/"), output.rstrip("/"), click.echo)
    except RoundtableError as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
