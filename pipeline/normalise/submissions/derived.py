"""What an archive gives: the raw table of its round, and the files and runs each row came from.

Belongs here: the type that both suites' readers return. How rows are derived stands in the suite's
own folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from pipeline.normalise.published import RawTable

FILES_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "source_row": pl.Int64,
    "run_path": pl.String,
    "use": pl.String,
    "path": pl.String,
    "sha256": pl.String,
    "gives_value": pl.Boolean,
}
"""The files that rows came from, one line a row and file.

``use`` is a Part of the suite's tree; ``gives_value`` marks the logs that the value stands in.
"""

RUNS_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "source_row": pl.Int64,
    "log": pl.String,
    "sha256": pl.String,
    "started_at_ms": pl.Int64,
    "minutes": pl.Float64,
    "status": pl.String,
    "failure": pl.String,
    "is_counted": pl.Boolean,
    "dropped_as": pl.String,
    "seed": pl.String,
    "global_batch_size": pl.Int64,
    "samples_to_converge": pl.Int64,
    "energy_joules": pl.Float64,
    "scaling_factor": pl.Float64,
}
"""The runs that training's rows were scored from, one line a log.

``source_row`` is the row's of the table, also that of a row that was rejected; ``log`` is the log's
path. ``status`` is as logged; ``failure`` says why a run failed by the rules, and is null else.
``dropped_as`` is fastest, slowest or failed, and null where the run counts or its result has no
score. The score is the mean of ``minutes`` over the runs that count, times ``scaling_factor``.
"""


@dataclass(frozen=True)
class DerivedTable:
    """The raw table of a round, its rows' files (FILES_SCHEMA) and runs (RUNS_SCHEMA).

    ``commit``, ``sha256`` and ``bytes`` are the archive's. Inference has no runs: one run of each
    scenario counts.
    """

    table: RawTable
    files: pl.DataFrame
    commit: str | None
    sha256: str = ""
    bytes: int = 0
    runs: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=RUNS_SCHEMA))
