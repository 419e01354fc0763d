"""``builds.jsonl``: a line for every build, so that years of unattended ones can be looked at.

Belongs here: what a line says. A build that is killed leaves none.
"""

import contextlib
import json
import resource
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pipeline.warehouse.failure import without_secrets
from pipeline.warehouse.layout import Warehouse

JOURNAL = "builds.jsonl"
LONGEST_ERROR = 300
"""Characters of an error that a line keeps."""


@contextlib.contextmanager
def journalled(warehouse: Warehouse, **ran: Any) -> Iterator[None]:
    """Append a line on what happens inside, with ``ran`` as what it was.

    ``outcome`` is published, nothing changed or failed, by what became of the release; ``rows`` are
    by table and ``bytes`` the size of the release. Seconds and peak memory are this process's. A
    journal that cannot be written fails no build, and no secret is in it.
    """
    began, before = time.monotonic(), warehouse.release
    line: dict[str, Any] = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **ran}
    line["outcome"] = "nothing changed"
    try:
        yield
    except BaseException as error:
        line |= {"outcome": "failed", "error": without_secrets(str(error))[:LONGEST_ERROR]}
        raise
    finally:
        after = warehouse.release
        if after is not None and after != before:
            line["outcome"] = "published"
            files = [file for file in after.rglob("*") if file.is_file()]
            line |= {
                "rows": warehouse.stamp()["rows"],
                "bytes": sum(file.stat().st_size for file in files),
            }
        line |= _cost(time.monotonic() - began)
        with contextlib.suppress(OSError), (warehouse.home / JOURNAL).open("a") as journal:
            journal.write(json.dumps(line) + "\n")


def _cost(seconds: float) -> dict[str, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, else in KiB
    return {
        "seconds": round(seconds, 3),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 3),
        "peak_memory_bytes": used.ru_maxrss * unit,
    }
