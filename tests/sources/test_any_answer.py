"""Whatever a service answers: tables that are kept under their hash, or an error that says so."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline.errors import RoundtableError
from pipeline.rounds import REPOSITORY
from pipeline.settings import Settings
from pipeline.sources import http
from pipeline.sources.github import GitHub
from tests.anything import ANY_TEXT, VALUES

KNOWN = "inference_results_v6.0"
NAMES = st.just(KNOWN) | st.sampled_from(
    [
        f"../{KNOWN}",
        f"{KNOWN}/..",
        f"{KNOWN}\n",
        "inference_results_v99999.0",
        "training_results_v٥.0",
    ]
)
LISTED = st.lists(st.fixed_dictionaries({"name": NAMES | VALUES}) | VALUES, max_size=3) | VALUES
COMMITS = st.fixed_dictionaries({"sha": st.just("a" * 40) | VALUES}) | VALUES
HEADERS = st.dictionaries(
    st.sampled_from(["Link", "ETag", "Retry-After", "X-RateLimit-Remaining", "X-RateLimit-Reset"]),
    st.sampled_from(['<ftp://x/>; rel="next"', '<http://[>; rel="next"', "0", "-1", "1e999", '"e"'])
    | st.text(st.characters(min_codepoint=32, max_codepoint=255)),
    max_size=2,
)


class Anything:
    """A service that answers each path with what a test put there."""

    def __init__(self, server: HTTPServer) -> None:
        self.base = server.url_for("").rstrip("/")
        self.bodies: dict[str, bytes] = {}
        self.headers: dict[str, str] = {}
        self.status = 200
        server.expect_request(re.compile("/.*")).respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        of_path = {"/repos": "listed", "/HEAD": "commit"}
        kind = next((k for end, k in of_path.items() if request.path.endswith(end)), "table")
        return Response(self.bodies[kind], self.status, self.headers)


@pytest.fixture(scope="module")
def service(make_httpserver: HTTPServer) -> Iterator[Anything]:
    """Give a service whose bad answers are asked for once."""
    make_httpserver.clear()  # of what the tests of another module have left
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(http, "ATTEMPTS", 1)
        patched.setattr(http, "PATIENCE_SECONDS", 1.0)
        yield Anything(make_httpserver)


@given(
    listed=LISTED.map(json.dumps) | ANY_TEXT,
    commit=COMMITS.map(json.dumps) | ANY_TEXT,
    table=VALUES.map(json.dumps) | ANY_TEXT,
    headers=HEADERS,
    status=st.sampled_from([200, 200, 200, 200, 304, 403, 404, 429, 503, 206, 204]),
)
def test_any_answer_is_a_table_kept_by_its_hash_or_an_error_that_says_so(
    service: Anything, listed: str, commit: str, table: str, headers: dict[str, str], status: int
) -> None:
    told = {"listed": listed, "commit": commit, "table": table}
    service.bodies = {kind: text.encode("utf-8", "replace") for kind, text in told.items()}
    service.headers, service.status = headers, status
    with TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        settings = Settings(home, f"{service.base}/api", f"{service.base}/raw", "", "t0ken")
        github = GitHub(settings)
        try:
            github.survey()
            assert all(REPOSITORY.fullmatch(seen.name) for seen in github.repositories())
        except RoundtableError as error:
            assert service.base in str(error)
            assert "t0ken" not in str(error)
        for key in github.round_keys():
            (*files,) = github.files(key)
            assert all(file.content == service.bodies["table"] for file in files)
        kept = [
            path.relative_to(home).as_posix() for path in Path(folder).rglob("*") if path.is_file()
        ]
        named = re.compile(r"snapshots/([0-9a-f]{64}|index\.json)")
        assert [path for path in kept if not named.fullmatch(path)] == []
