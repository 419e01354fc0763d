import polars as pl

from tests.conftest import ModelRunner, rows
from tests.models.literal import CPU_ONLY, result, tables


def test_an_accelerator_is_described_by_its_parts_and_unknown_ones_are_listed(
    run_models: ModelRunner,
) -> None:
    products = {
        "accelerator": ["A1", "B1"],
        "vendor": ["Aurora", "Borealis"],
        "memory_gb": [80, 96],
    }
    names = ["A1 (700 W cap)", "heterogeneous: A1 + B1", "heterogeneous: A1 + X", "X"]
    results = [result(name, accelerator=name) for name in names] + [result("cpu", **CPU_ONLY)]
    made = run_models(**tables(results), accelerator_products=pl.DataFrame(products))
    columns = "accelerator, vendor, memory_gb, power_cap_w, is_heterogeneous, is_known, results"
    assert made.sql(f"select {columns} from accelerators order by all").fetchall() == [
        ("A1", "Aurora", 80, None, False, True, 0),
        ("A1 (700 W cap)", "Aurora", 80, 700, False, True, 1),
        ("B1", "Borealis", 96, None, False, True, 0),
        ("X", None, None, None, False, False, 1),
        ("heterogeneous: A1 + B1", "Aurora + Borealis", None, None, True, True, 1),
        ("heterogeneous: A1 + X", "Aurora", None, None, True, False, 1),
    ]


def test_a_submitter_has_all_its_spellings_and_its_rounds_in_order_of_version(
    run_models: ModelRunner,
) -> None:
    vocabulary = pl.DataFrame(
        {"as_published": ["ACME"], "submitter": ["Acme"], "organisations": [["Acme Inc"]]}
    )
    results = [result("a", "9.0"), result("b", "10.0"), result("c", "10.0", submitter="New")]
    made = run_models(**tables(results), submitter_names=vocabulary)
    assert rows(made, "select * from submitters order by submitter") == [
        {
            "submitter": "Acme",
            "organisations": ["Acme Inc"],
            "spellings": ["ACME", "Acme"],
            "is_known": True,
            "first_round_key": "inference-9.0",
            "last_round_key": "inference-10.0",
            "rounds": 2,
            "results": 2,
        },
        {
            "submitter": "New",
            "organisations": ["New"],
            "spellings": ["New"],
            "is_known": False,
            "first_round_key": "inference-10.0",
            "last_round_key": "inference-10.0",
            "rounds": 1,
            "results": 1,
        },
    ]
