"""Fetches one address and hands back its body only when that is complete and what was asked for.

Belongs here: connections, retries, waits, limits and what is wrong with an answer. Which addresses
are asked, and what their bodies must look like, is the caller's business (see ``github``).

Two layers. urllib3's ``Retry`` repeats at once what costs nothing to repeat: a failed connect, a
500, 502 or 504. The loop in ``Http.get`` repeats what needs judgement: rate limits, whose waits
are bounded; dropped connections; bodies that are cut, or not what they should be.

``requests`` takes 0.1 s of CPU to import, so it is imported by the first ``Http`` only.
"""

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import metadata
from threading import Thread
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast
from urllib.parse import quote, urlsplit

from pipeline.errors import RoundtableError, UnusableCall

if TYPE_CHECKING:
    import requests
    from urllib3.util import Retry

CONNECT_SECONDS = 3.0
READ_SECONDS = 30.0

FIRST_CONTACT_SECONDS = 4.0
"""Until anything has answered: "no network" is to be known within 5 s, name lookup included."""

ATTEMPTS = 18
"""Enough where 41 % of all attempts fail (20 % 429, 10 % cut, 10 % reset, 5 % HTML, with 10 % 500
behind ``Retry``): 0.41 ** 18 is 1e-7, so 40 fetches all succeed but for 4 in a million runs."""

PATIENCE_SECONDS = 60.0
"""All attempts and waits of one fetch. GitHub's primary limit lifts after up to an hour, which no
build waits for; its secondary limit asks for about a minute."""

LONGEST_PAUSE_SECONDS = 1.0
"""Between two attempts where the service does not say how long to wait."""

T = TypeVar("T")

_CHUNK = 2**16
_LATER = "Run again later."
_OFFLINE = "Check the network, or build with --source bundled."


class Unreachable(RoundtableError):
    """An address could not be fetched: no connection, or no good answer.

    ``problem`` is the same text whenever the cause is the same: it holds no time and no count.
    """

    def __init__(self, url: str, problem: str, next_step: str) -> None:
        """Take the address, what went wrong, and what the reader can do about it."""
        path = quote(urlsplit(url).path, safe="/%")  # a Link header may hold anything
        super().__init__(f"{origin(url)}{path}: {problem}. {next_step}")
        self.problem = problem
        self.next_step = next_step


class RateLimited(Unreachable):
    """The service refuses further requests for longer than a build waits."""


class BadAnswer(Unreachable):
    """The service answered, but not with what was asked for."""


@dataclass(frozen=True)
class Response:
    """An answer: 200 with a complete body, 304 (the caller's ETag still holds) or 404."""

    status: int
    content: bytes
    etag: str | None
    headers: Mapping[str, str]


class _Passing(Exception):
    """One attempt failed and another may not; ``error`` is what to raise when none is left."""

    def __init__(self, error: Unreachable, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait = wait


def origin(url: str) -> str:
    """Return the scheme, host and port of an address, without any name or password in it.

    Raises:
        UnusableCall: it is no http(s) address.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UnusableCall(
            "A service address is not of the form https://host. "
            "Check ROUNDTABLE_GITHUB_API and ROUNDTABLE_GITHUB_RAW."
        )
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"


class Http:
    """Fetches for one command, from several threads; remembers which services gave out."""

    def __init__(self, patience: float | None = None) -> None:
        """Take how many seconds one fetch may last, if other than ``PATIENCE_SECONDS``."""
        from requests import Session
        from requests.adapters import HTTPAdapter

        adapter = HTTPAdapter(max_retries=_retries())
        self._session = Session()
        self._session.headers["User-Agent"] = f"roundtable/{_version()}"
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)
        self._patience = PATIENCE_SECONDS if patience is None else patience
        self._answered = False
        self._given_up: dict[str, Unreachable] = {}

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def get(
        self,
        url: str,
        verify: Callable[[Response], object],
        *,
        limit: int,
        etag: str | None = None,
        token: str | None = None,
    ) -> Response:
        """Return the answer to one request, after as many attempts as it takes.

        ``verify`` raises ValueError where a body of status 200 is not what was asked for. The
        token goes to the host of ``url`` only. A service that cannot be connected to, or has used
        up the patience of one fetch, is not asked again.

        Raises:
            Unreachable: no connection, or no answer in time.
            RateLimited: the service asks to wait longer than patience lasts.
            BadAnswer: the service refuses, fails, sends more than ``limit`` bytes, or never sends
                a complete body that ``verify`` accepts.
            UnusableCall: the address is not http(s), or the token is none.
        """
        return self._persist(
            url, lambda deadline: self._attempt(url, verify, limit, etag, token, deadline)
        )

    @contextmanager
    def stream(self, url: str) -> Iterator[BinaryIO]:
        """Open the body at an address, to be read as it comes, whatever its size.

        The body is not verified: the caller reads a format that shows where it is cut.

        Raises:
            Unreachable: see ``get``; also when the connection is lost while the body is read.
        """
        from urllib3.exceptions import HTTPError

        with closing(self._persist(url, lambda deadline: self._opened(url))) as answer:
            try:
                yield cast(BinaryIO, answer.raw)
            except (OSError, HTTPError) as error:
                raise BadAnswer(url, "drops the connection or cuts the answer", _LATER) from error

    def _opened(self, url: str) -> "requests.Response":
        from urllib3.exceptions import HTTPError

        try:
            answer = self._open(url, etag=None, token=None)
        except (OSError, HTTPError) as error:
            raise self._failure(url, error) from None
        if answer.status_code != 200:
            answer.close()
            raise _refusal(url, answer.status_code, answer.headers, None)
        return answer

    def _persist(self, url: str, attempt_once: Callable[[float], T]) -> T:
        """Make as many attempts as it takes; each is told when patience ends."""
        service = origin(url)
        deadline = time.monotonic() + self._patience
        attempt = 0
        while True:
            if error := self._given_up.get(service):
                raise type(error)(url, error.problem, error.next_step)
            try:
                return attempt_once(deadline)
            except _Passing as passing:
                pause = _pause(attempt) if passing.wait is None else passing.wait
                attempt += 1
                if time.monotonic() + pause > deadline:
                    self._given_up[service] = passing.error
                    raise passing.error from None
                if attempt == ATTEMPTS:
                    raise passing.error from None
            time.sleep(pause)

    def _attempt(
        self,
        url: str,
        verify: Callable[[Response], object],
        limit: int,
        etag: str | None,
        token: str | None,
        deadline: float,
    ) -> Response:
        from urllib3.exceptions import HTTPError

        try:
            with closing(self._open(url, etag, token)) as answer:
                status, headers = answer.status_code, answer.headers
                if status not in (200, 404) and not (status == 304 and etag):
                    raise _refusal(url, status, headers, token)
                content = _body(answer, url, limit, deadline) if status == 200 else b""
        except (OSError, HTTPError) as error:  # every exception of requests is an OSError
            raise self._failure(url, error) from None
        response = Response(status, content, headers.get("ETag"), headers)
        if status == 200:
            try:
                verify(response)
            except ValueError:
                raise _Passing(
                    BadAnswer(url, "sends something else than was asked for", _LATER)
                ) from None
        return response

    def _open(self, url: str, etag: str | None, token: str | None) -> "requests.Response":
        fetch = partial(
            self._session.get,
            url,
            headers={"If-None-Match": etag} if etag else None,
            auth=_authorization(token),
            timeout=(CONNECT_SECONDS, READ_SECONDS),
            stream=True,
        )
        if self._answered:
            return fetch()
        answer = _in_time(fetch, FIRST_CONTACT_SECONDS)
        self._answered = True
        return answer

    def _failure(self, url: str, error: Exception) -> Exception:
        """Return what a failed exchange means: no connection, a bad address, or bad luck."""
        from requests import exceptions
        from urllib3.exceptions import ConnectTimeoutError, ProxyError, ReadTimeoutError, SSLError

        if isinstance(error, ValueError | exceptions.TooManyRedirects):
            return BadAnswer(url, "leads to no usable address", _LATER)
        inner = error.args[0] if error.args else error
        cause = getattr(inner, "reason", inner)
        if isinstance(error, TimeoutError) or isinstance(
            cause, ConnectTimeoutError | ProxyError | SSLError
        ):
            self._given_up[origin(url)] = Unreachable(url, _connect_problem(cause), _OFFLINE)
            return self._given_up[origin(url)]
        if isinstance(error, exceptions.Timeout) or isinstance(cause, ReadTimeoutError):
            return _Passing(Unreachable(url, "no answer in time", _OFFLINE))
        return _Passing(BadAnswer(url, "drops the connection or cuts the answer short", _LATER))


def _retries() -> "Retry":
    from urllib3.util import Retry

    return Retry(
        total=2,
        read=0,  # a time-out is not to be waited for three times
        other=0,
        status_forcelist=(500, 502, 504),
        backoff_factor=0.1,
        respect_retry_after_header=False,  # its waits are not bounded
        raise_on_status=False,
    )


def _in_time(fetch: Callable[[], "requests.Response"], seconds: float) -> "requests.Response":
    """Return the answer, or raise TimeoutError: no time-out of a socket covers a name lookup."""
    future: Future[requests.Response] = Future()

    def run() -> None:
        try:
            future.set_result(fetch())
        except Exception as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()  # a daemon does not keep the command from ending
    return future.result(seconds)


def _authorization(
    token: str | None,
) -> "Callable[[requests.PreparedRequest], requests.PreparedRequest]":
    """Return what adds the token to a request; without one it still keeps out ``~/.netrc``."""
    if token and not re.fullmatch(r"[!-~]+", token):
        raise UnusableCall("GITHUB_TOKEN holds characters that no token has. Set it anew.")

    def add(request: "requests.PreparedRequest") -> "requests.PreparedRequest":
        if token:
            request.headers["Authorization"] = f"Bearer {token}"
        return request

    return add


def _body(answer: "requests.Response", url: str, limit: int, deadline: float) -> bytes:
    body = bytearray()
    # read1 returns what has come, so that a body that trickles in meets the deadline as well.
    while chunk := answer.raw.read1(_CHUNK, decode_content=True):
        body += chunk
        if len(body) > limit:
            raise BadAnswer(url, f"sends more than {limit} bytes", "Check that it is the file.")
        if time.monotonic() > deadline:
            raise _Passing(Unreachable(url, "no complete answer in time", _OFFLINE))
    return bytes(body)


def _refusal(
    url: str, status: int, headers: Mapping[str, str], token: str | None
) -> BadAnswer | _Passing:
    """Return what a status other than 200, 304 and 404 means."""
    wait = _requested_wait(headers)
    if status == 429 or (status == 403 and wait is not None):
        moment = datetime.now(UTC) + timedelta(seconds=wait or 0)
        advice = "" if token else "; with GITHUB_TOKEN set, the API allows more requests"
        next_step = f"Run again after {moment:%H:%M} UTC{advice}."
        return _Passing(RateLimited(url, "rate limit used up", next_step), wait)
    if status >= 500:
        return _Passing(BadAnswer(url, f"answers with status {status}", _LATER), wait)
    return BadAnswer(
        url,
        f"answers with status {status}",
        "Check GITHUB_TOKEN." if token and status in (401, 403) else _LATER,
    )


def _requested_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a service asks to wait, by the two headers that GitHub documents.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    try:
        if "Retry-After" in headers:
            return Retry().parse_retry_after(headers["Retry-After"])
        if headers.get("X-RateLimit-Remaining") == "0":
            return max(1.0, float(headers["X-RateLimit-Reset"]) - time.time())
    except (InvalidHeader, KeyError, ValueError):
        return LONGEST_PAUSE_SECONDS
    return None


def _connect_problem(cause: object) -> str:
    from urllib3.exceptions import NameResolutionError, NewConnectionError, ProxyError, SSLError

    problems = {
        NameResolutionError: "its name cannot be resolved",
        NewConnectionError: "no connection",
        ProxyError: "the proxy gives no connection",
        SSLError: "no secure connection",
    }
    found = (text for kind, text in problems.items() if isinstance(cause, kind))
    return next(found, "no answer in time")


def _pause(attempt: int) -> float:
    longest = min(LONGEST_PAUSE_SECONDS, 0.1 * 2.0**attempt)
    return longest * random.uniform(0.5, 1)


def _version() -> str:
    try:
        return metadata.version("roundtable")
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"
