import gzip
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from pipeline.errors import UnusableCall
from pipeline.sources import http
from pipeline.sources.http import BadAnswer, Http, RateLimited, Response, Unreachable

GOOD = b'["good"]'
RESET = b"reset"
TRICKLE = b"trickle"


def answer(status: int, body: bytes = b"", cut: int = 0, **headers: str) -> bytes:
    """Return one raw answer; ``cut`` bytes of the body announced never come."""
    lines = [f"HTTP/1.1 {status} Said", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body[: len(body) - cut]


class Server:
    """Gives one scripted answer a connection, the last one again and again."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.requests: list[str] = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection, suppress(BrokenPipeError, ConnectionResetError):
                self.requests.append(connection.recv(65536).decode())
                said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                self.say(connection, said)

    def say(self, connection: socket.socket, said: bytes) -> None:
        if said == RESET:
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        elif said == TRICKLE:
            connection.sendall(answer(200, b" " * 1000, cut=1000))
            for _ in range(40):
                connection.sendall(b" ")
                time.sleep(0.1)
        else:
            connection.sendall(said)

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


@pytest.fixture
def short_pauses(monkeypatch):
    monkeypatch.setattr(http, "LONGEST_PAUSE_SECONDS", 0.01)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(*answers: bytes) -> Server:
        servers.append(Server(*answers))
        return servers[-1]

    yield start
    for server in servers:
        if server.socket.fileno() >= 0:
            server.close()


def is_json(response: Response) -> None:
    json.loads(response.content)


def fetch(url: str, client: Http | None = None, limit: int = 1000, **options: str) -> Response:
    return (client or Http()).get(url, is_json, limit=limit, **options)


def test_a_429_is_asked_again_after_the_seconds_it_asks_for(serve):
    server = serve(answer(429, Retry_After="1"), answer(200, GOOD))
    start = time.monotonic()
    assert fetch(server.url).content == GOOD
    assert 1 <= time.monotonic() - start < 2


def test_a_used_up_rate_limit_that_lifts_at_once_is_waited_for(serve):
    reset = str(int(time.time()))
    limited = answer(403, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset)
    assert fetch(serve(limited, answer(200, GOOD)).url).content == GOOD


def test_a_rate_limit_that_lifts_in_an_hour_is_not_waited_for_and_nothing_more_is_asked(serve):
    reset = str(int(time.time()) + 3600)
    server = serve(answer(403, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset))
    client = Http()
    start = time.monotonic()
    with pytest.raises(RateLimited, match=r"Run again after \d\d:\d\d UTC.*GITHUB_TOKEN"):
        fetch(server.url + "/first", client)
    with pytest.raises(RateLimited, match="/second: rate limit used up"):
        fetch(server.url + "/second", client)
    assert time.monotonic() - start < 1
    assert len(server.requests) == 1


def test_a_retry_after_of_an_hour_is_not_waited_for(serve):
    start = time.monotonic()
    with pytest.raises(RateLimited):
        fetch(serve(answer(429, Retry_After="3600")).url)
    assert time.monotonic() - start < 1


def test_a_403_that_speaks_of_no_rate_limit_is_final(serve):
    server = serve(answer(403, X_RateLimit_Remaining="59"), answer(200, GOOD))
    with pytest.raises(BadAnswer, match="status 403"):
        fetch(server.url)
    assert len(server.requests) == 1


def test_a_401_says_that_the_token_is_to_be_checked(serve):
    with pytest.raises(BadAnswer, match="Check GITHUB_TOKEN"):
        fetch(serve(answer(401)).url, token="t0ken")


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520])
def test_a_failing_service_is_asked_again(serve, status, short_pauses):
    server = serve(answer(status), answer(status), answer(200, GOOD))
    assert fetch(server.url).content == GOOD
    assert len(server.requests) == 3


CHUNKED = b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
PACKED = gzip.compress(b'["good", "and long enough to be cut"]')


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(RESET, id="connection reset"),
        pytest.param(answer(200, b'["good", "more"]', cut=9), id="body cut"),
        pytest.param(answer(200, b"[1] ", cut=1), id="body cut where it is JSON already"),
        pytest.param(CHUNKED + b"8\r\n" + GOOD + b"\r\n", id="last chunk missing"),
        pytest.param(CHUNKED + b"20\r\n" + GOOD, id="chunk cut"),
        pytest.param(answer(200, PACKED[:20], Content_Encoding="gzip"), id="gzip cut"),
        pytest.param(answer(200, b"plain", Content_Encoding="gzip"), id="no gzip"),
        pytest.param(answer(200, b"<!DOCTYPE html><p>Unicorn!"), id="HTML page"),
        pytest.param(answer(200, b'[{"a": NaN,,,]'), id="broken JSON"),
        pytest.param(answer(200), id="empty body"),
        pytest.param(b"nonsense\r\n\r\n", id="no HTTP"),
        pytest.param(answer(429), id="429 without a time"),
        pytest.param(answer(429, Retry_After="soon"), id="429 with an unreadable time"),
    ],
)
def test_a_bad_answer_is_followed_by_another_attempt(serve, bad, short_pauses):
    server = serve(bad, bad, answer(200, GOOD))
    assert fetch(server.url).content == GOOD
    assert len(server.requests) == 3


def test_a_body_that_came_packed_is_handed_back_unpacked(serve):
    body = answer(200, gzip.compress(GOOD), Content_Encoding="gzip")
    assert fetch(serve(body).url).content == GOOD


def test_a_body_that_is_never_good_is_given_up_after_a_bounded_number_of_attempts(
    serve, short_pauses
):
    server = serve(answer(200, b"<html>"))
    with pytest.raises(BadAnswer, match="something else than was asked for"):
        fetch(server.url)
    assert len(server.requests) == http.ATTEMPTS


def test_a_body_that_trickles_in_is_given_up_when_patience_ends(serve, monkeypatch):
    monkeypatch.setattr(http, "PATIENCE_SECONDS", 0.5)
    start = time.monotonic()
    with pytest.raises(Unreachable, match="no complete answer in time"):
        fetch(serve(TRICKLE).url)
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("encode", [bytes, gzip.compress])
def test_a_body_above_the_limit_is_refused_at_once(serve, encode):
    packed = {"Content_Encoding": "gzip"} if encode is gzip.compress else {}
    server = serve(answer(200, encode(b"[" + b" " * 100_000 + b"]"), **packed))
    with pytest.raises(BadAnswer, match="more than 1000 bytes"):
        fetch(server.url)
    assert len(server.requests) == 1


def test_an_etag_is_sent_and_304_handed_back(serve):
    server = serve(answer(304, ETag='"abc"'))
    response = fetch(server.url, etag='"abc"')
    assert (response.status, response.etag) == (304, '"abc"')
    assert 'If-None-Match: "abc"' in server.requests[0]


def test_a_304_that_was_not_asked_for_is_no_answer(serve):
    with pytest.raises(BadAnswer, match="status 304"):
        fetch(serve(answer(304)).url)


def test_a_404_is_an_answer(serve):
    assert fetch(serve(answer(404, b"not JSON")).url).status == 404


def test_no_network_of_any_kind_is_decided_within_five_seconds(monkeypatch):
    look_up = socket.getaddrinfo

    def look_up_slowly(host, *rest):
        if host == "hanging.invalid":
            time.sleep(6)
        return look_up(host, *rest)

    monkeypatch.setattr(socket, "getaddrinfo", look_up_slowly)
    with (
        socket.create_server(("127.0.0.1", 0)) as refusing,
        socket.create_server(("127.0.0.1", 0)) as silent,
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        socket.create_connection(full.getsockname()),  # the only place in its queue
    ):
        refused = refusing.getsockname()[1]
        refusing.close()
        addresses = [
            f"127.0.0.1:{refused}",
            f"127.0.0.1:{silent.getsockname()[1]}",
            f"127.0.0.1:{full.getsockname()[1]}",
            "unknown.invalid",
            "hanging.invalid",
        ]

        def seconds(address: str) -> float:
            start = time.monotonic()
            with pytest.raises(Unreachable, match="build with --source bundled"):
                fetch(f"http://{address}/")
            return time.monotonic() - start

        with ThreadPoolExecutor(len(addresses)) as pool:
            taken = dict(zip(addresses, pool.map(seconds, addresses), strict=True))
    assert max(taken.values()) < 5, taken
    assert taken[addresses[0]] < 1


def test_a_slow_first_answer_is_still_an_answer(serve, monkeypatch):
    monkeypatch.setattr(http, "FIRST_CONTACT_SECONDS", 0.5)
    server = serve(answer(200, GOOD))
    monkeypatch.setattr(
        server, "say", lambda to, said: (time.sleep(0.3), Server.say(server, to, said))
    )
    assert fetch(server.url).content == GOOD


def test_a_service_that_went_away_is_asked_no_more(serve):
    server = serve(answer(200, GOOD))
    client = Http()
    fetch(server.url, client)
    server.close()
    with pytest.raises(Unreachable, match="no connection"):
        fetch(server.url, client)
    start = time.monotonic()
    with pytest.raises(Unreachable, match="no connection"):
        fetch(server.url, client)
    assert time.monotonic() - start < 0.05


def test_a_token_is_sent_but_follows_no_redirect_to_another_host(serve):
    other = serve(answer(200, GOOD))
    elsewhere = other.url.replace("127.0.0.1", "localhost")
    server = serve(answer(302, Location=elsewhere))
    assert fetch(server.url, token="t0ken").content == GOOD
    assert "Authorization: Bearer t0ken" in server.requests[0]
    assert "t0ken" not in other.requests[0]


def test_a_redirect_to_another_kind_of_address_is_refused(serve):
    with pytest.raises(BadAnswer, match="no usable address"):
        fetch(serve(answer(302, Location="file:///etc/passwd")).url)


def test_credentials_of_the_user_for_other_programs_are_not_sent(serve, tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server = serve(answer(200, GOOD))
    fetch(server.url)
    assert "Authorization" not in server.requests[0]


def test_a_token_that_is_none_is_refused_without_showing_it(serve):
    with pytest.raises(UnusableCall, match="GITHUB_TOKEN") as caught:
        fetch(serve(answer(200, GOOD)).url, token="t0ken\n")
    assert "t0ken" not in str(caught.value)


def test_messages_show_neither_query_nor_password_nor_control_characters(serve):
    url = serve(answer(400)).url.replace("//", "//me:secret@") + "/pa\x1bth?key=hidden"
    with pytest.raises(BadAnswer) as caught:
        fetch(url)
    assert re.match(r"http://127.0.0.1:\d+/pa%1Bth: ", str(caught.value))
    assert "secret" not in str(caught.value) and "hidden" not in str(caught.value)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/", "host/x", "http://[", ""])
def test_an_address_that_is_not_http_is_refused(url):
    with pytest.raises(UnusableCall, match="ROUNDTABLE_GITHUB_API"):
        fetch(url)


def test_requests_say_which_program_they_come_from(serve):
    server = serve(answer(200, GOOD))
    fetch(server.url)
    assert "User-Agent: roundtable/" in server.requests[0]
