"""Members of an archive that were refused, as lines for ``rejects``.

Belongs here: which of them are told, alike for both suites.
"""

from collections.abc import Callable, Sequence

from pipeline.normalise.published import Oddity
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
