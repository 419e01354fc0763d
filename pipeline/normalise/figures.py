"""The figures of a round: what normalising gives, and what a bundle or an older warehouse keeps.

Belongs here: the frames and their schemas, taken from the table declarations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import polars as pl

from pipeline.schema.tables import Table, public_tables, staging_tables

_TYPES: Mapping[str, pl.DataType] = {
    "varchar": pl.String(),
    "bigint": pl.Int64(),
    "double": pl.Float64(),
    "boolean": pl.Boolean(),
    "date": pl.Date(),
    "timestamp": pl.Datetime("us"),
    "varchar[]": pl.List(pl.String()),
}


def frame_schema(table: Table) -> pl.Schema:
    """Return the declared columns and types of a table as a Polars schema."""
    return pl.Schema({column.name: _TYPES[column.type] for column in table.columns})


@dataclass(frozen=True)
class Figures:
    """All that is known of one or more rounds; each frame has the table's declared schema.

    ``derived_results`` are those that the logs give where ``results`` come from a table.
    ``reconciliation`` holds only rows carried over from figures whose files are not at hand; for
    the others it is computed from ``page_cells`` and ``derived_results``.
    """

    results: pl.DataFrame
    rejects: pl.DataFrame
    warnings: pl.DataFrame
    sources: pl.DataFrame
    page_cells: pl.DataFrame
    derived_results: pl.DataFrame
    reconciliation: pl.DataFrame
    runs: pl.DataFrame

    @classmethod
    def of(cls, **frames: pl.DataFrame) -> "Figures":
        """Return figures with the frames given and the others empty.

        Raises:
            ValueError: a frame has other columns or types than are declared.
        """
        complete = {}
        for name, schema in figure_schemas().items():
            frame = frames.get(name, schema.to_frame())
            if frame.schema != schema:
                wrong = sorted(set(frame.schema.items()) ^ set(schema.items()), key=str)
                raise ValueError(f"{name} is not of its declared schema: {wrong}")
            complete[name] = frame
        return cls(**complete)

    @classmethod
    def concat(cls, parts: Sequence["Figures"]) -> "Figures":
        """Return the figures of several rounds or files together, in the order given."""
        return cls.of(
            **{
                name: pl.concat([getattr(part, name) for part in parts])
                for name in figure_schemas()
                if parts
            }
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return the frames by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def figure_schemas() -> dict[str, pl.Schema]:
    """Return the schema of each frame of Figures."""
    tables = {**public_tables(), **staging_tables()}
    return {field.name: frame_schema(tables[field.name]) for field in fields(Figures)}
