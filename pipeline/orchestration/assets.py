"""The graph: files and figures per round, the inner tables, one asset a SQL model, the warehouse.

Belongs here: thin assets that call one step of ``warehouse.build`` and report what came of it.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from pipeline.orchestration.checks import asset_key, declared_checks, declared_results
from pipeline.schema.tables import public_tables
from pipeline.warehouse.build import Build
from pipeline.warehouse.models import Model, TableName, inputs, models

READ, STAGING, PUBLISH = "read", "staging", "publish"

FRESHNESS = dg.FreshnessPolicy.time_window(
    warn_window=timedelta(days=7, hours=6), fail_window=timedelta(days=8)
)
"""Of the warehouse: a week's build may take hours where it reads an archive."""

# Backfill policies are marked beta; the warning would stand before every build's output.
warnings.filterwarnings("ignore", category=dg.BetaWarning)


def read_assets(
    partitions: dg.PartitionsDefinition[str], backfill: dg.BackfillPolicy
) -> list[dg.AssetsDefinition]:
    """Return the assets that are made per round: its files, and its figures."""

    @dg.asset(
        partitions_def=partitions,
        backfill_policy=backfill,
        group_name=READ,
        kinds={"json"},
        required_resource_keys={"build"},
    )
    def raw_files(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        """The round's published files, as untouched bytes with their provenance."""
        build: Build = context.resources.build
        files = [file for key in context.partition_keys for file in build.collect(key)]
        lines = [
            {"round": f.round_key, "file": f.name, "commit": f.commit or "", "sha256": f.sha256}
            for f in files
        ]
        return dg.MaterializeResult(metadata={"files": _table(lines), "count": len(files)})

    @dg.asset(
        partitions_def=partitions,
        backfill_policy=backfill,
        group_name=READ,
        kinds={"polars"},
        deps=[raw_files],
        required_resource_keys={"build"},
    )
    def figures(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        """The round's canonical results, rejects and warnings."""
        build: Build = context.resources.build
        lines = []
        unmapped: set[str] = set()
        for key in context.partition_keys:
            made = build.normalise(key)
            unknown = made.warnings.filter(pl.col("problem").str.contains("not in the vocabulary"))
            unmapped |= set(unknown["value_as_published"].drop_nulls())
            lines.append(
                {
                    "round": key,
                    "results": made.results.height,
                    "rejects": made.rejects.height,
                    "warnings": made.warnings.height,
                    "stale": int(made.sources["is_stale"].sum()),
                }
            )
        return dg.MaterializeResult(
            metadata={"rounds": _table(lines), "unmapped_names": sorted(unmapped)}
        )

    return [raw_files, figures]


def staging_asset() -> dg.AssetsDefinition:
    """Return the asset of the inner tables that the models start from."""
    specs = [
        dg.AssetSpec(asset_key(table), deps=["figures"], kinds={"parquet"})
        for table in sorted(inputs())
    ]

    @dg.multi_asset(
        specs=specs, group_name=STAGING, name="staging_tables", required_resource_keys={"build"}
    )
    def staging_tables(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[None]]:
        build: Build = context.resources.build
        frames = build.stage()
        for table in sorted(inputs()):
            rows = frames[table.name].height
            yield dg.MaterializeResult(asset_key(table), metadata={"dagster/row_count": rows})

    return staging_tables


def model_asset(model: Model) -> dg.AssetsDefinition:
    """Return the asset of one SQL model; its dependencies are the tables that the SQL reads."""

    @dg.asset(
        key=asset_key(model.table),
        deps=[asset_key(table) for table in sorted(model.reads)],
        group_name=model.group,
        kinds={"duckdb", "sql"},
        code_version=model.version,
        description=model.description,
        check_specs=declared_checks(model),
        required_resource_keys={"build"},
    )
    def table(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[None]]:
        build: Build = context.resources.build
        file = build.run_model(model)
        yield dg.MaterializeResult(
            metadata=_about(model, file), check_results=declared_results(build, model)
        )

    return table


def warehouse_asset() -> dg.AssetsDefinition:
    """Return the last asset: database and Parquet, published together once all checks passed."""
    public = [asset_key(TableName("main", name)) for name in public_tables()]

    @dg.asset(
        deps=public,
        group_name=PUBLISH,
        freshness_policy=FRESHNESS,
        kinds={"duckdb", "parquet"},
        required_resource_keys={"build"},
    )
    def warehouse(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        """The database and its Parquet files, replaced at once."""
        build: Build = context.resources.build
        before = build.warehouse.stamp().get("rows", {})
        stamp = build.publish()
        lines = [
            {"table": name, "rows": rows, "before": before.get(name, 0)}
            for name, rows in stamp["rows"].items()
        ]
        return dg.MaterializeResult(
            metadata={
                "dagster/uri": str(build.warehouse.database),
                "tables": _table(lines),
                "stale_rounds": sorted(stamp["stale"]),
                "new_warnings": stamp["new_warnings"],
            }
        )

    return warehouse


def all_assets(
    partitions: dg.PartitionsDefinition[str], backfill: dg.BackfillPolicy
) -> list[dg.AssetsDefinition]:
    """Return every asset of the graph; ``backfill`` tells how many runs make several rounds."""
    return [
        *read_assets(partitions, backfill),
        staging_asset(),
        *(model_asset(model) for model in models().values()),
        warehouse_asset(),
    ]


def _about(model: Model, file: Path) -> Mapping[str, Any]:
    """Return rows, columns and table name of what a model made, and the kinds of what it found."""
    table = pl.read_parquet(file, glob=False)
    declared = public_tables().get(model.table.name)
    meanings = {column.name: column.comment for column in declared.columns} if declared else {}
    columns = [
        dg.TableColumn(name, str(dtype), description=meanings.get(name))
        for name, dtype in table.schema.items()
    ]
    about: dict[str, Any] = {
        "dagster/row_count": table.height,
        "dagster/table_name": str(model.table),
        "dagster/column_schema": dg.TableSchema(columns),
    }
    if {"kind", "round_key"} <= set(table.columns):
        kinds = table.group_by("round_key", "kind").len("rows").sort("round_key", "kind")
        about["kinds"] = _table(kinds.to_dicts())
    return about


def _table(lines: Sequence[Mapping[str, Any]]) -> dg.MetadataValue:
    records = [dg.TableRecord(dict(line)) for line in lines]
    if not records:
        return dg.MetadataValue.text("none")
    return dg.MetadataValue.table(records)
