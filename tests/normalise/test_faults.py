import json
from functools import cache

import pytest

from pipeline.normalise.figures import Figures
from tests.normalise.published_rows import (
    checker,
    checker_row,
    figures_of_bytes,
    official,
    official_row,
    only_result,
    reasons,
    warned,
    without,
)

Case = tuple[dict[str, object], str, str]

SECONDS = {"Suite": "edge", "Scenario": "SingleStream", "Performance_Units": "Latency (s)"}
LONG = "x" * 200_000
OTHER = official_row(Platform="Other", version="v6.0")


FAULTS: list[Case] = [
    ({"Performance_Result": "6,86"}, "value", "no finite number"),
    ({"Performance_Result": "fast"}, "value", "no finite number"),
    ({"Performance_Result": 1.7e308, **SECONDS}, "value", "no finite number"),
    ({"Performance_Result": -5}, "value", "too small to be a result"),
    ({"Performance_Result": 0}, "value", "too small to be a result"),
    ({"Performance_Result": 1e-09}, "value", "too small to be a result"),
    ({"Performance_Units": "Frobs/s"}, "unit", "unit not known"),
    ({"Performance_Units": ""}, "unit", "unit not known"),
    ({"Performance_Units": "tokens/s"}, "unit", "unit not known"),
    ({"Scenario": "Batch"}, "scenario", "scenario not known"),
    ({"Scenario": "single-stream"}, "scenario", "scenario not known"),
    ({"Scenario": ""}, "scenario", "scenario not known"),
    ({"Suite": "edge", "Scenario": "Server"}, "scenario", "that its category cannot have"),
    ({"Scenario": "MultiStream"}, "scenario", "that its category cannot have"),
    ({"Location": "closed/../../etc/x"}, "location", "leaves its folder"),
    ({"Location": "/etc/closed/x"}, "location", "leaves its folder"),
    ({"Platform": "..", "Location": ""}, "platform", "leaves its folder"),
    ({"UsedModel": "..\\x", "Location": ""}, "model_used", "leaves its folder"),
    ({"Location": "", "Submitter": "../AMD"}, "submitter_directory", "leaves its folder"),
    ({"Platform": "a\x00b", "Location": ""}, "platform", "leaves its folder"),
    ({"Submitter": ""}, "submitter", "needed to tell results apart"),
    ({"Platform": " "}, "platform", "needed to tell results apart"),
    ({"Category": None}, "division", "needed to tell results apart"),
    ({"Accelerator": ""}, "accelerator", "counted but not named"),
    ({"version": "v5.1"}, "version", "not a row of inference-6.0"),
]
ODDITIES: list[Case] = [
    ({"Performance_Result": "6,862.3"}, "value", "a number written as text"),
    ({"a#": "8"}, "accelerators_per_node", "a number written as text"),
    ({"System": "<b>Big</b>"}, "system_name", "markup in a name"),
    ({"Software": 'say "cheese"'}, "software", "quotes in a name"),
    ({"operating_system": "a\r\nb"}, "operating_system", "a line break in a name"),
    ({"Processor": "Arm\u2011v9"}, "processor", "unusual characters in a name"),
    ({"System": "x\x1b[31m"}, "system_name", "unusual characters in a name"),
    ({"System": LONG}, "system_name", "a very long text"),
    ({"Submitter": "Acme"}, "submitter", "submitter not in the vocabulary"),
    ({"Accelerator": "Acme TNT"}, "accelerator", "accelerator not in the vocabulary"),
    ({"Model": "gpt-9"}, "benchmark", "benchmark not in the vocabulary"),
    ({"Availability": "soon"}, "availability", "availability not in the vocabulary"),
    ({"Availability": None}, "availability", "availability not in the vocabulary"),
    ({"Suite": "cloud"}, "category", "category not known"),
    ({"Suite": ""}, "category", "category not known"),
    ({"Category": "ajar"}, "division", "division not known"),
    ({"a#": "(6,2)"}, "accelerators_per_node", "not a plain count, left empty"),
    ({"Nodes": 0}, "nodes", "not a plain count, left empty"),
    ({"Power_Result": "n/a", "Power_Units": "Watts"}, "power", "left empty"),
    ({"Power_Result": 7.5, "Power_Units": "kW"}, "power", "left empty"),
    ({"Power_Result": 7.5, "Power_Units": "Tokens/s"}, "power", "left empty"),
    ({"Power_Result": -7.5, "Power_Units": "Watts"}, "power", "left empty"),
    ({"Location": "open/AMD/results/X/y/Offline"}, "location", "names another division"),
]


@cache
def read(cases: str) -> Figures:
    """Return what one table gives that has a row of its own for each case, and one in order."""
    changes = [change for change, _, _ in {"faults": FAULTS, "oddities": ODDITIES}[cases]]
    rows = [official_row(**{"Platform": f"P{n}", **c}) for n, c in enumerate(changes, start=1)]
    return official(*rows, OTHER)


@pytest.mark.parametrize(("row", "case"), list(enumerate(FAULTS, start=1)))
def test_a_row_at_fault_is_rejected_with_its_reason(row: int, case: Case) -> None:
    _, field, reason = case
    ((at_fault, why),) = [(at, why) for at_row, at, why in reasons(read("faults")) if at_row == row]
    assert at_fault == field
    assert reason in why


def test_rows_at_fault_leave_the_others_alone() -> None:
    assert read("faults").results["platform"].to_list() == ["Other"]
    assert warned(read("faults")) == []


@pytest.mark.parametrize("column", ["Performance_Result", "version", "Accelerator", "Scenario"])
def test_a_row_that_lacks_what_a_result_needs_is_rejected_alone(column: str) -> None:
    lacking = without({"version": "v6.0", **official_row()}, column)
    figures = figures_of_bytes(json.dumps([lacking, OTHER]).encode())
    assert [row for row, _, _ in reasons(figures)] == [1]
    assert figures.results.height == 1


@pytest.mark.parametrize("column", ["System", "Nodes", "a#", "Availability", "Suite", "ID"])
def test_a_field_missing_in_one_row_is_not_known_there(column: str) -> None:
    lacking = without(official_row(Platform="Lacks it"), column)
    known, unknown = official(official_row(), lacking).results.rows(named=True)
    ours = {"System": "system_name", "Nodes": "nodes", "a#": "accelerators_per_node"}
    ours |= {"Availability": "availability", "Suite": "category", "ID": "entry_id"}
    assert known[ours[column]] is not None
    assert unknown[ours[column]] is None


@pytest.mark.parametrize(("row", "case"), list(enumerate(ODDITIES, start=1)))
def test_a_row_that_is_odd_is_told_of(row: int, case: Case) -> None:
    _, field, problem = case
    told = [what for at_row, at, what in warned(read("oddities")) if (at_row, at) == (row, field)]
    assert any(problem in what for what in told)


def test_rows_that_are_odd_are_kept() -> None:
    assert read("oddities").results.height == len(ODDITIES) + 1
    assert reasons(read("oddities")) == []


def test_a_row_in_order_warns_of_nothing() -> None:
    assert warned(official(official_row())) == []
    assert warned(checker(checker_row())) == []


def test_what_is_shown_of_a_long_text_is_short() -> None:
    kept = official(official_row(System=LONG))
    assert kept.results["system_name"].to_list() == [LONG]
    assert kept.warnings["value_as_published"].str.len_chars().to_list() == [200]
    rejected = official(official_row(Performance_Units=LONG))
    assert rejected.rejects["value_as_published"].str.len_chars().to_list() == [200]


def test_an_unknown_name_is_shown_as_it_was_published() -> None:
    figures = official(official_row(Submitter=" ACME\u00a0Corp", Availability="On Order"))
    result = only_result(figures)
    assert (result["submitter"], result["availability"]) == ("ACME Corp", "On Order")
    assert set(figures.warnings["value_as_published"]) == {" ACME\u00a0Corp", "On Order"}


def test_the_first_broken_rule_gives_the_one_reason() -> None:
    figures = official(official_row(Performance_Units="Frobs/s", Scenario="Batch"))
    assert reasons(figures) == [(1, "scenario", "scenario not known")]


@pytest.mark.parametrize(
    ("category", "scenario", "benchmark", "is_allowed"),
    [
        ("datacenter", "SingleStream", "wan-2.2-t2v-a14b", True),
        ("datacenter", "SingleStream", "llama2-70b-99", False),
        ("edge", "Interactive", "llama2-70b-99", False),
        ("edge", "MultiStream", "resnet", True),
        ("datacenter,edge", "Server", "resnet", True),
        ("datacenter,edge", "MultiStream", "resnet", True),
        ("cloud", "MultiStream", "resnet", True),
    ],
)
def test_a_scenario_must_be_one_of_its_category(
    category: str, scenario: str, benchmark: str, is_allowed: bool
) -> None:
    figures = official(official_row(Suite=category, Scenario=scenario, Model=benchmark))
    assert figures.results.height == is_allowed
