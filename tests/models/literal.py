"""Literal inner tables for tests of the models: one result, and what surrounds it, by default."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import polars as pl

Line = dict[str, Any]


def result(key: str, round: str = "6.0", value: float = 100.0, **given: Any) -> Line:
    """Return a closed datacenter result of Acme on eight A1 of Aurora, but for what is given."""
    suite = given.get("suite", "inference")
    submitter = given.get("submitter", "Acme")
    return {
        "result_key": key,
        "suite": suite,
        "round": round,
        "round_key": f"{suite}-{round}",
        "division": "closed",
        "category": "datacenter",
        "availability": "available",
        "entry_id": f"{round}-{key}",
        "submitter": submitter,
        "submitter_as_published": submitter,
        "submitter_directory": submitter,
        "organisations": [submitter],
        "system_name": "Box",
        "platform": key,
        "accelerator": "A1",
        "accelerator_vendor": "Aurora",
        "nodes": 1,
        "accelerators": 8,
        "processor": "EPYC 1",
        "processors_per_node": 2,
        "benchmark": "llm",
        "model_used": given.get("benchmark", "llm"),
        "benchmark_family": given.get("benchmark", "llm"),
        "scenario": "Offline",
        "value": value,
        "unit": "tokens/s",
        "lower_is_better": False,
        "weight_data_types": "fp8",
        "is_heterogeneous": False,
        "is_inferred": False,
        "is_accuracy_copy": False,
        "source_kind": "published table",
    } | given


LATENCY = {"unit": "ms", "lower_is_better": True, "scenario": "SingleStream"}
CPU_ONLY = {"accelerator": None, "accelerator_vendor": None, "accelerators": 0}
TRAINING = {
    "suite": "training",
    "category": None,
    "scenario": None,
    "unit": "minutes",
    "lower_is_better": True,
}


def tables(
    results: Iterable[Line],
    compatibility: Iterable[Line] | None = None,
    partial: Iterable[str] = (),
    unreviewed: Iterable[str] = (),
    withdrawn: Iterable[Line] = (),
) -> Mapping[str, pl.DataFrame]:
    """Return the inner tables: the results, their rounds, and what is said of these.

    All rounds are compatible unless ``compatibility`` says which are; ``partial`` and
    ``unreviewed`` are round keys, and ``withdrawn`` are lines that ``withdrawal`` makes.
    """
    lines = list(results)
    versions = {(line["suite"], line["round"]) for line in lines}
    rounds = sorted(versions, key=lambda version: (version[0], float(version[1])))
    cells = {
        (line["suite"], category, line["benchmark_family"])
        for line in lines
        for category in (line["category"] or "").split(",")
    }
    everything = [
        compatible(round, suite=suite, category=category or None, benchmark=benchmark)
        for suite, round in rounds
        for of_suite, category, benchmark in sorted(cells)
        if of_suite == suite
    ]
    return {
        "results": _frame(lines),
        "compatibility": _frame(everything if compatibility is None else compatibility),
        "rounds": _frame(
            {
                "round_key": f"{suite}-{round}",
                "suite": suite,
                "round": round,
                "position": position,
                "is_reviewed": f"{suite}-{round}" not in unreviewed,
            }
            for position, (suite, round) in enumerate(rounds, start=1)
        ),
        "sources": _frame(
            {
                "round_key": f"{suite}-{round}",
                "file": f"{suite}-{round}.json",
                "is_partial": f"{suite}-{round}" in partial,
            }
            for suite, round in rounds
        ),
        "withdrawn_results": _frame(withdrawn),
    }


def withdrawal(platform: str, round_key: str = "inference-6.0", **given: Any) -> Line:
    """Return a line that withdraws all of Acme's closed results on a platform."""
    return {
        "round_key": round_key,
        "division": "closed",
        "submitter_directory": "Acme",
        "platform": platform,
        "reported_on": date(2026, 5, 1),
        "reason": "withdrawn by the submitter",
        "source": "results page",
    } | given


def compatible(round: str, group: str = "1", **given: Any) -> Line:
    """Return a line of the compatibility table, of datacenter llm but for what is given."""
    return {
        "suite": "inference",
        "category": "datacenter",
        "benchmark": "llm",
        "round": round,
        "scenario": "*",
        "compatibility_group": group,
    } | given


def _frame(lines: Iterable[Line]) -> pl.DataFrame:
    return pl.DataFrame(list(lines), infer_schema_length=None)
