import json
import re
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline.definitions import definitions
from pipeline.errors import RoundtableError
from pipeline.orchestration.graph import JOB, all_rounds, build_defs
from pipeline.orchestration.sensors import failures
from pipeline.rounds import known_rounds
from pipeline.settings import Settings
from pipeline.warehouse.build import Build
from pipeline.warehouse.failure import FILE
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.unattended import unattended_plan
from tests.conftest import Roundtable, build_without_orchestrator, plan_of
from tests.normalise.submissions.inference.trees import archive
from tests.normalise.submissions.training import trees
from tests.test_build_command import source

A, B = "a" * 40, "b" * 40
NEW = "training-6.0"
NOWHERE = "http://127.0.0.1:9"
SECRET = "ghp_0123456789"


class Upstream:
    """GitHub's listing, commits and archives, from a server in this process."""

    def __init__(self, server: HTTPServer) -> None:
        self.base = server.url_for("")
        self.commits: dict[str, str | None] = {}
        self.archives: dict[str, bytes] = {}
        self.asked: list[str] = []
        server.expect_request(re.compile("/api/.*")).respond_with_handler(self._api)
        server.expect_request(re.compile("/codeload/.*")).respond_with_handler(self._archive)
        server.expect_request(re.compile("/raw/.*")).respond_with_data(status=404)

    def _api(self, request: Request) -> Response:
        self.asked.append(request.path)
        if request.path == "/api/orgs/mlcommons/repos":
            return _json([{"name": _repository(key)} for key in self.commits])
        name = request.path.split("/")[4]
        commit = next(self.commits[key] for key in self.commits if _repository(key) == name)
        return _json({"sha": commit}) if commit else Response(status=409)

    def _archive(self, request: Request) -> Response:
        self.asked.append(request.path)
        return Response(self.archives[request.path.split("/")[-1]])


def _json(value: object) -> Response:
    return Response(json.dumps(value), content_type="application/json")


def _repository(key: str) -> str:
    return key.replace("-", "_results_v")


@pytest.fixture
def upstream(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Upstream]:
    """Serve in GitHub's place, with an empty warehouse folder."""
    server = Upstream(httpserver)
    for service in ("API", "RAW", "CODELOAD"):
        monkeypatch.setenv(f"ROUNDTABLE_GITHUB_{service}", f"{server.base}{service.lower()}")
    monkeypatch.setenv("ROUNDTABLE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    yield server


def look(cursor: str | None = None) -> dg.SensorResult | dg.SkipReason:
    sensors = {each.name: each for each in definitions().get_repository_def().sensor_defs}
    result = sensors["upstream"](dg.build_sensor_context(cursor=cursor))
    assert isinstance(result, dg.SensorResult | dg.SkipReason)
    return result


def request(result: dg.SensorResult | dg.SkipReason) -> tuple[str | None, list[str]]:
    """Return the run key and the rounds of the one run that is asked for."""
    assert isinstance(result, dg.SensorResult)
    assert result.run_requests
    (asked,) = result.run_requests
    return asked.run_key, asked.run_config["resources"]["build"]["config"]["rounds"]


def nothing(result: dg.SensorResult | dg.SkipReason) -> bool:
    return isinstance(result, dg.SensorResult) and not result.run_requests


def test_both_sensors_run_by_default_and_the_warehouse_must_not_grow_old() -> None:
    repository = definitions().get_repository_def()
    assert {sensor.name for sensor in repository.sensor_defs} == {"upstream", "failures"}
    for sensor in repository.sensor_defs:
        assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    policy = repository.asset_graph.get(dg.AssetKey("warehouse")).freshness_policy
    assert isinstance(policy, dg.FreshnessPolicy)


def test_a_new_round_and_a_new_commit_each_ask_for_one_run(upstream: Upstream) -> None:
    upstream.commits = {"inference-6.0": A, "training-5.1": A}
    first = look()
    assert request(first) == (f"inference-6.0 {A}, training-5.1 {A}", [])
    assert nothing(look(first.cursor))
    upstream.commits["inference-6.0"] = B
    upstream.commits["training-7.0"] = A
    changed = look(first.cursor)
    rounds = ["inference-6.0", "training-7.0"]
    assert request(changed) == (f"inference-6.0 {B}, training-7.0 {A}", rounds)
    assert json.loads(changed.cursor) == upstream.commits
    assert nothing(look(changed.cursor))
    assert all(path.startswith("/api/") for path in upstream.asked)


def test_a_warehouse_that_is_there_is_asked_to_be_built_only_for_what_it_lacks(
    upstream: Upstream, bundled: Roundtable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_HOME", str(bundled.home))
    upstream.commits = {"inference-6.0": A, "training-2.1": A, "training-5.1": A}
    assert nothing(look())
    upstream.commits[NEW] = A
    assert request(look()) == (f"{NEW} {A}", [NEW])


def test_a_repository_that_is_still_empty_is_looked_at_again(
    upstream: Upstream, bundled: Roundtable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_HOME", str(bundled.home))
    upstream.commits = {"inference-6.0": A, NEW: None}
    empty = look()
    assert nothing(empty)
    assert json.loads(empty.cursor) == upstream.commits
    upstream.commits = {"inference-6.0": None, NEW: A}
    filled = look(empty.cursor)
    assert request(filled) == (f"{NEW} {A}", [NEW])
    assert json.loads(filled.cursor) == {"inference-6.0": A, NEW: A}


@pytest.mark.parametrize("address", [NOWHERE, "the server, with nothing listed"])
def test_without_github_nothing_is_asked_for_and_the_cursor_stays(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    if address == NOWHERE:
        monkeypatch.setenv("ROUNDTABLE_GITHUB_API", NOWHERE)
    skipped = look(json.dumps({"inference-6.0": A}))
    assert isinstance(skipped, dg.SkipReason)
    assert "GitHub cannot be asked" in (skipped.skip_message or "")


def test_a_round_without_a_table_is_scored_by_the_run_asked_for_and_stays_scored(
    upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by the schedule's build, by one by hand, and when GitHub is out of reach."""
    home = tmp_path / "home"
    build_without_orchestrator(home, plan_of(source(tmp_path / "source")))
    upstream.commits = {"inference-6.0": A, "training-5.1": A, NEW: A}
    upstream.archives = {A: archive(trees.tree(trees.log()), "6.0").getvalue()}
    result = look()
    assert isinstance(result, dg.SensorResult) and result.run_requests
    (asked,) = result.run_requests
    before = sources(home)
    assert before["round_key"].to_list() == ["inference-6.0"]
    job = definitions().resolve_job_def(JOB)
    assert job.execute_in_process(run_config=asked.run_config, tags=asked.tags).success
    assert sources(home).filter(pl.col("round_key") != NEW).equals(before)
    scored = ("submission logs", "github", A, 1, False)
    assert origin(sources(home).filter(round_key=NEW)) == scored
    assert origin(scheduled(home)) == scored
    services = ("API", "RAW", "CODELOAD")
    addresses = {f"ROUNDTABLE_GITHUB_{name}": f"{upstream.base}{name.lower()}" for name in services}
    assert Roundtable(home)("build", "--full", **addresses).code == 0
    assert origin(sources(home).filter(round_key=NEW)) == scored
    assert sum("codeload" in path for path in upstream.asked) == 1
    monkeypatch.setenv("ROUNDTABLE_GITHUB_API", NOWHERE)
    assert origin(scheduled(home)) == (*scored[:-1], True)


def scheduled(home: Path) -> pl.DataFrame:
    """Read the new round as the schedule's build does and return its sources."""
    plan = unattended_plan(Warehouse(home), Settings.from_environment(), frozenset(), print)
    build = Build(Warehouse(home), plan, print)
    build.warehouse.fresh_build_folder()
    assert NEW in build.rounds
    build.collect(NEW)
    return build.normalise(NEW).sources


def sources(home: Path) -> pl.DataFrame:
    return pl.read_parquet(home / "parquet" / "sources.parquet")


def origin(lines: pl.DataFrame) -> tuple[object, ...]:
    (line,) = lines.select("kind", "origin", "commit", "results", "is_stale").rows()
    return line


class Failing(Build):
    """A build whose first step fails, with a secret in what it says."""

    def collect(self, round_key: str) -> list[object]:  # type: ignore[override]
        raise RoundtableError(f"{round_key}: https://me:{SECRET}@host refuses {SECRET}.\nTry again")


def failed_run(home: Path) -> dg.RunFailureSensorContext:
    """Run a build that fails and return what the sensor is told of it."""
    plan = unattended_plan(Warehouse(home), Settings.from_environment(), frozenset(), print)
    build = Failing(Warehouse(home), plan, print)
    rounds = list(known_rounds())
    graph = build_defs(rounds, dg.ResourceDefinition.hardcoded_resource(build))
    instance = dg.DagsterInstance.ephemeral()
    run = graph.resolve_job_def(JOB).execute_in_process(
        instance=instance, tags=all_rounds(rounds), raise_on_error=False
    )
    context = dg.build_run_status_sensor_context(
        "failures", run.get_run_failure_event(), instance, run.dagster_run
    )
    return context.for_run_failure()


def test_a_failed_run_is_kept_and_sent_without_any_secret(
    upstream: Upstream,
    httpserver: HTTPServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("ROUNDTABLE_GITHUB_API", NOWHERE)
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    host = httpserver.url_for("/hook/told-to-nobody").replace("http://", f"http://bot:{SECRET}@")
    monkeypatch.setenv("ROUNDTABLE_WEBHOOK", host)
    sent: list[Request] = []

    def answer(request: Request) -> Response:
        sent.append(request)
        return Response(status=500 if len(sent) < 3 else 204)

    httpserver.expect_request("/hook/told-to-nobody", method="POST").respond_with_handler(answer)
    context = failed_run(tmp_path / "home")
    caplog.clear()
    caplog.set_level("DEBUG")
    failures(context)
    text = (tmp_path / "home" / FILE).read_text(encoding="utf-8")
    told = json.loads(text)
    assert (told["step"], told["run_id"]) == ("raw_files", context.dagster_run.run_id)
    assert told["error"][0].endswith("https://host refuses <secret>.")
    assert told["error"][1] == "Try again"
    assert [request.get_data(as_text=True) for request in sent] == [text] * 3
    assert SECRET not in text
    said = [record.getMessage() for record in caplog.records if record.name != "werkzeug"]
    assert not [line for line in said if SECRET in line or "told-to-nobody" in line]


def test_a_run_whose_process_was_killed_is_kept_too(upstream: Upstream, tmp_path: Path) -> None:
    instance = dg.DagsterInstance.ephemeral()
    run = instance.create_run_for_job(definitions().resolve_job_def(JOB))
    event = instance.report_run_failed(run)
    context = dg.build_run_status_sensor_context("failures", event, instance, run)
    failures(context.for_run_failure())
    told = json.loads((tmp_path / "home" / FILE).read_text(encoding="utf-8"))
    assert (told["step"], told["run_id"]) == (None, run.run_id)
    assert "from outside" in told["error"][0]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1:9/told-to-nobody", "gives no answer"),
        ("file:///etc/told-to-nobody", "not of the form https://host/path"),
        ("elsewhere", "answers with status 302"),
    ],
)
def test_a_webhook_that_does_not_answer_is_said_and_costs_nothing_else(
    upstream: Upstream,
    httpserver: HTTPServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    url: str,
    told: str,
) -> None:
    monkeypatch.setenv("ROUNDTABLE_GITHUB_API", NOWHERE)
    monkeypatch.setattr("pipeline.export.webhook.PAUSE_SECONDS", 0.01)
    httpserver.expect_request("/told-to-nobody").respond_with_data(
        status=302, headers={"Location": NOWHERE}
    )
    if url == "elsewhere":
        url = httpserver.url_for("/told-to-nobody")
    monkeypatch.setenv("ROUNDTABLE_WEBHOOK", url)
    context = failed_run(tmp_path / "home")
    capfd.readouterr()
    failures(context)
    said = "".join(capfd.readouterr())
    assert told in said
    assert "told-to-nobody" not in said
    assert (tmp_path / "home" / FILE).is_file()
