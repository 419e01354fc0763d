"""Sends a text to the address that wants to hear of failures.

Belongs here: one bounded POST that gives out quietly. ``urllib`` sends it, not ``requests``: the
address may be a secret itself, and urllib3 writes addresses to its log.
"""

import time
from base64 import b64encode
from collections.abc import Callable
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

ATTEMPTS = 4
SECONDS = 5.0
"""Of each wait for the other side; all attempts together stay below the minute of a sensor."""

PAUSE_SECONDS = 0.5
"""Before the second attempt; doubled before each later one."""


class _NoRedirects(HTTPRedirectHandler):
    """Takes a redirect for an answer: the text goes to the address given, or nowhere."""

    def redirect_request(self, *_: object) -> None:
        """Return nothing to follow."""


class _Refused(Exception):
    """An attempt failed; ``is_final`` if another would as well."""

    def __init__(self, problem: str, is_final: bool) -> None:
        super().__init__(problem)
        self.is_final = is_final


def post_json(url: str, text: str, say: Callable[[str], object]) -> None:
    """Send a JSON text; what keeps it from arriving is said, without the address, never raised."""
    try:
        request = _request(url, text)
    except ValueError:
        say("ROUNDTABLE_WEBHOOK is not of the form https://host/path; nothing was sent.")
        return
    opener = build_opener(_NoRedirects)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _send(opener, request)
        except _Refused as refused:
            if refused.is_final or attempt == ATTEMPTS:
                say(f"ROUNDTABLE_WEBHOOK {refused}; nothing arrived there.")
                return
        else:
            return
        time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))


def _request(url: str, text: str) -> Request:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no http(s) address")
    user, _, host = parts.netloc.rpartition("@")
    headers = {"Content-Type": "application/json", "User-Agent": "roundtable"}
    if user:
        headers["Authorization"] = f"Basic {b64encode(unquote(user).encode()).decode()}"
    address = parts._replace(netloc=host, fragment="").geturl()
    return Request(address, text.encode(), headers, method="POST")


def _send(opener: OpenerDirector, request: Request) -> None:
    try:
        opener.open(request, timeout=SECONDS).close()  # the answer's body is nobody's concern
    except HTTPError as answer:
        answer.close()
        is_final = answer.code < 500 and answer.code != 429
        raise _Refused(f"answers with status {answer.code}", is_final) from None
    except (HTTPException, OSError, ValueError):
        raise _Refused("gives no answer", is_final=False) from None
