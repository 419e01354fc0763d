"""Many times the real results, for marts to run over.

Belongs here: multiplying the tables that marts read:

    python -m bench.multiplying TABLES FOLDER --times 100

Tables are multiplied as a build made them, so that each mart is run for itself. Every replica is a
world of its own: suite, rounds and result keys carry its number, and nothing of one meets anything
of another. So all work grows with the rows and with nothing else: what takes longer than that is
the mart's own doing. One replica keeps its names, and comes last. Names of submitters, products and
benchmarks are the same in all. Public claims are not multiplied: they find what they are about in
that replica, among all results. scale_out, which knows the training suite by its name, takes the
other replicas of training for inference.
"""

import argparse
from pathlib import Path

import polars as pl

from bench.marts import marts
from pipeline.warehouse.models import models

REPLICA = ("suite", "round_key", "result_key")
"""Columns that tell replicas apart: in each but one, the replica's number stands before them."""


def multiply(source: Path, target: Path, times: int) -> None:
    """Write every table that a mart reads; those that tell of results with many times the rows."""
    target.mkdir(parents=True)
    for table in sorted({table for mart in marts() for table in models()[mart].reads}):
        file = source / f"{table}.parquet"
        rows = pl.scan_parquet(file)
        if {*REPLICA} & {*rows.collect_schema()} and not table.name.startswith("claim"):
            # Replica by replica, the rows keep the order of their suites and rounds.
            replicas = [_replica(rows, f"{number:05}~") for number in range(1, times)]
            rows = pl.concat([*replicas, rows])
        rows.sink_parquet(target / file.name, row_group_size=122_880)


def _replica(rows: pl.LazyFrame, mark: str) -> pl.LazyFrame:
    """Return the rows with a mark before what tells replicas apart, also within ``best_first``."""
    names = {*rows.collect_schema()}
    marked = [(mark + pl.col(name)).alias(name) for name in REPLICA if name in names]
    if "best_first" in names:
        key = (mark + pl.field("result_key")).alias("result_key")
        marked.append(pl.col("best_first").struct.with_fields(key))
    return rows.with_columns(marked)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Multiply the tables that marts read.")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--times", type=int, required=True)
    arguments = parser.parse_args()
    multiply(arguments.source, arguments.target, arguments.times)


if __name__ == "__main__":
    main()
