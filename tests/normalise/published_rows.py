"""Literal rows in both forms of published table, and the figures that they give."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import polars as pl

from pipeline.normalise.figures import Figures
from pipeline.normalise.round import round_figures
from pipeline.rounds import Round, known_rounds, new_round
from pipeline.sources.files import Kind, SourceFile

Row = Mapping[str, Any]

OFFICIAL = {
    "ID": "6.0-0001",
    "Submitter": "AMD",
    "Availability": "available",
    "Category": "closed",
    "Suite": "datacenter",
    "System": "8xMI355X_2xEPYC_9575F",
    "Platform": "8xMI355X_2xEPYC_9575F",
    "UsedModel": "llama2-70b-99",
    "Model": "llama2-70b-99",
    "Scenario": "Offline",
    "Accuracy": "ROUGE1: 44.5439  ROUGE2: 22.1342",
    "Nodes": 1,
    "Processor": "AMD EPYC 9575F",
    "host_processors_per_node": 2,
    "Accelerator": "AMD Instinct MI355X 288GB HBM3e",
    "a#": 8,
    "Software": "PyTorch 2.9.1, ROCm 7.0.0",
    "operating_system": "Ubuntu 22.04.5 LTS",
    "inferred": 0,
    "weight_data_types": "fp4",
    "Performance_Result": 100.5,
    "Performance_Units": "Tokens/s",
}
CHECKER = {
    "Organization": "HPE",
    "Availability": "available",
    "Division": "closed",
    "SystemType": "datacenter",
    "SystemName": "HPE ProLiant DL380a Gen12 (8x H200-NVL-141GB, TensorRT)",
    "Platform": "HPE_PROLIANT_DL380A",
    "Model": "llama3_1-405b",
    "MlperfModel": "llama3.1-405b",
    "Scenario": "Offline",
    "Result": 428.895,
    "number_of_nodes": 1,
    "host_processor_model_name": "Intel(R) Xeon(R) 6740E",
    "host_processors_per_node": 2,
    "accelerator_model_name": "NVIDIA H200-NVL-141GB",
    "accelerators_per_node": 8,
    "inferred": 0,
    "Units": "Tokens/s",
}


def official_row(**changes: object) -> Row:
    """Return a row of summary_results.json; its location follows its other fields."""
    row = {**OFFICIAL, **changes}
    place = (row[column] for column in ("Category", "Submitter"))
    run = (row[column] for column in ("Platform", "UsedModel", "Scenario"))
    return {"Location": f"./{_path(place)}/results/{_path(run)}/performance/run_1", **row}


def checker_row(**changes: object) -> Row:
    """Return a row of summary.json; its location follows its other fields."""
    row = {**CHECKER, **changes}
    place = (row[column] for column in ("Division", "Organization"))
    run = (row[column] for column in ("Platform", "Model", "Scenario"))
    return {"Location": f"{_path(place)}/results/{_path(run)}", **row}


def without(row: Row, *columns: str) -> Row:
    """Return the row without some of its columns."""
    return {column: value for column, value in row.items() if column not in columns}


def official_table(*rows: object, version: str = "v6.0") -> bytes:
    """Return the bytes of a summary_results.json with these rows."""
    return json.dumps([_versioned(row, version) for row in rows]).encode()


def checker_table(*rows: object, version: str = "v5.0") -> bytes:
    """Return the bytes of a summary.json with these rows."""
    return json.dumps({f"{i}": _versioned(row, version) for i, row in enumerate(rows)}).encode()


def source_file(
    content: bytes, name: str = "summary_results.json", round_key: str = "inference-6.0"
) -> SourceFile:
    """Return bytes as a file of a round; what kind it is follows from its name."""
    return SourceFile(
        round_key=round_key,
        kind=Kind.PAGE if name.endswith(".csv") else Kind.TABLE,
        name=name,
        url=f"https://there.test/{name}",
        content=content,
        sha256=hashlib.sha256(content).hexdigest(),
        origin="folder",
        is_partial="-first" in name,
    )


def figures_of(*files: SourceFile) -> Figures:
    """Return what the files of one round give, every row of them accounted for."""
    figures = round_figures(files, _round(files[0].round_key))
    for file in figures.sources.rows(named=True):
        of_file = pl.col("source_sha256") == file["sha256"]
        results = figures.results.filter(of_file).height
        rejects = figures.rejects.filter(of_file, pl.col("source_row") > 0).height
        assert (file["results"], file["rejects"]) == (results, rejects)
        accounted = results + file["measurements"] + file["comparisons"] + rejects
        assert file["rows"] == accounted
    keys = figures.results["result_key"]
    assert keys.n_unique() == len(keys)
    return figures


def figures_of_bytes(content: bytes, round_key: str = "inference-6.0") -> Figures:
    """Return what the bytes of one published table give."""
    return figures_of(source_file(content, round_key=round_key))


def official(*rows: object, round_key: str = "inference-6.0") -> Figures:
    """Return what a summary_results.json with these rows gives."""
    version = round_key.replace("inference-", "v")
    return figures_of_bytes(official_table(*rows, version=version), round_key)


def checker(*rows: object, round_key: str = "inference-5.0") -> Figures:
    """Return what a summary.json with these rows gives."""
    version = round_key.replace("inference-", "v")
    return figures_of_bytes(checker_table(*rows, version=version), round_key)


def only_result(figures: Figures) -> Row:
    """Return the one result, of figures that reject nothing."""
    assert reasons(figures) == []
    (result,) = figures.results.rows(named=True)
    return result


def reasons(figures: Figures) -> list[tuple[int, str, str]]:
    """Return row, field and reason of each reject."""
    return figures.rejects.select("source_row", "field", "reason").rows()


def warned(figures: Figures) -> list[tuple[int, str, str]]:
    """Return row, field and problem of each warning."""
    return figures.warnings.select("source_row", "field", "problem").rows()


@cache
def _round(round_key: str) -> Round:
    return known_rounds().get(round_key) or new_round(round_key)


def _path(parts: Any) -> str:
    return "/".join(str(part) for part in parts)


def _versioned(row: object, version: str) -> object:
    return {"version": version, **row} if isinstance(row, Mapping) else row
