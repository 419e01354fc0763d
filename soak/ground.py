"""What the trials share: small sources, a warehouse that is good, and one that was never disturbed.

Belongs here: what is built once and then only copied. The tables and logs are the literal ones of
the tests, so that a build takes seconds and everything runs where no real data is.
"""

import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from soak.home import Home
from tests.normalise.published_rows import Row, official_row, official_table
from tests.normalise.submissions.inference.trees import RUN, detail
from tests.normalise.submissions.inference.trees import archive as packed
from tests.normalise.submissions.training.trees import log, tree

ROWS = 20
INFERENCE, TRAINING = "inference_results_v4.0.tar.gz", "training_results_v5.1.tar.gz"
REAL_INFERENCE = "inference_results_v0.5.tar.gz"
"""The smallest real archive of each suite: 0.2 and 0.3 MB. That of training has the same name."""


def rows(first: float, round_: str = "6.0", count: int = ROWS) -> list[Row]:
    """Return rows of a published table, the first result of a value of its own."""
    told = {"version": f"v{round_}"}
    return [
        official_row(
            **told,
            ID=f"{round_}-{n:04}",
            Platform=f"p{n}",
            Performance_Result=first if n == 1 else 100.0 + n,
        )
        for n in range(1, count + 1)
    ]


def table_file(folder: Path, round_: str = "6.0") -> Path:
    """Return where a round's table lies in a folder."""
    return folder / "published" / f"inference-{round_}.summary_results.json"


def write_table(folder: Path, lines: list[Row], round_: str = "6.0") -> None:
    """Write a round's table."""
    (folder / "published").mkdir(parents=True, exist_ok=True)
    table_file(folder, round_).write_bytes(official_table(*lines))


def write_archives(folder: Path, minutes: float = 10.0) -> None:
    """Write an archive of each suite; ``minutes`` are those of training's first run."""
    (folder / "submissions").mkdir(parents=True, exist_ok=True)
    logs: Mapping[str, bytes | str] = {
        f"{RUN}/mlperf_log_detail.txt": detail(result_samples_per_second=12.5)
    }
    for name, files in ((INFERENCE, logs), (TRAINING, tree(log(minutes)))):
        (folder / "submissions" / name).write_bytes(packed(files).getvalue())


class Ground:
    """A work folder; ``data`` has real tables and archives, if they are here."""

    def __init__(self, work: Path, data: Path | None) -> None:
        """Take both folders; ``work`` is empty."""
        self.work = work
        self.data = data

    @cached_property
    def source_before(self) -> Path:
        """Return the folder that the good warehouse was built from."""
        return self._source("source-before", first=50.5, minutes=10)

    @cached_property
    def source(self) -> Path:
        """Return the folder that is built from: other values in the table and in an archive."""
        return self._source("source", first=75.5, minutes=15)

    @property
    def build(self) -> tuple[str | Path, ...]:
        """Return the build that is disturbed."""
        return ("build", "--source", self.source, "--submissions")

    @cached_property
    def before(self) -> Home:
        """Return the good warehouse, which is copied and never written."""
        return self.built(Home(self.work / "before"), self.source_before)

    @cached_property
    def after(self) -> Home:
        """Return what it becomes by a build that nothing disturbs."""
        return self.built(self.fresh("after"), self.source)

    def fresh(self, name: str, *prefix: str, **environment: str) -> Home:
        """Return a copy of the good warehouse."""
        return self.before.copy(self.folder(name) / "home", prefix, **environment)

    def folder(self, name: str) -> Path:
        """Return an empty folder of that name."""
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def built(self, home: Home, source: Path, *options: str) -> Home:
        """Build undisturbed.

        Raises:
            RuntimeError: that fails, so that there is nothing to try.
        """
        done = home("build", "--source", source, "--submissions", *options)
        if done.code != 0:
            raise RuntimeError(f"an undisturbed build fails: {done.err}")
        shutil.rmtree(home.path / "build")
        return home

    @cached_property
    def known(self) -> tuple[str, str]:
        """Return the contents of the only two releases there may be."""
        return self.before.contents(), self.after.contents()

    @cached_property
    def good(self) -> Mapping[str, str]:
        """Return the Parquet files of the undisturbed warehouse, by their SHA-256."""
        return self.after.parquet()

    def _source(self, name: str, first: float, minutes: float) -> Path:
        folder = self.folder(name)
        write_table(folder, rows(first))
        write_table(folder, rows(101.0, "5.1"), "5.1")
        write_archives(folder, minutes)
        return folder
