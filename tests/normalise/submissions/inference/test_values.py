"""Which field of a log is the result: one case for each rule of sources.md section 5."""

import json
from typing import Any

import pytest

from tests.normalise.submissions.inference.trees import detail, rejects, rows, summary

SCENARIO_FIELDS = {
    "Offline": {"result_samples_per_second": 11, "result_tokens_per_second": 1100},
    "Server": {
        "result_scheduled_samples_per_sec": 23,
        "result_completed_samples_per_sec": 22,
        "result_completed_tokens_per_second": 2200,
    },
    "SingleStream": {
        "result_90__00_percentile_latency_ns": 90_000_000,
        "early_stopping_latency_ss": 91_000_000,
        "early_stopping_latency_ms": 99_500_000,
        "result_99__00_percentile_latency_ns": 99_000_000,
        "result_qps_without_loadgen_overhead": 13,
    },
    "MultiStream": {
        "effective_samples_per_query": 8,
        "early_stopping_latency_ms": 7_004_864,
        "result_mean_query_latency_ns": 4_000_000,
    },
}


def derived(round_: str, model: str, directory: str, logged: str, **more: object) -> dict[str, Any]:
    fields: dict[str, Any] = {**SCENARIO_FIELDS[logged], **more}
    path = f"closed/Org/results/box/{model}/{directory}/performance/run_1/mlperf_log_detail.txt"
    (row,) = rows({path: detail(logged, **fields)}, round_)
    return row


@pytest.mark.parametrize(
    ("round_", "model", "scenario", "value", "unit"),
    [
        ("1.0", "resnet50", "Offline", "11", "Samples/s"),
        ("6.0", "resnet50", "Offline", "11", "Samples/s"),
        ("1.1", "resnet50", "Server", "23", "Queries/s"),
        ("4.0", "resnet50", "Server", "23", "Queries/s"),
        ("4.1", "resnet50", "Server", "22", "Queries/s"),
        ("10.0", "resnet50", "Server", "22", "Queries/s"),
        ("1.1", "resnet50", "SingleStream", "90.0", "Latency (ms)"),
        ("2.0", "resnet50", "SingleStream", "91.0", "Latency (ms)"),
        ("3.1", "resnet50", "SingleStream", "91.0", "Latency (ms)"),
        ("1.1", "resnet50", "MultiStream", "8", "Streams"),
        ("2.1", "resnet50", "MultiStream", "7.004864", "Latency (ms)"),
        ("3.1", "llama2-70b-99", "Offline", "11", "Samples/s"),
        ("4.0", "llama2-70b-99", "Offline", "1100", "Tokens/s"),
        ("4.0", "llama2-70b-99.9", "Server", "2200", "Tokens/s"),
        ("5.0", "llama2-70b-interactive-99", "Server", "2200", "Tokens/s"),
        ("4.1", "mixtral-8x7b", "Server", "2200", "Tokens/s"),
        ("5.0", "llama3.1-405b", "Offline", "1100", "Tokens/s"),
        ("5.1", "deepseek-r1", "Server", "2200", "Tokens/s"),
        ("5.1", "llama3_1-8b", "Offline", "1100", "Tokens/s"),
        ("5.1", "llama3.1-8b-edge", "SingleStream", "90.0", "Latency (ms)"),
        ("6.0", "gpt-oss-120b", "Offline", "1100", "Tokens/s"),
        ("6.1", "gpt-oss-120b", "Server", "2200", "Tokens/s"),
        ("6.0", "whisper", "Offline", "1100", "Tokens/s"),
        ("6.0", "qwen3-vl-235b-a22b", "Offline", "11", "Samples/s"),
        ("6.0", "wan-2.2-t2v-a14b", "SingleStream", "0.091", "Latency (s)"),
    ],
)
def test_the_field_of_the_result_depends_on_round_scenario_and_benchmark(
    round_: str, model: str, scenario: str, value: str, unit: str
) -> None:
    row = derived(round_, model, scenario, scenario)
    assert (row["value"], row["unit"], row["inferred"]) == (value, unit, "0")


@pytest.mark.parametrize(("round_", "unit"), [("4.0", "Samples/s"), ("4.1", "Tokens/s")])
def test_gptj_counts_inferred_tokens_from_4_1_on(round_: str, unit: str) -> None:
    row = derived(round_, "gptj-99", "Offline", "Offline", result_inferred_tokens_per_second=69)
    assert (row["value"], row["unit"]) == ({"Samples/s": "11", "Tokens/s": "69"}[unit], unit)


def test_an_interactive_run_logs_server_and_is_not_inferred() -> None:
    row = derived("6.0", "llama2-70b-99", "Interactive", "Server")
    assert (row["scenario"], row["value"], row["inferred"]) == ("Interactive", "2200", "0")


@pytest.mark.parametrize(
    ("round_", "directory", "logged", "value", "unit"),
    [
        ("0.7", "Offline", "Single Stream", "13", "Samples/s"),
        ("5.1", "offline", "SingleStream", "13", "Samples/s"),
        ("5.1", "multistream", "SingleStream", "796.0", "Latency (ms)"),
        ("1.1", "multistream", "SingleStream", "792.0", "Latency (ms)"),
        ("2.0", "offline", "MultiStream", "2000.0", "Samples/s"),
    ],
)
def test_a_scenario_that_was_not_run_is_inferred_and_says_so(
    round_: str, directory: str, logged: str, value: str, unit: str
) -> None:
    if round_ == "0.7":
        path = f"closed/Org/results/box/resnet/{directory}/performance/run_1/mlperf_log_summary.txt"
        lines = ("QPS w/o loadgen overhead        : 13",)
        (row,) = rows({path: summary(logged, "VALID", *lines)}, round_)
    else:
        row = derived(round_, "resnet50", directory, logged)
    assert float(row["value"]) == pytest.approx(float(value), rel=1e-12)
    assert (row["unit"], row["inferred"]) == (unit, "1")


def test_a_scenario_that_no_rule_infers_is_rejected() -> None:
    path = "closed/Org/results/box/resnet50/Server/performance/run_1"
    log = detail("Offline", result_samples_per_second=11)
    assert rejects({f"{path}/mlperf_log_detail.txt": log}) == [
        ("scenario", "no rule derives this scenario from what was run", f"Offline in {path}")
    ]


def test_an_unknown_benchmark_that_logs_tokens_gets_no_unit_by_default() -> None:
    path = "closed/Org/results/box/brand-new-llm/Offline/performance/run_1"
    log = detail(**SCENARIO_FIELDS["Offline"])
    ((_, problem, value),) = rejects({f"{path}/mlperf_log_detail.txt": log}, "6.1")
    assert problem == "tokens or samples: nothing says which count for this benchmark"
    plain = detail(result_samples_per_second=11)
    (row,) = rows({f"{path}/mlperf_log_detail.txt": plain}, "6.1")
    assert (row["benchmark"], row["unit"]) == ("brand-new-llm", "Samples/s")


HARNESS = {
    "complete": True,
    "n_samples_failed": 0,
    "tps": 1175890.25,
    "qps": 310.1,
    "latency": {"avg": 3807663511.5, "percentiles": {"90.0": 6647216240.0}},
}


@pytest.mark.parametrize(
    ("model", "scenario", "value", "unit"),
    [
        ("deepseek-r1", "Server", "1175890.25", "Tokens/s"),
        ("llama2-70b-99", "Interactive", "1175890.25", "Tokens/s"),
        ("qwen3.6-27b", "SingleStream", "3807.6635115", "Latency (ms)"),
    ],
)
def test_the_new_harness_gives_tokens_and_the_average_latency(
    model: str, scenario: str, value: str, unit: str
) -> None:
    path = f"closed/Org/results/box/{model}/{scenario}/performance/result_summary.json"
    (row,) = rows({path: json.dumps(HARNESS)}, "6.1")
    assert (row["value"], row["unit"], row["inferred"]) == (value, unit, None)


@pytest.mark.parametrize(
    ("model", "scenario"), [("resnet50", "Offline"), ("whisper", "Offline"), ("yolo-95", "Server")]
)
def test_what_the_harness_does_not_surely_give_is_rejected(model: str, scenario: str) -> None:
    path = f"closed/Org/results/box/{model}/{scenario}/performance/result_summary.json"
    ((_, problem, _),) = rejects({path: json.dumps(HARNESS)}, "6.1")
    assert problem == "no rule derives this scenario from what was run"
