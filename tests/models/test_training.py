"""What the models make of training's runs: scaling, and the same runs submitted again."""

import polars as pl
import pytest

from tests.conftest import ModelRunner
from tests.models.literal import TRAINING, compatible, result, tables

BERT = {"category": None, "suite": "training"}


def runs(result_key: str, started: int, factor: float = 1.0) -> list[dict[str, object]]:
    """Return two runs of a result, of ten and twelve minutes, begun at ``started`` and later."""
    return [
        {
            "round_key": "training-5.0",
            "result_key": result_key,
            "log": f"result_{at}.txt",
            "started_at_ms": started + at,
            "minutes": 10.0 + 2 * at,
            "scaling_factor": factor,
        }
        for at in range(2)
    ]


def test_results_with_the_same_runs_name_the_first_of_them(run_models: ModelRunner) -> None:
    results = [
        result("first", "5.0", **TRAINING),
        result("again", "5.1", **TRAINING),
        result("other system", "5.1", **TRAINING),
        result("new", "5.1", **TRAINING),
        result("other benchmark", "5.1", benchmark="bert", **TRAINING),
    ]
    submitted = [
        *runs("first", 100),
        *runs("again", 100, factor=1.2),
        *runs("other system", 100),
        *runs("new", 900),
        *runs("other benchmark", 100),
    ]
    made = run_models(**tables(results), runs=pl.DataFrame(submitted))
    found = made.sql("select result_key, repeats_result_key, scaling_factor from results")
    assert sorted(found.fetchall()) == [
        ("again", "first", 1.2),
        ("first", None, 1.0),
        ("new", None, 1.0),
        ("other benchmark", None, 1.0),
        ("other system", "first", 1.0),
    ]


def test_runs_submitted_again_give_no_software_gain_and_the_rest_says_so(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a", "5.0", 11.0, **TRAINING),
        result("b", "5.1", 13.2, **TRAINING),
        result("c", "5.0", 11.0, benchmark="bert", **TRAINING),
        result("d", "5.1", 5.5, benchmark="bert", **TRAINING),
    ]
    submitted = [*runs("a", 100), *runs("b", 100, 1.2), *runs("c", 200), *runs("d", 300)]
    made = run_models(
        **tables(
            results,
            compatibility=[
                compatible(r, benchmark=b, **BERT) for r in ("5.0", "5.1") for b in ("llm", "bert")
            ],
        ),
        runs=pl.DataFrame(submitted),
    )
    found = made.sql(
        "select benchmark, match, gain, gain_unscaled, differences from software_gains "
        "where match <> 'best of round' order by all"
    ).fetchall()
    differences = [
        "runs: submitted before, see repeats_result_key of the later result",
        "scaling factor: 1.0 -> 1.2",
    ]
    assert found == [
        *(("bert", f"same {what}", 2.0, 2.0, []) for what in ("accelerator", "host", "system")),
        ("llm", "same accelerator", pytest.approx(11 / 13.2), pytest.approx(1.0), differences),
    ]


def test_scores_of_one_group_that_do_not_compare_as_they_are_stay_apart_in_records(
    run_models: ModelRunner,
) -> None:
    results = [result("a", "5.0", 20.0, **TRAINING), result("b", "5.1", 10.0, **TRAINING)]
    groups = [
        compatible("5.0", record_group="factors of 5.0", note="5.0 and 5.1 scale apart", **BERT),
        compatible("5.1", note="5.0 and 5.1 scale apart", **BERT),
    ]
    made = run_models(**tables(results, compatibility=groups))
    records = made.sql(
        "select result_key, is_record, value_before, compatibility_group from records "
        "where scope = 'any count' order by all"
    )
    assert records.fetchall() == [("a", True, None, "1"), ("b", True, None, "1")]
    gains = made.sql("select distinct gain, differences from software_gains")
    assert gains.fetchall() == [(2.0, ["compatibility: 5.0 and 5.1 scale apart"])]
