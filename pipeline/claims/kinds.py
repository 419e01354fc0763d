"""The kinds of statement a claim can make.

Belongs here: which fields each kind has and needs. What the kinds mean is told in the README beside
this module; how they are computed stands in ``sql/marts/claim_comparators.sql``.
"""

from dataclasses import dataclass

MEANT_OF = ("any", "every", "best", "geometric mean")
BASES = ("aggregate", "per accelerator")
NOT_CHECKABLE = "not checkable"
ALL = "all"


@dataclass(frozen=True)
class Kind:
    """The fields that a kind needs, those it may have besides, and which results decide."""

    needs: frozenset[str]
    may: frozenset[str] = frozenset()
    meant_of: tuple[str, ...] = ("any",)


def _kind(needs: str, may: str = "", meant_of: tuple[str, ...] = ("any",)) -> Kind:
    return Kind(frozenset(needs.split()), frozenset(may.split()), meant_of)


KINDS = {
    "value": _kind("subject claimed", "basis meant_of from below", ("any", "every", "best")),
    "ratio": _kind("subject comparator claimed", "basis meant_of same chosen from below", MEANT_OF),
    "count": _kind("subject claimed", "of most comparator from below"),
    "proportion": _kind("subject comparator claimed", "of most from below"),
    "growth": _kind("subject comparator claimed", "of most from below"),
    "list": _kind("subject claimed of", "comparator"),
    "ranking": _kind("subject comparator claimed", "from below"),
    NOT_CHECKABLE: _kind("reason", "claimed"),
}

COUNTING = ("count", "proportion", "growth")
"""Kinds that give one number a side: how many different ones there are, or the largest number."""

PAIRED_ON = {
    "ratio": ("suite", "category", "benchmark", "accuracy_target", "scenario", "unit"),
    "ranking": ("suite", "category", "round", "benchmark", "scenario", "unit"),
}
"""The facts in which subject and comparator always agree."""

PAIRED_UNLESS_STATED = ("round", "accelerators", "nodes")
"""The facts in which the results of a ratio agree unless both sides state them."""

STATEMENT_FIELDS = frozenset({"kind"}.union(*(kind.needs | kind.may for kind in KINDS.values())))
CLAIM_FIELDS = frozenset(
    {"id", "said_by", "title", "url", "published", "claim", "note", "parts", "readings"}
)
