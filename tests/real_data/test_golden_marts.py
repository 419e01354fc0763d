"""The marts over the published tables against every visible golden row, ratios to 1e-9."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import pytest

from tests.conftest import REAL_DATA, Roundtable

pytestmark = pytest.mark.skipif(not REAL_DATA.is_dir(), reason="no ../shared here")

Row = Mapping[str, Any]

STATUS = {"covered": "covered", "preview only": "covered", "open only": "open only", "gap": "GAP"}


@dataclass(frozen=True)
class Marts:
    """The marts, with the names that golden uses for ours."""

    connection: duckdb.DuckDBPyConnection
    products: Mapping[str, set[str]]
    submitters: Mapping[str, str]

    def indexed(self, select: str, *key: str) -> dict[tuple[Any, ...], Row]:
        """Return a query's rows by key; no two rows may share one."""
        rows = self.connection.sql(select).pl().to_dicts()
        indexed = {tuple(row[column] for column in key): row for row in rows}
        assert len(indexed) == len(rows), f"{key} is no key"
        return indexed

    def names(self, kind: str, name: str) -> set[str]:
        """Return our names of a golden vendor, submitter or product; several where mixed."""
        if kind == "submitter":
            return {self.submitters[_letters(name)]}
        if kind == "vendor":
            return {name.replace("none (CPU only)", "CPU only")}
        return self.products[name]


@pytest.fixture(scope="module")
def marts(published: Roundtable) -> Iterator[Marts]:
    """Read the warehouse built from the published tables."""
    database = published.home / "roundtable.duckdb"
    with duckdb.connect(str(database), read_only=True) as connection:
        yield Marts(connection, _products(connection), _submitters(connection))


def _products(connection: duckdb.DuckDBPyConnection) -> dict[str, set[str]]:
    reference = _csv("reference/accelerators")
    short = {line["raw"]: line["golden_product"] for line in reference if line["golden_product"]}
    products: dict[str, set[str]] = defaultdict(set, {"CPU only": {"CPU only"}})
    for published, accelerator, is_mixed in connection.sql(
        "select distinct accelerator_as_published, accelerator, is_heterogeneous from main.results "
        "where accelerator is not null"
    ).fetchall():
        product = "AMD mixed" if is_mixed else short.get(published, published)
        products[product].add(accelerator)
    return dict(products)


def _submitters(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    spellings = connection.sql(
        "select distinct submitter_as_published, submitter from main.results"
    ).fetchall()
    return {_letters(spelling): submitter for spelling, submitter in spellings}


@pytest.mark.parametrize("kind", ["vendor", "submitter", "product"])
def test_every_visible_coverage_row_has_its_status_counts_and_scenarios(
    marts: Marts, kind: str
) -> None:
    by = "accelerator" if kind == "product" else kind
    ours = marts.indexed(
        "select *, replace(round_key, 'inference-', 'v') as round from main.coverage as coverage "
        f"where category = 'datacenter' and coverage.by = '{by}'",
        *("round", "name", "benchmark"),
    )
    wrong = []
    for row in _csv(f"golden/coverage_{kind}"):
        names = marts.names(kind, row[kind])
        keys = [(row["round"], name, row["benchmark"]) for name in names]
        found = [ours[key] for key in keys if key in ours]
        expected = (
            row["status"],
            int(row["n_results"]),
            int(row["n_results_excl_99.9_copies"]),
            int(row["n_submitters"]),
            set(filter(None, row["scenarios"].split(";"))),
            set(filter(None, row["scenarios_missing"].split(";"))),
        )
        if [_coverage(each) for each in found] != [expected]:
            wrong.append((row, found))
    assert wrong == []


def _coverage(row: Row) -> tuple[Any, ...]:
    counts = (row["results"], row["results_without_copies"], row["submitters"])
    return (STATUS[row["status"]], *counts, set(row["scenarios"]), set(row["scenarios_missing"]))


def test_every_visible_gain_of_one_submitter_has_its_range_class_and_best_rows(
    marts: Marts,
) -> None:
    ours = {
        match: _gains(marts, match, "submitter_from")
        for match in ("same accelerator", "same host", "same system")
    }
    wrong = []
    for row in _csv("golden/software_gains_same_submitter"):
        (product,) = marts.names("product", row["product"])
        submitter = marts.submitters[_letters(row["submitter"])]
        key = (*_gain_key(row, submitter, product), row["division"])
        gain, same_host, same_system = (of_match.get(key) for of_match in ours.values())
        expected = {
            "yes": (True, True),
            "host same, system name differs or blank": (True, False),
            "no: host CPU or system differs": (False, False),
        }[row["software_only_candidate"]]
        agrees = (
            gain is not None
            and (same_host is not None, same_system is not None) == expected
            and _close(gain["gain"], row["ratio_best_over_best"])
            and _close(gain["gain_min"], row["ratio_min_all_pairs"])
            and _close(gain["gain_max"], row["ratio_max_all_pairs"])
            and gain["pairs"] == _pairs(row["notes"])
            and _same_ids(gain, from_=row["from_id"], to=row["to_id"])
            and (
                same_system is None
                or _close(same_system["gain"], row["ratio_matched_system"])
                and _same_ids(same_system, from_=row["matched_from_id"], to=row["matched_to_id"])
            )
        )
        if not agrees:
            wrong.append((row, gain, same_host, same_system))
    assert wrong == []


def test_every_visible_gain_of_any_submitter_has_its_best_rows_and_submitters(
    marts: Marts,
) -> None:
    ours = _gains(marts, "best of round", "null")
    wrong = []
    for row in _csv("golden/software_gains_best_any_submitter"):
        (product,) = marts.names("product", row["product"])
        gain = ours.get((*_gain_key(row, None, product), "closed"))
        agrees = (
            gain is not None
            and _close(gain["gain"], row["ratio_best"])
            and _close(gain["value_from"], row["from_best"])
            and _close(gain["value_to"], row["to_best"])
            and gain["pairs"] == int(row["n_from"]) * int(row["n_to"])
            and _same_ids(gain, from_=row["from_id"], to=row["to_id"])
        )
        if not agrees:
            wrong.append((row, gain))
    assert wrong == []


def _gains(marts: Marts, match: str, submitter: str) -> dict[tuple[Any, ...], Row]:
    return marts.indexed(
        f"""
        select
            *,
            'v' || from_round as "from",
            'v' || to_round as "to",
            {submitter} as submitter,
            coalesce(accelerator, 'CPU only') as accelerator_name,
            concat_ws('-', benchmark, accuracy_target) as model
        from main.software_gains
        where category = 'datacenter' and match = '{match}'
        """,
        *("from", "to", "submitter", "accelerator_name", "accelerators", "nodes"),
        *("model", "scenario", "division"),
    )


def _gain_key(row: Row, submitter: str | None, product: str) -> tuple[Any, ...]:
    counts = (int(row["n_acc"]), int(row["nodes"]))
    return (row["from"], row["to"], submitter, product, *counts, row["model"], row["scenario"])


def _pairs(notes: str) -> int:
    """Return how many pairs of systems a golden row's notes speak of; one unless they say."""
    match = re.search(r"(\d+)x(\d+) candidate systems", notes)
    return int(match[1]) * int(match[2]) if match else 1


def _same_ids(ours: Row, **golden: str) -> bool:
    """Compare entry ids by side; golden attached those of 5.0 by value, ours are null there."""
    return all(
        ours[f"entry_id_{side.strip('_')}"] in (None, entry_id.removeprefix("v"))
        for side, entry_id in golden.items()
    )


def test_every_visible_vendor_ratio_has_its_range_its_flag_and_its_best_rows(marts: Marts) -> None:
    ours = marts.indexed(
        """
        select
            *,
            replace(round_key, 'inference-', 'v') as round,
            concat_ws('-', benchmark, accuracy_target) as model
        from main.vendor_ratios
        where category = 'datacenter' and nodes = 1
        """,
        *("round", "accelerators", "model", "scenario"),
        *("accelerator_a", "division_a", "accelerator_b", "division_b"),
    )
    wrong = []
    for row in _csv("golden/vendor_ratios"):
        (a,) = marts.names("product", row["product_a"])
        (b,) = marts.names("product", row["product_b"])
        cell = (row["round"], int(row["n_acc"]), row["model"], row["scenario"])
        ratio = ours.get((*cell, a, row["division_a"], b, row["division_b"]))
        scale = 1000 if row["units"] == "Latency (s)" else 1  # ours are milliseconds
        agrees = (
            ratio is not None
            and (ratio["vendor_a"], ratio["vendor_b"]) == (row["vendor_a"], row["vendor_b"])
            and _close(ratio["best_a"] / scale, row["best_a"])
            and _close(ratio["best_b"] / scale, row["best_b"])
            and _close(ratio["ratio_best"], row["ratio_best_a_over_best_b"])
            and _close(ratio["ratio_min"], row["ratio_min"])
            and _close(ratio["ratio_median"], row["ratio_median"])
            and _close(ratio["ratio_max"], row["ratio_max"])
            and ratio["comparators"] == int(row["n_b"])
            and ratio["verdict_flips"] == (row["sensitivity_flag"] == "crosses 1.0")
            and _same_ids(ratio, a=row["best_id_a"], b=row["best_id_b"])
        )
        if not agrees:
            wrong.append((row, ratio))
    assert wrong == []


def test_every_visible_scale_out_row_has_its_base_and_both_efficiencies(marts: Marts) -> None:
    ours = marts.indexed(
        """
        select
            *,
            replace(round_key, 'inference-', 'v') as round,
            concat_ws('-', benchmark, accuracy_target) as model
        from main.scale_out
        where category = 'datacenter'
        """,
        *("round", "entry_id", "model", "scenario"),
    )
    wrong = []
    for row in _csv("golden/scale_out"):
        entry_id = row["multi_id"].removeprefix("v")
        found = ours.get((row["round"], entry_id, row["model"], row["scenario"]))
        agrees = (
            found is not None
            and found["submitter"] == marts.submitters[_letters(row["submitter"])]
            and found["accelerator"] in marts.names("product", row["product"])
            and found["division"] == row["division"]
            and found["kind"] == row["kind"].partition(":")[0]
            and _base(found) == row["base_id"].replace("v", "")
            and found["base_nodes"] == (int(row["base_nodes"]) if row["base_nodes"] else None)
            and found["base_accelerators"] == int(row["base_n_acc"])
            and _close(found["base_value"], row["base_perf"])
            and found["nodes"] == int(row["multi_nodes"])
            and found["accelerators"] == int(row["multi_n_acc_actual"])
            and found["accelerators_as_published"] == int(row["multi_n_acc_published"])
            and _close(found["value"], row["multi_perf"])
            and _close(found["speedup"], row["speedup"] or row["efficiency_actual_count"])
            and _close(found["efficiency"], row["efficiency_actual_count"])
            and _same_ratio(
                found["efficiency_as_published_count"], row["efficiency_published_count"]
            )
            and found["is_accuracy_copy"] == (row["is_99.9_copy"] == "yes")
            and _says(found, "precision") == bool(row["precision_change"])
        )
        if not agrees:
            wrong.append((row, found))
    assert wrong == []


def _base(row: Row) -> str:
    """Return what a row is held against as golden writes it: an entry id, or count x entry id."""
    return row["entry_id_base"] or "+".join(part.replace(" x ", "x") for part in row["parts"])


def test_every_visible_partner_row_has_its_ratio_to_the_makers_best(marts: Marts) -> None:
    """Each row of ours serves once: without entry ids, as in 5.0, two of a cell may be equal."""
    ours = defaultdict(list)
    select = """
        select
            *,
            replace(round_key, 'inference-', 'v') as round,
            concat_ws('-', benchmark, accuracy_target) as model
        from main.partner_spread
        where category = 'datacenter'
        """
    cell = ("round", "accelerator", "accelerators", "nodes", "model", "scenario", "partner")
    for spread in marts.connection.sql(select).pl().to_dicts():
        ours[tuple(spread[column] for column in cell)].append(spread)
    wrong = []
    for row in _csv("golden/partner_spread"):
        (product,) = marts.names("product", row["product"])
        partner = marts.submitters[_letters(row["partner"])]
        size = (int(row["n_acc"]), int(row["nodes"]))
        found = ours[(row["round"], product, *size, row["model"], row["scenario"], partner)]
        alike = [spread for spread in found if _is_spread(spread, row)]
        if alike:
            found.remove(alike[0])
        else:
            wrong.append((row, found))
    assert wrong == []


def _is_spread(spread: Row, row: Row) -> bool:
    scale = 1000 if row["units"] == "Latency (s)" else 1  # ours are milliseconds
    return (
        (spread["vendor"], spread["vendor_submitter"]) == (row["vendor"], row["vendor_submitter"])
        and _close(spread["partner_value"] / scale, row["partner_perf"])
        and _close(spread["vendor_value"] / scale, row["vendor_perf"])
        and _close(spread["ratio"], row["ratio_partner_over_vendor"])
        and spread["availability"] == row["availability"]
        and spread["is_accuracy_copy"] == (row["is_99.9_copy"] == "yes")
        and _says(spread, "precision") == bool(row["precision_difference"])
        and _same_ids(spread, partner=row["partner_id"], vendor=row["vendor_id"])
    )


def _says(row: Row, difference: str) -> bool:
    return any(phrase.startswith(f"{difference}: ") for phrase in row["differences"])


def _csv(name: str) -> list[dict[str, str]]:
    with (REAL_DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.casefold())


def _close(ours: float, golden: str) -> bool:
    return abs(ours / float(golden) - 1) < 1e-9


def _same_ratio(ours: float | None, golden: str) -> bool:
    return ours is None if golden == "" else ours is not None and _close(ours, golden)
