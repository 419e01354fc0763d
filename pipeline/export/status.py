"""What ``roundtable status`` tells: rounds, freshness, and all that needs a look.

Belongs here: the wording. What is told comes from ``standing``.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pipeline.export.answers import printable
from pipeline.export.standing import standing
from pipeline.warehouse.layout import Warehouse

SHOWN = 20
TITLES = {
    "names_not_in_the_vocabulary": "names not in the vocabulary",
    "rejects": "rejects",
    "warnings": "warnings (rows kept)",
    "withdrawn_results": "withdrawn results (kept, in no other table)",
    "withdrawals_that_fit_no_result": "withdrawals that fit no result",
}


def status_lines(warehouse: Warehouse) -> Iterator[str]:
    """Return the status of the current release, line by line, after a build that failed since.

    Raises:
        RoundtableError: there is no warehouse yet, or another version made it.
    """
    told = standing(warehouse)
    if failure := told["last_failure"]:
        step = f" at {failure['step']}" if failure["step"] else ""
        yield printable(f"LAST BUILD FAILED {failure['when']}{step}: {' '.join(failure['error'])}")
    yield from _rounds(told["rounds"])
    for kind, title in TITLES.items():
        yield from _counted(title, told[kind])
    yield from _differences(told["differences"])
    failed = told["failed_checks"]
    yield f"failed checks: {len(failed)}" if failed else "failed checks: none"
    yield from (f"  {printable(text)}" for text in failed)


def status_json(warehouse: Warehouse) -> str:
    """Return the same as one JSON object.

    Raises:
        RoundtableError: there is no warehouse yet, or another version made it.
    """
    return json.dumps(standing(warehouse), indent=1, default=str)


def _rounds(rounds: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield f"{'round':<16}{'rows':>7}  {'source':<16}{'commit':<9}{'fetched':<18}state"
    for line in rounds:
        origin, fetched = line["origin"], line["fetched_at"]
        notes = ["fresh"] if origin else [line["state"]]
        notes = ["STALE: " + line["stale_reason"]] if line["is_stale"] else notes
        notes += ["incomplete"] if line["is_complete"] is False else []
        notes += [] if line["is_reviewed"] else ["unreviewed"]
        when = fetched.strftime("%Y-%m-%d %H:%M") if fetched else "-"
        yield printable(
            f"{line['round_key']:<16}{line['results']:>7}  {origin or '-':<16}"
            f"{(line['commit'] or '-')[:7]:<9}{when:<18}" + ", ".join(notes)
        )


def _counted(title: str, counted: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield f"{title}: {sum(line['rows'] for line in counted) or 'none'}"
    yield from (f"  {line['rows']:>6}  {printable(line['what'])}" for line in counted[:SHOWN])
    if len(counted) > SHOWN:
        yield f"          and {len(counted) - SHOWN} more kinds"


def _differences(counted: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Sum up how the sources differ: in all, by pair of sources, and which ones are right."""
    total = sum(line["rows"] for line in counted)
    unexplained = sum(line["rows"] for line in counted if line["kind"] == "unknown")
    yield f"differences between sources: {total or 'none'}" + (
        f", {unexplained} of them unexplained" if unexplained else ", all explained" * bool(total)
    )
    for pair in sorted({line["pair"] for line in counted}):
        of_pair = [line for line in counted if line["pair"] == pair]
        yield f"  {pair}: {_summed((line['kind'], line['rows']) for line in of_pair)}"
    if counted:
        yield f"  right: {_summed((line['right_one'], line['rows']) for line in counted)}"


def _summed(counted: Iterable[tuple[str, int]]) -> str:
    """Return the counts by name, the largest first."""
    sums: Counter[str] = Counter()
    for name, rows in counted:
        sums[name] += rows
    return ", ".join(f"{name} {rows}" for name, rows in sums.most_common())
