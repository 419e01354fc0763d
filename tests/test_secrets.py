"""Secrets of the environment go where they are meant for, and nowhere else."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.normalise.published_rows import official_table
from tests.test_build_command import ROWS

SECRETS = {"GITHUB_TOKEN": "ghp_5ecretOfTheApi", "ROUNDTABLE_WEBHOOK": "https://x.test/5ecretHook"}
TOLD = b"5ecret"


def test_no_secret_is_left_by_a_build_whose_services_fail_and_echo_it(
    tmp_path: Path, httpserver: HTTPServer
) -> None:
    """One round comes, the others fail each in another way; the run is recorded."""
    sent: dict[str, str | None] = {}
    echo = {name: f"Bearer {SECRETS['GITHUB_TOKEN']}" for name in ("X-Echo", "WWW-Authenticate")}

    def answer(request: Request) -> Response:
        sent[request.path] = request.headers.get("Authorization")
        rounds = ["inference_results_v6.0", "inference_results_v5.1", "inference_results_v4.1"]
        if request.path.endswith("/repos"):
            names = [*rounds, f"results_{SECRETS['GITHUB_TOKEN']}"]
            return Response(json.dumps([{"name": name} for name in names]), headers=echo)
        if "v5.1" in request.path:
            return Response(json.dumps(echo), 401, headers=echo)
        if "v4.1" in request.path and request.path.startswith("/api"):
            return Response("", 302, headers={"Location": f"{elsewhere}/echo"})
        if request.path.startswith("/api") or request.path == "/echo":
            return Response(json.dumps({"sha": "a" * 40, "echo": echo}), headers=echo)
        if request.path.endswith("summary_results.json"):
            return Response(official_table(*ROWS), headers=echo)
        return Response("", 404)

    httpserver.expect_request(re.compile("/.*")).respond_with_handler(answer)
    base = httpserver.url_for("").rstrip("/").replace("localhost", "127.0.0.1")
    elsewhere = base.replace("127.0.0.1", "localhost")
    addresses = {
        f"ROUNDTABLE_GITHUB_{name}": f"{base}/{name.lower()}" for name in ("API", "RAW", "CODELOAD")
    }
    home = tmp_path / "warehouse"
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", "build", "--source", "github", "--record"],
        env={**os.environ, **SECRETS, **addresses, "ROUNDTABLE_HOME": str(home)},
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    api = {value for path, value in sent.items() if path.startswith("/api")}
    assert api == {f"Bearer {SECRETS['GITHUB_TOKEN']}"}
    assert {value for path, value in sent.items() if not path.startswith("/api")} == {None}
    assert "/echo" in sent
    assert (home / ".dagster").is_dir()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if TOLD in _content(path)] == []
    assert TOLD not in done.stdout + done.stderr


def _content(path: Path) -> bytes:
    """Return a file's bytes; of a Parquet file, whose bytes are packed, what it says."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path, glob=False).write_json().encode()
    return path.read_bytes()
