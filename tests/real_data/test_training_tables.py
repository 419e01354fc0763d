"""What the warehouse of the real archives says of training."""

import pytest

from tests.conftest import REAL_DATA, Roundtable

pytestmark = pytest.mark.skipif(not REAL_DATA.is_dir(), reason="no ../shared here")


def answer(roundtable: Roundtable, query: str) -> list[str]:
    return roundtable("query", query, "--format", "csv").out.splitlines()[1:]


def test_every_score_can_be_recomputed_from_its_runs_in_sql(published: Roundtable) -> None:
    query = """
        with recomputed as (
            select result_key, avg(minutes) * any_value(scaling_factor) as minutes
            from runs where is_counted group by result_key
        )
        select count(*), count(*) filter (abs(recomputed.minutes / value - 1) < 1e-12)
        from results left join recomputed using (result_key)
        where suite = 'training'
    """
    assert answer(published, query) == ["1262,1262"]


def test_runs_submitted_again_are_told_by_round(published: Roundtable) -> None:
    """F41, F42: within 4.0 three directories of one company hold the same runs."""
    query = """
        select again.round, first.round, count(*)
        from results as again inner join results as first
            on again.repeats_result_key = first.result_key
        group by all order by all
    """
    found = {line[:7]: int(line[8:]) for line in answer(published, query)}
    assert found["5.1,5.0"] >= 13
    assert found["4.1,4.0"] >= 10
    assert found["4.0,4.0"] >= 12
    gains = (
        "select count(*) from software_gains where suite = 'training' "
        "and match in ('same host', 'same system') and gain_unscaled = 1"
    )
    assert answer(published, gains) == ["0"]


def test_one_accelerator_has_one_name_in_both_suites(published: Roundtable) -> None:
    query = """
        select count(*) from (
            select accelerator from results where accelerator is not null
            group by accelerator having count(distinct suite) = 2
        )
    """
    assert int(answer(published, query)[0]) > 15
    unmapped = (
        "select count(*) from warnings where round_key like 'training%' "
        "and problem like '%not in the vocabulary'"
    )
    assert answer(published, unmapped) == ["0"]
