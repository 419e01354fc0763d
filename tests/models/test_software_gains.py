import pytest

from tests.conftest import ModelRunner, rows
from tests.models.literal import CPU_ONLY, LATENCY, TRAINING, compatible, result, tables


def test_a_gain_is_above_one_where_the_later_result_is_better_for_latency_too(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a", "5.1", 100.0),
        result("b", "6.0", 150.0),
        result("c", "5.1", 100.0, **LATENCY),
        result("d", "6.0", 50.0, **LATENCY),
        result("e", "5.1", 30.0, **TRAINING),
        result("f", "6.0", 20.0, **TRAINING),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select unit, value_from, value_to, gain from software_gains "
        "where match = 'same system' order by all"
    )
    assert found.fetchall() == [
        ("minutes", 30.0, 20.0, pytest.approx(1.5)),
        ("ms", 100.0, 50.0, pytest.approx(2.0)),
        ("tokens/s", 100.0, 150.0, pytest.approx(1.5)),
    ]


def test_only_rounds_of_one_compatibility_group_compare_and_a_scenario_has_its_own(
    run_models: ModelRunner,
) -> None:
    results = [
        result(f"{round} {scenario}", round, scenario=scenario)
        for round in ("4.1", "5.0", "5.1", "6.0")
        for scenario in ("Offline", "Server")
    ]
    groups = [
        compatible("4.1", "1"),
        compatible("5.0", "2"),
        compatible("5.1", "2"),
        compatible("5.1", "3", scenario="Server"),
    ]
    made = run_models(**tables(results, compatibility=groups))
    found = made.sql("select distinct from_round, to_round, scenario from software_gains")
    assert found.fetchall() == [("5.0", "5.1", "Offline")]


def test_inferred_results_and_unknown_counts_take_no_part(run_models: ModelRunner) -> None:
    results = [
        result("a", "5.1", 100.0),
        result("b", "6.0", 900.0, is_inferred=True),
        result("c", "6.0", 200.0, is_inferred=None),
        result("d", "5.1", benchmark="other", accelerators=None),
        result("e", "6.0", benchmark="other", accelerators=None),
    ]
    made = run_models(**tables(results))
    found = made.sql("select distinct benchmark, gain, differences from software_gains")
    assert found.fetchall() == [("llm", 2.0, ["inferred not known"])]


def test_levels_nest_and_each_takes_best_over_best_and_the_range_over_its_own_pairs(
    run_models: ModelRunner,
) -> None:
    """Two boxes on one host and one on another; the best of 5.1 is not on the best's system."""
    fast = {"processor": "Xeon 9", "system_name": "Fast"}
    results = [
        result("a", "5.1", 100.0),
        result("b", "5.1", 200.0, **fast),
        result("c", "6.0", 150.0, system_name="Box (8x A1, vLLM)"),
        result("d", "6.0", 300.0, system_name="Cube"),
        result("e", "6.0", 220.0, **fast),
        result("f", "6.0", 600.0, submitter="Other", system_name="Box"),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select match, result_key_from, result_key_to, gain, gain_min, gain_median, gain_max, "
        "pairs from software_gains where submitter_from = 'Acme' order by pairs desc"
    )
    assert found.fetchall() == [
        ("best of round", "b", "f", 3.0, 0.75, pytest.approx((1.5 + 2.2) / 2), 6.0, 8),
        ("same accelerator", "b", "d", 1.5, 0.75, pytest.approx(1.5), 3.0, 6),
        ("same host", "a", "d", 3.0, 1.1, pytest.approx(1.5), 3.0, 3),
        ("same system", "b", "e", 1.1, 1.1, pytest.approx((1.1 + 1.5) / 2), 1.5, 2),
    ]


def test_equal_values_count_as_often_as_they_occur_in_each_category(
    run_models: ModelRunner,
) -> None:
    both = {"category": "datacenter,edge"}
    results = [
        result("a", "5.1", 100.0, **both),
        *(result(f"b{n}", "6.0", 100.0, **both) for n in range(3)),
        result("c", "6.0", 200.0, **both),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select category, gain, gain_median, pairs from software_gains "
        "where match = 'same system' order by category"
    )
    assert found.fetchall() == [("datacenter", 2.0, 1.0, 4), ("edge", 2.0, 1.0, 4)]


def test_a_system_that_became_available_is_not_the_same(run_models: ModelRunner) -> None:
    made = run_models(**tables([result("a", "5.1", availability="preview"), result("b", "6.0")]))
    found = made.sql("select match from software_gains order by all")
    assert found.fetchall() == [("best of round",), ("same accelerator",), ("same host",)]


def test_a_host_is_its_processor_however_spelled_and_a_blank_system_is_never_the_same(
    run_models: ModelRunner,
) -> None:
    spelled = {"processor": "2x AMD(R) EPYC 1 64-Core Processor", "processors_per_node": 4}
    results = [
        result("a", "5.1", processor="amd epyc-1", system_name="(8x A1)"),
        result("b", "6.0", system_name="(8x A1)", **spelled),
        result("c", "5.1", submitter="No host", processor=None),
        result("d", "6.0", submitter="No host", processor=None),
    ]
    made = run_models(**tables(results))
    found = rows(
        made,
        "select match, differences from software_gains where match <> 'best of round' "
        "order by submitter_from, match",
    )
    assert found == [
        {
            "match": "same accelerator",
            "differences": ["processors per node: 2 -> 4", "system: (8x A1) -> (8x A1)"],
        },
        {
            "match": "same host",
            "differences": ["processors per node: 2 -> 4", "system: (8x A1) -> (8x A1)"],
        },
        {
            "match": "same accelerator",
            "differences": ["processor: not stated -> not stated"],
        },
    ]


def test_the_best_of_a_round_is_closed_and_has_accelerators(run_models: ModelRunner) -> None:
    results = [
        result("a", "5.1", 100.0),
        result("b", "6.0", 200.0, submitter="Other"),
        result("c", "5.1", 500.0, division="open"),
        result("d", "6.0", 900.0, division="open"),
        result("e", "5.1", **CPU_ONLY),
        result("f", "6.0", **CPU_ONLY),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select match, division, accelerators, submitter_to, gain from software_gains "
        "where match in ('best of round', 'same system') order by all"
    )
    assert found.fetchall() == [
        ("best of round", "closed", 8, "Other", 2.0),
        ("same system", "closed", 0, "Acme", 1.0),
        ("same system", "open", 8, "Acme", 1.8),
    ]


def test_what_differs_between_the_best_rows_is_said(run_models: ModelRunner) -> None:
    notes = [
        compatible("5.1", note="target moved in 5.1"),
        compatible("6.0", note="target moved in 6.0"),
        compatible("6.1", note="target moved in 6.0"),
    ]
    results = [
        result("a", "5.1", power_watts=700.0, availability="preview", processor="EPYC 2"),
        result("b", "6.0", weight_data_types="fp4"),
        result("c", "6.1", weight_data_types="fp4"),
    ]
    made = run_models(**tables(results, compatibility=notes))
    found = made.sql(
        "select from_round, to_round, differences from software_gains "
        "where match = 'same accelerator' order by all"
    )
    differences = [
        "availability: preview -> available",
        "compatibility: target moved in 6.0",
        "measured with power on one side only",
        "precision: fp8 -> fp4",
        "processor: EPYC 2 -> EPYC 1",
    ]
    assert found.fetchall() == [
        ("5.1", "6.0", differences),
        ("5.1", "6.1", differences),
        ("6.0", "6.1", []),
    ]


def test_different_units_and_benchmarks_of_a_family_never_meet(run_models: ModelRunner) -> None:
    results = [
        result("a", "5.1"),
        result("b", "6.0", unit="samples/s"),
        result("c", "6.0", benchmark="llm-interactive", benchmark_family="llm"),
        result("d", "6.0", accuracy_target="99"),
        result("e", "6.0", accelerators=4),
        result("f", "6.0", nodes=2),
        result("g", "6.0", accelerator="A1 (700 W cap)"),
        result("h", "6.0", division="open"),
        result("i", "6.0", category="edge"),
    ]
    made = run_models(**tables(results))
    assert rows(made, "select * from software_gains") == []
