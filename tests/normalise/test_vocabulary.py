from collections import defaultdict
from datetime import date

import pytest

from pipeline.normalise.vocabulary import FOLDER, entries
from pipeline.rounds import ROUND_KEY

ALIASES = [("submitters", "submitter"), ("accelerators", "accelerator")]


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.csv")))
def test_every_line_has_all_columns_and_says_where_it_comes_from(name: str) -> None:
    for line in entries(name):
        assert None not in line and None not in line.values()
        assert line["source"]


@pytest.mark.parametrize(("name", "canonical"), [*ALIASES, ("benchmark_aliases", "benchmark")])
def test_spellings_that_differ_in_case_only_mean_the_same(name: str, canonical: str) -> None:
    meanings = defaultdict(set)
    for line in entries(name):
        meanings[line.get("suite"), line.get("first_round"), line["as_published"].casefold()].add(
            line[canonical]
        )
    assert {key: names for key, names in meanings.items() if len(names) > 1} == {}


def test_every_alias_leads_to_a_name_that_is_described() -> None:
    products = {line["accelerator"] for line in entries("accelerator_products")}
    assert {line["accelerator"] for line in entries("accelerators")} <= products
    benchmarks = {(line["suite"], line["benchmark"]) for line in entries("benchmarks")}
    assert {(line["suite"], line["benchmark"]) for line in entries("benchmark_aliases")} <= (
        benchmarks
    )


def test_a_submitter_has_the_same_organisations_under_all_its_spellings() -> None:
    organisations = defaultdict(set)
    for line in entries("submitters"):
        organisations[line["submitter"]].add(line["organisations"])
    assert {name for name, lists in organisations.items() if len(lists) > 1} == set()


def test_unit_corrections_use_labels_that_are_known() -> None:
    labels = {line["unit_as_published"] for line in entries("units")}
    for line in entries("unit_corrections"):
        assert {line["unit_as_published"], line["unit_label"]} <= labels


def test_a_withdrawal_names_a_round_its_system_a_day_and_a_reason() -> None:
    for line in entries("withdrawn_results"):
        assert ROUND_KEY.fullmatch(line["round_key"])
        assert all(line[name] for name in ("division", "submitter_directory", "platform", "reason"))
        assert date.fromisoformat(line["reported_on"])
