import pytest

from tests.conftest import ModelRunner, rows
from tests.models.literal import CPU_ONLY, LATENCY, result, tables

B1 = {"accelerator": "B1", "accelerator_vendor": "Borealis"}


def test_the_best_of_a_is_held_against_every_closed_result_of_b(run_models: ModelRunner) -> None:
    results = [
        result("a1", value=90.0),
        result("a2", value=100.0),
        result("b1", value=125.0, **B1),
        result("b2", value=80.0, **B1, submitter="Borealis", entry_id=None),
        result("b3", value=50.0, **B1),
        result("b4", value=40.0, **B1),
        result("open b", value=900.0, **B1, division="open"),
    ]
    made = run_models(**tables(results))
    (found,) = rows(
        made,
        "select best_a, best_b, ratio_best, ratio_min, ratio_median, ratio_max, ratio_vendors_own, "
        "comparators, verdict_flips, result_key_a, result_key_b, entry_ids_b from vendor_ratios "
        "where accelerator_a = 'A1'",
    )
    assert found == {
        "best_a": 100.0,
        "best_b": 125.0,
        "ratio_best": pytest.approx(0.8),
        "ratio_min": pytest.approx(0.8),
        "ratio_median": pytest.approx((100 / 80 + 100 / 50) / 2),
        "ratio_max": pytest.approx(2.5),
        "ratio_vendors_own": pytest.approx(1.25),
        "comparators": 4,
        "verdict_flips": True,
        "result_key_a": "a2",
        "result_key_b": "b1",
        "entry_ids_b": ["6.0-b1", "6.0-b3", "6.0-b4"],
    }


def test_a_latency_ratio_is_inverted_and_a_range_that_ends_at_one_does_not_flip(
    run_models: ModelRunner,
) -> None:
    given = LATENCY | {"category": "datacenter,edge"}
    results = [
        result("a", value=20.0, **given),
        result("b1", value=20.0, **given, **B1),
        result("b2", value=30.0, **given, **B1),
        result("c", value=30.0, **given, accelerator="C1"),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select category, accelerator_a, ratio_min, ratio_max, ratio_vendors_own, verdict_flips "
        "from vendor_ratios where accelerator_b = 'B1' order by all"
    )
    assert found.fetchall() == [
        (category, *found)
        for category in ("datacenter", "edge")
        for found in (
            ("A1", 1.0, pytest.approx(1.5), None, False),
            ("C1", pytest.approx(2 / 3), 1.0, None, False),
        )
    ]


def test_open_is_held_only_against_the_closed_results_of_another_vendor(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a", value=100.0, division="open", availability="preview", is_inferred=None),
        result("a network", value=100.0, division="network"),
        result("a2", value=50.0, accelerator="A2"),
        result("b", value=50.0, **B1, weight_data_types=None, power_watts=700.0),
        result("x", value=50.0, accelerator="X", accelerator_vendor=None),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select division_a, accelerator_b, division_b, differences from vendor_ratios "
        "where 'A1' in (accelerator_a, accelerator_b)"
    )
    differences = [
        "availability: preview against available",
        "division: open against closed",
        "inferred not known",
        "measured with power on one side only",
        "precision: fp8 against not stated",
    ]
    assert found.fetchall() == [("open", "B1", "closed", differences)]


def test_only_what_shares_round_category_count_target_scenario_and_unit_is_compared(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a"),
        result("cpu", **CPU_ONLY),
        result("none a", accelerators=0),
        result("none b", **B1, accelerators=0),
        result("b round", "5.1", **B1),
        result("b category", **B1, category="edge"),
        result("b count", **B1, accelerators=4),
        result("b nodes", **B1, nodes=2),
        result("b benchmark", **B1, benchmark="other"),
        result("b target", **B1, accuracy_target="99"),
        result("b scenario", **B1, scenario="Server"),
        result("b unit", **B1, unit="samples/s"),
    ]
    made = run_models(**tables(results))
    assert rows(made, "select * from vendor_ratios") == []


def test_of_equal_best_results_the_lowest_entry_id_is_named(run_models: ModelRunner) -> None:
    results = [
        result("a1", entry_id=None),
        result("a2", entry_id="6.0-0002"),
        result("a3", entry_id="6.0-0001"),
        result("b2", **B1, entry_id=None),
        result("b1", **B1, entry_id=None),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select result_key_a, result_key_b, entry_ids_b from vendor_ratios order by all"
    )
    assert found.fetchall() == [
        ("a3", "b1", []),
        ("b1", "a3", ["6.0-0001", "6.0-0002"]),
    ]
