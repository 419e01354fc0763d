from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from pipeline.definitions import definitions
from pipeline.orchestration.batches import BATCH, PARTITION, PUBLISH, ROUND, SIZE, ended_batches
from pipeline.rounds import known_rounds
from pipeline.schema.tables import public_tables

NEW = "training-9.9"
A, B, C = "inference-5.1", "inference-6.0", "training-5.1"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a table store that nothing is in."""
    monkeypatch.setenv("ROUNDTABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ROUNDTABLE_STORE", str(tmp_path / "store"))


def asked_to_publish(instance: dg.DagsterInstance) -> dg.RunRequest | None:
    """Return the run that the sensor asks for, if any."""
    answer = ended_batches(dg.build_sensor_context(instance=instance))
    return answer if isinstance(answer, dg.RunRequest) else None


def started(
    instance: dg.DagsterInstance, job: str, batch: str, size: int = 1, key: str = A
) -> dg.DagsterRun:
    tags = {BATCH: batch} | ({SIZE: str(size), PARTITION: key} if job == ROUND else {})
    return instance.create_run_for_job(definitions().resolve_job_def(job), tags=tags)


def test_without_a_store_there_is_one_job_and_with_one_a_run_a_round_and_one_that_publishes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = definitions()
    made = {job: keys(shared, job) for job in (ROUND, PUBLISH)}
    assert made[ROUND] == {"raw_files", "figures"}
    assert {"warehouse", *public_tables()} <= made[PUBLISH]
    monkeypatch.delenv("ROUNDTABLE_STORE")
    alone = definitions()
    assert made[ROUND] | made[PUBLISH] == keys(alone, "build")
    checks = [
        defined.resolve_job_def(job).asset_layer.asset_graph.asset_check_keys
        for defined, job in ((shared, PUBLISH), (alone, "build"))
    ]
    assert checks[0] == checks[1] != set()


def keys(defined: dg.Definitions, job: str) -> set[str]:
    layer = defined.resolve_job_def(job).asset_layer
    return {key.to_user_string() for key in layer.executable_asset_keys}


def test_each_week_every_round_gets_a_run_also_one_that_was_found_upstream(tmp_path: Path) -> None:
    repository = definitions().get_repository_def()
    (schedule,) = repository.schedule_defs
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    settings = {"telemetry": {"enabled": False}}
    with dg.DagsterInstance.local_temp(str(tmp_path), settings) as instance:
        instance.add_dynamic_partitions("rounds", [NEW])
        context = dg.build_schedule_context(
            instance, datetime(2026, 11, 30, 6, tzinfo=UTC), repository_def=repository
        )
        requests = schedule.evaluate_tick(context).run_requests or ()
    assert [request.partition_key for request in requests] == [*known_rounds(), NEW]
    assert {request.tags[SIZE] for request in requests} == {str(len(requests))}
    assert {request.tags[BATCH] for request in requests} == {"2026-W49"}


def test_a_batch_is_published_once_and_only_when_all_its_runs_have_ended() -> None:
    instance = dg.DagsterInstance.ephemeral()
    good = started(instance, ROUND, "week", 3, A)
    succeeded = dg.DagsterEvent(dg.DagsterEventType.RUN_SUCCESS.value, ROUND)
    instance.report_dagster_event(succeeded, good.run_id)
    bad = started(instance, ROUND, "week", 3, B)
    instance.report_run_failed(bad, "https://me:hush-hush@host said no")
    assert asked_to_publish(instance) is None, "a run has not even been started"
    stopped = started(instance, ROUND, "week", 3, C)
    assert asked_to_publish(instance) is None, "a run goes on"
    instance.report_run_canceled(stopped)
    request = asked_to_publish(instance)
    assert request is not None
    config = request.run_config["resources"]["build"]["config"]
    assert config["rounds"] == [A]
    assert config["failed"].keys() == {B, C}
    assert config["failed"][B].endswith("https://host said no")
    assert config["failed"][C] == "its run was stopped"
    started(instance, PUBLISH, "week")
    assert asked_to_publish(instance) is None


def test_a_run_that_was_tried_again_counts_by_its_last_try() -> None:
    instance = dg.DagsterInstance.ephemeral()
    instance.report_run_canceled(started(instance, ROUND, "week"))
    again = started(instance, ROUND, "week")
    assert asked_to_publish(instance) is None
    succeeded = dg.DagsterEvent(dg.DagsterEventType.RUN_SUCCESS.value, ROUND)
    instance.report_dagster_event(succeeded, again.run_id)
    request = asked_to_publish(instance)
    assert request is not None
    assert request.run_config["resources"]["build"]["config"] == {"rounds": [A], "failed": {}}


def test_a_second_batch_waits_until_the_first_is_published() -> None:
    instance = dg.DagsterInstance.ephemeral()
    for name in ("one", "two"):
        instance.report_run_canceled(started(instance, ROUND, name))
    first = asked_to_publish(instance)
    assert first is not None and first.run_key == "one"
    publishing = started(instance, PUBLISH, "one")
    assert asked_to_publish(instance) is None
    instance.report_run_canceled(publishing)
    second = asked_to_publish(instance)
    assert second is not None and second.run_key == "two"
