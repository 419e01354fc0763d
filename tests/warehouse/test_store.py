import json
from pathlib import Path

import pytest

from pipeline.errors import RoundtableError
from pipeline.warehouse.store import CURRENT, StoreFault, TableStore

NAME = "figures/inference-6.0"


def folder(path: Path, **files: str) -> Path:
    for name, text in files.items():
        (path / name).mkdir(parents=True, exist_ok=True)
        (path / name / "file").write_text(text, encoding="utf-8")
    return path


def texts(path: Path) -> dict[str, str]:
    return {file.parent.name: file.read_text(encoding="utf-8") for file in path.glob("*/file")}


def pointer(store: Path) -> Path:
    return store / NAME / CURRENT


def test_a_set_comes_back_as_it_was_put_last(tmp_path: Path) -> None:
    store = TableStore(str(tmp_path / "store"))
    assert not store.fetch(NAME, tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    first = folder(tmp_path / "first", a="1", b="2")
    last = folder(tmp_path / "last", a="3")
    store.put(NAME, first)
    assert store.holds(NAME, first)
    store.put(NAME, last)
    assert store.fetch(NAME, tmp_path / "fetched")
    assert texts(tmp_path / "fetched") == {"a": "3"}
    assert store.holds(NAME, last) and not store.holds(NAME, first)


def test_who_is_still_reading_keeps_the_version_before_and_older_ones_go(tmp_path: Path) -> None:
    store = TableStore(str(tmp_path / "store"))
    for text in "1234":
        store.put(NAME, folder(tmp_path / "put", a=text))
    versions = [path for path in (tmp_path / "store" / NAME).iterdir() if path.is_dir()]
    assert sorted(text for path in versions for text in texts(path).values()) == ["3", "4"]


def test_a_set_that_was_put_by_half_is_never_seen(tmp_path: Path) -> None:
    """A run was killed after it wrote a file, before it said that the set is complete."""
    store = TableStore(str(tmp_path / "store"))
    store.put(NAME, folder(tmp_path / "whole", a="1"))
    folder(tmp_path / "store" / NAME / ("0" * 32), a="2")
    assert store.fetch(NAME, tmp_path / "fetched")
    assert texts(tmp_path / "fetched") == {"a": "1"}


def test_a_file_that_is_not_what_was_put_is_refused_by_name(tmp_path: Path) -> None:
    store = TableStore(str(tmp_path / "store"))
    store.put(NAME, folder(tmp_path / "put", a="1"))
    (damaged,) = (tmp_path / "store" / NAME).glob("*/a/file")
    damaged.write_text("2", encoding="utf-8")
    with pytest.raises(StoreFault, match=r"a/file: is not what was put\. Remove figures/"):
        store.fetch(NAME, tmp_path / "fetched")
    assert not (tmp_path / "fetched").exists()


@pytest.mark.parametrize(
    "told",
    [
        "",
        "[" * 100_000,
        "[]",
        '{"version": "../../elsewhere", "files": {}, "former": null}',
        '{"version": 1, "files": {}, "former": null}',
        json.dumps({"version": "0" * 32, "files": {"../../out": ""}, "former": None}),
        json.dumps({"version": "0" * 32, "files": {"/out": ""}, "former": None}),
        json.dumps({"version": "0" * 32, "files": {}, "former": ".."}),
    ],
)
def test_what_the_store_says_leads_nowhere_else(tmp_path: Path, told: str) -> None:
    store = TableStore(str(tmp_path / "store"))
    store.put(NAME, folder(tmp_path / "put", a="1"))
    pointer(tmp_path / "store").write_text(told, encoding="utf-8")
    with pytest.raises(StoreFault, match=rf"{NAME}/{CURRENT}: damaged"):
        store.fetch(NAME, tmp_path / "in" / "fetched")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../figures", "figures/../x", "figures/inference-6.0/x", ""])
def test_a_name_that_is_none_of_a_set_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreFault, match="no name of a set"):
        TableStore(str(tmp_path)).put(name, folder(tmp_path / "put", a="1"))


@pytest.mark.parametrize("address", ["s3://me:hush-hush@bucket", "s3://", "http://hush-hush/x"])
def test_an_address_that_cannot_be_used_is_not_repeated(address: str) -> None:
    with pytest.raises(RoundtableError, match="s3://bucket/prefix") as raised:
        TableStore(address)
    assert "hush-hush" not in str(raised.value)


def test_a_store_that_cannot_be_written_says_where_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreFault, match=r"ROUNDTABLE_STORE .*store: .*Check that it exists"):
        TableStore(str(tmp_path / "store")).put(NAME, folder(tmp_path / "put", a="1"))
