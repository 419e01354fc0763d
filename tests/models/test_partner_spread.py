import pytest

from tests.conftest import ModelRunner, rows
from tests.models.literal import CPU_ONLY, LATENCY, TRAINING, result, tables

OWN = {"submitter": "Aurora"}


def test_each_result_of_a_partner_is_held_against_the_makers_own_best(
    run_models: ModelRunner,
) -> None:
    results = [
        result("own", value=100.0, **OWN),
        result("own slower", value=90.0, **OWN),
        result("own open", value=900.0, **OWN, division="open"),
        result("a1", value=95.0),
        result("a2", value=110.0),
    ]
    made = run_models(**tables(results))
    first, second = rows(made, "select * from partner_spread")
    assert first == {
        "round_key": "inference-6.0",
        "category": "datacenter",
        "vendor": "Aurora",
        "accelerator": "A1",
        "accelerators": 8,
        "nodes": 1,
        "benchmark": "llm",
        "accuracy_target": None,
        "scenario": "Offline",
        "partner": "Acme",
        "partner_value": 95.0,
        "vendor_submitter": "Aurora",
        "vendor_value": 100.0,
        "unit": "tokens/s",
        "ratio": pytest.approx(0.95),
        "availability": "available",
        "is_accuracy_copy": False,
        "differences": [],
        "result_key_partner": "a1",
        "result_key_vendor": "own",
        "entry_id_partner": "6.0-a1",
        "entry_id_vendor": "6.0-own",
    }
    assert (second["result_key_partner"], second["ratio"]) == ("a2", pytest.approx(1.1))


def test_the_faster_partner_is_above_one_in_latency_and_in_time_to_train(
    run_models: ModelRunner,
) -> None:
    results = [
        line
        for kind in (LATENCY, TRAINING)
        for line in (
            result(f"own {kind['unit']}", value=30.0, **kind, **OWN),
            result(f"own slower {kind['unit']}", value=40.0, **kind, **OWN),
            result(f"partner {kind['unit']}", value=20.0, **kind),
        )
    ]
    made = run_models(**tables(results))
    found = made.sql("select unit, category, scenario, vendor_value, ratio from partner_spread")
    assert found.fetchall() == [
        ("ms", "datacenter", "SingleStream", 30.0, pytest.approx(1.5)),
        ("minutes", None, None, 30.0, pytest.approx(1.5)),
    ]


def test_without_a_result_of_the_maker_there_is_no_row(run_models: ModelRunner) -> None:
    """Neither a third submitter's nor a joint one's stands for the maker's."""
    results = [
        result("a"),
        result("b", submitter="Third"),
        result("c", submitter="Aurora+Acme", organisations=["Aurora", "Acme"]),
    ]
    made = run_models(**tables(results))
    assert rows(made, "select * from partner_spread") == []


def test_open_results_of_partners_have_no_row(run_models: ModelRunner) -> None:
    results = [
        result("own", **OWN),
        result("own open", **OWN, division="open"),
        result("open", division="open"),
        result("own network", **OWN, division="network"),
        result("network", division="network"),
    ]
    made = run_models(**tables(results))
    assert rows(made, "select * from partner_spread") == []


def test_only_a_result_of_the_same_configuration_is_held_against_the_makers(
    run_models: ModelRunner,
) -> None:
    others = [
        {"round": "5.1"},
        {"category": "edge"},
        {"accelerator": "A2"},
        {"accelerators": 4},
        {"nodes": 2},
        {"benchmark": "image"},
        {"accuracy_target": "99"},
        {"scenario": "Server"},
        {"unit": "samples/s"},
    ]
    results = [
        result("own", **OWN),
        *(result(f"a{n}", **other) for n, other in enumerate(others)),
    ]
    made = run_models(**tables(results))
    assert rows(made, "select * from partner_spread") == []


def test_cpu_only_and_mixed_systems_take_no_part(run_models: ModelRunner) -> None:
    mixed = {"accelerator": "heterogeneous: A1 + A2", "is_heterogeneous": True}
    results = [
        line
        for n, kind in enumerate((CPU_ONLY, {"accelerators": 0}, {"accelerators": None}, mixed))
        for line in (result(f"own {n}", **kind, **OWN), result(f"a{n}", **kind))
    ]
    made = run_models(**tables(results))
    assert rows(made, "select * from partner_spread") == []


def test_a_result_of_both_categories_has_a_row_in_each(run_models: ModelRunner) -> None:
    both = {"category": "datacenter,edge"}
    results = [
        result("own", **OWN, **both),
        result("own at the edge", value=120.0, **OWN, category="edge"),
        result("a", **both),
    ]
    made = run_models(**tables(results))
    found = made.sql("select category, result_key_partner, result_key_vendor from partner_spread")
    assert found.fetchall() == [("datacenter", "a", "own"), ("edge", "a", "own at the edge")]


def test_a_row_is_a_copy_where_both_sides_are(run_models: ModelRunner) -> None:
    strict = {"accuracy_target": "99.9"}
    results = [
        result("own", **OWN, **strict, is_accuracy_copy=True),
        result("a", **strict, is_accuracy_copy=True),
        result("b", **strict),
    ]
    made = run_models(**tables(results))
    found = made.sql("select result_key_partner, is_accuracy_copy from partner_spread")
    assert found.fetchall() == [("a", True), ("b", False)]


def test_what_differs_from_the_makers_result_is_said(run_models: ModelRunner) -> None:
    unlike = {
        "availability": "preview",
        "weight_data_types": None,
        "power_watts": 700.0,
        "is_inferred": True,
    }
    results = [
        result("own", **OWN),
        result("a", **unlike),
        result("b", is_inferred=None),
    ]
    made = run_models(**tables(results))
    found = made.sql("select availability, differences from partner_spread")
    assert found.fetchall() == [
        (
            "preview",
            [
                "availability: preview against available",
                "inferred on one side only",
                "measured with power on one side only",
                "precision: not stated against fp8",
            ],
        ),
        ("available", ["inferred not known"]),
    ]


def test_of_the_makers_equal_results_the_lowest_entry_id_is_named(run_models: ModelRunner) -> None:
    results = [
        result("own 1", **OWN, entry_id=None),
        result("own 2", **OWN, entry_id="6.0-0002"),
        result("own 3", **OWN, entry_id="6.0-0001"),
        result("a"),
    ]
    made = run_models(**tables(results))
    found = made.sql("select result_key_vendor, entry_id_vendor from partner_spread")
    assert found.fetchall() == [("own 3", "6.0-0001")]
