import polars as pl
import pytest

from tests.conftest import ModelRunner, rows
from tests.models.literal import CPU_ONLY, LATENCY, TRAINING, Line, result, tables

MIXED = "heterogeneous: A1 + B1"
B1 = {"accelerator": "B1", "accelerator_vendor": "Borealis"}
JOINT = {"submitter": "Acme+Partner", "organisations": ["Acme", "Partner"]}


def system(key: str, value: float, nodes: int, accelerators: int, /, **given: object) -> Line:
    """Return a result of so many nodes and accelerators, published as many."""
    counts = {
        "nodes": nodes,
        "accelerators": accelerators,
        "accelerators_as_published": accelerators,
    }
    return result(key, value=value, **(counts | given))


def mixed(key: str, value: float, **given: object) -> Line:
    """Return Acme's cluster of two nodes of A1 and one of B1, eight accelerators each."""
    cluster = {
        "accelerator": MIXED,
        "accelerator_as_published": "Alpha 96GB (x16), Beta 1 (x8)",
        "is_heterogeneous": True,
    }
    return system(key, value, 3, 24, **(cluster | given))


NAMES = pl.DataFrame(
    {"as_published": ["ALPHA 96GB", "Beta 1"], "accelerator": ["A1", "B1"]},
)


def test_efficiency_goes_by_what_ran_and_by_what_was_published(run_models: ModelRunner) -> None:
    results = [
        system("one", 100.0, 1, 8),
        system("many", 1000.0, 11, 87, accelerators_as_published=88),
    ]
    made = run_models(**tables(results))
    (found,) = rows(made, "select * exclude (differences) from scale_out")
    assert found == {
        "round_key": "inference-6.0",
        "category": "datacenter",
        "submitter": "Acme",
        "accelerator": "A1",
        "benchmark": "llm",
        "accuracy_target": None,
        "scenario": "Offline",
        "division": "closed",
        "kind": "single-to-multi",
        "base_nodes": 1,
        "base_accelerators": 8,
        "base_value": 100.0,
        "nodes": 11,
        "accelerators": 87,
        "accelerators_as_published": 88,
        "value": 1000.0,
        "unit": "tokens/s",
        "speedup": pytest.approx(10.0),
        "efficiency": pytest.approx((1000 / 87) / (100 / 8)),
        "efficiency_as_published_count": pytest.approx((1000 / 88) / (100 / 8)),
        "is_accuracy_copy": False,
        "result_key_base": "one",
        "result_key": "many",
        "entry_id_base": "6.0-one",
        "entry_id": "6.0-many",
        "parts": [],
        "result_keys_parts": [],
    }


def test_on_one_node_the_base_has_the_most_accelerators_and_then_the_best_result(
    run_models: ModelRunner,
) -> None:
    results = [
        system("few", 900.0, 1, 4),
        system("slow", 90.0, 1, 8),
        system("fast", 100.0, 1, 8, entry_id="6.0-0003"),
        system("equal", 100.0, 1, 8, entry_id="6.0-0002"),
        system("two", 180.0, 2, 16),
        system("three", 240.0, 3, 24),
    ]
    made = run_models(**tables(results))
    found = made.sql("select result_key, kind, result_key_base, speedup from scale_out")
    assert found.fetchall() == [
        ("two", "single-to-multi", "equal", 1.8),
        ("three", "single-to-multi", "equal", 2.4),
    ]


def test_on_several_nodes_the_base_has_the_fewest_accelerators_and_then_the_best_result(
    run_models: ModelRunner,
) -> None:
    results = [
        system("more", 900.0, 2, 16),
        system("slow", 90.0, 2, 8),
        system("fast", 100.0, 2, 8),
        system("four", 160.0, 4, 16),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select result_key, kind, base_nodes, result_key_base, speedup, efficiency from scale_out"
    )
    assert found.fetchall() == [("four", "multi-to-multi", 2, "fast", 1.6, pytest.approx(0.8))]


def test_each_of_several_systems_of_one_size_has_a_row(run_models: ModelRunner) -> None:
    results = [
        system("one", 100.0, 1, 8),
        system("two a", 150.0, 2, 16),
        system("two b", 200.0, 2, 16),
    ]
    made = run_models(**tables(results))
    found = made.sql("select result_key, speedup from scale_out")
    assert found.fetchall() == [("two b", 2.0), ("two a", 1.5)]


def test_a_lower_latency_is_a_speedup_above_one(run_models: ModelRunner) -> None:
    results = [system("one", 30.0, 1, 8, **LATENCY), system("two", 20.0, 2, 16, **LATENCY)]
    made = run_models(**tables(results))
    found = made.sql("select base_value, value, speedup, efficiency from scale_out")
    assert found.fetchall() == [(30.0, 20.0, pytest.approx(1.5), pytest.approx(0.75))]


def test_in_training_every_result_of_more_accelerators_than_the_fewest_has_a_row(
    run_models: ModelRunner,
) -> None:
    """A shorter time is a speed-up; nodes break the tie between bases, then the better time."""
    results = [
        system("base", 100.0, 1, 8, **TRAINING),
        system("slower", 110.0, 1, 8, **TRAINING),
        system("wider", 60.0, 2, 8, **TRAINING),
        system("dense", 50.0, 1, 16, **TRAINING),
        system("two", 40.0, 2, 16, **TRAINING),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select result_key, kind, category, scenario, unit, result_key_base, speedup, efficiency "
        "from scale_out order by value desc"
    )
    told = (None, None, "minutes", "base")
    assert found.fetchall() == [
        ("dense", "single-to-single", *told, pytest.approx(2.0), pytest.approx(1.0)),
        ("two", "single-to-multi", *told, pytest.approx(2.5), pytest.approx(1.25)),
    ]


def test_a_training_base_of_several_nodes_is_told_by_its_kind(run_models: ModelRunner) -> None:
    results = [
        system("base", 100.0, 2, 8, **TRAINING),
        system("wider", 60.0, 4, 8, **TRAINING),
        system("four", 50.0, 4, 16, **TRAINING),
        system("one", 40.0, 1, 32, **TRAINING),
    ]
    made = run_models(**tables(results))
    found = made.sql("select result_key, kind, result_key_base from scale_out order by value desc")
    assert found.fetchall() == [
        ("four", "multi-to-multi", "base"),
        ("one", "multi-to-single", "base"),
    ]


def test_only_what_shares_all_but_the_size_is_compared(run_models: ModelRunner) -> None:
    others = [
        {"round": "5.1"},
        {"submitter": "Other"},
        {"accelerator": "A2"},
        {"division": "open"},
        {"category": "edge"},
        {"benchmark": "image"},
        {"accuracy_target": "99"},
        {"scenario": "Server"},
        {"unit": "samples/s"},
    ]
    results = [
        system("one", 100.0, 1, 8),
        *(system(f"two {n}", 200.0, 2, 16, **other) for n, other in enumerate(others)),
    ]
    made = run_models(**tables(results))
    assert rows(made, "select * from scale_out") == []


def test_cpu_only_systems_and_unknown_sizes_take_no_part(run_models: ModelRunner) -> None:
    results = [
        system("cpu one", 10.0, 1, 0, **CPU_ONLY),
        system("cpu two", 20.0, 2, 0, **CPU_ONLY),
        system("none", 10.0, 1, 0),
        result("unknown", accelerators=None),
        system("two", 200.0, 2, 16),
        result("unknown two", nodes=3, accelerators=None),
        result("no nodes", nodes=None, accelerators=32),
    ]
    made = run_models(**tables(results))
    assert rows(made, "select * from scale_out") == []


def test_a_result_of_both_categories_has_a_row_in_each(run_models: ModelRunner) -> None:
    both = {"category": "datacenter,edge"}
    results = [
        system("one", 100.0, 1, 8, **both),
        system("edge one", 120.0, 1, 8, category="edge"),
        system("two", 200.0, 2, 16, **both),
    ]
    made = run_models(**tables(results))
    found = made.sql("select category, result_key, result_key_base from scale_out order by all")
    assert found.fetchall() == [("datacenter", "two", "one"), ("edge", "two", "edge one")]


def test_a_row_is_a_copy_where_both_sides_are(run_models: ModelRunner) -> None:
    strict = {"accuracy_target": "99.9", "is_accuracy_copy": True}
    results = [
        system("a1", 100.0, 1, 8, **strict),
        system("a2", 200.0, 2, 16, **strict),
        system("a3", 300.0, 3, 24, accuracy_target="99.9"),
    ]
    made = run_models(**tables(results))
    found = made.sql("select result_key, is_accuracy_copy from scale_out")
    assert found.fetchall() == [("a2", True), ("a3", False)]


def test_what_differs_from_the_base_is_said(run_models: ModelRunner) -> None:
    unlike = {
        "availability": "preview",
        "weight_data_types": "fp4",
        "processor": "Xeon 6",
        "model_used": "pruned",
        "power_watts": 700.0,
        "is_inferred": True,
    }
    results = [
        system("one", 100.0, 1, 8, model_used="whole"),
        system("two", 200.0, 2, 16, model_used="whole", processor="epyc 1 (R)"),
        system("three", 300.0, 3, 24, **unlike),
        system("four", 400.0, 4, 32, model_used="whole", is_inferred=None, processor=None),
        system("five", 500.0, 5, 40, model_used="whole", processor="EPYC 12"),
    ]
    made = run_models(**tables(results))
    found = made.sql("select result_key, differences from scale_out")
    assert found.fetchall() == [
        ("two", []),
        (
            "three",
            [
                "availability: preview against available",
                "inferred on one side only",
                "measured with power on one side only",
                "model: pruned against whole",
                "precision: fp4 against fp8",
                "processor: Xeon 6 against EPYC 1",
            ],
        ),
        ("four", ["inferred not known", "processor: not stated against EPYC 1"]),
        ("five", ["processor: EPYC 12 against EPYC 1"]),
    ]


def test_a_mixed_system_is_held_against_the_sum_of_its_parts(run_models: ModelRunner) -> None:
    """B1's is the better of those sharing an organisation; nobody else's counts, be it better."""
    results = [
        mixed("cluster", 380.0, processor="EPYC 1 (A1), EPYC 2 (B1)"),
        system("own", 100.0, 1, 8),
        system("own slower", 90.0, 1, 8),
        system("another's a1", 900.0, 1, 8, submitter="Partner"),
        system("own at the edge", 900.0, 1, 8, category="edge"),
        system("joint b1", 200.0, 1, 8, **B1, **JOINT, processor="EPYC 2"),
        system("slower b1", 150.0, 1, 8, **B1, **JOINT),
        system("stranger's b1", 900.0, 1, 8, **B1, submitter="Partner"),
    ]
    made = run_models(**tables(results), accelerator_names=NAMES)
    (found,) = rows(made, "select * from scale_out where kind = 'heterogeneous'")
    assert {name: found[name] for name in list(found)[8:]} == {
        "kind": "heterogeneous",
        "base_nodes": None,
        "base_accelerators": 24,
        "base_value": 400.0,
        "nodes": 3,
        "accelerators": 24,
        "accelerators_as_published": 24,
        "value": 380.0,
        "unit": "tokens/s",
        "speedup": pytest.approx(0.95),
        "efficiency": pytest.approx(0.95),
        "efficiency_as_published_count": None,
        "is_accuracy_copy": False,
        "differences": ["submitter: Acme against Acme+Partner"],
        "result_key_base": None,
        "result_key": "cluster",
        "entry_id_base": None,
        "entry_id": "6.0-cluster",
        "parts": ["2 x 6.0-own", "1 x 6.0-joint b1"],
        "result_keys_parts": ["own", "joint b1"],
    }


def test_what_several_parts_differ_in_is_said_once_and_one_copy_makes_no_copy(
    run_models: ModelRunner,
) -> None:
    strict = {"accuracy_target": "99.9", "is_accuracy_copy": True}
    results = [
        mixed("cluster", 380.0, **strict),
        system("a", 100.0, 1, 8, **strict, **JOINT),
        system("b", 200.0, 1, 8, **(strict | B1 | JOINT | {"is_accuracy_copy": False})),
    ]
    made = run_models(**tables(results), accelerator_names=NAMES)
    found = made.sql("select differences, is_accuracy_copy from scale_out")
    assert found.fetchall() == [(["submitter: Acme against Acme+Partner"], False)]


def test_own_parts_go_before_better_ones_of_whoever_shares_an_organisation(
    run_models: ModelRunner,
) -> None:
    results = [
        mixed("cluster", 380.0),
        system("a", 100.0, 1, 8, entry_id=None),
        system("b", 200.0, 1, 8, **B1),
        system("joint a", 900.0, 1, 8, **JOINT),
        system("joint b", 900.0, 1, 8, **B1, **JOINT),
    ]
    made = run_models(**tables(results), accelerator_names=NAMES)
    found = made.sql("select parts, speedup from scale_out where kind = 'heterogeneous'")
    assert found.fetchall() == [(["2 x a", "1 x 6.0-b"], pytest.approx(0.95))]


def test_a_part_is_the_largest_single_node_that_divides_what_the_cluster_has(
    run_models: ModelRunner,
) -> None:
    results = [
        mixed("cluster", 380.0),
        system("a two nodes", 210.0, 2, 16),
        system("a twelve", 140.0, 1, 12),
        system("a eight", 100.0, 1, 8),
        system("a four", 300.0, 1, 4),
        system("b", 100.0, 1, 4, **B1),
    ]
    made = run_models(**tables(results), accelerator_names=NAMES)
    found = made.sql("select parts, base_value from scale_out where kind = 'heterogeneous'")
    assert found.fetchall() == [(["2 x 6.0-a eight", "2 x 6.0-b"], 400.0)]


@pytest.mark.parametrize(
    "given",
    [
        {"accelerator_as_published": "Alpha 96GB (x16), Gamma (x8)"},
        {"accelerator_as_published": "Alpha 96GB (x8), Beta 1 (x8)"},
        {"accelerator_as_published": "Alpha 96GB, Beta 1"},
        {"accelerator_as_published": None},
        {"round": "5.1"},
        {"division": "open"},
        {"benchmark": "image"},
        {"scenario": "Server"},
        {"accuracy_target": "99"},
        {"category": "edge"},
        {"unit": "samples/s"},
    ],
)
def test_a_mixed_system_whose_parts_do_not_make_it_up_has_no_row(
    run_models: ModelRunner, given: Line
) -> None:
    results = [
        mixed("cluster", 380.0, **given),
        system("a", 100.0, 1, 8),
        system("b", 200.0, 1, 8, **B1),
    ]
    made = run_models(**tables(results), accelerator_names=NAMES)
    assert rows(made, "select * from scale_out") == []


@pytest.mark.parametrize("kind", [LATENCY, TRAINING])
def test_a_mixed_system_has_no_row_where_results_do_not_add_up(
    run_models: ModelRunner, kind: Line
) -> None:
    results = [
        mixed("cluster", 38.0, **kind),
        system("a", 100.0, 1, 8, **kind),
        system("b", 200.0, 1, 8, **B1, **kind),
    ]
    made = run_models(**tables(results), accelerator_names=NAMES)
    assert rows(made, "select * from scale_out") == []


def test_a_mixed_system_is_never_the_base_of_another(run_models: ModelRunner) -> None:
    results = [mixed("small", 380.0), mixed("large", 760.0, nodes=6)]
    made = run_models(**tables(results), accelerator_names=NAMES)
    assert rows(made, "select * from scale_out") == []


@pytest.mark.parametrize(
    "spelling",
    [
        "Alpha 96GB (x16) and Beta 1 (x8)",
        "Beta 1 (x8) Alpha 96GB (x8), alpha 96gb (x8)",
        "Beta 1 (x8) + Alpha 96GB(x16)",
    ],
)
def test_parts_are_read_from_each_spelling_of_a_mixed_system(
    run_models: ModelRunner, spelling: str
) -> None:
    results = [
        mixed("cluster", 380.0, accelerator_as_published=spelling),
        system("a", 100.0, 1, 8),
        system("b", 200.0, 1, 8, **B1),
    ]
    made = run_models(**tables(results), accelerator_names=NAMES)
    found = made.sql("select parts from scale_out")
    assert found.fetchall() == [(["2 x 6.0-a", "1 x 6.0-b"],)]


def test_a_power_capped_part_is_a_product_of_its_own(run_models: ModelRunner) -> None:
    results = [
        mixed(
            "cluster",
            280.0,
            accelerator_as_published="Alpha 96GB (x16), Beta 1 (x8) (Power Cap 500 W)",
        ),
        system("a", 100.0, 1, 8),
        system("b", 200.0, 1, 8, **B1),
        system("capped", 100.0, 1, 8, accelerator="B1 (500 W cap)"),
    ]
    made = run_models(**tables(results), accelerator_names=NAMES)
    found = made.sql("select parts from scale_out")
    assert found.fetchall() == [(["2 x 6.0-a", "1 x 6.0-capped"],)]
