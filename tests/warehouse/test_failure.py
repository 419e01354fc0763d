import os
import time
from pathlib import Path

import pytest

from pipeline.errors import RoundtableError
from pipeline.warehouse.failure import Failure, failure_kept, last_failure, without_secrets
from pipeline.warehouse.layout import DATABASE, STAMP, Warehouse

YEAR = 365 * 24 * 60 * 60


def with_release_of(home: Path, moment: float) -> Warehouse:
    """Return a warehouse whose release says that it was published at a moment."""
    warehouse = Warehouse(home)
    prepared = warehouse.fresh_build_folder() / "release"
    prepared.mkdir()
    (prepared / DATABASE).touch()
    release = warehouse.publish(prepared, {})
    os.utime(release / STAMP, (moment, moment))
    return warehouse


def test_a_failure_is_kept_although_the_clock_was_set_back(tmp_path: Path) -> None:
    warehouse = with_release_of(tmp_path, time.time() + YEAR)
    with pytest.raises(RoundtableError), failure_kept(warehouse):
        raise RoundtableError("it fails")
    told = last_failure(warehouse)
    assert told is not None
    assert told.error == ["it fails"]
    with failure_kept(warehouse):
        pass
    assert last_failure(warehouse) is None


@pytest.mark.parametrize(("moment", "past"), [(YEAR, True), (-YEAR, False)])
def test_a_failure_that_is_heard_of_late_is_past_if_a_build_has_ended_well_since(
    tmp_path: Path, moment: float, past: bool
) -> None:
    warehouse = with_release_of(tmp_path, time.time() + moment)
    assert Failure.of("it failed", "look").is_past(warehouse) is past


@pytest.mark.parametrize(
    "name",
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "POSTGRES_PASSWORD"],
)
def test_what_leads_to_the_store_and_the_database_is_not_told(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "a/secret+word")
    told = without_secrets("a/secret+word, postgresql://me:a%2Fsecret%2Bword@host/db refused")
    assert told == "<secret>, postgresql://host/db refused"
