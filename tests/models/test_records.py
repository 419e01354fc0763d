import pytest

from tests.conftest import ModelRunner, rows
from tests.models.literal import (
    CPU_ONLY,
    LATENCY,
    TRAINING,
    compatible,
    result,
    tables,
    withdrawal,
)

ANY = "from records where scope = 'any count'"


def test_a_round_sets_a_record_only_where_it_beats_all_before_it(run_models: ModelRunner) -> None:
    """Round 10.0 follows 9.0, which no order of text does; 11.0 only equals the record."""
    results = [
        result("a", "8.0", 100.0),
        result("b", "9.0", 80.0),
        result("c", "10.0", 150.0, submitter="Other"),
        result("d", "11.0", 150.0),
        result("e", "12.0", 120.0),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select round_key, result_key, is_record, value_before, improvement, round_key_before, "
        f"submitter_before, result_key_before {ANY}"
    )
    assert found.fetchall() == [
        ("inference-8.0", "a", True, None, None, None, None, None),
        ("inference-9.0", "b", False, 100.0, 0.8, "inference-8.0", "Acme", "a"),
        ("inference-10.0", "c", True, 100.0, 1.5, "inference-8.0", "Acme", "a"),
        ("inference-11.0", "d", False, 150.0, 1.0, "inference-10.0", "Other", "c"),
        ("inference-12.0", "e", False, 150.0, 0.8, "inference-10.0", "Other", "c"),
    ]


def test_of_latency_and_time_to_train_the_lowest_is_best_and_its_gain_above_one(
    run_models: ModelRunner,
) -> None:
    results = [
        line
        for kind in (LATENCY, TRAINING)
        for line in (
            result(f"a {kind['unit']}", "5.0", 30.0, **kind),
            result(f"b {kind['unit']}", "5.0", 60.0, **kind),
            result(f"c {kind['unit']}", "5.1", 20.0, **kind),
            result(f"d {kind['unit']}", "5.1", 90.0, **kind),
        )
    ]
    made = run_models(**tables(results))
    found = made.sql(
        f"select unit, category, value, is_record, improvement, runner_up_value {ANY} order by all"
    )
    assert found.fetchall() == [
        ("minutes", None, 20.0, True, pytest.approx(1.5), 90.0),
        ("minutes", None, 30.0, True, None, 60.0),
        ("ms", "datacenter", 20.0, True, pytest.approx(1.5), 90.0),
        ("ms", "datacenter", 30.0, True, None, 60.0),
    ]


def test_the_holder_is_described_and_ties_stand_beside_the_lowest_entry_id(
    run_models: ModelRunner,
) -> None:
    """The holder's id is lower though its key is not; a runner-up is worse than the best."""
    results = [
        result("z", entry_id="6.0-0001", system_name="Cube", nodes=2, accelerators=16),
        result("a", entry_id=None),
        result("b", entry_id="6.0-0002"),
        result("c", value=90.0, submitter="Third"),
        result("d", value=90.0, submitter="Later"),
        result("e", value=80.0),
    ]
    made = run_models(**tables(results))
    found = rows(
        made,
        "select submitter, accelerator, system_name, accelerators, nodes, value, unit, entry_id, "
        f"result_key, ties, runner_up_value, runner_up_submitter, runner_up_result_key {ANY}",
    )
    assert found == [
        {
            "submitter": "Acme",
            "accelerator": "A1",
            "system_name": "Cube",
            "accelerators": 16,
            "nodes": 2,
            "value": 100.0,
            "unit": "tokens/s",
            "entry_id": "6.0-0001",
            "result_key": "z",
            "ties": ["b", "a"],
            "runner_up_value": 90.0,
            "runner_up_submitter": "Third",
            "runner_up_result_key": "c",
        }
    ]


def test_a_record_alone_in_its_round_has_neither_ties_nor_runner_up(
    run_models: ModelRunner,
) -> None:
    made = run_models(**tables([result("a"), result("b", accelerators=4)]))
    found = made.sql(
        "select result_key, ties, runner_up_result_key from records where scope = 'same count' "
        "order by all"
    )
    assert found.fetchall() == [("a", [], None), ("b", [], None)]


def test_each_number_of_accelerators_has_records_of_its_own_and_an_unknown_one_none(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a", "5.1", 100.0),
        result("b", "5.1", 300.0, accelerators=72),
        result("c", "5.1", 5.0, **CPU_ONLY),
        result("d", "6.0", 150.0),
        result("e", "6.0", 6.0, **CPU_ONLY),
        result("f", "6.0", 900.0, accelerators=None),
    ]
    made = run_models(**tables(results))
    found = made.sql("select scope, accelerators, result_key, improvement from records")
    assert found.fetchall() == [
        ("any count", 72, "b", None),
        ("any count", None, "f", 3.0),
        ("same count", 0, "c", None),
        ("same count", 0, "e", pytest.approx(1.2)),
        ("same count", 8, "a", None),
        ("same count", 8, "d", 1.5),
        ("same count", 72, "b", None),
    ]


def test_no_record_reaches_across_what_must_be_equal(run_models: ModelRunner) -> None:
    others = [
        {"division": "open"},
        {"availability": "preview"},
        {"category": "edge"},
        {"accuracy_target": "99.9"},
        {"scenario": "Server"},
        {"unit": "samples/s"},
        {"benchmark": "image"},
        {"benchmark": "llm-interactive", "benchmark_family": "llm"},
    ]
    results = [
        result("a", "5.1"),
        *(result(f"b{n}", "6.0", 900.0, **other) for n, other in enumerate(others)),
    ]
    made = run_models(**tables(results))
    found = made.sql(f"select count(*), count(value_before) {ANY}")
    assert found.fetchall() == [(9, 0)]


def test_a_result_of_both_categories_counts_in_each_and_a_copy_under_its_own_target(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a", accuracy_target="99", category="datacenter,edge"),
        result("b", accuracy_target="99.9", is_accuracy_copy=True),
    ]
    made = run_models(**tables(results))
    found = made.sql(f"select category, accuracy_target, result_key {ANY} order by all")
    assert found.fetchall() == [
        ("datacenter", "99", "a"),
        ("datacenter", "99.9", "b"),
        ("edge", "99", "a"),
    ]


def test_only_compatible_rounds_compare_and_each_row_says_which(run_models: ModelRunner) -> None:
    """5.1 Server has a group of its own, 6.0 has none and takes no part, 5.0 was open only."""
    results = [
        result("a", "4.0", 900.0),
        result("b", "4.1", 100.0),
        result("c", "5.0", 500.0, division="open"),
        result("d", "5.1", 50.0),
        result("e", "5.1", 40.0, scenario="Server"),
        result("f", "6.0", 999.0),
    ]
    groups = [
        compatible("4.0", "old"),
        compatible("4.1"),
        compatible("5.0"),
        compatible("5.1"),
        compatible("5.1", "server", scenario="Server"),
    ]
    made = run_models(**tables(results, compatibility=groups))
    found = made.sql(
        "select result_key, compatibility_group, value_before, first_round_key, rounds_compared "
        f"{ANY} order by result_key"
    )
    three = ["inference-4.1", "inference-5.0", "inference-5.1"]
    assert found.fetchall() == [
        ("a", "old", None, "inference-4.0", ["inference-4.0"]),
        ("b", "1", None, "inference-4.1", three[:1]),
        ("c", "1", None, "inference-4.1", three[:2]),
        ("d", "1", 100.0, "inference-4.1", three),
        ("e", "server", None, "inference-5.1", three[2:]),
    ]


def test_inferred_and_withdrawn_results_and_incomplete_rounds_set_no_record(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a", "5.1", 100.0),
        result("b", "5.1", 900.0, is_inferred=True),
        result("c", "5.1", 800.0),
        result("d", "6.0", 700.0),
        result("e", "6.1", 200.0, is_inferred=None),
    ]
    withdrawn = [withdrawal("c", "inference-5.1")]
    made = run_models(**tables(results, partial=["inference-6.0"], withdrawn=withdrawn))
    found = made.sql(f"select result_key, improvement, differences {ANY}")
    assert found.fetchall() == [("a", None, []), ("e", 2.0, ["inferred not known"])]


def test_what_differs_from_the_record_before_is_said(run_models: ModelRunner) -> None:
    """6.1's note names rounds up to the record it beats and after itself: neither concerns it."""
    notes = [
        compatible("5.1", note="target moved in 5.1"),
        compatible("6.0", note="target moved in 6.0"),
        compatible("6.1", note="target moved in 6.0 and moves in 7.0"),
    ]
    results = [
        result("a", "5.1", 100.0, power_watts=700.0),
        result("b", "6.0", 200.0, weight_data_types="fp4", accelerators=16, submitter="Other"),
        result("c", "6.1", 300.0, weight_data_types="fp4", accelerators=16),
        result("d", "7.0", 400.0),
    ]
    made = run_models(**tables(results, compatibility=notes))
    found = made.sql(f"select differences {ANY}")
    assert found.fetchall() == [
        ([],),
        (
            [
                "accelerators: 8 -> 16",
                "compatibility: target moved in 6.0",
                "measured with power on one side only",
                "precision: fp8 -> fp4",
            ],
        ),
        ([],),
    ]
