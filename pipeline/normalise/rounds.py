"""Rules that hold for some rounds: the lines of a vocabulary file that cover one round.

Belongs here: what ``first_round`` and ``last_round`` of a line mean.
"""

from functools import cache

from pipeline.normalise.vocabulary import entries
from pipeline.rounds import Round


@cache
def lines_of(vocabulary: str, round: Round) -> tuple[dict[str, str], ...]:
    """Return the lines that cover the round, in order; a blank end is open."""
    return tuple(
        line
        for line in entries(vocabulary)
        if (not line["first_round"] or version(line["first_round"]) <= round.order[1])
        and (not line["last_round"] or round.order[1] <= version(line["last_round"]))
    )


def version(round: str) -> tuple[int, ...]:
    """Return what rounds are compared by."""
    return tuple(int(part) for part in round.split("."))
