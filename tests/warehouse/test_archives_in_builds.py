import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import pytest

from pipeline.normalise.figures import Figures
from pipeline.sources.choice import Bundle
from pipeline.sources.files import Archive
from pipeline.sources.http import BadAnswer
from pipeline.warehouse.build import DOWNLOADS, Build, Plan
from pipeline.warehouse.layout import Warehouse
from tests.normalise.published_rows import official_row, official_table
from tests.normalise.submissions.inference.trees import COMMIT, detail
from tests.normalise.submissions.inference.trees import archive as archive_of
from tests.warehouse.test_build import KEY, Offers

VALUE = 12.5
TREE = {
    "closed/Acme/results/box/resnet50/Offline/performance/run_1/mlperf_log_detail.txt": detail(
        result_samples_per_second=VALUE
    )
}
ROW = official_row(
    Submitter="Acme",
    Platform="box",
    UsedModel="resnet50",
    Model="resnet",
    Suite="edge",
    Performance_Result=12.6,
    Performance_Units="Samples/s",
)


@dataclass
class WithArchive(Offers):
    """A source whose archive may break while it is opened or read; it counts the readings."""

    archived: bytes = b""
    origin: str = "github"
    unopenable: bool = False
    broken: int = 0
    opened: list[str] = field(default_factory=list)

    def archive(self, round_key: str) -> Archive | None:
        if round_key != KEY:
            return None
        name = "inference_results_v6.0.tar.gz"
        identity = str(hash(self.archived))
        return Archive(KEY, name, "https://there.test", self.origin, identity, None, self._open)

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        self.opened.append("opened")
        if self.unopenable:
            raise BadAnswer("https://there.test", "answers with status 404", "Run again later.")
        is_broken = len(self.opened) <= self.broken
        yield io.BytesIO(self.archived[: len(self.archived) // 2] if is_broken else self.archived)


def figures(home: Path, source: WithArchive, bundle: Bundle = Bundle.NEVER) -> Figures:
    plan = Plan(source, bundle, archives=frozenset([KEY]))
    build = Build(Warehouse(home), plan, lambda text: None)
    build.warehouse.fresh_build_folder()
    build.collect(KEY)
    return build.normalise(KEY)


ARCHIVE = archive_of(TREE).getvalue()


def test_without_a_table_the_logs_give_the_results(tmp_path: Path) -> None:
    (result,) = figures(tmp_path, WithArchive(archived=ARCHIVE)).results.rows(named=True)
    assert (result["value"], result["unit"], result["source_kind"]) == (
        VALUE,
        "samples/s",
        "submission logs",
    )
    assert result["unit_as_published"] is None


def test_a_derived_result_leads_to_the_very_log_its_value_stands_in(tmp_path: Path) -> None:
    made = figures(tmp_path, WithArchive(archived=ARCHIVE))
    (result,) = made.results.rows(named=True)
    (path, log), *_ = TREE.items()
    assert result["source_url"] == (
        f"https://raw.githubusercontent.com/mlcommons/inference_results_v6.0/{COMMIT}/{path}"
    )
    assert result["source_sha256"] == sha256(log.encode()).hexdigest()
    (source,) = made.sources.rows(named=True)
    assert (source["sha256"], source["bytes"]) == (sha256(ARCHIVE).hexdigest(), len(ARCHIVE))


def test_a_published_value_stays_and_the_logs_say_whether_it_was_inferred(tmp_path: Path) -> None:
    source = WithArchive(content=official_table(ROW), archived=ARCHIVE)
    made = figures(tmp_path, source)
    (result,) = made.results.rows(named=True)
    assert (result["value"], result["source_kind"]) == (12.6, "published table")
    assert result["is_inferred"] is False
    assert made.derived_results["value"].to_list() == [VALUE]
    assert made.derived_results["result_key"].to_list() == [result["result_key"]]
    lines = made.sources.select("kind", "results", "comparisons").rows()
    assert lines == [("published table", 1, 0), ("submission logs", 0, 1)]


def test_an_unchanged_archive_is_read_once_and_a_changed_one_again(tmp_path: Path) -> None:
    source = WithArchive(archived=ARCHIVE)
    first = figures(tmp_path, source)
    assert figures(tmp_path, source).results.equals(first.results)
    assert len(source.opened) == 1
    (path, log), *_ = TREE.items()
    changed = {path: log.replace(str(VALUE), "99.5")}
    source = WithArchive(archived=archive_of(changed).getvalue())
    assert figures(tmp_path, source).results["value"].to_list() == [99.5]
    assert len(source.opened) == 1
    assert len(list((tmp_path / "derived").iterdir())) == 1


@pytest.mark.parametrize("name", ["raw.parquet", "runs.parquet", "oddities.json"])
def test_what_was_derived_and_is_damaged_is_derived_again(tmp_path: Path, name: str) -> None:
    source = WithArchive(archived=ARCHIVE)
    first = figures(tmp_path, source)
    (file,) = tmp_path.glob(f"derived/*/{name}")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert figures(tmp_path, source).results.equals(first.results)
    assert len(source.opened) == 2
    figures(tmp_path, source)
    assert len(source.opened) == 2


@pytest.mark.parametrize(
    ("broken", "origin", "identity"),
    [(0, "github", "same"), (100, "github", ""), (100, "folder", "same")],
)
def test_a_build_whose_download_broke_off_is_not_taken_for_one_that_need_not_run_again(
    tmp_path: Path, broken: int, origin: str, identity: str
) -> None:
    source = WithArchive(
        content=official_table(ROW), archived=ARCHIVE, broken=broken, origin=origin
    )
    plan = Plan(source, Bundle.NEVER, archives=frozenset([KEY]), identity="same")
    build = Build(Warehouse(tmp_path), plan, lambda text: None)
    build.warehouse.fresh_build_folder()
    build.collect(KEY)
    assert build.identity == identity


def test_a_download_that_breaks_on_the_way_is_begun_again(tmp_path: Path) -> None:
    source = WithArchive(archived=ARCHIVE, broken=3)
    assert figures(tmp_path, source).results["value"].to_list() == [VALUE]
    assert len(source.opened) == 4


@pytest.mark.parametrize(
    ("source", "tries"),
    [
        (WithArchive(archived=ARCHIVE, broken=100), DOWNLOADS),
        (WithArchive(archived=ARCHIVE, broken=100, origin="folder"), 1),
        (WithArchive(archived=ARCHIVE, unopenable=True), 1),
    ],
    ids=["broken download", "broken file", "absent"],
)
def test_an_archive_that_cannot_be_read_costs_no_published_result(
    tmp_path: Path, source: WithArchive, tries: int
) -> None:
    source.content, source.opened = official_table(ROW), []
    made = figures(tmp_path, source)
    assert made.results["value"].to_list() == [12.6]
    assert made.rejects.select("file", "source_row").rows() == [
        ("inference_results_v6.0.tar.gz", 0)
    ]
    assert len(source.opened) == tries
    source.content = None
    served = figures(tmp_path / "other", source, Bundle.ALWAYS)
    assert served.sources["is_stale"].all()
    assert served.results.height > 100
