"""Power and energy beside the results: which samples belong to which run.

Belongs here: joining the samples, and the clocks of the two machines, to the rows. Which samples
count, and what is made of them, is decided in ``power``.
"""

import polars as pl

from pipeline.normalise.submissions.inference.logs import POWER_FIELDS
from pipeline.normalise.submissions.inference.power import CLOCKS_DIFFER_UP_TO, power_of_run
from pipeline.normalise.submissions.inference.reading import DIRECTORY, RUN, Tree
from pipeline.normalise.submissions.inference.tree import Part
from pipeline.rounds import Round

_LARGEST_OFFSET = 86_400.0
"""Seconds: clocks of the earth are at most 14 hours from UTC; what says more is no time zone."""


def with_power(rows: pl.DataFrame, tree: Tree, round: Round) -> pl.DataFrame:
    """Add ``power`` and ``power_unit`` to the rows whose run has samples of an analyser.

    The files stand in ``<Part.POWER>_path`` and ``_sha256``; all four are null on other rows.
    """
    named = {column: f"{Part.POWER}_{column}" for column in ("path", "sha256")}
    samples = tree.frame(Part.POWER).drop("part").rename(named)
    rows = rows.join(samples, on=RUN, how="left", maintain_order="left")
    lags = _clock_lags(tree) if round.order[1] <= CLOCKS_DIFFER_UP_TO else {}
    measured = []
    columns = ("source_row", "inferred", named["sha256"], *DIRECTORY, *POWER_FIELDS)
    for row in rows.filter(pl.col(named["path"]).is_not_null()).select(columns).rows(named=True):
        lag = lags.get(tuple(row[column] for column in DIRECTORY), 0.0)
        power = power_of_run(
            tree.samples[row[named["sha256"]]],
            row,
            scenario=row["scenario"],
            is_inferred=row["inferred"] == "1",
            round=round,
            lag=lag,
        )
        measured.append((row["source_row"], *(power or (None, None))))
    schema = {"source_row": pl.Int64, "power": pl.String, "power_unit": pl.String}
    powers = pl.DataFrame(measured, schema=schema, orient="row")
    return rows.join(powers, on="source_row", how="left", maintain_order="left")


def _clock_lags(tree: Tree) -> dict[tuple[str, ...], float]:
    """Return by scenario directory how many seconds the analyser's clock is behind LoadGen's.

    The analyser hangs on the server, LoadGen runs on the client; without both files, none.
    """
    server, client = (
        tree.frame(part, fields=("timezone",)).select(
            *DIRECTORY, pl.col("timezone").cast(pl.Float64, strict=False)
        )
        for part in (Part.SERVER, Part.CLIENT)
    )
    is_offset = pl.col("timezone").is_between(-_LARGEST_OFFSET, _LARGEST_OFFSET)
    both = server.filter(is_offset).join(
        client.filter(is_offset), on=DIRECTORY, suffix="_of_client"
    )
    return {row[:-2]: row[-2] - row[-1] for row in both.rows()}
