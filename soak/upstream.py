"""Local stand-ins for GitHub: the shared mirror where it is, and a small server of our own.

Belongs here: serving a folder of tables and archives over a real socket, on 127.0.0.1 only, and
doing it badly. The server of our own has the mirror's kinds of faults, and can cut archives.
"""

import hashlib
import json
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from soak.home import ADDRESSES

KINDS = ("429", "403", "500", "502", "reset", "cut", "slow", "html", "garbage")
SLOW_SECONDS = 3.0
_HTML = b"<!DOCTYPE html><html><body>Unicorn!</body></html>"
_GARBAGE = b'[{"ID": "6.0-0001", "Performance_Result": NaN,,,]'


@dataclass(frozen=True)
class Service:
    """A server that runs: the variables that lead to it."""

    base: str

    @property
    def environment(self) -> dict[str, str]:
        """Return the three base addresses."""
        return {name: f"{self.base}/{name.rpartition('_')[2].lower()}" for name in ADDRESSES}

    def stats(self) -> dict[str, int]:
        """Return how many requests ended how."""
        with urlopen(f"{self.base}/stats", timeout=10) as answer:
            counts: dict[str, int] = json.loads(answer.read())["by"]
        return counts


@contextmanager
def upstream(mirror: Path | None, data: Path, kind: str = "", rate: float = 0) -> Iterator[Service]:
    """Serve a folder with faults of one kind at a rate: by the mirror, else by our own server."""
    if mirror is None:
        with server(data, kind=kind, rate=rate) as service:
            yield service
        return
    fault = ["--fault", f"{kind}:{rate}"] if kind else []
    process = subprocess.Popen(
        [sys.executable, str(mirror), "--data", str(data), *fault],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield Service(process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def server(
    data: Path, kind: str = "", rate: float = 0, archive_part: float = 1
) -> Iterator[Service]:
    """Serve a folder; of archives, only their first part, at which the connection ends."""
    http = _Server(("127.0.0.1", 0), _Handler)
    http.plan = _Plan(data, kind, rate, archive_part)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield Service(f"http://127.0.0.1:{http.server_port}")
    finally:
        http.shutdown()
        http.server_close()


@dataclass
class _Plan:
    """What is served, and how badly."""

    data: Path
    kind: str
    rate: float
    archive_part: float
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    counts: Counter[str] = field(default_factory=Counter)

    def repositories(self) -> dict[str, Path | None]:
        """Return each repository's name and its archive."""
        found: dict[str, Path | None] = {
            file.name.removesuffix(".tar.gz"): file
            for file in sorted((self.data / "submissions").glob("*.tar.gz"))
        }
        for file in sorted((self.data / "published").glob("*.json")):
            suite, _, round_ = ".".join(file.name.split(".")[:2]).partition("-")
            found.setdefault(f"{suite}_results_v{round_}", None)
        return found

    def files(self, repository: str) -> dict[str, bytes]:
        """Return a repository's tables by name."""
        suite, _, round_ = repository.partition("_results_v")
        start = f"{suite}-{round_}."
        tables = (self.data / "published").glob(f"{start}*.json")
        return {file.name.removeprefix(start): file.read_bytes() for file in tables}

    def commit(self, repository: str) -> str:
        """Return a commit that changes with what the repository holds."""
        digest = hashlib.sha1(repository.encode())
        for content in self.files(repository).values():
            digest.update(content)
        archive = self.repositories()[repository]
        digest.update(archive.read_bytes() if archive else b"")
        return digest.hexdigest()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    plan: _Plan

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: connections are dropped on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        plan, parts = self.server.plan, self.path.partition("?")[0].strip("/").split("/")
        if parts == ["stats"]:
            return self._answer(json.dumps({"by": plan.counts}).encode())
        if plan.kind and plan.chance.random() < plan.rate:
            plan.counts[f"fault {plan.kind}"] += 1
            if self._fail(plan.kind):
                return None
        plan.counts["good"] += 1
        try:
            return self._route(plan, parts)
        except KeyError:
            return self._answer(b'{"message": "Not Found"}', 404)

    def _route(self, plan: _Plan, parts: list[str]) -> None:
        match parts:
            case ["api", "orgs", *_]:
                names = [{"name": name} for name in plan.repositories()]
                self._answer(json.dumps(names).encode())
            case ["api", "repos", _, name, "commits", _]:
                self._answer(json.dumps({"sha": plan.commit(name)}).encode())
            case ["raw", _, name, _, file]:
                content = plan.files(name)[file]
                etag = f'"{hashlib.sha256(content).hexdigest()}"'
                if self.headers.get("If-None-Match") == etag:
                    self._answer(b"", 304, ETag=etag)
                else:
                    self._answer(content, ETag=etag)
            case ["codeload", _, name, _, _]:
                archive = plan.repositories()[name]
                if archive is None:
                    raise KeyError(name)
                self._answer(archive.read_bytes(), part=plan.archive_part)
            case _:
                raise KeyError(self.path)

    def _answer(self, body: bytes, status: int = 200, part: float = 1, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: int(len(body) * part)])
        self.close_connection = part < 1

    def _fail(self, kind: str) -> bool:
        """Answer badly; return False if a good answer is to follow."""
        match kind:
            case "429":
                self._answer(b"{}", 429, Retry_After="1")
            case "403":
                reset = str(int(time.time()) + 2)
                self._answer(b"{}", 403, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset)
            case "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                self.connection.close()
            case "cut":
                self._answer(_GARBAGE * 50, part=0.5)
            case "slow":
                time.sleep(SLOW_SECONDS)
                return False
            case "html" | "garbage":
                self._answer(_HTML if kind == "html" else _GARBAGE)
            case status:
                self._answer(b"upstream error", int(status))
        return True
