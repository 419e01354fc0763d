from tests.conftest import ModelRunner
from tests.models.literal import Line, result, tables, withdrawal

MARTS = ("coverage", "coverage_gaps", "records", "software_gains", "vendor_ratios")
DIMENSIONS = ("accelerators", "benchmarks", "submitters")


def marked(run_models: ModelRunner, results: list[Line], withdrawn: list[Line]) -> list[str]:
    made = run_models(**tables(results, withdrawn=withdrawn))
    found = made.sql("select result_key from results where is_withdrawn order by all").fetchall()
    return [key for (key,) in found]


def test_a_withdrawn_result_is_kept_and_marked_and_counts_nowhere(run_models: ModelRunner) -> None:
    left = [
        result("a", "5.1"),
        result("b", "6.0", 150.0),
        result("c", "6.0", accelerator="B1", accelerator_vendor="Borealis"),
        result("d", "6.0", accelerator="B1", accelerator_vendor="Borealis", benchmark="vlm"),
    ]
    gone = [
        result("x", "5.1", 900.0),
        result("y", "6.0", 900.0),
        result("z", "6.0", accelerator="C1", accelerator_vendor="Cirrus", benchmark="only here"),
    ]
    withdrawn = [withdrawal("x", "inference-5.1"), withdrawal("y"), withdrawal("z")]
    made = run_models(**tables(left + gone, withdrawn=withdrawn))
    without = run_models(**tables(left))
    kept = made.sql("select result_key from results where is_withdrawn order by all").fetchall()
    assert kept == [("x",), ("y",), ("z",)]
    for name in (*MARTS, *DIMENSIONS, "rounds"):
        table = f"select * from {name} order by all"
        assert made.sql(table).fetchall() == without.sql(table).fetchall() != [], name


def test_a_line_without_model_or_scenario_withdraws_all_of_its_system(
    run_models: ModelRunner,
) -> None:
    results = [
        result("offline", platform="p", model_used="llm"),
        result("server", platform="p", model_used="llm", scenario="Server"),
        result("other model", platform="p", model_used="vlm"),
        result("open", platform="p", model_used="llm", division="open"),
        result("other system", platform="q", model_used="llm"),
        result("other round", "5.1", platform="p", model_used="llm"),
    ]
    of_model = {"model_used": "llm"}
    of_scenario = of_model | {"scenario": "Server"}
    assert marked(run_models, results, [withdrawal("p", **of_scenario)]) == ["server"]
    assert marked(run_models, results, [withdrawal("p", **of_model)]) == ["offline", "server"]
    all_of_it = ["offline", "other model", "server"]
    assert marked(run_models, results, [withdrawal("p")]) == all_of_it
    twice = [withdrawal("p"), withdrawal("p", **of_model)]
    assert marked(run_models, results, twice) == all_of_it


def test_a_copy_is_withdrawn_with_its_99_row_but_not_the_other_way_round(
    run_models: ModelRunner,
) -> None:
    results = [
        result(
            f"{target} {scenario}",
            platform="p",
            model_used=f"llm-{target}",
            accuracy_target=target,
            metric="throughput",
            scenario=scenario,
            is_accuracy_copy=target == "99.9" and scenario == "Offline",
        )
        for target in ("99", "99.9")
        for scenario in ("Offline", "Server")
    ]
    of_99 = [withdrawal("p", model_used="llm-99")]
    assert marked(run_models, results, of_99) == ["99 Offline", "99 Server", "99.9 Offline"]
    of_copy = [withdrawal("p", model_used="llm-99.9", scenario="Offline")]
    assert marked(run_models, results, of_copy) == ["99.9 Offline"]


def test_a_result_comes_back_once_its_line_is_gone(run_models: ModelRunner) -> None:
    """Figures that serve in a file's stead still say what the last warehouse said."""
    assert marked(run_models, [result("a", is_withdrawn=True)], []) == []
