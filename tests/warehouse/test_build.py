import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import FileFault
from pipeline.normalise.figures import Figures
from pipeline.sources.choice import Bundle
from pipeline.sources.files import Source, SourceFile
from pipeline.sources.folder import Folder
from pipeline.warehouse.build import Build, Plan
from pipeline.warehouse.layout import Warehouse
from tests.conftest import ModelRunner, Roundtable, rows
from tests.normalise.published_rows import (
    official_row,
    official_table,
    source_file,
    without,
)

KEY = "inference-6.0"
GOOD = official_table(official_row())


@dataclasses.dataclass
class Offers:
    """A source that offers files, or is out of reach for a reason, or finds a file at fault."""

    content: bytes | None = None
    key: str = KEY
    reason: str | None = None
    fault: FileFault | None = None

    def round_keys(self) -> Sequence[str]:
        return [self.key]

    def files(self, round_key: str) -> Sequence[SourceFile]:
        if self.fault:
            raise self.fault
        return [source_file(self.content)] if self.content and round_key == self.key else []

    @property
    def stale(self) -> Mapping[str, str]:
        return {KEY: self.reason} if self.reason else {}

    def fingerprint(self) -> str:
        return ""


def figures(home: Path, source: Source | None, bundle: Bundle = Bundle.AT_FAULT) -> Figures:
    build = Build(Warehouse(home), Plan(source, bundle), print)
    build.warehouse.fresh_build_folder()
    build.collect(KEY)
    return build.normalise(KEY)


FAULTS = {
    "cut": GOOD[:-10],
    "html": b"<!DOCTYPE html><html></html>",
    "empty": b"[]",
    "another round": official_table(official_row(), version="v5.1"),
    "a column missing": official_table(without(official_row(), "Platform")),
    "a key twice": b'[{"ID": "a", "ID": "b"}]',
    "no object": b"42",
}


@pytest.mark.parametrize("content", FAULTS.values(), ids=FAULTS)
def test_a_file_at_fault_is_a_reject_and_the_last_good_round_serves(
    bundled: Roundtable, bundled_copy: Roundtable, content: bytes
) -> None:
    served = figures(bundled_copy.home, Offers(content))
    good = pl.read_parquet(bundled.home / "parquet" / "results.parquet").filter(round_key=KEY)
    assert served.results.equals(good)
    assert served.sources["is_stale"].all()
    (reject,) = served.rejects.rows(named=True)
    assert (reject["source_row"], reject["file"]) == (0, "summary_results.json")
    assert reject["source_sha256"] == source_file(content).sha256


@pytest.mark.parametrize(
    ("source", "bundle", "serves"),
    [
        (Offers(FAULTS["cut"]), Bundle.ALWAYS, True),
        (Offers(FAULTS["cut"]), Bundle.AT_FAULT, True),
        (Offers(FAULTS["cut"]), Bundle.NEVER, False),
        (Offers(reason="no connection"), Bundle.ALWAYS, True),
        (Offers(reason="no connection"), Bundle.NEVER, False),
    ],
)
def test_without_a_last_good_round_the_bundle_serves_where_it_may(
    tmp_path: Path, source: Offers, bundle: Bundle, serves: bool
) -> None:
    served = figures(tmp_path, source, bundle)
    assert (served.results.height > 100) is serves
    assert set(served.sources["origin"]) == ({"bundled"} if serves else set())
    assert served.sources["is_stale"].all()


def test_a_file_that_cannot_be_read_at_all_is_a_fault_of_its_round(tmp_path: Path) -> None:
    served = figures(tmp_path, Offers(fault=FileFault("f.json", "too large", "Check it.")))
    assert served.rejects.select("file", "reason").rows() == [("f.json", "too large")]


def test_bundled_figures_alone_are_not_stale(tmp_path: Path) -> None:
    served = figures(tmp_path, None, Bundle.ALWAYS)
    assert not served.sources["is_stale"].any()
    assert set(served.results["source_kind"]) == {"published table"}


def test_a_round_that_the_source_gives_is_never_mixed_with_the_bundle(tmp_path: Path) -> None:
    served = figures(tmp_path, Offers(GOOD), Bundle.ALWAYS)
    assert served.results.height == 1
    assert served.reconciliation.is_empty()


def test_bytes_are_kept_by_their_hash_and_checked_before_they_are_used(tmp_path: Path) -> None:
    build = Build(Warehouse(tmp_path), Plan(Offers(GOOD), Bundle.NEVER), print)
    build.warehouse.fresh_build_folder()
    (file,) = build.collect(KEY)
    kept = tmp_path / "snapshots" / file.sha256
    assert kept.read_bytes() == GOOD
    kept.write_bytes(GOOD.replace(b"100.5", b"999.5"))
    served = build.normalise(KEY)
    assert served.results.is_empty()
    assert "stored bytes" in served.rejects["reason"][0]
    build.collect(KEY)
    assert build.normalise(KEY).results["value"].to_list() == [100.5]


def test_a_round_without_any_table_is_listed_as_archives_only(
    tmp_path: Path, run_models: ModelRunner
) -> None:
    build = Build(Warehouse(tmp_path), Plan(Offers(), Bundle.ALWAYS), print)
    build.warehouse.fresh_build_folder()
    assert "inference-7.0" not in build.rounds
    new = Build(Warehouse(tmp_path), Plan(Offers(key="inference-7.0"), Bundle.ALWAYS), print)
    made = run_models(**new.stage())
    (line,) = rows(made, "select * from rounds where round_key = 'inference-7.0'")
    assert line["state"] == "archives only"
    assert line["is_reviewed"] is False
    assert line["is_complete"] is None


def test_what_nobody_knows_of_a_future_round_is_kept_or_rejected_and_told(tmp_path: Path) -> None:
    news: list[dict[str, object]] = [
        {"Qubits": 4096},
        {"UsedModel": "gpt-9", "Model": "gpt-9"},
        {"Scenario": "Oracle"},
        {"Performance_Units": "Thoughts/s"},
    ]
    lines = [official_row(Platform=f"p{n}", version="v7.0", **new) for n, new in enumerate(news)]
    source = Folder(folder_with(tmp_path, official_table(*lines)))
    build = Build(Warehouse(tmp_path / "home"), Plan(source, Bundle.AT_FAULT), print)
    build.warehouse.fresh_build_folder()
    build.collect("inference-7.0")
    made = build.normalise("inference-7.0")
    assert made.results["benchmark_as_published"].to_list() == ["llama2-70b-99", "gpt-9"]
    assert set(made.rejects["field"]) == {"scenario", "unit"}
    assert {"Qubits", "benchmark"} <= set(made.warnings["field"])


def folder_with(folder: Path, table: bytes) -> Path:
    (folder / "published").mkdir()
    (folder / "published" / "inference-7.0.summary_results.json").write_bytes(table)
    return folder
