"""Power and energy from the samples of an analyser, ``spl.txt``: sources.md section 5, Power.

Belongs here: which samples count, and what is published of them in which round and scenario.
"""

from datetime import datetime, timedelta

import polars as pl

from pipeline.normalise.submissions.inference.logs import Fields
from pipeline.rounds import Round

CLOCKS_DIFFER_UP_TO = (1, 0)
"""From 1.1 on both machines log in UTC; before, each in the time zone that its JSON file says."""

QUERIES_ARE_LOGGED_FROM = (2, 0)
"""Before 2.0 the detail log does not hold how many queries were done."""

ONLY_POSITIVE_FROM = (3, 1)
MILLIJOULES_FROM = (3, 0)
SAMPLES_PER_QUERY = 8  # of MultiStream from 2.0 on

_LOG_TIME = "%m-%d-%Y %H:%M:%S.%f"


def power_samples(content: bytes) -> pl.DataFrame:
    """Read a sample file's lines as ``time`` and ``watts``; lines of another form are left out."""
    lines = pl.Series("line", content.decode("utf-8", "replace").splitlines(), dtype=pl.String)
    fields = lines.to_frame().select(
        time=pl.col("line")
        .str.extract(r"^Time,([^,]+),Watts,")
        .str.to_datetime("%m-%d-%Y %H:%M:%S%.f", time_unit="us", strict=False),
        watts=pl.col("line")
        .str.extract(r"^Time,[^,]+,Watts,([^,]+)")
        .cast(pl.Float64, strict=False),
    )
    return fields.filter(pl.col("time").is_not_null() & pl.col("watts").is_finite())


def power_of_run(
    samples: pl.DataFrame,
    log: Fields,
    *,
    scenario: str,
    is_inferred: bool,
    round: Round,
    lag: float,
) -> tuple[str, str] | None:
    """Return what is published of a run's power, as value and unit label, or None.

    ``log`` has the fields of the detail log that the value came from; ``lag`` is how many seconds
    the analyser's clock is behind LoadGen's. Offline, Server and Interactive give the mean power
    in the window; SingleStream and MultiStream give energy a query.
    """
    window = _window(log)
    if window is None:
        return None
    begin, end = window
    inside = samples.filter(
        (pl.col("time") + timedelta(seconds=lag)).is_between(begin, end, closed="none")
    )
    if round.order[1] >= ONLY_POSITIVE_FROM:
        inside = inside.filter(pl.col("watts") > 0)
    watts = inside["watts"].mean()
    if not isinstance(watts, float):
        return None
    if scenario not in ("SingleStream", "MultiStream"):
        return str(watts), "Watts"
    seconds = (end - begin).total_seconds()
    queries = _queries(log, scenario, seconds, round)
    if not queries:
        return None
    joules = watts * seconds / queries
    if scenario == "MultiStream" and is_inferred and round.order[1] >= QUERIES_ARE_LOGGED_FROM:
        joules *= SAMPLES_PER_QUERY
    if round.order[1] >= MILLIJOULES_FROM:
        return str(joules * 1000), "millijoules"
    return str(joules), "Joules"


def _queries(log: Fields, scenario: str, seconds: float, round: Round) -> float | None:
    """Return over how many queries the energy is spread."""
    if round.order[1] >= QUERIES_ARE_LOGGED_FROM:
        return _number(log, "result_query_count")
    if scenario == "SingleStream":
        rate = _number(log, "result_qps_with_loadgen_overhead")
        return rate and rate * seconds
    queries = _number(log, "generated_query_count")
    samples = _number(log, "generated_samples_per_query")
    return queries and samples and queries * samples


def _window(log: Fields) -> tuple[datetime, datetime] | None:
    try:
        begin, end = (
            datetime.strptime(log[field], _LOG_TIME) for field in ("power_begin", "power_end")
        )
    except (KeyError, TypeError, ValueError):
        return None
    return (begin, end) if begin < end else None


def _number(log: Fields, field: str) -> float | None:
    try:
        number = float(log[field])
    except (KeyError, TypeError, ValueError):
        return None
    return number if 0 < number < float("inf") else None
