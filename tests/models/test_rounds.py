from tests.conftest import ModelRunner, rows
from tests.models.literal import result, tables

MARTS = ("coverage", "coverage_gaps", "software_gains", "vendor_ratios")


def test_a_round_with_a_partial_file_is_in_no_mart(run_models: ModelRunner) -> None:
    results = [
        result("a", "6.0"),
        result("b", "6.1"),
        result("c", "6.1", accelerator="B1", accelerator_vendor="Borealis"),
        result("d", "6.1", benchmark="other"),
    ]
    made = run_models(**tables(results, partial=["inference-6.1"]))
    counts = {mart: rows(made, f"select count(*) as n from {mart}")[0]["n"] for mart in MARTS}
    assert counts == {"coverage": 3, "coverage_gaps": 0, "software_gains": 0, "vendor_ratios": 0}
    assert rows(made, "select count(*) as n from results")[0]["n"] == 4


def test_an_unreviewed_round_is_complete_from_a_quarter_of_the_last_reviewed_one_on(
    run_models: ModelRunner,
) -> None:
    results = [
        *(result(f"a{n}", "5.0") for n in range(4)),
        result("b", "5.1"),
        *(result(f"c{n}", "5.0", suite="training") for n in range(5)),
        result("d", "5.1", suite="training"),
        result("e", "6.0", suite="training"),
    ]
    unreviewed = ["inference-5.1", "training-5.1", "training-6.0"]
    made = run_models(**tables(results, unreviewed=unreviewed))
    assert rows(made, "select round_key from rounds where is_complete order by all") == [
        {"round_key": "inference-5.0"},
        {"round_key": "inference-5.1"},
        {"round_key": "training-5.0"},
    ]


def test_a_new_round_with_nothing_to_hold_it_against_is_not_complete(
    run_models: ModelRunner,
) -> None:
    made = run_models(**tables([result("a", "6.1")], unreviewed=["inference-6.1"]))
    assert rows(made, "select is_complete from rounds") == [{"is_complete": False}]
