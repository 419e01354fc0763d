"""The least that the same work can take: read, parse, write, and nothing that is known of results.

Belongs here: what a build is measured against. It reads the same files, takes the same lines out of
the same logs, and writes at least as many rows, as Parquet. It gives no name or unit its true form,
judges no run, keeps no digest, checks nothing and makes no mart. Nothing of the package is used.

    python -m bench.floor build DATA FOLDER [--submissions]
    python -m bench.floor training ARCHIVE
"""

import argparse
import csv
import gzip
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_MARK = b":::MLLOG "
_RUN_KEYS = ("init_start", "init_stop", "run_start", "run_stop", "seed", "global_batch_size")
_RUN_KEY = re.compile(rb'"key": ?"(?:' + "|".join((*_RUN_KEYS, "eval_accuracy")).encode() + rb')"')
_RUN_LOG = re.compile(r"([^/]+)/results/([^/]+)/([^/]+)/(result_[^/]*)\.txt")
_SYSTEM = re.compile(r"(?:(?:closed|open|network)/)?([^/]+)/systems/([^/]+)\.json")
_DESCRIPTION = re.compile(
    r"(?:closed|open|network)/[^/]+/"
    r"(?:measurements/[^/]+/[^/]+/[^/]+/[^/]+\.json|results/.+/measurements\.json)"
)
_INFERENCE_LOG = re.compile(
    r"((?:closed|open|network)/[^/]+/results/[^/]+/[^/]+/[^/]+)/"
    r"(?:performance/(?:run_\d+/)?(mlperf_log_detail\.txt|mlperf_log_summary\.txt|spl\.txt"
    r"|result_summary\.json)|accuracy/(accuracy\.txt))"
)
_DETAIL_LINE = re.compile(
    rb':::MLLOG \{"key": "(result_[a-z_]+|result_9[09][.]00_percentile_latency_ns'
    rb"|effective_scenario|effective_samples_per_query|early_stopping_latency_[ms]s"
    rb'|power_begin|power_end|generated_[a-z_]+)", "value": (?:"([^"\r\n]*)"|([^",}\s]+))'
)
_SUMMARY_LINE = re.compile(
    rb"^[ \t]*(Result is|Scenario|(?:Scheduled |Completed )?[Ss]amples per (?:second|query)"
    rb"|(?:Completed t|T)okens per second[^:\r\n]*|QPS w/o loadgen overhead"
    rb"|9[09][.]00 percentile latency \(ns\)|[*] Early stopping 9[09][^:\r\n]*)[ \t]*:([^\r\n]*)",
    re.MULTILINE,
)
_SAMPLE = re.compile(rb"^Time,([^,\r\n]+),Watts,([^,\r\n]+)", re.MULTILINE)
_DESCRIBED = (
    *("submitter", "division", "status", "system_type", "system_name", "accelerator_model_name"),
    *("number_of_nodes", "accelerators_per_node", "host_processor_model_name"),
    *("host_processors_per_node", "framework", "operating_system"),
    *("weight_data_types", "tps", "complete", "n_samples_failed"),
)
_METRIC = re.compile(
    rb"\b(accuracy|exact_match|f1|AUC|mAP|Total|BLEU|mean|rouge[12L](?:sum)?|gen_len|CLIP_SCORE"
    rb"|FID_SCORE|tokens_per_sample|gsm8k|mbxp|vbench_score|lifetime_\w+/rating)"
    rb"[\"']*\s*[=:]\s*[\"']?(?:np[.]\w+\()?([\d.]+)"
)

Rows = list[dict[str, Any]]


def files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Give the files of a gzipped tar in order, without the top folder in their paths."""
    with gzip.open(archive) as tar:
        path = ""
        while (header := tar.read(512)).strip(b"\0"):
            size, kind = int(header[124:136].strip(b"\0 ") or b"0", 8), header[156:157]
            content = tar.read(size)
            tar.seek(-size % 512, 1)
            if kind in b"xg":
                path = content.rpartition(b"path=")[2].partition(b"\n")[0].decode()
                path = path if kind == b"x" and b"path=" in content else ""
            elif kind == b"L":
                path = content.rstrip(b"\0").decode()
            else:
                parts = (part.partition(b"\0")[0] for part in (header[345:500], header[:100]))
                path = path or b"/".join(filter(None, parts)).decode()
                if kind in b"0\0":
                    yield path.partition("/")[2], content
                path = ""


def run_records(content: bytes) -> dict[str, Any]:
    """Return the records of a run's log that a score needs, parsed."""
    found = (text.partition(b"\n")[0] for text in content.split(_MARK)[1:])
    records = (_json(text) for text in found if _RUN_KEY.search(text))
    return {record["key"]: record for record in records if "time_ms" in record}


def training_rows(archive: Path) -> tuple[Rows, Rows]:
    """Return a row a benchmark's directory, and a row a run."""
    results: dict[tuple[str, ...], dict[str, Any]] = {}
    runs: Rows = []
    systems: dict[tuple[str, ...], Any] = {}
    for path, content in files(archive):
        if match := _RUN_LOG.fullmatch(path):
            submitter, system, benchmark, run = match.groups()
            said = run_records(content)
            times = {key: record["time_ms"] for key, record in said.items()}
            minutes = (times.get("run_stop", 0) - times.get("run_start", 0)) / 60000
            runs.append({"log": path, "minutes": minutes, **times})
            row = {"submitter": submitter, "system": system, "benchmark": benchmark}
            results.setdefault((submitter, system, benchmark), {**row, "value": minutes})
        elif match := _SYSTEM.fullmatch(path):
            systems[match.groups()] = _json(content)
        elif "/power/" in path:
            runs[-1]["power"] = sum(1 for text in content.split(_MARK) if _json(text))
    return [{**row, **_described(systems.get(key[:2], {}))} for key, row in results.items()], runs


def inference_rows(archive: Path) -> Rows:
    """Return a row a scenario's directory, with what its logs and its system's file say."""
    results: dict[str, dict[str, Any]] = {}
    systems: dict[tuple[str, ...], Any] = {}
    for path, content in files(archive):
        if match := _INFERENCE_LOG.fullmatch(path):
            row = results.setdefault(match[1], {"location": match[1]})
            row.update(_said(match[2] or match[3], content))
        elif match := _SYSTEM.fullmatch(path):
            systems[match.groups()] = _json(content)
        elif _DESCRIPTION.fullmatch(path):
            _json(content)
    for location, row in results.items():
        _, submitter, _, system, *_ = location.split("/")
        row.update(_described(systems.get((submitter, system), {})))
    return list(results.values())


def _said(file: str, content: bytes) -> dict[str, Any]:
    """Return what a log says that a result could need."""
    if file == "mlperf_log_detail.txt":
        return {k.decode(): (a or b).decode() for k, a, b in _DETAIL_LINE.findall(content)}
    if file == "mlperf_log_summary.txt":
        return {k.decode(): v.decode() for k, v in _SUMMARY_LINE.findall(content)}
    if file == "spl.txt":
        watts = [float(watts) for _, watts in _SAMPLE.findall(content)]
        return {"watts": sum(watts) / len(watts) if watts else None}
    if file == "accuracy.txt":
        return {k.decode(): v.decode() for k, v in _METRIC.findall(content)}
    return _described(_json(content))


def _json(content: bytes) -> dict[str, Any]:
    """Return an object, empty where there is none: what people wrote is not always JSON."""
    try:
        parsed = json.loads(content)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _described(said: Mapping[str, Any]) -> dict[str, Any]:
    return {key: said[key] for key in _DESCRIBED if key in said}


def table_rows(file: Path) -> Rows:
    """Return a row a row of a published table, or of the results page's export."""
    content = file.read_bytes()
    if file.suffix == ".csv":
        encoding = "utf-16" if content.startswith(b"\xff\xfe") else "utf-8-sig"
        text = content.decode(encoding, "ignore")
        delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return [{str(place): cell for place, cell in enumerate(line)} for line in lines]
    table = json.loads(content)
    return list(table.values()) if isinstance(table, dict) else table


def write(rows: Rows, file: Path) -> int:
    """Write rows as text to Parquet, and return how many they are."""
    import polars as pl

    names = sorted({name for row in rows for name in row})
    columns = {
        name: [None if (value := row.get(name)) is None else str(value) for row in rows]
        for name in names
    }
    pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)).write_parquet(file)
    return len(rows)


def build(data: Path, folder: Path, submissions: bool) -> dict[str, int]:
    """Read a folder's tables, and its archives if wanted, and write what they hold."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {"tables": 0, "derived": 0, "runs": 0}
    for table in sorted((data / "published").iterdir()):
        written["tables"] += write(table_rows(table), folder / f"{table.name}.parquet")
    for archive in sorted((data / "submissions").iterdir()) if submissions else ():
        if archive.name.startswith("training"):
            results, runs = training_rows(archive)
            written["runs"] += write(runs, folder / f"{archive.name}.runs.parquet")
        else:
            results = inference_rows(archive)
        written["derived"] += write(results, folder / f"{archive.name}.parquet")
    return written


def main() -> None:
    """Read the command line; tell how many rows were read or written as JSON."""
    parser = argparse.ArgumentParser(description="Read, parse and write, and nothing else.")
    parser.add_argument("work", choices=("build", "training"))
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--submissions", action="store_true")
    arguments = parser.parse_args()
    if arguments.work == "build":
        print(json.dumps(build(arguments.source, arguments.folder, arguments.submissions)))
    else:
        results, runs = training_rows(arguments.source)
        print(json.dumps({"results": len(results), "runs": len(runs)}))


if __name__ == "__main__":
    main()
