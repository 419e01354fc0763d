"""The mutation run over literal files: what it must find, and that the readers bear it."""

from pathlib import Path

import polars as pl
import pytest

from pipeline.normalise.published import RawTable, read_published_table
from soak import mutations
from tests.normalise.published_rows import checker_row, checker_table, official_row, official_table
from tests.normalise.submissions.inference.trees import archive
from tests.normalise.submissions.test_any_archive import INFERENCE, TRAINING
from tests.normalise.test_page_export import PIVOT
from tests.normalise.test_round import export


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Give a folder with a file of every form."""
    official = [official_row(Platform=f"P{at}", ID=f"6.0-000{at}") for at in range(4)]
    checker = [checker_row(Platform=f"P{at}", Result=at + 1) for at in range(4)]
    cells = [
        {"id": f"v6.0-000{at}", "scenario": name}
        for at in range(4)
        for name in ("Offline", "Server")
    ]
    files = {
        "published/inference-6.0.summary_results.json": official_table(*official),
        "published/inference-5.0.summary.json": checker_table(*checker),
        "published/inference-6.0.results-page-export.csv": export(*cells),
        "published/inference-5.0.results-page-export.csv": PIVOT.encode(),
        "submissions/inference_results_v6.0.tar.gz": archive(
            INFERENCE | _of("box2", INFERENCE)
        ).read(),
        "submissions/training_results_v5.0.tar.gz": archive(
            TRAINING | _of("box2", TRAINING)
        ).read(),
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def _of(system: str, files: dict[str, str]) -> dict[str, str]:
    return {path.replace("box", system): content for path, content in files.items()}


def test_every_change_of_a_file_of_any_form_is_borne(data: Path) -> None:
    outcome = mutations.mutate(data, seed=1, times=6)
    assert outcome.faults == []
    assert sum(tally.times for tally in outcome.tallies) == 6 * 6
    assert {tally.file for tally in outcome.tallies} == {
        "published table",
        "results page",
        "submission archive",
    }
    one = frozenset({"training-5.0"})
    assert mutations.mutate(data, 1, 2, one) == mutations.mutate(data, 1, 2, one)


def test_a_reader_that_raises_loses_a_row_or_spoils_another_is_found_out(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(content: bytes, file: str) -> RawTable:
        table = read_published_table(content, file)
        if table.rejects:
            raise KeyError("a row of another type")
        if table.frame.height > 4:
            return RawTable(table.frame.head(4), table.warnings, [])
        if table.frame.height < 4:
            return RawTable(table.frame.with_columns(value=pl.lit("7")), table.warnings, [])
        return table

    monkeypatch.setattr(mutations, "read_published_table", careless)
    for other in (*data.glob("submissions/*"), *data.glob("published/*.csv")):
        other.unlink()
    found = mutations.mutate(data, seed=1, times=25, rounds=frozenset({"inference-6.0"})).tallies
    assert sum(tally.exceptions for tally in found)
    assert sum(tally.lost for tally in found)
    assert sum(tally.spoiled for tally in found)
