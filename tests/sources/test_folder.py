import hashlib
import os
from pathlib import Path

import pytest

import pipeline.sources.folder
from pipeline.errors import FileFault, UnusableCall
from pipeline.sources.files import Kind
from pipeline.sources.folder import Folder

TABLE = "inference-6.0.summary_results.json"
PAGE = "inference-6.0.results-page-export.csv"


def put(path: Path, name: str, content: bytes = b"[]") -> Path:
    file = path / "published" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    return file


def test_a_rounds_files_are_offered_as_untouched_bytes_with_their_provenance(
    tmp_path: Path,
) -> None:
    put(tmp_path, TABLE, b"\xff\r\n")
    (file,) = Folder(tmp_path).files("inference-6.0")
    assert (file.content, file.sha256) == (b"\xff\r\n", hashlib.sha256(b"\xff\r\n").hexdigest())
    assert (file.round_key, file.name, file.kind) == ("inference-6.0", TABLE, Kind.TABLE)
    assert file.url == (
        "https://raw.githubusercontent.com/mlcommons/inference_results_v6.0/HEAD/"
        "summary_results.json"
    )
    assert (file.origin, file.commit, file.fetched_at) == ("folder", None, None)


def test_tables_come_before_page_exports(tmp_path: Path) -> None:
    put(tmp_path, PAGE)
    put(tmp_path, TABLE)
    files = Folder(tmp_path).files("inference-6.0")
    assert [(file.name, file.kind) for file in files] == [(TABLE, Kind.TABLE), (PAGE, Kind.PAGE)]
    assert files[1].url == "https://mlcommons.org/benchmarks/inference-datacenter/"


def test_a_part_of_a_round_says_so(tmp_path: Path) -> None:
    put(tmp_path, "inference-6.1-first24.summary.json")
    put(tmp_path, "inference-6.1.summary.json")
    parts = {file.name: file.is_partial for file in Folder(tmp_path).files("inference-6.1")}
    assert parts == {
        "inference-6.1-first24.summary.json": True,
        "inference-6.1.summary.json": False,
    }


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "inference-6.0.json",
        "inference-6.0.summary_results.json.bak",
        "inference-6.summary.json",
        "tiny-6.0.summary.json",
        "inference-6.0-last24.summary.json",
        ".inference-6.0.summary.json",
    ],
)
def test_a_file_of_another_name_belongs_to_no_round(tmp_path: Path, name: str) -> None:
    put(tmp_path, name)
    assert Folder(tmp_path).round_keys() == []


def test_a_folder_named_like_a_table_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "published" / TABLE).mkdir(parents=True)
    assert Folder(tmp_path).round_keys() == []


def test_either_half_of_the_folder_may_be_absent_but_not_both(tmp_path: Path) -> None:
    with pytest.raises(UnusableCall, match="neither a published/ nor a submissions/ folder"):
        Folder(tmp_path)
    (tmp_path / "submissions").mkdir()
    assert Folder(tmp_path).round_keys() == []
    put(tmp_path, TABLE)
    assert Folder(tmp_path).round_keys() == ["inference-6.0"]


def test_a_round_without_files_has_none(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    assert Folder(tmp_path).files("inference-5.1") == []


def test_nothing_in_a_folder_is_stale(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    assert Folder(tmp_path).stale == {}


def test_the_fingerprint_follows_names_and_bytes_and_nothing_else(tmp_path: Path) -> None:
    file = put(tmp_path, TABLE, b"[1]")
    before = Folder(tmp_path).fingerprint()
    os.utime(file, (0, 0))
    put(tmp_path, "README.md", b"other")
    assert Folder(tmp_path).fingerprint() == before
    file.write_bytes(b"[2]")
    assert Folder(tmp_path).fingerprint() != before
    file.write_bytes(b"[1]")
    file.rename(file.with_name("inference-5.1.summary_results.json"))
    assert Folder(tmp_path).fingerprint() != before


def test_a_file_too_large_for_a_table_is_a_file_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline.sources.folder, "MAX_TABLE_BYTES", 3)
    put(tmp_path, TABLE, b"[12]")
    put(tmp_path, "inference-5.1.summary_results.json", b"[1]")
    with pytest.raises(FileFault, match="4 bytes, more than any published table") as raised:
        Folder(tmp_path).files("inference-6.0")
    assert raised.value.file == TABLE
    assert len(Folder(tmp_path).files("inference-5.1")) == 1


def test_a_file_that_cannot_be_read_is_a_file_fault(tmp_path: Path) -> None:
    file = put(tmp_path, TABLE)
    source = Folder(tmp_path)
    file.unlink()
    with pytest.raises(FileFault, match="cannot be read") as raised:
        source.files("inference-6.0")
    assert raised.value.file == TABLE


def test_a_file_whose_name_says_nothing_is_named_as_not_read(tmp_path: Path) -> None:
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "results.json").write_text("[]")
    assert Folder(tmp_path).unread == ["results.json"]
