import json
import re
from collections.abc import Mapping
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from pyarrow import fs
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline.definitions import definitions
from pipeline.orchestration.batches import PARTITION, PUBLISH, ROUND
from pipeline.orchestration.graph import JOB, all_rounds
from pipeline.rounds import known_rounds
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.shared import take_release
from pipeline.warehouse.store import StoreFault, TableStore
from tests.cluster.conftest import PASSWORD, SECRET_KEY
from tests.normalise.published_rows import official_row, official_table
from tests.normalise.submissions.inference.trees import archive
from tests.normalise.submissions.training import trees
from tests.orchestration.test_sensors import Upstream

A, B = "a" * 40, "b" * 40
WITH_TABLE, WITH_ARCHIVE = "inference-9.0", "training-9.0"
"""Two rounds that the package has never heard of."""


class Machines:
    """Runs each in a warehouse folder of its own, as machines that share no disk have."""

    def __init__(self, instance: dg.DagsterInstance, folder: Path, patch: pytest.MonkeyPatch):
        self.instance = instance
        self.folder = folder
        self._patch = patch
        self._homes = 0

    def run(self, request: dg.RunRequest, job: str) -> Path:
        """Run what is asked for on a new machine; return its warehouse folder."""
        self._homes += 1
        home = self.folder / f"machine-{self._homes}"
        self._patch.setenv("ROUNDTABLE_HOME", str(home))
        result = (
            definitions()
            .resolve_job_def(job)
            .execute_in_process(
                run_config=request.run_config,
                tags=dict(request.tags),
                partition_key=request.partition_key,
                instance=self.instance,
            )
        )
        assert result.success
        return home

    def asked(self, sensor: str, cursor: str | None = None) -> dg.SensorResult:
        """Return what a sensor answers, evaluated on a new machine."""
        self._homes += 1
        self._patch.setenv("ROUNDTABLE_HOME", str(self.folder / f"machine-{self._homes}"))
        repository = definitions().get_repository_def()
        (found,) = [each for each in repository.sensor_defs if each.name == sensor]
        context = dg.build_sensor_context(
            instance=self.instance, cursor=cursor, repository_def=repository
        )
        answer = found(context)
        if isinstance(answer, dg.RunRequest):
            return dg.SensorResult(run_requests=[answer])
        assert isinstance(answer, dg.SensorResult)
        return answer


@pytest.fixture
def upstream(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Upstream:
    """Serve in GitHub's place: of one new round a table, of the other its archive."""
    table = official_table(official_row(ID="9.0-0001"), version="v9.0")

    def raw(request: Request) -> Response:
        is_there = "inference_results_v9.0" in request.path and "summary_results" in request.path
        return Response(table, headers={"ETag": '"1"'}) if is_there else Response(status=404)

    httpserver.expect_request(re.compile("/raw/.*")).respond_with_handler(raw)
    server = Upstream(httpserver)
    server.commits = {WITH_TABLE: A, WITH_ARCHIVE: A, "inference-6.0": A}
    server.archives = {A: archive(trees.tree(trees.log()), "9.0").getvalue()}
    for service in ("API", "RAW", "CODELOAD"):
        monkeypatch.setenv(f"ROUNDTABLE_GITHUB_{service}", f"{server.base}{service.lower()}")
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    return server


def parquet(home: Path) -> Mapping[str, bytes]:
    """Return the published Parquet files but for when each source was fetched."""
    files = {file.stem: file.read_bytes() for file in (home / "parquet").glob("*.parquet")}
    sources = pl.read_parquet(home / "parquet" / "sources.parquet").drop("fetched_at")
    return files | {"sources": sources.write_json().encode()}


def test_a_run_a_round_on_machines_of_their_own_publishes_what_one_run_does(
    instance: dg.DagsterInstance,
    store: str,
    postgres: dict[str, str],
    upstream: Upstream,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    alone = tmp_path / "alone"
    monkeypatch.setenv("ROUNDTABLE_HOME", str(alone))
    job = definitions().resolve_job_def(JOB)
    assert job.execute_in_process(tags=all_rounds(list(known_rounds()))).success

    monkeypatch.setenv("ROUNDTABLE_STORE", store)
    machines = Machines(instance, tmp_path, monkeypatch)
    first = machines.asked("upstream")
    requests = first.run_requests or []
    rounds = {request.partition_key for request in requests}
    assert rounds == {*known_rounds(), WITH_TABLE, WITH_ARCHIVE}
    for request in requests:
        machines.run(request, ROUND)
    (publication,) = machines.asked("ended_batches").run_requests or []
    published = machines.run(publication, PUBLISH)
    assert parquet(published) == parquet(alone)

    # Another machine that is new has the same release, byte for byte.
    elsewhere = Warehouse(tmp_path / "elsewhere")
    take_release(TableStore(store), elsewhere)
    assert parquet(elsewhere.home) == parquet(published)
    assert elsewhere.stamp() == Warehouse(published).stamp()

    import psycopg2

    # What PostgreSQL keeps is all runs with their events, and no secret.
    assert instance.get_runs_count() == len(requests) + 1
    with (
        psycopg2.connect(
            host=postgres["POSTGRES_HOST"],
            port=postgres["POSTGRES_PORT"],
            user=postgres["POSTGRES_USER"],
            password=PASSWORD,
            dbname=postgres["POSTGRES_DB"],
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("select run_body from runs")
        kept = [body for (body,) in cursor.fetchall()]
        cursor.execute("select event from event_logs")
        events = [event for (event,) in cursor.fetchall()]
    assert len(kept) == len(requests) + 1
    assert any('"warehouse"' in event for event in events)
    said = "".join([*kept, *events, *capfd.readouterr()])
    assert PASSWORD not in said and SECRET_KEY not in said

    # The next time, a round's run goes on from what the last one left, on whichever machine.
    assert sum("codeload" in path for path in upstream.asked) == 2
    upstream.commits["inference-6.0"] = B
    upstream.commits[WITH_TABLE] = B
    changed = machines.asked("upstream", first.cursor).run_requests or []
    assert {request.partition_key for request in changed} == {"inference-6.0", WITH_TABLE}
    before = pl.read_parquet(published / "parquet" / "sources.parquet")
    for request in changed:
        if request.partition_key == WITH_TABLE:
            machines.run(request, ROUND)
        else:  # the machine of this one is lost
            tags = {**request.tags, PARTITION: str(request.partition_key)}
            run = instance.create_run_for_job(definitions().resolve_job_def(ROUND), tags=tags)
            instance.report_run_failed(run, "the machine is gone")
    (publication,) = machines.asked("ended_batches").run_requests or []
    again = machines.run(publication, PUBLISH)
    after = pl.read_parquet(again / "parquet" / "sources.parquet")
    is_changed = pl.col("round_key").is_in([WITH_TABLE, "inference-6.0"])
    assert after.filter(~is_changed).equals(before.filter(~is_changed))
    assert before.filter(round_key=WITH_TABLE)["commit"].item() == A
    assert after.filter(round_key=WITH_TABLE)["commit"].item() == B
    stale = after.filter(is_stale=True)
    assert (
        stale["results"].to_list() == before.filter(round_key="inference-6.0")["results"].to_list()
    )
    for reason in stale["stale_reason"]:
        assert "its run failed" in reason and "the machine is gone" in reason
    assert sum("codeload" in path for path in upstream.asked) == 2


def test_a_bucket_that_is_not_there_is_said_without_any_secret(store: str, tmp_path: Path) -> None:
    (tmp_path / "put").mkdir()
    (tmp_path / "put" / "file").write_text("1", encoding="utf-8")
    with pytest.raises(StoreFault, match="s3://elsewhere/tables.*Check that it exists") as raised:
        TableStore("s3://elsewhere/tables").put("published", tmp_path / "put")
    assert SECRET_KEY not in str(raised.value)


def test_what_was_damaged_in_the_object_store_is_refused(
    store: str, object_store: dict[str, str], tmp_path: Path
) -> None:
    tables = TableStore(store)
    (tmp_path / "put").mkdir()
    (tmp_path / "put" / "results.parquet").write_bytes(b"1")
    tables.put("figures/inference-6.0", tmp_path / "put")
    address = object_store["AWS_ENDPOINT_URL"].removeprefix("http://")
    service = fs.S3FileSystem(scheme="http", endpoint_override=address)
    place = store.removeprefix("s3://") + "/figures/inference-6.0"
    with service.open_input_stream(f"{place}/current.json") as stream:
        version = json.loads(stream.read())["version"]
    with service.open_output_stream(f"{place}/{version}/results.parquet") as stream:
        stream.write(b"2")
    with pytest.raises(StoreFault, match="is not what was put"):
        tables.fetch("figures/inference-6.0", tmp_path / "fetched")
