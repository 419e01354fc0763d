import pytest

from pipeline.normalise.figures import Figures
from tests.normalise.published_rows import (
    checker,
    checker_row,
    official,
    official_row,
    only_result,
    reasons,
    warned,
)

TARGETS = ("llama2-70b-99", "llama2-70b-99.9")


def accounts(figures: Figures) -> tuple[int, ...]:
    columns = ("rows", "results", "measurements", "rejects")
    row: tuple[int, ...] = figures.sources.select(columns).row(0)
    return row


def keys(figures: Figures) -> list[str]:
    return figures.results["result_key"].to_list()


def test_two_values_for_one_key_are_both_rejected() -> None:
    rows = [official_row(Performance_Result=value) for value in (1.5, 1.5, 2.5)]
    figures = official(*rows, official_row(Scenario="Server"))
    assert figures.results["scenario"].to_list() == ["Server"]
    assert reasons(figures) == [(row, "value", "two values for one key") for row in (1, 2, 3)]


def test_a_row_that_repeats_another_is_told_and_counts_once() -> None:
    figures = official(official_row(), official_row(ID="6.0-0002"))
    assert figures.results["entry_id"].to_list() == ["6.0-0001"]
    assert reasons(figures) == [(2, "value", "repeats an earlier row")]


def test_a_row_at_fault_makes_no_other_row_ambiguous() -> None:
    figures = official(official_row(), official_row(Performance_Result="fast"))
    assert figures.results["value"].to_list() == [100.5]


def test_systems_of_one_name_are_results_of_their_own() -> None:
    rows = [official_row(System="One name", Platform=f"P{number}") for number in range(4)]
    figures = official(*rows)
    assert len(set(keys(figures))) == 4
    assert accounts(figures) == (4, 4, 0, 0)


def test_a_result_keeps_its_key_when_its_id_value_or_alias_changes() -> None:
    assert keys(official(official_row())) == ["f0dd60625ffc1b66"]
    changes = {"ID": "v6.0-0099", "Performance_Result": 7, "Submitter": "Advanced Micro"}
    assert keys(official({**official_row(), **changes})) == ["f0dd60625ffc1b66"]


def test_another_key_field_is_another_result() -> None:
    changes: list[dict[str, object]] = [
        {},
        {"Category": "open"},
        {"Submitter": "Dell"},
        {"Platform": "P"},
        {"UsedModel": "llama2-70b-99.9"},
        {"Scenario": "Server"},
    ]
    figures = official(*(official_row(**change) for change in changes))
    assert len(set(keys(figures))) == len(changes)


def copies(**change: object) -> list[bool]:
    """Return which of a 99 row and its 99.9 row, changed, is a copy."""
    row, strict = (official_row(UsedModel=target, Model=target) for target in TARGETS)
    figures = official(row, official_row(**{**strict, **change}))
    return figures.results["is_accuracy_copy"].to_list()


def test_a_strict_row_that_repeats_the_run_of_its_99_row_is_a_copy() -> None:
    assert copies() == [False, True]


@pytest.mark.parametrize(
    "change",
    [
        {"Performance_Result": 100.4},
        {"ID": "6.0-0002"},
        {"Platform": "Other"},
        {"Scenario": "Server"},
        {"Category": "open"},
    ],
)
def test_a_strict_row_that_differs_from_its_99_row_is_a_run_of_its_own(
    change: dict[str, object],
) -> None:
    assert copies(**change) == [False, False]


def test_power_in_fields_of_its_result_is_in_watts_or_joules() -> None:
    stream = {"Suite": "edge", "Model": "resnet", "Performance_Units": "Latency (ms)"}
    rows = [
        official_row(Power_Result=5071.5, Power_Units="Watts"),
        official_row(
            **stream, Scenario="MultiStream", Power_Result=1241.14, Power_Units="millijoules"
        ),
        official_row(
            **stream, Scenario="SingleStream", Power_Result="155.14", Power_Units=" millijoules"
        ),
    ]
    power = official(*rows).results.select("power_watts", "energy_joules").rows()
    assert power[0] == (5071.5, None)
    assert [energy for _, energy in power[1:]] == pytest.approx([1.24114, 0.15514])
    assert [watts for watts, _ in power[1:]] == [None, None]


def test_a_row_of_watts_is_a_measurement_of_its_result() -> None:
    figures = checker(checker_row(Result=5071.5, Units="Watts"), checker_row())
    result = only_result(figures)
    assert (result["value"], result["power_watts"]) == (428.895, 5071.5)
    assert accounts(figures) == (2, 1, 1, 0)


@pytest.mark.parametrize("change", [{"Scenario": "Server"}, {"Platform": "Other"}])
def test_a_row_of_watts_without_its_result_is_rejected(change: dict[str, object]) -> None:
    figures = checker(checker_row(), checker_row(Units="Watts", **change))
    assert reasons(figures) == [(2, "value", "a power measurement without its result")]
    assert only_result_power(figures) is None


def test_a_row_of_watts_whose_result_is_at_fault_is_rejected_too() -> None:
    figures = checker(checker_row(Result="fast"), checker_row(Units="Watts"))
    assert [row for row, _, _ in reasons(figures)] == [1, 2]
    assert accounts(figures) == (2, 0, 0, 2)


def test_two_rows_of_watts_for_one_result_are_both_rejected() -> None:
    figures = checker(
        checker_row(), *(checker_row(Units="Watts", Result=value) for value in (1, 2))
    )
    assert accounts(figures) == (3, 1, 0, 2)
    assert only_result_power(figures) is None


def test_rows_rejected_give_no_warnings() -> None:
    figures = official(
        official_row(Submitter="Acme", Performance_Result="6,86"), official_row(Submitter="Beep")
    )
    assert warned(figures) == [(2, "submitter", "submitter not in the vocabulary")]


def test_rejects_show_which_row_they_are() -> None:
    figures = official(official_row(), official_row(Performance_Units="Frobs/s"))
    (reject,) = figures.rejects.rows(named=True)
    assert reject == {
        "round_key": "inference-6.0",
        "file": "summary_results.json",
        "source_row": 2,
        "field": "unit",
        "reason": "unit not known",
        "value_as_published": "Frobs/s",
        "submitter_as_published": "AMD",
        "platform": "8xMI355X_2xEPYC_9575F",
        "model_used": "llama2-70b-99",
        "scenario": "Offline",
        "source_sha256": figures.sources["sha256"][0],
    }


def only_result_power(figures: Figures) -> object:
    return figures.results["power_watts"].to_list()[0]
