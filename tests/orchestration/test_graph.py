from pathlib import Path

import dagster as dg
import duckdb
import pytest

from pipeline.definitions import definitions
from pipeline.orchestration.graph import (
    JOB,
    all_rounds,
    build_defs,
    build_from_environment,
)
from pipeline.rounds import known_rounds
from pipeline.schema.tables import public_tables
from pipeline.warehouse.models import inputs, models


def test_each_table_is_the_asset_of_the_same_name() -> None:
    graph = build_defs(list(known_rounds())).resolve_asset_graph()
    keys = {key.to_user_string() for key in graph.get_all_asset_keys()}
    inner = {f"staging/{table.name}" for table in models() if table.schema == "staging"}
    start = {f"staging/{table.name}" for table in inputs()}
    assert keys == {*public_tables(), *inner, *start, "raw_files", "figures", "warehouse"}


def test_a_model_depends_on_the_tables_that_its_sql_reads() -> None:
    graph = build_defs(list(known_rounds())).resolve_asset_graph()
    parents = graph.get(dg.AssetKey("coverage_gaps")).parent_keys
    assert dg.AssetKey("coverage") in parents


def test_the_warehouse_waits_for_every_public_table() -> None:
    graph = build_defs(list(known_rounds())).resolve_asset_graph()
    parents = graph.get(dg.AssetKey("warehouse")).parent_keys
    assert {key.to_user_string() for key in parents} == set(public_tables())


def test_the_weekly_schedule_covers_all_rounds_and_runs_by_default() -> None:
    rounds = list(known_rounds())
    repository = build_defs(rounds).get_repository_def()
    (schedule,) = repository.schedule_defs
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    tick = schedule.evaluate_tick(dg.build_schedule_context())
    assert tick.run_requests is not None
    tags = tick.run_requests[0].tags
    assert {tags[key] for key in all_rounds(rounds)} == {rounds[0], rounds[-1]}


def test_the_scheduled_job_builds_a_warehouse_without_network_or_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_HOME", str(tmp_path))
    for service in ("API", "RAW", "CODELOAD"):
        monkeypatch.setenv(f"ROUNDTABLE_GITHUB_{service}", "http://127.0.0.1:9")
    job = definitions().resolve_job_def(JOB)
    result = job.execute_in_process(tags=all_rounds(list(known_rounds())))
    assert result.success
    with duckdb.connect(tmp_path / "roundtable.duckdb", read_only=True) as connection:
        stale = connection.execute("select bool_and(is_stale), count(*) from sources").fetchall()
    assert stale[0][0] is True
    materialized = {
        event.asset_key.to_user_string()
        for event in result.get_asset_materialization_events()
        if event.asset_key
    }
    assert {"raw_files", "figures", "warehouse", *public_tables()} <= materialized


def test_a_whole_run_begins_anew_and_one_of_chosen_assets_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a check of an earlier run found must not be told of this one."""
    monkeypatch.setenv("ROUNDTABLE_HOME", str(tmp_path))
    for service in ("API", "RAW", "CODELOAD"):
        monkeypatch.setenv(f"ROUNDTABLE_GITHUB_{service}", "http://127.0.0.1:9")
    (tmp_path / "build").mkdir()
    kept = tmp_path / "build" / "failed_checks.jsonl"
    kept.write_text('"of an earlier run"\n', encoding="utf-8")
    job = definitions().resolve_job_def(JOB)
    chosen = [dg.AssetKey("raw_files")]
    tags = all_rounds(list(known_rounds()))
    assert job.execute_in_process(tags=tags, asset_selection=chosen).success
    assert kept.exists()
    with dg.build_resources({"build": build_from_environment}) as resources:
        assert resources.build.failed_checks() == []
