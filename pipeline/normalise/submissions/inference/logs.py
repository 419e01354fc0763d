"""A run's log becomes fields: LoadGen's detail log, its summary, the summary of the 6.1 harness.

Belongs here: finding the lines that matter, as bytes and once, and naming what they say alike for
all three, by the keys of the detail log. What a field means is decided in ``rules``. No input is
an error: what cannot be read is simply not there, and its run is judged by what is.
"""

import json
import re
from collections.abc import Iterable
from functools import cache

from pipeline.normalise.submissions.descriptions import storable
from pipeline.normalise.vocabulary import entries

Fields = dict[str, str]
"""What a log says, by key; where it says two things under one key, both, joined by ' and '."""

VALIDITY, SCENARIO, ERRORS = "result_validity", "effective_scenario", "errors"
TOKEN_FIELDS = ("result_tokens_per_second", "result_completed_tokens_per_second")
POWER_FIELDS = (
    "power_begin",
    "power_end",
    "result_query_count",
    "result_qps_with_loadgen_overhead",
    "generated_query_count",
    "generated_samples_per_query",
)
SUMMARY_FIELDS = {
    b"Result is": VALIDITY,
    b"Scenario": SCENARIO,
    b"Samples per second": "result_samples_per_second",
    b"Tokens per second": "result_tokens_per_second",
    b"Tokens per second (inferred)": "result_inferred_tokens_per_second",
    b"Scheduled samples per second": "result_scheduled_samples_per_sec",
    b"Completed samples per second": "result_completed_samples_per_sec",
    b"Completed tokens per second": "result_completed_tokens_per_second",
    b"Completed tokens per second (inferred)": "result_inferred_completed_tokens_per_second",
    b"Samples per query": "effective_samples_per_query",
    b"samples_per_query": "effective_samples_per_query",
    b"90.00 percentile latency (ns)": "result_90.00_percentile_latency_ns",
    b"99.00 percentile latency (ns)": "result_99.00_percentile_latency_ns",
    b"QPS w/o loadgen overhead": "result_qps_without_loadgen_overhead",
    b"* Early stopping 90th percentile estimate": "early_stopping_latency_ss",
    b"* Early stopping 90.0th percentile estimate": "early_stopping_latency_ss",
    b"* Early stopping 99th percentile estimate": "early_stopping_latency_ms",
    b"* Early stopping 99.0th percentile estimate": "early_stopping_latency_ms",
}
"""The summary's labels, and the keys under which the detail log says the same."""

HARNESS_FIELDS = ("tps", "latency.avg")

_LABELS = b"|".join(re.escape(label) for label in sorted(SUMMARY_FIELDS, key=len, reverse=True))
_SUMMARY_LINE = re.compile(rb"^[ \t]*(" + _LABELS + rb")[ \t]*:[ \t]*([^\r\n]*)", re.MULTILINE)
_SUMMARY_ERRORS = re.compile(rb"^(\d+) ERRORS? encountered", re.MULTILINE)
_DETAIL_ERROR = re.compile(rb'"is_error": ?true')


@cache
def log_fields() -> tuple[str, ...]:
    """Return every key that is read from a log."""
    lines = entries("result_fields")
    results = {line[column] for line in lines for column in ("field", "per_field") if line[column]}
    return (VALIDITY, SCENARIO, ERRORS, *sorted(results.union(TOKEN_FIELDS, POWER_FIELDS)))


def detail_fields(content: bytes) -> Fields:
    """Read the ``:::MLLOG`` lines of a detail log.

    A line is found by its key, so that one cut by a raw newline, or with a bad escape, costs no
    other line (T31). ``errors`` is how many lines say that they are errors.
    """
    found = (
        (match[1].decode(), match[2] if match[2] is not None else match[3])
        for match in _detail_line().finditer(content)
    )
    fields = _joined(found)
    errors = len(_DETAIL_ERROR.findall(content))
    return fields | {ERRORS: str(errors)} if errors else fields


def summary_fields(content: bytes) -> Fields:
    """Read the lines of a summary that say what is read from detail logs."""
    found = ((SUMMARY_FIELDS[label], value) for label, value in _SUMMARY_LINE.findall(content))
    fields = _joined(found)
    errors = _SUMMARY_ERRORS.search(content)
    return fields | {ERRORS: errors[1].decode()} if errors else fields


def harness_fields(content: bytes) -> Fields:
    """Read a ``result_summary.json``: its run is valid if it is complete and no sample failed."""
    try:
        summary = json.loads(content, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(summary, dict):
        return {}
    latency = summary.get("latency")
    average = latency.get("avg") if isinstance(latency, dict) else None
    values = {"tps": summary.get("tps"), "latency.avg": average}
    is_valid = summary.get("complete") is True and summary.get("n_samples_failed") == "0"
    return {
        VALIDITY: "VALID" if is_valid else "INVALID",
        **{
            field: text
            for field, value in values.items()
            if isinstance(value, str) and (text := storable(value)) is not None
        },
    }


@cache
def _detail_line() -> re.Pattern[bytes]:
    keys = b"|".join(re.escape(field.encode()) for field in log_fields())
    return re.compile(
        rb':::MLLOG \{"key": "(' + keys + rb')", "value": (?:"((?:[^"\\\r\n]|\\.)*)"|([^",}\s]+))'
    )


def _joined(found: Iterable[tuple[str, bytes]]) -> Fields:
    fields: Fields = {}
    for key, value in found:
        text = value.decode("utf-8", "replace").strip()
        if fields.setdefault(key, text) != text:
            fields[key] += f" and {text}"
    return fields
