"""Rounds that only their archive gives: once scored, they stay scored.

Belongs here: which these are. Else the next build that asks for no archive would put the bundled
figures, or nothing, in their place. No data library is imported: the check whether there is
anything to do comes before them.
"""

from collections.abc import Iterable

from pipeline.sources.files import Source
from pipeline.warehouse.layout import Warehouse


def scored_rounds(warehouse: Warehouse) -> frozenset[str]:
    """Return the rounds of which the last warehouse read an archive from GitHub."""
    return frozenset(warehouse.stamp().get("scored", ()))


def without_table(source: Source | None, rounds: Iterable[str]) -> frozenset[str]:
    """Return those of the rounds that have no table, rather than one out of reach for now."""
    if source is None:
        return frozenset()
    return frozenset(
        key
        for key in rounds
        if not source.files(key) and (key not in source.stale or source.archive(key) is None)
    )
