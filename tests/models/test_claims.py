"""Each rule of a verdict on literal results: Acme's A1 of Aurora against B1 of Borealis."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.claims.facts import FACTS, RESULT
from pipeline.claims.reading import read_claims
from pipeline.warehouse.models import TableName, models
from tests.conftest import Made, ModelRunner
from tests.models.literal import CPU_ONLY, LATENCY, Line, compatible, result, tables, withdrawal

Auditor = Callable[..., Made]

B1 = {"accelerator": "B1", "accelerator_vendor": "Borealis", "submitter": "Borealis"}
RATIO = """
kind = "ratio"
subject = { round = "6.0", accelerator = "A1" }
comparator = { accelerator = "B1" }
"""
REPRODUCED, CONTRADICTED = "reproduced", "contradicted"
CHOSEN = "reproduced only against a chosen comparator"
NOT_CHECKABLE = "not checkable from results"


@pytest.fixture
def audit(run_models: ModelRunner, tmp_path: Path) -> Auditor:
    """Hold one claim, of which only what matters is given, against literal results."""

    def run(claim: str, results: list[Line], **given: list[Line]) -> Made:
        head = '[[claim]]\nid = "c"\nsaid_by = "Press"\ntitle = "T"\nclaim = "C"\n'
        file = tmp_path / "claims.toml"
        file.write_text(head + claim, encoding="utf-8")
        return run_models(**tables(results, **given), **read_claims([file]).frames())

    return run


def verdict(made: Made) -> str:
    return str(made.sql("select verdict from claims").fetchall()[0][0])


def told(made: Made, columns: str) -> tuple[object, ...]:
    return tuple(made.sql(f"select {columns} from claims").fetchall()[0])


def against(*values: float) -> list[Line]:
    """Return A1 at 100 and one result of B1 for each value."""
    return [
        result("a", value=100.0),
        *(result(f"b{at}", value=value, **B1) for at, value in enumerate(values, start=1)),
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([80.0], REPRODUCED),
        ([80.0, 80.1], REPRODUCED),
        ([80.0, 90.0], CHOSEN),
        ([90.0, 70.0], CONTRADICTED),
        ([], NOT_CHECKABLE),
    ],
)
def test_all_eligible_comparators_some_or_none_decide(
    audit: Auditor, values: list[float], expected: str
) -> None:
    assert verdict(audit(RATIO + 'claimed = "1.25x"', against(*values))) == expected


def test_the_range_over_all_comparators_and_the_nearest_pair_are_told(audit: Auditor) -> None:
    made = audit(RATIO + 'claimed = "1.25x"', against(80.0, 125.0, 100.0))
    columns = "comparators, reproducing, computed_min, computed_median, computed_max"
    assert told(made, columns) == (3, 1, 0.8, 1.0, 1.25)
    ids = "entry_id, comparator_entry_id, comparator_entry_id_min, comparator_entry_id_max"
    assert told(made, f"computed_value, {ids}") == (1.25, "6.0-a", "6.0-b1", "6.0-b2", "6.0-b1")
    assert told(made, "verdict_flips, reproduced_by") == (True, ["Borealis (8 x B1, 6.0-b1)"])
    assert told(made, "finding")[0] == (
        "The derived ratio of Acme (8 x A1, 6.0-a) to Borealis (8 x B1, 6.0-b1) is 1.250, one of "
        "3 eligible from 0.800 to 1.250, of which 1 reproduces the claim."
    )


@pytest.mark.parametrize(
    ("other", "expected"), [(100.0 / 0.975, REPRODUCED), (100.0 / 0.95, CONTRADICTED)]
)
def test_what_is_meant_of_every_row_fails_by_one(
    audit: Auditor, other: float, expected: str
) -> None:
    claim = 'claimed = "within 4%"\nfrom = 0.96\nbelow = 1.04\nmeant_of = "every"'
    made = audit(RATIO + claim, against(100.0, other))
    assert verdict(made) == expected
    assert told(made, "round(computed_value, 6)")[0] == round(100 / other, 6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([125.0, 80.0], REPRODUCED), ([80.0, 50.0], CHOSEN), ([90.0, 50.0], CONTRADICTED)],
)
def test_up_to_is_decided_by_the_best_pair(
    audit: Auditor, values: list[float], expected: str
) -> None:
    made = audit(RATIO + 'claimed = "1.25x"\nmeant_of = "best"', against(*values))
    assert verdict(made) == expected
    assert told(made, "computed_value")[0] == 100 / min(values)


def test_a_geometric_mean_is_of_all_ratios(audit: Auditor) -> None:
    claim = RATIO + 'claimed = "2.0x"\nmeant_of = "geometric mean"'
    results = [
        *against(100.0),
        result("a2", value=400.0, scenario="Server", availability="preview"),
        result("b2", value=100.0, scenario="Server", **B1),
    ]
    made = audit(claim, results)
    assert told(made, "verdict, computed_value, comparators") == (REPRODUCED, 2.0, 2)
    assert "availability: preview against available" in told(made, "differences")[0]


def test_a_latency_ratio_is_inverted_and_the_best_latency_is_the_lowest(audit: Auditor) -> None:
    results = [result("a", value=20.0, **LATENCY), result("b", value=30.0, **LATENCY, **B1)]
    assert told(audit(RATIO + 'claimed = "1.5x"', results), "verdict, computed_value") == (
        REPRODUCED,
        pytest.approx(1.5),
    )
    claim = 'kind = "value"\nclaimed = "20"\nmeant_of = "best"\nsubject = { round = "6.0" }'
    assert told(audit(claim, results), "verdict, computed_value") == (REPRODUCED, 20.0)


def test_only_what_agrees_is_paired(audit: Auditor) -> None:
    results = [
        result("a"),
        result("b count", **B1, accelerators=4),
        result("b nodes", **B1, nodes=2),
        result("b benchmark", **B1, benchmark="other"),
        result("b target", **B1, accuracy_target="99"),
        result("b scenario", **B1, scenario="Server"),
        result("b unit", **B1, unit="samples/s"),
        result("b round", "5.1", **B1),
        result("b open", **B1, division="open"),
        result("b edge", **B1, category="edge"),
        result("b copy", **B1, is_accuracy_copy=True),
        result("b withdrawn", **B1),
    ]
    made = audit(
        RATIO + 'claimed = "1.0x"',
        results,
        withdrawn=[withdrawal("b withdrawn", submitter_directory="Borealis")],
    )
    assert told(made, "verdict, comparators, finding") == (
        NOT_CHECKABLE,
        0,
        "Results cannot tell: there is no eligible comparator.",
    )


def test_per_accelerator_counts_may_differ_and_the_difference_is_said(audit: Auditor) -> None:
    results = [result("a", value=92.0, accelerators=16, nodes=2), *against(50.0)[1:]]
    made = audit(RATIO + 'claimed = "92%"\nbasis = "per accelerator"', results)
    assert told(made, "verdict, computed_value, differences") == (
        REPRODUCED,
        0.92,
        [
            "accelerators: 16 against 8",
            "nodes: 2 against 1",
            "submitter: Acme against Borealis",
        ],
    )


def test_rounds_compare_inside_a_compatibility_group_only(audit: Auditor) -> None:
    claim = """kind = "ratio"
        claimed = "1.5x"
        subject = { round = "6.0", submitter = "Acme" }
        comparator = { round = "5.1", submitter = "Acme" }"""
    results = [result("old", "5.1", 100.0), result("new", "6.0", 150.0)]
    assert verdict(audit(claim, results)) == REPRODUCED
    groups = [compatible("5.1", "1"), compatible("6.0", "2")]
    assert verdict(audit(claim, results, compatibility=groups)) == NOT_CHECKABLE


def test_the_comparator_that_the_claim_means_is_told_and_the_others_stay_eligible(
    audit: Auditor,
) -> None:
    claim = RATIO + 'claimed = "1.25x"\nchosen = { submitter = "Own" }'
    results = [*against(80.0), result("own", value=79.9, **(B1 | {"submitter": "Own"}))]
    made = audit(claim, results)
    assert told(made, "verdict, comparators, comparator_entry_id") == (REPRODUCED, 2, "6.0-own")


def test_what_must_be_said_with_a_pair_is_listed(audit: Auditor) -> None:
    claim = RATIO.replace('"A1"', '"A1", division = "open"') + 'claimed = "1.0x"'
    preview = {"division": "open", "availability": "preview", "weight_data_types": "fp4"}
    made = audit(claim, [result("a", **preview), *against(100.0)[1:]])
    assert told(made, "differences")[0] == [
        "availability: preview against available",
        "division: open against closed",
        "precision: fp4 against fp8",
        "submitter: Acme against Borealis",
    ]


THRESHOLD = 'kind = "value"\nclaimed = ">99"\nsubject = { round = "6.0", accelerator = "A1" }\n'


@pytest.mark.parametrize(
    ("other", "further", "expected"),
    [
        (100.0, "", REPRODUCED),
        (99.0, "", CHOSEN),
        (99.0, 'meant_of = "every"', CONTRADICTED),
        (99.0, 'meant_of = "best"', REPRODUCED),
    ],
)
def test_a_threshold_is_strict(audit: Auditor, other: float, further: str, expected: str) -> None:
    results = [result("a", value=100.0), result("a2", value=other, scenario="Server")]
    assert verdict(audit(THRESHOLD + further, results)) == expected


JOINT = {"submitter": "Acme+Other", "organisations": ["Acme", "Other"]}


@pytest.mark.parametrize(
    ("of", "claimed", "expected"),
    [
        ("organisation", "2", REPRODUCED),
        ("submitter", "2", REPRODUCED),
        ("result", "3", REPRODUCED),
        ("entry_id", "2", CONTRADICTED),
    ],
)
def test_different_ones_are_counted_the_organisations_of_a_joint_submission_each(
    audit: Auditor, of: str, claimed: str, expected: str
) -> None:
    results = [result("a"), result("b", **JOINT), result("c", "6.0", scenario="Server", **JOINT)]
    claim = f'kind = "count"\nof = "{of}"\nclaimed = "{claimed}"\nsubject = {{ round = "6.0" }}'
    assert verdict(audit(claim, results)) == expected


def test_a_name_that_the_selection_excludes_is_not_counted_with_its_partner(
    audit: Auditor,
) -> None:
    claim = """kind = "list"
        of = "organisation"
        claimed = ["Other"]
        subject = { round = "6.0", organisation = { not = "Acme" } }"""
    assert verdict(audit(claim, [result("a"), result("b", **JOINT)])) == REPRODUCED


def test_a_list_must_be_equal_and_says_what_it_lacks(audit: Auditor) -> None:
    claim = 'kind = "list"\nof = "submitter"\nclaimed = ["Acme", "Else"]\n'
    made = audit(claim + 'subject = { round = "6.0" }', [result("a"), result("b", **B1)])
    assert told(made, "verdict, computed_value, finding") == (
        CONTRADICTED,
        1.0,
        "The results have 2 (Acme, Borealis), without Else, besides Borealis.",
    )


def test_first_is_who_was_not_there_before(audit: Auditor) -> None:
    claim = """kind = "list"
        of = "submitter"
        claimed = ["Borealis"]
        subject = { round = "6.0" }
        comparator = { round = { below = "6.0" } }"""
    results = [result("old", "5.1"), result("a"), result("b", **B1)]
    assert verdict(audit(claim, results)) == REPRODUCED
    assert verdict(audit(claim, [*results, result("old b", "5.1", **B1)])) == CONTRADICTED


def test_all_are_as_many_as_the_comparator_has(audit: Auditor) -> None:
    claim = """kind = "count"
        of = "result"
        claimed = "all"
        subject = { round = "6.0", accelerator = "A1" }
        comparator = { round = "6.0" }"""
    assert verdict(audit(claim, [result("a")])) == REPRODUCED
    made = audit(claim, [result("a"), result("b", **B1)])
    assert told(made, "verdict, finding") == (
        CONTRADICTED,
        "The number of different results is 1, of all 2.",
    )


def test_the_most_of_a_fact_and_how_it_grew(audit: Auditor) -> None:
    claim = 'most = "nodes"\nsubject = { round = "6.0" }\n'
    results = [result("a", nodes=72), result("small"), result("old", "5.1", nodes=18)]
    assert verdict(audit('kind = "count"\nclaimed = "72"\n' + claim, results)) == REPRODUCED
    before = claim + 'comparator = { round = "5.1" }\n'
    assert verdict(audit('kind = "proportion"\nclaimed = "4x"\n' + before, results)) == REPRODUCED
    made = audit('kind = "growth"\nclaimed = "+300%"\n' + before, results)
    assert told(made, "verdict, computed_value") == (REPRODUCED, 3.0)


def test_products_are_those_of_a_mixed_system_whatever_their_power_cap(audit: Auditor) -> None:
    mixed = {"accelerator": "heterogeneous: A1 + A2", "is_heterogeneous": True}
    results = [result("a", accelerator="A1 (1000 W cap)"), result("m", **mixed)]
    claim = 'subject = { round = "6.0" }\nkind = "count"\nclaimed = "2"\n'
    assert verdict(audit(claim + 'of = "product"', results)) == REPRODUCED
    assert verdict(audit(claim + 'most = "products"', results)) == REPRODUCED


def test_an_absence_needs_a_name_and_a_round_that_are_known(audit: Auditor) -> None:
    def absent(selection: str) -> tuple[object, ...]:
        claim = f'kind = "count"\nof = "result"\nclaimed = "0"\nsubject = {{ {selection} }}'
        made = audit(claim, [result("old", "5.1", **B1), result("a")])
        return told(made, "verdict, finding")

    known = 'round = "6.0", accelerator = "B1"'
    assert absent(known) == (REPRODUCED, "The number of different results is 0.")
    assert absent('round = "6.0", accelerator = "B2"') == (
        NOT_CHECKABLE,
        "Results cannot tell: no result has the accelerator B2.",
    )
    assert absent('round = "7.0", accelerator = "B1"') == (
        NOT_CHECKABLE,
        "Results cannot tell: round 7.0 is not in this warehouse.",
    )


RANKING = """kind = "ranking"
claimed = "all"
subject = { round = "6.0", accelerator = "A1" }
comparator = { round = "6.0" }
"""


def test_a_ranking_is_of_all_benchmarks_and_scenarios_and_shared_first_places_count(
    audit: Auditor,
) -> None:
    results = [*against(100.0, 90.0), result("a2", value=20.0, **LATENCY)]
    results += [result("b low", value=30.0, **LATENCY, **B1)]
    made = audit(RANKING, results)
    assert told(made, "verdict, computed_value, comparators") == (REPRODUCED, 2.0, 2)
    cpu = result("cpu", scenario="Server", **(CPU_ONLY | {"submitter": "Other"}))
    made = audit(RANKING, [*results, cpu])
    assert told(made, "verdict, computed_value, comparators, finding") == (
        CONTRADICTED,
        2.0,
        3,
        "The subject is best in 2 of 3 benchmarks and scenarios; elsewhere others are, "
        "llm Server: Other (CPU only, 6.0-cpu).",
    )


PARTS = """kind = "count"
subject = {{ round = "6.0" }}
{} = [{{ most = "nodes", claimed = "2" }}, {{ most = "accelerators", claimed = "{}" }}]
"""


@pytest.mark.parametrize(
    ("combined", "second", "expected"),
    [
        ("parts", "16", REPRODUCED),
        ("parts", "15", CONTRADICTED),
        ("readings", "16", REPRODUCED),
        ("readings", "15", CHOSEN),
    ],
)
def test_every_part_must_hold_and_a_reading_may(
    audit: Auditor, combined: str, second: str, expected: str
) -> None:
    results = [result("a", nodes=2, accelerators=16)]
    assert verdict(audit(PARTS.format(combined, second), results)) == expected


def test_a_result_of_both_categories_makes_one_pair(audit: Auditor) -> None:
    both = {"category": "datacenter,edge"}
    results = [result("a", value=100.0, **both), result("b", value=80.0, **both, **B1)]
    claim = RATIO.replace(" }", ', category = "any" }') + 'claimed = "1.25x"'
    assert told(audit(claim, results), "verdict, comparators") == (REPRODUCED, 1)


def test_the_facts_of_the_model_are_those_that_a_selection_may_name() -> None:
    sql = models()[TableName("staging", "claim_rows")].sql
    named = sql.partition(" as facts")[0].split("{'fact': '")[1:]
    assert {part.partition("'")[0] for part in named} == {*FACTS, RESULT}
