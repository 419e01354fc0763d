"""Raw fields become canonical columns, with what was published kept beside them.

Belongs here: the meaning of each field of a row, taken by itself: names, units, counts, places.
Whether a row can be used is decided in ``faults``; how rows relate to each other in ``results``.
"""

from collections.abc import Callable, Mapping

import polars as pl

from pipeline.normalise import names
from pipeline.normalise.numbers import count, number
from pipeline.normalise.units import renamed, unit_labels
from pipeline.normalise.vocabulary import entries
from pipeline.rounds import Round

SCENARIOS = ("Offline", "Server", "Interactive", "SingleStream", "MultiStream")
COUNTS = ("nodes", "processors_per_node", "accelerators_per_node", "total_accelerators")
POWER_METRICS = ("power", "energy")
PLAIN_TEXT = ("system_name", "processor", "software", "operating_system")
MOVED = (
    "submitter",
    "accelerator",
    "benchmark",
    "scenario",
    "unit",
    "value",
    "power",
    *COUNTS,
    *PLAIN_TEXT,
)
"""Raw fields whose name the canonical column takes; the text moves to ``<name>_as_published``."""

_TEXT, _COUNT, _FLAG = pl.String(), pl.Int64(), pl.Boolean()


def canonical(raw: pl.DataFrame, round: Round, unit_label: pl.Expr) -> pl.DataFrame:
    """Return the raw rows with the canonical columns added, in the same order.

    ``raw`` is of RAW_SCHEMA; ``unit_label`` is the label that counts, corrected or as published.
    Beside the columns of ``results`` there are ``*_is_known`` flags, ``location_parts``, and
    ``power`` with its ``power_metric``.
    """
    frame = raw.rename({field: f"{field}_as_published" for field in MOVED})
    frame = _with_places(frame)
    frame = _with_submitter(frame)
    frame = _with_accelerator(frame)
    frame = _with_benchmark(frame, round)
    frame = _with_unit(frame, unit_label)
    frame = _with_accelerator_counts(frame)
    return _with_description(frame, round)


def described(
    frame: pl.DataFrame,
    column: str,
    describe: Callable[[str], object],
    fields: Mapping[str, pl.DataType],
) -> pl.DataFrame:
    """Look a name column up once per distinct spelling; blank counts as a spelling.

    The fields of the descriptions, named by ``fields`` with their types, become columns.
    """
    spellings = frame[column].unique(maintain_order=True).to_list()
    found = [describe(spelling or "") for spelling in spellings]
    lookup = pl.DataFrame(
        [
            pl.Series(column, spellings, dtype=pl.String),
            *(
                pl.Series(field, [getattr(each, field) for each in found], dtype=dtype)
                for field, dtype in fields.items()
            ),
        ]
    )
    return frame.join(lookup, on=column, how="left", nulls_equal=True, maintain_order="left")


def _translated(
    frame: pl.DataFrame, column: str, translate: Callable[[str | None], str | None]
) -> pl.Expr:
    """Return the column with each distinct text translated once."""
    spellings = frame[column].unique(maintain_order=True).drop_nulls().to_list()
    return pl.col(column).replace({text: translate(text) for text in spellings})


def _with_places(frame: pl.DataFrame) -> pl.DataFrame:
    """Read division, category and the location's parts; ids lose a leading v (F11)."""
    category = pl.col("category").str.to_lowercase().str.replace_all(r"\s", "")
    categories = category.str.split(",").list.unique().list.sort().list.join(",")
    location = pl.col("location").str.strip_chars().str.strip_prefix("./")  # F11: from 6.0 on
    location_parts = location.str.split("/")
    entry_id = pl.col("entry_id").str.strip_chars().str.strip_prefix("v")
    return frame.with_columns(
        division=pl.col("division").str.strip_chars().str.to_lowercase(),
        category=categories.replace("", None),
        entry_id=entry_id.replace("", None),
        location_parts=location_parts,
        submitter_directory=pl.coalesce(
            location_parts.list.get(1, null_on_oob=True).replace("", None),
            "submitter_as_published",
        ),
    )


def _with_submitter(frame: pl.DataFrame) -> pl.DataFrame:
    fields = {"submitter": _TEXT, "organisations": pl.List(_TEXT), "is_known": _FLAG}
    frame = described(frame, "submitter_as_published", names.describe_submitter, fields)
    return frame.rename({"is_known": "submitter_is_known"})


def _with_accelerator(frame: pl.DataFrame) -> pl.DataFrame:
    fields = {
        "accelerator": _TEXT,
        "accelerator_vendor": _TEXT,
        "accelerator_memory_gb": _COUNT,
        "accelerator_power_cap_w": _COUNT,
        "is_heterogeneous": _FLAG,
        "count_in_name": _COUNT,
        "is_known": _FLAG,
    }
    frame = described(frame, "accelerator_as_published", names.describe_accelerator, fields)
    return frame.rename({"is_known": "accelerator_is_known"}).with_columns(
        accelerator_as_published=pl.col("accelerator_as_published").replace("", None)
    )


def _with_benchmark(frame: pl.DataFrame, round: Round) -> pl.DataFrame:
    """Add the benchmark and scenario; where the table names no benchmark, its directory does."""
    fields = {"benchmark": _TEXT, "accuracy_target": _TEXT, "is_known": _FLAG}
    named = pl.col("benchmark_as_published")
    frame = described(
        frame.with_columns(
            pl.when(named.str.strip_chars() != "").then(named).otherwise("model_used")
        ),
        "benchmark_as_published",
        lambda name: names.describe_benchmark(round, name),
        fields,
    ).rename({"is_known": "benchmark_is_known"})
    spellings = {scenario.casefold(): scenario for scenario in SCENARIOS}
    spelled = pl.col("scenario_as_published").str.strip_chars().str.to_lowercase()
    frame = frame.with_columns(scenario=spelled.replace_strict(spellings, default=None))
    frame = frame.with_columns(
        benchmark=renamed("benchmark", round), scenario=renamed("scenario", round)
    )
    family = _translated(
        frame, "benchmark", lambda name: names.benchmark_family(round.suite, name or "")
    )
    return frame.with_columns(benchmark_family=family)


def _with_unit(frame: pl.DataFrame, unit_label: pl.Expr) -> pl.DataFrame:
    """Add value, unit and metric in the true unit (F4); milliseconds whatever the label."""
    frame = frame.with_columns(unit_label=unit_label)
    frame = frame.join(unit_labels(), on="unit_label", how="left", maintain_order="left")
    powers = [line for line in entries("units") if line["metric"] in POWER_METRICS]
    factors = {line["unit_as_published"]: float(line["factor"]) for line in powers}
    metrics = {line["unit_as_published"]: line["metric"] for line in powers}
    power, power_unit = number("power_as_published"), pl.col("power_unit").str.strip_chars()
    return frame.with_columns(
        value=number("value_as_published") * pl.col("factor"),
        power=pl.when(power > 0).then(power * power_unit.replace_strict(factors, default=None)),
        power_metric=power_unit.replace_strict(metrics, default=None),
    )


def _with_accelerator_counts(frame: pl.DataFrame) -> pl.DataFrame:
    """Add how many accelerators there are: as published, and as really ran.

    A count in the name of a product on several nodes wins (F5: 87, not 11 x 8) if it could be the
    total: more than one node holds and not more than the nodes hold. Else it is the published
    total; a total of 0 is not known where an accelerator is named. A blank count on a CPU-only
    system means none (F13).
    """
    no_accelerator = pl.col("accelerator").is_null()
    frame = frame.with_columns(**{column: count(f"{column}_as_published") for column in COUNTS})
    frame = frame.with_columns(
        nodes=pl.col("nodes").replace(0, None),
        accelerators_per_node=pl.when(no_accelerator)
        .then(pl.lit(0))
        .otherwise("accelerators_per_node"),
    )
    frame = frame.with_columns(
        accelerators_as_published=pl.coalesce(
            "total_accelerators", pl.col("nodes") * pl.col("accelerators_per_node")
        )
    )
    named = pl.col("count_in_name")
    could_be_total = (named > pl.col("accelerators_per_node")) & (
        named <= pl.col("accelerators_as_published")
    )
    is_named = (pl.col("nodes") > 1) & ~pl.col("is_heterogeneous") & could_be_total
    return frame.with_columns(
        accelerators=pl.when(no_accelerator)
        .then(pl.lit(0))
        .when(is_named)
        .then(named)
        .otherwise(pl.col("accelerators_as_published").replace(0, None))
    )


def _deployment(availability: pl.Expr, round: Round) -> pl.Expr:
    """Return whether a training system stands on premise or in a cloud; inference does not say."""
    if round.suite != "training":
        return pl.lit(None, dtype=pl.String)
    told = {line["as_published"]: line["deployment"] or None for line in entries("availability")}
    return availability.replace_strict(told, default=None, return_dtype=pl.String)


def _with_description(frame: pl.DataFrame, round: Round) -> pl.DataFrame:
    """Add availability, and text with plain blanks and hyphens (F10)."""
    availability = {line["as_published"]: line["availability"] for line in entries("availability")}
    published = pl.col("availability").str.strip_chars().replace("", None)
    spelled = published.str.to_lowercase()
    inferred = count("inferred") == 1
    if not round.inferred_flag:  # F7: the flag says nothing; only edge systems can infer at all
        inferred = pl.when(pl.col("category") == "datacenter").then(pl.lit(value=False))
    return frame.with_columns(
        availability=spelled.replace_strict(availability, default=published),
        deployment=_deployment(spelled, round),
        availability_is_known=spelled.is_in(list(availability)).fill_null(value=False),
        weight_data_types=_translated(frame, "weight_data_types", names.weight_data_types),
        is_inferred=inferred,
        accuracy=pl.col("accuracy").str.strip_chars().replace("", None),
        **{
            column: _translated(frame, f"{column}_as_published", names.plain)
            for column in PLAIN_TEXT
        },
    )
