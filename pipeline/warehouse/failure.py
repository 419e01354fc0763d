"""The last build that failed: one small file beside the warehouse, until a build ends well.

Belongs here: what is told of a failure, and that no secret is in it. Who else is told is not
decided here.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

from pipeline.errors import UnusableCall
from pipeline.warehouse.layout import PART, STAMP, Warehouse

FILE = "last_failure.json"
SHOWN_LINES = 5
SHOWN_CHARACTERS = 500
SHORTEST_SECRET = 6
"""Shorter values would be found by chance, in words that are none."""

_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|WEBHOOK|(^|_)(API|ACCESS)?_?KEY(_|$)")
_USER = re.compile(r"(?<=://)[^/\s@]+@")


@dataclass(frozen=True)
class Failure:
    """A failed build; ``when`` is UTC, ``step`` the asset, ``error`` its first lines."""

    when: str
    run_id: str | None
    step: str | None
    error: list[str]
    what_to_do: str

    @classmethod
    def of(
        cls,
        error: str,
        what_to_do: str,
        *,
        when: datetime | None = None,
        run_id: str | None = None,
        step: str | None = None,
    ) -> "Failure":
        """Return a failure as it may be told: without secrets, and short."""
        lines = [line.rstrip() for line in without_secrets(error).splitlines() if line.strip()]
        return cls(
            when=(when or datetime.now(UTC)).isoformat(timespec="seconds"),
            run_id=run_id,
            step=step,
            error=[line[:SHOWN_CHARACTERS] for line in lines[:SHOWN_LINES]],
            what_to_do=what_to_do,
        )

    @property
    def json(self) -> str:
        """Return the failure as it is kept and sent."""
        return json.dumps(asdict(self), indent=1)

    def is_past(self, warehouse: Warehouse) -> bool:
        """Return whether a build has ended well since, as far as the clock can tell."""
        if warehouse.release is None:
            return False
        released = (warehouse.release / STAMP).stat().st_mtime
        return datetime.fromisoformat(self.when).timestamp() < int(released)

    def keep(self, warehouse: Warehouse) -> None:
        """Keep the failure in place of an earlier one.

        Raises:
            OSError: the warehouse folder cannot be written.
        """
        warehouse.home.mkdir(parents=True, exist_ok=True)
        part = warehouse.home / f".{FILE}{PART}"
        try:
            with part.open("w", encoding="utf-8") as file:
                file.write(self.json)
                file.flush()
                os.fsync(file.fileno())
            part.replace(warehouse.home / FILE)
        finally:
            part.unlink(missing_ok=True)


def last_failure(warehouse: Warehouse) -> Failure | None:
    """Return the failure that is kept; None if there is none, or it cannot be read."""
    try:
        return Failure(**json.loads((warehouse.home / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def forget_failure(warehouse: Warehouse) -> None:
    """Remove what is kept: a build has ended well."""
    (warehouse.home / FILE).unlink(missing_ok=True)


@contextlib.contextmanager
def failure_kept(warehouse: Warehouse) -> Iterator[None]:
    """Keep what a build of the command line raises; forget the last failure if it raises nothing.

    A wrong call is no failure of the build.
    """
    try:
        yield
    except UnusableCall:
        raise
    except Exception as error:
        told = Failure.of(str(error), "The former warehouse stands. Build again with --debug.")
        with contextlib.suppress(OSError):  # what failed is told in any case
            told.keep(warehouse)
        raise
    forget_failure(warehouse)


def without_secrets(text: str) -> str:
    """Return a text without the values of the environment's secrets, and users in addresses."""
    secrets = {
        form
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name.upper())
        for form in _forms(value)
        if len(form) >= SHORTEST_SECRET
    }
    for form in sorted(secrets, key=len, reverse=True):
        text = text.replace(form, "<secret>")
    return _USER.sub("", text)


def _forms(secret: str) -> Iterator[str]:
    """Return the ways in which a secret may stand in a text; of an address, its parts as well."""
    yield secret
    yield quote(secret, safe="")
    with contextlib.suppress(ValueError):
        parts = urlsplit(secret)
        if parts.netloc:
            yield from (parts.password or "", parts.path, parts.query)
