import pytest

from tests.normalise.published_rows import (
    checker,
    checker_row,
    official,
    official_row,
    only_result,
    reasons,
)

NEURAL_MAGIC = {
    "Submitter": "NeuralMagic",
    "Category": "open",
    "Model": "llama2-70b-99",
    "UsedModel": "neuralmagic_Llama-2-7b-chat-hf-FP8",
}
WHISPER = {"Model": "whisper", "UsedModel": "whisper"}
LLAMA_8B = {"Model": "llama3.1-8b", "UsedModel": "llama3_1-8b"}


@pytest.mark.parametrize(
    ("round_", "row", "scenario", "label", "unit"),
    [
        ("4.1", WHISPER, "Offline", "Samples/s", "samples/s"),
        ("5.1", WHISPER, "Offline", "Samples/s", "tokens/s"),
        ("6.0", WHISPER, "Offline", "Samples/s", "tokens/s"),
        ("6.0", WHISPER, "Offline", "Tokens/s", "tokens/s"),
        ("5.1", LLAMA_8B, "Interactive", "Queries/s", "tokens/s"),
        ("5.1", LLAMA_8B, "Server", "Queries/s", "queries/s"),
        ("6.0", LLAMA_8B, "Interactive", "Queries/s", "queries/s"),
        ("5.1", {**LLAMA_8B, "Model": "llama3.1-8b-edge"}, "Offline", "Samples/s", "samples/s"),
        ("4.1", NEURAL_MAGIC, "Offline", "Samples/s", "tokens/s"),
        ("4.1", NEURAL_MAGIC, "Server", "Queries/s", "tokens/s"),
        ("5.1", NEURAL_MAGIC, "Server", "Queries/s", "queries/s"),
        ("4.1", {**NEURAL_MAGIC, "UsedModel": "llama2-70b-99"}, "Server", "Queries/s", "queries/s"),
        ("6.0", {"Model": "rgat"}, "Offline", "Samples/s", "samples/s"),
    ],
)
def test_a_label_is_corrected_in_the_rows_where_it_is_known_to_be_wrong(
    round_: str, row: dict[str, str], scenario: str, label: str, unit: str
) -> None:
    published = official_row(**row, Scenario=scenario, Performance_Units=label)
    result = only_result(official(published, round_key=f"inference-{round_}"))
    assert (result["unit"], result["unit_as_published"], result["value"]) == (unit, label, 100.5)


@pytest.mark.parametrize(
    ("label", "value", "milliseconds"),
    [("Latency (ms)", 42.19, 42.19), ("Latency (s)", 21.4259, 21425.9)],
)
def test_latency_is_in_milliseconds_whatever_the_label(
    label: str, value: float, milliseconds: float
) -> None:
    row = official_row(
        Model="wan-2.2-t2v-a14b",
        Scenario="SingleStream",
        Performance_Units=label,
        Performance_Result=value,
    )
    result = only_result(official(row))
    assert result["value"] == pytest.approx(milliseconds, rel=1e-12)
    assert (result["unit"], result["metric"], result["lower_is_better"]) == ("ms", "latency", True)
    assert (result["value_as_published"], result["value_per_accelerator"]) == (f"{value}", None)


def test_a_model_without_a_unit_gets_none_by_default() -> None:
    figures = official(official_row(Model="gpt-9", Performance_Units=None))
    assert reasons(figures) == [(1, "unit", "unit not known")]


@pytest.mark.parametrize("target", ["99", "99.9"])
def test_the_interactive_benchmark_of_round_5_0_is_a_scenario_on_server_only(target: str) -> None:
    name = f"llama2-70b-interactive-{target}"
    rows = [
        checker_row(Model=name, MlperfModel=name, Scenario=scenario)
        for scenario in ("Server", "Offline")
    ]
    results = checker(*rows).results.select(
        "benchmark", "benchmark_family", "accuracy_target", "scenario", "model_used"
    )
    assert results.rows() == [
        ("llama2-70b", "llama2-70b", target, "Interactive", name),
        ("llama2-70b-interactive", "llama2-70b", target, "Offline", name),
    ]


def test_the_interactive_benchmark_keeps_its_name_in_every_other_round() -> None:
    name = "llama2-70b-interactive-99"
    result = only_result(
        checker(
            checker_row(Model=name, MlperfModel=name, Scenario="Server"), round_key="inference-6.1"
        )
    )
    assert (result["benchmark"], result["scenario"]) == ("llama2-70b-interactive", "Server")
