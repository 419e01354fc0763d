import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest

from pipeline.warehouse.disk import DiskFull, full_disk_told
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.running import write_parquet
from pipeline.warehouse.tables import write_frame
from tests.conftest import Roundtable

FULL = Path("/dev/full")
"""A device of Linux: whatever is written to it, the disk is full."""


def by_the_system(target: Path) -> None:
    target.write_bytes(b"1")


def by_a_frame(target: Path) -> None:
    part = target.with_name(f".{target.name}.part")
    part.symlink_to(FULL)
    write_frame(pl.DataFrame({"a": [1]}), target)


def by_a_model(target: Path) -> None:
    with duckdb.connect() as connection:
        write_parquet(connection, "select 1 as a", target)


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("write", [by_the_system, by_a_frame, by_a_model])
def test_a_full_disk_is_said_in_plain_words(tmp_path: Path, write: Callable[[Path], None]) -> None:
    target = tmp_path / "target"
    if write is not by_a_frame:
        target.symlink_to(FULL)
    with (
        pytest.raises(DiskFull, match=f"^{tmp_path}: the disk is full; the former .* Make room"),
        full_disk_told(Warehouse(tmp_path)),
    ):
        write(target)


def test_another_error_of_the_disk_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Input/output"), full_disk_told(Warehouse(tmp_path)):
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_read_only_warehouse_answers_and_says_that_it_cannot_be_written(
    bundled: Roundtable,
) -> None:
    # A mount namespace of its own: the mount ends with the process, also if that is killed.
    home = str(bundled.home)
    script = f'mount --bind {home} {home} && mount -o remount,bind,ro {home} && exec "$@"'
    alone = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh"]
    try:
        subprocess.run([*alone, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nothing can be mounted here")
    asked = bundled("query", "select count(*) from results", under=alone)
    assert asked.code == 0, asked.err
    built = bundled("build", "--source", "bundled", "--full", under=alone)
    assert built.code == 1
    assert home in built.err
    assert "Set ROUNDTABLE_HOME" in built.err
