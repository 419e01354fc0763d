"""What a build reads that nobody watches: the one of the schedule, and that of a changed round.

Belongs here: which rounds' archives are read although nobody asks for them. A round that the
package's figures do not have yet, and that has no table, is scored from its archive, and one that
was scored stays scored (see ``scored``). An archive that has not changed is not read again, so this
costs one request a round.
"""

from collections.abc import Callable
from pathlib import Path

import polars as pl

from pipeline.rounds import new_round
from pipeline.settings import Settings
from pipeline.sources.choice import choose_source
from pipeline.warehouse.build import BUNDLE, Plan
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.scored import scored_rounds, without_table
from pipeline.warehouse.stamp import identity


def unattended_plan(
    warehouse: Warehouse,
    settings: Settings,
    changed: frozenset[str],
    say: Callable[[str], None],
    only: str | None = None,
) -> Plan:
    """Return the plan of a build of the ``auto`` source, with GitHub already asked.

    ``changed`` names the rounds to refresh, with their archives where they have no table; none, or
    no warehouse yet, means all rounds. ``only`` is the one round that the build is for, where each
    round has one of its own; GitHub is asked for no other.
    """
    scored = scored_rounds(warehouse)

    def is_wanted(round_key: str) -> bool:
        if only is not None and round_key != only:
            return False
        return round_key in changed | scored or is_newer_than_bundle(round_key)

    choice = choose_source("auto", settings, say, archives=is_wanted, only=only)
    refresh = changed if changed and warehouse.release else None
    if only is not None:
        refresh = frozenset({only})
    offered = choice.source.round_keys() if choice.source else ()
    wanted = (key for key in {*offered, *changed, *scored} if is_wanted(key))
    archives = without_table(choice.source, wanted)
    digest = identity("auto", choice.source, refresh, archives)
    return Plan(choice.source, choice.bundle, refresh, archives, digest)


def is_lacking(warehouse: Warehouse, round_key: str) -> bool:
    """Return whether a round is newer than the package's figures and not in the warehouse."""
    return round_key not in _rounds(warehouse.parquet) and is_newer_than_bundle(round_key)


def is_newer_than_bundle(round_key: str) -> bool:
    """Return whether a round came after all those of its suite that are bundled.

    Older ones that are not bundled have archives of gigabytes, which only a person asks for.
    """
    round = new_round(round_key)
    bundled = (new_round(key) for key in _rounds(BUNDLE))
    return all(other.order < round.order for other in bundled if other.suite == round.suite)


def _rounds(folder: Path) -> set[str]:
    file = folder / "sources.parquet"
    if not file.exists():
        return set()
    rounds = pl.read_parquet(file, glob=False, columns=["round_key"])
    return set(rounds["round_key"])
