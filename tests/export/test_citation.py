import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from pipeline.export.attribution import NOT_VERIFIED, VERIFIED
from pipeline.export.citation import DERIVED, NO_RATIO, Footnote
from pipeline.normalise.vocabulary import entries
from pipeline.sources.choice import Bundle
from pipeline.sources.folder import Folder
from pipeline.warehouse.build import Plan
from pipeline.warehouse.datapackage import LEGEND
from tests.conftest import Roundtable, build_without_orchestrator
from tests.normalise.published_rows import official_row, official_table

SCORED = "c6a2935e9581535b"
"""A result of training 5.1, scored from its logs."""


def cited(key: str = "a", **given: Any) -> dict[str, Any]:
    """Return a result as it is cited: of the published table of 6.0, but for what is given."""
    return {
        "result_key": key,
        "entry_id": f"6.0-{key}",
        "suite": "inference",
        "round": "6.0",
        "division": "closed",
        "category": "datacenter",
        "availability": "available",
        "submitter": "Acme",
        "system_name": "Box",
        "accelerators": 8,
        "accelerator": "A1",
        "benchmark": "llm",
        "benchmark_name": "Large Model 1B",
        "accuracy_target": None,
        "scenario": "Server",
        "value": 1234.5,
        "unit": "tokens/s",
        "source_kind": "published table",
        "source_url": "https://example.org/table.json",
        "source_commit": None,
        "retrieved_on": None,
        "compatibility_group": "1",
        "is_withdrawn": False,
    } | given


def test_the_footnote_of_one_result_word_for_word() -> None:
    known = {"source_commit": "abc1234", "retrieved_on": date(2026, 4, 2)}
    assert Footnote([cited(**known)], is_derived=False).text() == (
        "MLPerf® v6.0 Inference Closed Large Model 1B Server: "
        "Acme, Box (6.0-a, datacenter, available, 8 x A1): 1234.5 tokens/s. "
        "Retrieved from https://example.org/table.json, commit abc1234, 2026-04-02, entry 6.0-a. "
        f"{VERIFIED}\n{LEGEND}\n"
    )


def test_what_is_not_known_is_said_and_never_filled_in() -> None:
    unknown = {"accelerators": None, "entry_id": None, "accuracy_target": "99"}
    told = Footnote([cited(**unknown)], is_derived=False).text()
    assert "(99% accuracy target) Server: Acme, Box (result a, " in told
    assert "an unknown number of x A1" in told
    assert "commit not known, date of retrieval not known, result without entry id a." in told


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({}, DERIVED),
        ({"round": "5.1"}, DERIVED),
        ({"round": "5.1", "compatibility_group": "2"}, NO_RATIO),
        ({"round": "5.1", "compatibility_group": None}, NO_RATIO),
        ({"scenario": "Offline"}, None),
        ({"benchmark": "vlm"}, None),
        ({"unit": "samples/s"}, None),
        ({"is_withdrawn": True, "withdrawal_reason": "x", "withdrawal_source": "y"}, None),
    ],
)
def test_a_ratio_is_spoken_of_where_two_results_form_one(
    other: dict[str, Any], sentence: str | None
) -> None:
    whole = {"withdrawal_reported_on": None} | other
    told = Footnote([cited("a"), cited("b", **whole)], is_derived=False).text()
    assert [text for text in (DERIVED, NO_RATIO) if text in told] == ([sentence] * bool(sentence))


def test_published_text_cannot_become_markup() -> None:
    named = cited(system_name="[x](http://evil) <b>*y*")
    assert r"\[x\](http://evil) \<b\>\*y\*" in Footnote([named], is_derived=False).markdown()


def test_an_entry_means_all_its_results_and_options_narrow_it(bundled: Roundtable) -> None:
    whole = json.loads(bundled("cite", "v6.0-0002", "--format", "json").out)["results"]
    query = "select result_key from results where entry_id = '6.0-0002'"
    keys = json.loads(bundled("query", query, "--format", "json").out)
    assert {r["result_key"] for r in whole} == {r["result_key"] for r in keys}
    narrow = ["--benchmark", "Llama2-70B-99.9", "--scenario", "server", "--format", "json"]
    (one,) = json.loads(bundled("cite", "6.0-0002", *narrow).out)["results"]
    assert (one["accuracy_target"], one["scenario"], one["value"]) == ("99.9", "Server", 100282.0)


def test_what_we_scored_from_logs_is_never_called_verified(bundled: Roundtable) -> None:
    told = bundled("cite", SCORED[:8], "6.0-0002", "--derived").out
    of_table, of_logs, *rest = told.splitlines()
    assert of_table.startswith("MLPerf® v6.0 Inference Closed GPT-OSS 120B Offline: AMD, ")
    assert VERIFIED in of_table and "(unverified)" not in of_table
    assert of_logs.startswith("MLPerf® v5.1 Training Closed Llama 2 70B LoRA: ")
    assert NOT_VERIFIED in of_logs and VERIFIED not in of_logs
    assert of_logs.count("minutes (unverified)") == 1
    assert rest == [DERIVED, LEGEND]


def test_a_withdrawn_result_is_cited_with_a_note_and_told_by_status(
    roundtable: Roundtable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "published").mkdir()
    table = official_table(official_row(), official_row(ID="6.0-0002", Platform="other"))
    (tmp_path / "published" / "inference-6.0.summary_results.json").write_bytes(table)
    line = dict.fromkeys(("model_used", "scenario"), "") | {
        "round_key": "inference-6.0",
        "division": "closed",
        "submitter_directory": "AMD",
        "platform": "other",
        "reported_on": "2026-05-01",
        "reason": "wrong clock",
        "source": "results page",
    }
    lines = (line, line | {"platform": "nosuch"}, line | {"round_key": "inference-5.1"})
    monkeypatch.setattr(
        "pipeline.warehouse.build.entries",
        lambda name: lines if name == "withdrawn_results" else entries(name),
    )
    build_without_orchestrator(roundtable.home, Plan(Folder(tmp_path), Bundle.NEVER))

    good, withdrawn, *_ = roundtable("cite", "6.0-0001", "6.0-0002").out.splitlines()
    assert good.startswith("MLPerf® ") and VERIFIED in good
    assert withdrawn.startswith("WITHDRAWN, reported 2026-05-01: wrong clock (results page). ")
    assert NOT_VERIFIED in withdrawn and VERIFIED not in withdrawn
    told = roundtable("status").out
    assert (
        "withdrawn results (kept, in no other table): 1\n       1  inference-6.0 closed AMD other "
        "(6.0-0002): wrong clock, reported 2026-05-01 (results page)\n"
    ) in told
    assert (
        "withdrawals that fit no result: 1\n       1  inference-6.0 closed AMD nosuch\n"
    ) in told
