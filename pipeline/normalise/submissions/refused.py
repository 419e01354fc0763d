"""Members of an archive that were refused, as lines for ``rejects`` or as why nothing is left.

Belongs here: which of them are told, alike for both suites.
"""

from collections.abc import Callable, Sequence

from pipeline.errors import FileFault
from pipeline.normalise.published import Oddity
from pipeline.rounds import Round
from pipeline.sources.archives import SYMBOLIC_LINK, Refused


def refused_members(
    refused: Sequence[Refused], is_in_tree: Callable[[str], bool], after: int
) -> list[Oddity]:
    """Return the members that were refused, numbered on ``after`` the last row.

    Links outside of the folders that are read are part of ordinary code, and are not listed.
    """
    told = [item for item in refused if item.problem != SYMBOLIC_LINK or is_in_tree(item.path)]
    return [
        Oddity(source_row, "path", item.problem, item.path)
        for source_row, item in enumerate(told, start=after + 1)
    ]


def no_result(
    name: str, round: Round, refused: Sequence[Refused], is_in_tree: Callable[[str], bool]
) -> FileFault:
    """Return the fault of an archive without results; what was refused may be why."""
    told = refused_members(refused, is_in_tree, after=0)
    because = f" ({len(told)} refused, the first: {told[0].problem})" if told else ""
    return FileFault(
        name, f"no result in it{because}", f"Put the archive of {round.repository} in its place."
    )
