"""One file of a round becomes canonical results, rejects and warnings: no row is lost.

Belongs here: how rows of a file relate to each other (keys, repeats, power measurements, copies)
and the accounting of every row. What a single row means is ``canonical``'s and ``faults``' task.
"""

import hashlib

import polars as pl

from pipeline.errors import FileFault
from pipeline.normalise.canonical import POWER_METRICS, canonical
from pipeline.normalise.faults import SHOWN, all_broken, fault_rules, first_fault, warning_rules
from pipeline.normalise.figures import Figures, figure_schemas
from pipeline.normalise.published import Oddity, RawTable
from pipeline.normalise.units import true_label
from pipeline.normalise.vocabulary import entries
from pipeline.rounds import Round
from pipeline.schema.tables import public_tables
from pipeline.sources.files import LICENCE, Kind, SourceFile

KEY = public_tables()["results"].key
ORIGINS_SCHEMA = {"source_row": pl.Int64, "source_url": pl.String, "source_sha256": pl.String}
_MEASUREMENT_KEY = tuple(column for column in KEY if column != "metric")


def normalise_table(
    table: RawTable, file: SourceFile, round: Round, origins: pl.DataFrame | None = None
) -> Figures:
    """Return the canonical figures of one table.

    Each row becomes a result, a power measurement attached to one, or a reject; the counts stand
    in ``sources``. ``origins``, of ORIGINS_SCHEMA, says which bytes a row's value stands in where
    that is not ``file`` itself.

    Raises:
        FileFault: the table is of another round.
    """
    _check_round(table.frame, file, round)
    rows = canonical(table.frame, round, true_label(round, file.kind))
    rows = rows.with_columns(round_key=pl.lit(round.key))
    judged = first_fault(rows, fault_rules(round, file.kind))
    judged = _with_repeats(judged, file.kind)
    used = judged.filter(pl.col("reason").is_null())
    results, judged_measurements = _attach_power(used)
    unused = pl.concat(
        [
            judged.filter(pl.col("reason").is_not_null()),
            judged_measurements.filter(pl.col("reason").is_not_null()),
        ]
    )
    rejects = pl.concat([_rejects(unused, file), _rejected_entries(table.rejects, file)])
    results = _finished(results, file, round, origins)
    return Figures.of(
        results=results,
        rejects=rejects.sort("source_row"),
        warnings=_warnings(used, table.warnings, file),
        sources=source_line(
            file,
            rows=table.rows,
            results=results.height,
            measurements=table.rows - results.height - rejects.height,
            rejects=rejects.height,
        ),
    )


def source_line(
    file: SourceFile,
    *,
    rows: int = 0,
    results: int = 0,
    measurements: int = 0,
    rejects: int = 0,
    comparisons: int = 0,
) -> pl.DataFrame:
    """Return the file's row of ``sources``, with what became of its rows."""
    line = {
        "round_key": file.round_key,
        "file": file.name,
        "kind": file.kind.value,
        "origin": file.origin,
        "url": file.url,
        "commit": file.commit,
        "sha256": file.sha256,
        "bytes": file.bytes,
        "etag": file.etag,
        "fetched_at": file.fetched_at,
        "licence": None if file.kind is Kind.PAGE else LICENCE,
        "is_stale": file.stale_reason is not None,
        "stale_reason": file.stale_reason,
        "is_partial": file.is_partial,
        "rows": rows,
        "results": results,
        "measurements": measurements,
        "rejects": rejects,
        "comparisons": comparisons,
    }
    return pl.DataFrame([line], schema=figure_schemas()["sources"])


def file_reject(fault: FileFault, round_key: str, sha256: str | None) -> pl.DataFrame:
    """Return the row of ``rejects`` for a file that could not be used at all."""
    line = {
        "round_key": round_key,
        "file": fault.file,
        "source_row": 0,
        "field": "",
        "reason": fault.problem[:SHOWN],
        "source_sha256": sha256,
    }
    return pl.DataFrame([line], schema=figure_schemas()["rejects"])


def _check_round(raw: pl.DataFrame, file: SourceFile, round: Round) -> None:
    versions = raw["version"].str.strip_chars().str.strip_prefix("v").unique().to_list()
    if raw.height and round.round not in versions:
        found = ", ".join(sorted(version or "nothing" for version in versions)[:3])
        raise FileFault(
            file.name,
            f"not a table of {round.key}: its version field says {found[:SHOWN]}",
            "Put the right table in its place.",
        )


def _with_repeats(rows: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """Mark rows that share a key as faulty.

    Of rows that say the same, the first stays. Rows that differ contradict each other, and none is
    used. On the results page, two entries of one name show their average (F2): none is used.
    """
    usable = pl.col("reason").is_null()
    keys = [pl.when(usable).then(column).alias(column) for column in KEY]
    said = pl.struct("value", "unit", *(["entry_id"] if kind is Kind.PAGE else []))
    differ = said.n_unique().over(keys) > 1
    repeats = pl.int_range(pl.len()).over(keys) > 0
    problem = (
        pl.when(differ)
        .then(pl.lit("two values for one key"))
        .when(repeats)
        .then(pl.lit("repeats an earlier row"))
    )
    return rows.with_columns(
        field=pl.when(usable & problem.is_not_null()).then(pl.lit("value")).otherwise("field"),
        reason=pl.when(usable).then(problem).otherwise("reason"),
        shown=pl.when(usable).then("value_as_published").otherwise("shown"),
    )


def _attach_power(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the results with power_watts and energy_joules, and the rows that hold only power.

    4.1 and 5.1 give power in fields of the result, 5.0 as a row of its own with unit Watts. Such a
    row without its result is marked as faulty.
    """
    is_power = pl.col("metric").is_in(POWER_METRICS)
    results, measurements = rows.filter(~is_power), rows.filter(is_power)
    measured = {metric: f"measured_{metric}" for metric in POWER_METRICS}
    for metric, column in measured.items():
        values = measurements.filter(metric=metric).select(
            *_MEASUREMENT_KEY, pl.col("value").alias(column)
        )
        results = results.join(
            values, on=_MEASUREMENT_KEY, how="left", nulls_equal=True, maintain_order="left"
        )
    own = {metric: pl.when(power_metric=metric).then("power") for metric in POWER_METRICS}
    results = results.with_columns(
        power_watts=pl.coalesce(own["power"], measured["power"]),
        energy_joules=pl.coalesce(own["energy"], measured["energy"]),
    )
    has_result = measurements.join(
        results.select(_MEASUREMENT_KEY).unique(),
        on=_MEASUREMENT_KEY,
        how="semi",
        nulls_equal=True,
    )["source_row"]
    missing = ~pl.col("source_row").is_in(has_result.implode())
    measurements = measurements.with_columns(
        field=pl.when(missing).then(pl.lit("value")),
        reason=pl.when(missing).then(pl.lit("a power measurement without its result")),
        shown=pl.col("value_as_published"),
    )
    return results, measurements


def _finished(
    rows: pl.DataFrame, file: SourceFile, round: Round, origins: pl.DataFrame | None
) -> pl.DataFrame:
    """Return the results with their key, derived columns and source, as declared."""
    if origins is None:
        origins = pl.DataFrame(schema=ORIGINS_SCHEMA)
    rows = rows.join(origins, on="source_row", how="left", maintain_order="left")
    rows = rows.with_columns(
        suite=pl.lit(round.suite),
        round=pl.lit(round.round),
        released_on=pl.lit(round.released_on, dtype=pl.Date),
        value_per_accelerator=pl.when(
            ~pl.col("lower_is_better") & ~pl.col("is_heterogeneous") & (pl.col("accelerators") > 0)
        ).then(pl.col("value") / pl.col("accelerators")),
        is_withdrawn=pl.lit(value=False),
        # Both follow from the runs, of all rounds together.
        scaling_factor=pl.lit(None, dtype=pl.Float64),
        repeats_result_key=pl.lit(None, dtype=pl.String),
        source_kind=pl.lit(file.kind.value),
        source_url=pl.col("source_url").fill_null(file.url),
        source_commit=pl.lit(file.commit, dtype=pl.String),
        source_sha256=pl.col("source_sha256").fill_null(file.sha256),
        result_key=result_keys(rows),
    )
    rows = rows.with_columns(is_accuracy_copy=_is_accuracy_copy(rows))
    return rows.select(figure_schemas()["results"].names())


def result_keys(rows: pl.DataFrame) -> pl.Series:
    """Return each row's stable key: 16 hexadecimal digits of SHA-256 over the key columns."""
    joined = rows.select(pl.concat_str(pl.col(KEY).fill_null(""), separator="\n"))
    return pl.Series(
        "result_key",
        [hashlib.sha256(text.encode()).hexdigest()[:16] for text in joined.to_series()],
        dtype=pl.String,
    )


def _is_accuracy_copy(rows: pl.DataFrame) -> pl.Series:
    """Whether a 99.9 row has the id, platform, scenario and value of its 99 row (F17)."""
    same = (
        "division",
        "category",
        "submitter_directory",
        "entry_id",
        "platform",
        "benchmark",
        "scenario",
        "metric",
        "value",
    )
    originals = rows.filter(accuracy_target="99").select(same).unique()
    strict = rows.with_row_index().filter(accuracy_target="99.9")
    copies = strict.join(originals, on=same, how="semi", nulls_equal=True)["index"]
    return pl.Series("index", range(rows.height), dtype=copies.dtype).is_in(copies.implode())


def _rejects(rows: pl.DataFrame, file: SourceFile) -> pl.DataFrame:
    return rows.select(
        "round_key",
        "source_row",
        "field",
        "reason",
        "submitter_as_published",
        "platform",
        "model_used",
        file=pl.lit(file.name),
        value_as_published=pl.col("shown").str.slice(0, SHOWN),
        scenario=pl.col("scenario_as_published"),
        source_sha256=pl.lit(file.sha256),
    ).select(figure_schemas()["rejects"].names())


def _rejected_entries(entries: list[Oddity], file: SourceFile) -> pl.DataFrame:
    lines = [
        {
            "round_key": file.round_key,
            "file": file.name,
            "source_row": entry.source_row,
            "field": entry.field,
            "reason": entry.problem,
            "value_as_published": entry.value[:SHOWN],
            "source_sha256": file.sha256,
        }
        for entry in entries
    ]
    return pl.DataFrame(lines, schema=figure_schemas()["rejects"])


def _warnings(used: pl.DataFrame, read: list[Oddity], file: SourceFile) -> pl.DataFrame:
    """Return the warnings of the rows that were used, and of the file as a whole."""
    rows = {0, *used["source_row"]}
    told = [odd for odd in read if odd.source_row in rows]
    from_reading = pl.DataFrame(
        [(odd.source_row, odd.field[:SHOWN], odd.problem, odd.value) for odd in told],
        schema={
            "source_row": pl.Int64,
            "field": pl.String,
            "problem": pl.String,
            "value_as_published": pl.String,
        },
        orient="row",
    )
    found = pl.concat([from_reading, all_broken(used, warning_rules(file.kind))])
    # A row of the results page holds several results: what is odd of them is told once.
    found = found.group_by("source_row", "field", "problem", maintain_order=True).agg(
        pl.col("value_as_published")
        .drop_nulls()
        .unique(maintain_order=True)
        .str.join("; ")
        .str.slice(0, SHOWN)
    )
    known = pl.DataFrame(
        [
            (line["field"], line["problem"], line["source"])
            for line in entries("known_warnings")
            if line["round_key"] == file.round_key
        ],
        schema=dict.fromkeys(("field", "problem", "known_as"), pl.String),
        orient="row",
    )
    return (
        found.join(known, on=["field", "problem"], how="left", maintain_order="left")
        .with_columns(round_key=pl.lit(file.round_key), file=pl.lit(file.name))
        .select(figure_schemas()["warnings"].names())
        .sort("source_row", "field", "problem")
    )
