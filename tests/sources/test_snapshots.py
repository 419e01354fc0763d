import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.sources.snapshots import Snapshot, Snapshots, SnapshotsUnwritable

REPOSITORY = "inference_results_v6.0"
FILE = "summary_results.json"


def keep(snapshots: Snapshots, content: bytes = b"[1]", file: str = FILE) -> Snapshot:
    return snapshots.keep(REPOSITORY, file, content, url="https://there/x", commit="c0", etag='"e"')


def test_what_was_kept_is_found_by_the_next_command_with_its_provenance(tmp_path):
    kept = keep(Snapshots(tmp_path))
    assert Snapshots(tmp_path).find(REPOSITORY, FILE) == (kept, b"[1]")
    assert Snapshots(tmp_path).repositories() == [REPOSITORY]
    index = json.loads((tmp_path / "snapshots" / "index.json").read_bytes())
    assert index["files"][f"{REPOSITORY}/{FILE}"] == {
        "url": "https://there/x",
        "commit": "c0",
        "sha256": kept.sha256,
        "bytes": 3,
        "etag": '"e"',
        "fetched_at": f"{kept.fetched_at.isoformat()}Z",
        "licence": "Apache-2.0",
    }


def test_bytes_are_kept_once_under_their_hash_and_older_bytes_stay(tmp_path):
    snapshots = Snapshots(tmp_path)
    old, new = keep(snapshots, b"[1]"), keep(snapshots, b"[2]")
    keep(snapshots, b"[2]", "summary.json")
    objects = {path.name: path.read_bytes() for path in (tmp_path / "snapshots").iterdir()}
    del objects["index.json"]
    assert objects == {old.sha256: b"[1]", new.sha256: b"[2]"}


@pytest.mark.parametrize("harm", [b"[9]", b"", None], ids=["altered", "emptied", "removed"])
def test_a_harmed_object_counts_as_absent(tmp_path, harm):
    path = tmp_path / "snapshots" / keep(Snapshots(tmp_path)).sha256
    path.unlink() if harm is None else path.write_bytes(harm)
    assert Snapshots(tmp_path).find(REPOSITORY, FILE) is None


def test_the_same_bytes_at_another_commit_keep_the_time_they_were_fetched(tmp_path):
    kept = keep(Snapshots(tmp_path))
    confirmed = Snapshots(tmp_path).confirm(REPOSITORY, FILE, "c1")
    assert (confirmed.commit, confirmed.fetched_at) == ("c1", kept.fetched_at)
    assert Snapshots(tmp_path).find(REPOSITORY, FILE) == (confirmed, b"[1]")


def test_an_absence_holds_for_its_commit_only(tmp_path):
    Snapshots(tmp_path).keep_absence(REPOSITORY, FILE, "c0")
    again = Snapshots(tmp_path)
    assert again.is_absent(REPOSITORY, FILE, "c0")
    assert not again.is_absent(REPOSITORY, FILE, "c1")
    assert not again.is_absent(REPOSITORY, "summary.json", "c0")


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b'{"files": {',
        b"\xff\xfe",
        b"[]",
        b'{"files": [], "absent": 1}',
        b'{"files": {"inference_results_v6.0/summary_results.json": {"sha256": "x"}}}',
        b'{"files": {"inference_results_v6.0/summary_results.json": null}}',
    ],
)
def test_an_unreadable_index_is_an_empty_one(tmp_path, index):
    keep(Snapshots(tmp_path))
    (tmp_path / "snapshots" / "index.json").write_bytes(index)
    snapshots = Snapshots(tmp_path)
    assert snapshots.find(REPOSITORY, FILE) is None
    assert not snapshots.is_absent(REPOSITORY, FILE, "c0")
    keep(snapshots)
    assert Snapshots(tmp_path).find(REPOSITORY, FILE) is not None


def test_an_index_cannot_point_out_of_the_store(tmp_path):
    keep(Snapshots(tmp_path))
    path = tmp_path / "snapshots" / "index.json"
    index = json.loads(path.read_bytes())
    index["files"][f"{REPOSITORY}/{FILE}"]["sha256"] = "../../secret"
    path.write_text(json.dumps(index))
    assert Snapshots(tmp_path).repositories() == []


def test_names_are_never_parts_of_a_path(tmp_path):
    Snapshots(tmp_path / "home").keep("../..", "../../x", b"[]", url="", commit="c", etag=None)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["snapshots"]


def test_a_store_that_cannot_be_written_says_what_to_do(tmp_path):
    (tmp_path / "home").write_text("a file where the folder should be")
    with pytest.raises(SnapshotsUnwritable, match="set ROUNDTABLE_HOME"):
        keep(Snapshots(tmp_path / "home"))


def test_threads_may_keep_at_once(tmp_path):
    snapshots = Snapshots(tmp_path)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda i: keep(snapshots, b"[%d]" % (i % 3), f"{i}.json"), range(30)))
    again = Snapshots(tmp_path)
    assert all(again.find(REPOSITORY, f"{i}.json") for i in range(30))
    assert not list((tmp_path / "snapshots").glob(".*"))


KEEP_FOREVER = f"""
import itertools, sys
from pathlib import Path
from pipeline.sources.snapshots import Snapshots
snapshots = Snapshots(Path(sys.argv[1]))
for i in itertools.count():
    snapshots.keep("{REPOSITORY}", f"{{i % 50}}.json", b"x" * 100_000 + b"%d" % i,
                   url="", commit="c", etag=None)
    print(i, flush=True)
"""


def test_a_command_killed_while_it_writes_leaves_a_readable_store(tmp_path):
    for pause in (0.0, 0.01, 0.02, 0.05):
        command = [sys.executable, "-c", KEEP_FOREVER, str(tmp_path)]
        root = Path(__file__).parents[2]
        with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as process:
            assert process.stdout and process.stdout.readline()
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
        index = json.loads((tmp_path / "snapshots" / "index.json").read_bytes())
        snapshots = Snapshots(tmp_path)
        assert index["files"]
        assert all(snapshots.find(*key.split("/")) for key in index["files"])
