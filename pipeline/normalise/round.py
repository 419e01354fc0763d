"""The files of one round become its figures.

Belongs here: which file serves for what. A published table gives the results; the results page is
held against it, and gives the results only where a round has nothing else.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from pipeline.errors import FileFault
from pipeline.normalise.canonical import canonical
from pipeline.normalise.figures import Figures, figure_schemas
from pipeline.normalise.page_export import read_page_export
from pipeline.normalise.published import RAW_SCHEMA, RawTable, read_published_table
from pipeline.normalise.results import (
    ORIGINS_SCHEMA,
    file_reject,
    normalise_table,
    source_line,
)
from pipeline.normalise.submissions.derived import DerivedTable
from pipeline.rounds import Round
from pipeline.sources.files import Archive, Kind, SourceFile, file_url, folder_url


def round_figures(files: Sequence[SourceFile], round: Round, *, has_logs: bool = False) -> Figures:
    """Return all figures that a round's files give; none if there are none.

    A results page that cannot be read becomes a reject, since the table does not depend on it.
    Where a round ``has_logs`` the page never gives its results.

    Raises:
        FileFault: the file that should give the results cannot be used.
    """
    tables, pages = (
        sorted((file for file in files if file.kind is kind), key=_rank)
        for kind in (Kind.TABLE, Kind.PAGE)
    )
    read_page = _cells_of_page if tables or has_logs else _results_of_page
    figures = [_results_of_table(table, round) for table in tables[:1]]
    figures += [read_page(page, round) for page in pages[:1]]
    figures += [_unused(other, used[0]) for used in (tables, pages) for other in used[1:]]
    return Figures.concat(figures)


def derived_figures(derived: DerivedTable, archive: Archive, round: Round) -> Figures:
    """Return the figures that a round's submission logs give.

    Their ``inferred`` is true of each row, whatever the round's published flag is worth.
    """
    file = SourceFile(
        round_key=round.key,
        kind=Kind.LOGS,
        name=archive.name,
        url=archive.url,
        content=b"",
        sha256=derived.sha256,
        size=derived.bytes,
        origin=archive.origin,
        commit=archive.commit or derived.commit,
    )
    origins = _origins(derived.files, round, file.commit)
    figures = normalise_table(derived.table, file, replace(round, inferred_flag=True), origins)
    return replace(figures, runs=_runs(derived.runs, figures.results, round, file.commit))


def _runs(
    runs: pl.DataFrame, results: pl.DataFrame, round: Round, commit: str | None
) -> pl.DataFrame:
    """Return the runs as declared, with the result each was scored for; null if it has none."""
    directories = pl.col("log").str.split("/").list
    runs = runs.with_columns(
        round_key=pl.lit(round.key, dtype=pl.String),
        submitter_directory=directories.get(0, null_on_oob=True),
        platform=directories.get(2, null_on_oob=True),
        model_used=directories.get(3, null_on_oob=True),
        log=directories.get(4, null_on_oob=True),
        source_url=pl.Series(
            [file_url(round.repository, commit, path) for path in runs["log"]], dtype=pl.String
        ),
        source_sha256=pl.col("sha256"),
    )
    scored_for = ("submitter_directory", "platform", "model_used")
    known = results.select(*scored_for, "result_key", "division", "submitter", "benchmark")
    return (
        runs.join(known, on=scored_for, how="left", maintain_order="left")
        .select(figure_schemas()["runs"].names())
        .sort("submitter_directory", "platform", "model_used", "log")
    )


def _origins(files: pl.DataFrame, round: Round, commit: str | None) -> pl.DataFrame:
    """Return the address and digest of what each row's value stands in, by ``source_row``.

    That is a log; a value made of several has the folder's address and a digest over theirs.
    """
    logs = (
        files.filter("gives_value")
        .sort("source_row", "path")
        .group_by("source_row", maintain_order=True)
        .agg("path", "sha256", pl.col("run_path").first())
    )
    origins = [
        (row, file_url(round.repository, commit, paths[0]), digests[0])
        if len(paths) == 1
        else (row, folder_url(round.repository, commit, folder), _digest_over(digests))
        for row, paths, digests, folder in logs.rows()
    ]
    return pl.DataFrame(origins, schema=ORIGINS_SCHEMA, orient="row")


def _digest_over(digests: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def with_logs(published: Figures, derived: Figures) -> Figures:
    """Hold the published results against those of the logs, which serve where there are none.

    The published value stays the official one. Whether a result was inferred is taken from the
    logs where the table cannot be trusted on it (F7).
    """
    if published.results.is_empty():
        # Nobody published a label: it follows from the log's field, and serves to compare only.
        unlabelled = pl.lit(None, dtype=pl.String).alias("unit_as_published")
        results = derived.results.with_columns(unlabelled)
        return Figures.concat([published, replace(derived, results=results)])
    known = derived.results.select("result_key", from_logs="is_inferred")
    results = published.results.join(known, on="result_key", how="left", maintain_order="left")
    results = results.with_columns(is_inferred=pl.coalesce("is_inferred", "from_logs"))
    held_against = derived.sources.with_columns(
        results=pl.lit(0, dtype=pl.Int64), comparisons=pl.col("results")
    )
    return Figures.of(
        results=results.drop("from_logs"),
        rejects=pl.concat([published.rejects, derived.rejects]),
        warnings=pl.concat([published.warnings, derived.warnings]),
        sources=pl.concat([published.sources, held_against]),
        page_cells=published.page_cells,
        derived_results=derived.results,
        reconciliation=published.reconciliation,
        runs=derived.runs,
    )


def _rank(file: SourceFile) -> tuple[bool, bool, str]:
    """Put a whole file before a part, and the official table, which has ids, before the other."""
    return file.is_partial, not file.name.endswith("summary_results.json"), file.name


def _unused(file: SourceFile, used: SourceFile) -> Figures:
    """Account for a second table or page of the round."""
    fault = FileFault(file.name, f"not used: {used.name} serves", "Nothing to do.")
    return Figures.of(
        sources=source_line(file), rejects=file_reject(fault, file.round_key, file.sha256)
    )


def _results_of_table(file: SourceFile, round: Round) -> Figures:
    return normalise_table(read_published_table(file.content, file.name), file, round)


def _results_of_page(file: SourceFile, round: Round) -> Figures:
    """Take the results from the page; it names no directories, so names stand in for them."""
    raw = _raw_page(file, round)
    return normalise_table(RawTable(raw, warnings=[], rejects=[]), file, round)


def _cells_of_page(file: SourceFile, round: Round) -> Figures:
    try:
        raw = _raw_page(file, round)
    except FileFault as fault:
        return Figures.of(
            sources=source_line(file), rejects=file_reject(fault, file.round_key, file.sha256)
        )
    label = pl.col("unit_as_published").str.strip_chars()
    cells = canonical(raw, round, unit_label=label).with_columns(
        round_key=pl.lit(round.key),
        accelerators=pl.col("accelerators_as_published"),
        source_url=pl.lit(file.url),
        source_sha256=pl.lit(file.sha256),
    )
    usable = pl.col("value").is_not_null() & pl.col("scenario").is_not_null()
    unusable = cells.filter(~usable).select(
        "round_key",
        "source_row",
        "submitter_as_published",
        "value_as_published",
        "model_used",
        "source_sha256",
        file=pl.lit(file.name),
        field=pl.lit("value"),
        reason=pl.lit("no number to compare, or unit or scenario not known"),
        platform=pl.lit(None, dtype=pl.String),
        scenario=pl.col("scenario_as_published"),
    )
    return Figures.of(
        page_cells=cells.filter(usable).select(figure_schemas()["page_cells"].names()),
        rejects=unusable.select(figure_schemas()["rejects"].names()),
        sources=source_line(
            file,
            rows=cells.height,
            rejects=unusable.height,
            comparisons=cells.height - unusable.height,
        ),
    )


def _raw_page(file: SourceFile, round: Round) -> pl.DataFrame:
    """Return the page's cells as raw rows of RAW_SCHEMA."""
    cells = read_page_export(file.content, file.name)
    raw = cells.select(
        "source_row",
        "entry_id",
        "availability",
        "division",
        "system_name",
        "processor",
        "nodes",
        "accelerators_per_node",
        "scenario",
        submitter="submitter_as_published",
        accelerator="accelerator_as_published",
        total_accelerators="accelerators",
        benchmark="benchmark_as_published",
        model_used="benchmark_as_published",
        platform="system_name",
        value="value_as_published",
        unit="unit_as_published",
        category=pl.lit("datacenter"),  # the exports are of the datacenter page
        version=pl.lit(round.round),  # the exports do not say
    )
    missing = [
        pl.lit(None, dtype=t).alias(n) for n, t in RAW_SCHEMA.items() if n not in raw.columns
    ]
    return raw.with_columns(missing).select(*RAW_SCHEMA)
