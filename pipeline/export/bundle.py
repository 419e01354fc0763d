"""Makes the figures that come with the package, out of a built warehouse.

Belongs here: which figures are bundled. Run it as ``make bundle DATA=folder``; the README beside
the figures tells the whole way. Only complete rounds are bundled: a part of a round would show
gaps that are none.
"""

import duckdb
import polars as pl

from pipeline.normalise.figures import Figures
from pipeline.settings import Settings
from pipeline.warehouse.build import BUNDLE
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_database
from pipeline.warehouse.tables import read_figures, write_frame


def complete_figures(warehouse: Warehouse) -> Figures:
    """Return the figures of a warehouse's complete rounds.

    Raises:
        RoundtableError: there is no warehouse yet.
    """
    with open_database(warehouse) as connection:
        keys = _complete_rounds(connection)
    figures = read_figures(warehouse.parquet)
    frames = {
        name: frame.filter(pl.col("round_key").is_in(keys))
        for name, frame in figures.frames().items()
    }
    return Figures.of(**frames)


def _complete_rounds(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute("select round_key from rounds where is_complete").fetchall()
    return [key for (key,) in rows]


def main() -> None:
    """Write the bundle from the warehouse at ROUNDTABLE_HOME."""
    frames = complete_figures(Warehouse(Settings.from_environment().home)).frames()
    for name in ("results", "runs", "rejects", "warnings", "sources", "reconciliation"):
        write_frame(frames[name], BUNDLE / f"{name}.parquet")
        print(f"{name}: {frames[name].height} rows")


if __name__ == "__main__":
    main()
