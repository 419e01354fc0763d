import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline.settings import Settings
from pipeline.sources import http
from pipeline.sources.github import GitHub, ResultRepository
from pipeline.sources.http import BadAnswer, Unreachable

ROOT = Path(__file__).parents[2]
MIRROR = ROOT.parent / "shared" / "tools" / "github_mirror.py"
needs_mirror = pytest.mark.skipif(not MIRROR.exists(), reason="needs ../shared/tools")

ISSUE_FAULTS = ("429:0.2", "cut:0.1", "reset:0.1", "html:0.05", "500:0.1")
FIRST_OF_EACH = ("500:=1", "502:=1", "reset:=1", "cut:=1", "html:=1", "garbage:=1")
PUBLISHED = {
    "inference-4.1.summary_results.json": b'[{"ID": "v4.1-0001"}]',
    "inference-5.0.summary.json": b'{"0": {"Organization": "Acme"}}',
    "inference-6.0.summary_results.json": b'[{"ID": "6.0-0001"}]\n',
    "training-5.0.summary.json": b"{}",
}
TABLES = {
    name.partition(".summary")[0]: (name, content)
    for name, content in PUBLISHED.items()
    if name.startswith("inference")
}


def survey(home: Path, base: str, token: str | None = None) -> GitHub:
    github = GitHub(Settings(home, f"{base}/api", f"{base}/raw", f"{base}/codeload", token))
    github.survey()
    return github


def tables(github: GitHub) -> dict[str, tuple[str, bytes]]:
    files = [file for key in github.round_keys() for file in github.files(key)]
    return {file.round_key: (file.name, file.content) for file in files}


@contextmanager
def mirror(data: Path, *arguments: str) -> Iterator[str]:
    """Serve a data folder like GitHub does; the address refuses connections afterwards."""
    command = [sys.executable, str(MIRROR), "--data", str(data), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def asked(base: str) -> dict[str, int]:
    with urlopen(f"{base}/stats") as answer:
        return dict(json.load(answer)["by"])


@pytest.fixture
def data(tmp_path) -> Path:
    (tmp_path / "data" / "published").mkdir(parents=True)
    for name, content in PUBLISHED.items():
        (tmp_path / "data" / "published" / name).write_bytes(content)
    return tmp_path / "data"


@pytest.fixture
def home(tmp_path) -> Path:
    return tmp_path / "home"


@needs_mirror
def test_every_table_is_offered_with_its_public_address_and_commit(data, home):
    with mirror(data) as base:
        github = survey(home, base)
    assert tables(github) == TABLES
    with_tables = [key for key in github.round_keys() if github.files(key)]
    assert with_tables == ["inference-4.1", "inference-5.0", "inference-6.0"]
    assert "training-5.0" in github.round_keys()
    (file,) = github.files("inference-5.0")
    public = "https://raw.githubusercontent.com/mlcommons/inference_results_v5.0/HEAD/summary.json"
    assert (file.url, file.origin, file.stale_reason) == (public, "github", None)
    assert re.fullmatch("[0-9a-f]{40}", file.commit or "")
    assert file.etag == f'"{file.sha256}"'
    assert file.fetched_at and file.fetched_at.tzinfo is None
    assert github.stale == {}
    assert github.files("inference-9.9") == []


@needs_mirror
def test_repositories_are_listed_with_those_that_have_no_table(data, home):
    with mirror(data) as base:
        github = survey(home, base)
    five, training = github.repositories()[1], github.repositories()[3]
    assert (five.name, five.table) == ("inference_results_v5.0", "summary.json")
    assert five.commit == github.files("inference-5.0")[0].commit
    assert training == ResultRepository("training_results_v5.0", "training-5.0", None, None)


@needs_mirror
def test_commits_of_rounds_without_a_table_are_asked_for_only_if_archives_are_wanted(data, home):
    with mirror(data) as base:
        github = GitHub(Settings(home, f"{base}/api", f"{base}/raw", f"{base}/codeload", None))
        github.survey()
        assert github.archive("training-5.0") is None
        asked_before = asked(base)
        github = GitHub(Settings(home, f"{base}/api", f"{base}/raw", f"{base}/codeload", None))
        github.survey(archives=lambda key: True)
        archive = github.archive("training-5.0")
        assert archive is not None
        assert archive.commit == archive.identity
        assert asked(base)["raw 404"] == asked_before["raw 404"]


@needs_mirror
@pytest.mark.parametrize("faults", [ISSUE_FAULTS, FIRST_OF_EACH], ids=["by rate", "one of each"])
def test_faults_on_the_way_change_nothing(data, tmp_path, faults):
    with mirror(data) as base:
        without = survey(tmp_path / "without", base)
    with mirror(data, *(word for fault in faults for word in ("--fault", fault))) as base:
        github = survey(tmp_path / "with", base)
        assert sum(count for what, count in asked(base).items() if "fault" in what) > 3
    assert tables(github) == tables(without) == TABLES
    assert github.stale == {}
    assert github.fingerprint() == without.fingerprint()


@needs_mirror
def test_a_second_survey_makes_only_conditional_requests_for_tables(data, home):
    with mirror(data) as base:
        first = survey(home, base)
        before = asked(base)
        second = survey(home, base)
        after = asked(base)
    assert after["raw 304"] == len(TABLES)
    assert (after["raw 200"], after["raw 404"]) == (before["raw 200"], before["raw 404"])
    assert tables(second) == TABLES
    assert second.fingerprint() == first.fingerprint()
    assert second.files("inference-6.0") == first.files("inference-6.0")


@needs_mirror
def test_a_stopped_service_leaves_the_last_good_tables_marked_stale(data, home):
    with mirror(data) as base:
        good = survey(home, base)
    start = time.monotonic()
    github = survey(home, base)
    assert time.monotonic() - start < 1
    assert tables(github) == TABLES
    assert github.stale == dict.fromkeys(TABLES, "no connection")
    assert github.files("inference-6.0")[0].stale_reason == "no connection"
    assert github.files("inference-6.0")[0].commit == good.files("inference-6.0")[0].commit
    assert github.fingerprint() != good.fingerprint()
    with pytest.raises(Unreachable):
        github.repositories()


@needs_mirror
def test_without_service_and_snapshots_there_is_nothing(data, home):
    with mirror(data) as base:
        pass
    with pytest.raises(Unreachable, match="build with --source bundled"):
        survey(home, base)


@needs_mirror
def test_a_harmed_snapshot_is_fetched_again(data, home):
    with mirror(data) as base:
        (file,) = survey(home, base).files("inference-6.0")
        (home / "snapshots" / file.sha256).write_bytes(b"[]")
        before = asked(base)
        assert tables(survey(home, base)) == TABLES
        assert asked(base)["raw 200"] == before["raw 200"] + 1
    assert (home / "snapshots" / file.sha256).read_bytes() == file.content


@needs_mirror
def test_a_corrected_table_replaces_the_former_one(data, home):
    with mirror(data) as base:
        old = survey(home, base)
    correction = b'[{"ID": "6.0-0002"}]'
    (data / "published" / "inference-6.0.summary_results.json").write_bytes(correction)
    with mirror(data) as base:
        new = survey(home, base)
    assert new.files("inference-6.0")[0].content == correction
    assert new.files("inference-6.0")[0].commit != old.files("inference-6.0")[0].commit
    assert new.files("inference-4.1") == old.files("inference-4.1")
    assert new.stale == {}
    assert new.fingerprint() != old.fingerprint()


@needs_mirror
def test_a_repository_that_is_no_longer_listed_leaves_its_table_stale(data, home):
    with mirror(data) as base:
        survey(home, base)
    with mirror(data, "--without", "inference_results_v6.0") as base:
        github = survey(home, base)
    assert tables(github) == TABLES
    assert github.stale == {"inference-6.0": "its repository is no longer listed"}
    assert "inference_results_v6.0" not in [seen.name for seen in github.repositories()]


class Upstream:
    """A service like GitHub that a test can change: JSON by API path, files by raw path."""

    def __init__(self, server: HTTPServer) -> None:
        self.base = server.url_for("").rstrip("/")
        self.commit = "a" * 40
        self.repositories = ["inference_results_v6.0"]
        self.link: str | None = None
        self.files: dict[str, bytes] = {}
        self.etag: str | None = '"e1"'
        self.raw: Callable[[Request], Response | None] = lambda request: None
        self.requests: list[Request] = []
        server.expect_request(re.compile("/.*")).respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        self.requests.append(request)
        if request.path.startswith("/raw/"):
            return self.raw(request) or self.file(request)
        if request.path.endswith("/repos"):
            page = int(request.args.get("page", "1"))
            headers = {"Link": self.link} if self.link and page == 1 else {}
            names = self.repositories[page - 1 :: 2] if self.link else self.repositories
            return Response(json.dumps([{"name": name} for name in names]), headers=headers)
        return Response(json.dumps({"sha": self.commit}))

    def file(self, request: Request) -> Response:
        content = self.files.get(request.path.removeprefix(f"/raw/mlcommons/{self.repository}/"))
        if content is None:
            return Response("404: Not Found", 404)
        return Response(content, headers={"ETag": self.etag} if self.etag else {})

    @property
    def repository(self) -> str:
        return f"inference_results_v6.0/{self.commit}"

    def count(self, start: str) -> int:
        return sum(request.path.startswith(start) for request in self.requests)


@pytest.fixture
def upstream(httpserver) -> Upstream:
    return Upstream(httpserver)


@pytest.fixture
def short_pauses(monkeypatch):
    monkeypatch.setattr(http, "LONGEST_PAUSE_SECONDS", 0.01)


def test_every_page_of_the_listing_is_read(upstream, home):
    others = ["inference", "training_results_v5.1", "x_inference_results_v6.0", "policies"]
    upstream.repositories = ["inference_results_v10.0", "inference_results_v6.0", *others]
    upstream.link = (
        f'<{upstream.base}/api/organizations/1/repos?page=2>; rel="next", '
        f'<{upstream.base}/api/organizations/1/repos?page=2>; rel="last"'
    )
    seen = survey(home, upstream.base).repositories()
    assert [repository.round_key for repository in seen] == [
        "inference-6.0",
        "inference-10.0",
        "training-5.1",
    ]


def test_one_round_alone_costs_its_own_requests_only_and_is_stale_alone(upstream, home):
    upstream.repositories = ["inference_results_v5.1", "inference_results_v6.0"]
    upstream.files["summary.json"] = b"[]"
    settings = Settings(home, f"{upstream.base}/api", f"{upstream.base}/raw", "", None)
    for expected in ({}, {"inference-6.0": "its repository is no longer listed"}):
        alone = GitHub(settings)
        alone.survey(only="inference-6.0")
        assert list(tables(alone)) == ["inference-6.0"]
        assert alone.stale == expected
        upstream.repositories = ["inference_results_v5.1"]
    assert not any("v5.1" in request.path for request in upstream.requests)


@pytest.mark.parametrize("url", ["http://elsewhere.invalid/api/orgs/mlcommons/repos", "ftp://x/"])
def test_a_listing_that_goes_on_at_another_host_is_not_followed(upstream, home, url):
    upstream.link = f'<{url}?page=2>; rel="next"'
    with pytest.raises(BadAnswer, match="continues on another host"):
        survey(home, upstream.base)


def test_a_listing_without_end_is_given_up(upstream, home):
    upstream.link = f'<{upstream.base}/api/orgs/mlcommons/repos?page=1>; rel="next"'
    with pytest.raises(BadAnswer, match="pages"):
        survey(home, upstream.base)


def test_an_api_address_where_nothing_is_says_so(upstream, home):
    settings = Settings(home, upstream.base + "/raw", upstream.base + "/raw", "", None)
    with pytest.raises(BadAnswer, match="not found. Check ROUNDTABLE_GITHUB_API"):
        GitHub(settings).survey()


def test_the_token_goes_to_the_api_only(upstream, home):
    upstream.files["summary.json"] = b"{}"
    survey(home, upstream.base, token="t0ken")
    sent = {request.path: request.headers.get("Authorization") for request in upstream.requests}
    assert {value for path, value in sent.items() if path.startswith("/api")} == {"Bearer t0ken"}
    assert {value for path, value in sent.items() if path.startswith("/raw")} == {None}
    assert not any("t0ken" in path.read_text() for path in (home / "snapshots").iterdir())


def test_a_repository_without_a_table_is_asked_again_only_at_another_commit(upstream, home):
    github = survey(home, upstream.base)
    assert list(github.round_keys()) == ["inference-6.0"]
    assert list(github.files("inference-6.0")) == []
    assert upstream.count("/raw") == 2
    survey(home, upstream.base)
    assert upstream.count("/raw") == 2
    upstream.commit = "b" * 40
    upstream.files["summary_results.json"] = b"[]"
    github = survey(home, upstream.base)
    assert tables(github) == {"inference-6.0": ("inference-6.0.summary_results.json", b"[]")}
    assert github.files("inference-6.0")[0].commit == "b" * 40


def test_a_table_that_is_taken_down_serves_on_marked_stale(upstream, home):
    upstream.files["summary.json"] = b"{}"
    survey(home, upstream.base)
    upstream.commit, upstream.files = "b" * 40, {}
    github = survey(home, upstream.base)
    assert github.stale == {"inference-6.0": "its table is no longer there"}
    assert github.files("inference-6.0")[0].content == b"{}"
    assert github.files("inference-6.0")[0].commit == "a" * 40


def test_the_official_table_takes_the_place_of_the_checkers(upstream, home):
    upstream.files["summary.json"] = b"{}"
    survey(home, upstream.base)
    upstream.commit, upstream.files["summary_results.json"] = "b" * 40, b"[]"
    assert survey(home, upstream.base).files("inference-6.0")[0].content == b"[]"


def test_the_commit_is_the_newest_at_which_the_bytes_were_seen(upstream, home):
    upstream.files["summary_results.json"] = b"[]"
    first = survey(home, upstream.base)
    upstream.commit = "b" * 40
    upstream.raw = lambda request: Response(status=304, headers={"ETag": '"e1"'})
    second = survey(home, upstream.base)
    assert upstream.requests[-1].headers["If-None-Match"] == '"e1"'
    assert [github.files("inference-6.0")[0].commit for github in (first, second)] == [
        "a" * 40,
        "b" * 40,
    ]
    assert first.fingerprint() == second.fingerprint()


def test_one_rate_limited_service_leaves_every_round_served(upstream, home):
    upstream.files["summary_results.json"] = b"[]"
    survey(home, upstream.base)
    upstream.raw = lambda request: Response(status=429, headers={"Retry-After": "3600"})
    start = time.monotonic()
    github = survey(home, upstream.base)
    assert time.monotonic() - start < 1
    assert github.stale == {"inference-6.0": "rate limit used up"}
    assert github.files("inference-6.0")[0].content == b"[]"
    assert github.repositories()[0].commit == upstream.commit


def test_a_round_of_which_nothing_can_be_had_is_named_with_the_reason(upstream, home):
    upstream.repositories.append("inference_results_v6.1")
    upstream.files["summary_results.json"] = b"[]"
    upstream.raw = lambda request: Response(status=451) if "v6.1" in request.path else None
    github = survey(home, upstream.base)
    assert list(github.round_keys()) == ["inference-6.0", "inference-6.1"]
    assert list(github.files("inference-6.1")) == []
    assert github.stale == {"inference-6.1": "answers with status 451"}
    assert github.repositories()[1] == ResultRepository(
        "inference_results_v6.1", "inference-6.1", "a" * 40, None
    )


def test_a_rate_limited_first_survey_says_so(upstream, home):
    upstream.raw = lambda request: Response(status=429, headers={"Retry-After": "3600"})
    with pytest.raises(Unreachable, match="rate limit used up"):
        survey(home, upstream.base)


@pytest.mark.parametrize("content", [b'[{"ID": ', b"null", b"", b"[" * 100_000, b"\xff\xff"])
def test_a_table_that_is_no_table_upstream_is_handed_on_for_the_normaliser(upstream, home, content):
    upstream.files["summary_results.json"] = content
    github = survey(home, upstream.base)
    assert github.files("inference-6.0")[0].content == content
    assert github.stale == {}
    assert upstream.count("/raw") == 2


@pytest.mark.parametrize(
    ("content", "etag"), [(b" <html>", '"e1"'), (b'[{"ID": ', None)], ids=["HTML", "no ETag"]
)
def test_a_page_in_place_of_a_table_never_becomes_the_table(
    upstream, home, short_pauses, content, etag
):
    upstream.files["summary_results.json"] = b"[]"
    survey(home, upstream.base)
    upstream.files["summary_results.json"], upstream.etag = content, etag
    github = survey(home, upstream.base)
    assert github.files("inference-6.0")[0].content == b"[]"
    assert github.stale == {"inference-6.0": "sends something else than was asked for"}


@pytest.mark.parametrize("commit", ["HEAD", "", "../../x", "a" * 39])
def test_a_commit_that_is_none_is_not_used(upstream, home, short_pauses, commit):
    upstream.commit = commit
    with pytest.raises(Unreachable, match="something else than was asked for"):
        survey(home, upstream.base)
    assert upstream.count("/raw") == 0


def test_each_round_is_told_as_it_comes_in(upstream, home):
    upstream.files["summary_results.json"] = b"[]"
    upstream.repositories.append("training_results_v5.1")
    told: list[str] = []
    base = upstream.base
    GitHub(Settings(home, f"{base}/api", f"{base}/raw", "", None), told.append).survey()
    assert told == ["inference-6.0: summary_results.json", "training-5.1: no table"]


def test_importing_the_source_imports_neither_requests_nor_polars():
    code = "import sys, pipeline.sources.github; print({'requests', 'polars'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
