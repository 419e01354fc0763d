import json

import pytest

from pipeline.errors import FileFault
from tests.normalise.published_rows import (
    checker,
    checker_row,
    figures_of_bytes,
    official,
    official_row,
    official_table,
    only_result,
    reasons,
    warned,
    without,
)

ROW = official_table(official_row())[1:-1]


def fault(content: bytes) -> str:
    """Return what is wrong with a file that cannot be used; it is named, and so is what to do."""
    with pytest.raises(FileFault) as raised:
        figures_of_bytes(content)
    assert raised.value.file == "summary_results.json"
    assert raised.value.next_step
    assert len(f"{raised.value}") < 400
    return raised.value.problem


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"[" + ROW, "not readable as JSON", id="cut"),
        pytest.param(b"", "not readable as JSON", id="no bytes"),
        pytest.param(b"<html>rate limit</html>", "not readable as JSON", id="html"),
        pytest.param(b"\xff\xfe[]", "not readable as JSON", id="not utf-8"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="deep"),
        pytest.param(b'"text"', "neither a list of rows nor", id="text"),
        pytest.param(b"NaN", "neither a list of rows nor", id="a number"),
        pytest.param(ROW, "neither a list of rows nor", id="one row"),
        pytest.param(b"[]", "empty", id="empty list"),
        pytest.param(b"{}", "empty", id="empty object"),
        pytest.param(b"[[1, 2], 3]", "column 'ID' is missing", id="rows that are lists"),
        pytest.param(
            b"[" + ROW.replace(b'"a#"', b'"Nodes"') + b"]", "key 'Nodes' stands twice", id="twice"
        ),
        pytest.param(
            b'{"0": ' + ROW + b', "0": ' + ROW + b"}", "key '0' stands twice", id="two rows 0"
        ),
        pytest.param(
            b'[{"' + b"x" * 200_000 + b'": 1, "' + b"x" * 200_000 + b'": 2}]', "twice", id="long"
        ),
        pytest.param(
            official_table(without(official_row(), "Performance_Units")),
            "column 'Performance_Units' is missing",
            id="missing column",
        ),
        pytest.param(
            ROW.join([b"[", b"]"]).replace(b'"ID"', b'"id"'), "'ID' is missing", id="other case"
        ),
        pytest.param(
            official_table(official_row(), version="v5.1"), "its version field says 5.1", id="round"
        ),
        pytest.param(official_table(official_row(), version=""), "says nothing", id="no version"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(content: bytes, problem: str) -> None:
    assert problem in fault(content)


def test_numbers_keep_the_text_of_the_file() -> None:
    content = official_table(official_row()).replace(b"100.5", b"785522.0")
    result = only_result(figures_of_bytes(content))
    assert (result["value"], result["value_as_published"]) == (785522.0, "785522.0")


def test_a_byte_order_mark_does_no_harm() -> None:
    assert only_result(figures_of_bytes(b"\xef\xbb\xbf" + official_table(official_row())))


def test_both_forms_give_the_same_columns() -> None:
    result = only_result(checker(checker_row()))
    assert (result["submitter"], result["model_used"], result["benchmark_as_published"]) == (
        "HPE",
        "llama3_1-405b",
        "llama3.1-405b",
    )
    assert (result["entry_id"], result["software"]) == (None, None)
    assert official(official_row()).results.schema == checker(checker_row()).results.schema


def test_an_object_keyed_by_number_may_have_gaps() -> None:
    rows = {"0": checker_row(version="v5.0"), "7": checker_row(version="v5.0", Result="N/A")}
    figures = figures_of_bytes(json.dumps(rows).encode(), "inference-5.0")
    assert figures.results.height == 1
    assert reasons(figures) == [(2, "value", "no finite number")]


@pytest.mark.parametrize("entry", [float("nan"), [1, 2], "text", None, True, "\ud800"])
def test_a_row_that_is_no_object_is_rejected_and_the_others_stay(entry: object) -> None:
    figures = official(official_row(), entry)
    assert figures.results.height == 1
    assert reasons(figures) == [(2, "", "the row is no JSON object")]


def test_an_extra_column_is_told_once_and_its_rows_stay() -> None:
    rows = [official_row(New=1, Scenario=scenario) for scenario in ("Offline", "Server")]
    figures = official(*rows)
    assert figures.results.height == 2
    assert warned(figures) == [(0, "New", "column not known")]


def test_the_columns_of_the_other_form_are_extra_and_give_no_values() -> None:
    figures = official(official_row(**without(checker_row(Result=7), "Platform", "Scenario")))
    assert only_result(figures)["value"] == 100.5
    assert (0, "Result", "column not known") in warned(figures)


def test_a_column_seen_late_is_not_lost() -> None:
    rows = [official_row(Platform=f"P{number}") for number in range(300)]
    late = official_row(Power_Result=700.5, Power_Units="Watts")
    assert official(*rows, late).results["power_watts"].drop_nulls().to_list() == [700.5]


def test_text_that_cannot_be_stored_is_replaced() -> None:
    figures = official(official_row(**{"System": "a\ud800b", "x\ud800": 1, "Nodes": "\ud800"}))
    assert only_result(figures)["system_name"] == "a?b"
    assert (0, "x?", "column not known") in warned(figures)


@pytest.mark.parametrize("value", [True, [1], {"a": {"b": 1}}, "", None])
def test_anything_but_a_number_is_no_value(value: object) -> None:
    figures = official(official_row(Performance_Result=value))
    assert reasons(figures) == [(1, "value", "no finite number")]


@pytest.mark.parametrize("number", [b"NaN", b"-Infinity", b"1e400", b"9" * 5000])
def test_a_number_that_is_not_finite_is_a_fault_of_its_row_only(number: bytes) -> None:
    table = official_table(official_row(), official_row(Scenario="Server", Performance_Result=1.5))
    figures = figures_of_bytes(table.replace(b"100.5", number))
    assert figures.results["value"].to_list() == [1.5]
    assert reasons(figures) == [(1, "value", "no finite number")]
    assert figures.rejects["value_as_published"].to_list() == [number.decode()[:200]]
