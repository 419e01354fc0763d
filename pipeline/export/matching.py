"""Finding the name that is meant: case, blanks and dashes do not count, and a part is enough.

Belongs here: how names are compared, and what is told where none or several fit. Which names there
are is the caller's knowledge.
"""

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from pipeline.errors import UnusableCall

SHOWN = 5

Names = Mapping[str, Iterable[str]]
"""Canonical names, each with its other spellings."""


def squeezed(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(_words(text))


def fitting(wanted: str, names: Names) -> list[str]:
    """Return the names that may be meant; one that all others only add words to is meant alone.

    So ``mi355x`` is AMD Instinct MI355X and not its power-capped form, and ``h100`` is three
    products.
    """
    same = [name for name, spellings in names.items() if _is_spelled(wanted, [name, *spellings])]
    if same:
        return same
    found = [name for name in names if _is_part(wanted, name)]
    words = {name: set(_words(name)) for name in found}
    plain = [name for name in found if all(words[name] <= words[other] for other in found)]
    return plain or found


def nearest(wanted: str, names: Iterable[str]) -> list[str]:
    """Return the names most like the wanted one, the most like first."""
    return sorted(names, key=lambda name: (-_likeness(squeezed(wanted), name), name))[:SHOWN]


def pair_of_a_kind(a: str, b: str, kinds: Mapping[str, Names]) -> tuple[str, str, str]:
    """Return the first kind of which both are names, and the two names.

    Raises:
        UnusableCall: a name fits nothing or several names, the two are of different kinds, or they
            are the same.
    """
    found = {
        wanted: {kind: fitting(wanted, names) for kind, names in kinds.items()} for wanted in (a, b)
    }
    for kind in kinds:
        match found[a][kind], found[b][kind]:
            case [[one], [other]] if one == other:
                raise UnusableCall(f"{a} and {b} are the same {kind}: {one}.")
            case [[one], [other]]:
                return kind, one, other
    for wanted in (a, b):
        _refuse_unclear(wanted, found[wanted], kinds)
    one, other = (
        next(f"{kind} {names[0]}" for kind, names in found[wanted].items() if len(names) == 1)
        for wanted in (a, b)
    )
    raise UnusableCall(f"{a} is the {one}, {b} the {other}: only two of a kind can be compared.")


def _refuse_unclear(
    wanted: str, found: Mapping[str, list[str]], kinds: Mapping[str, Names]
) -> None:
    if any(len(names) == 1 for names in found.values()):
        return
    several = sorted(name for names in found.values() for name in names)
    if several:
        more = f" and {len(several) - SHOWN} more" if len(several) > SHOWN else ""
        raise UnusableCall(f"{wanted} may be {', '.join(several[:SHOWN])}{more}.\nWrite out which.")
    known = {name for names in kinds.values() for name in names}
    raise UnusableCall(
        f"{wanted}: no {' or '.join(kinds)} of that name has results.\n"
        f"Nearest: {', '.join(nearest(wanted, known))}."
    )


def _is_spelled(wanted: str, spellings: Iterable[str]) -> bool:
    return squeezed(wanted) in map(squeezed, spellings)


def _is_part(wanted: str, name: str) -> bool:
    """Whether all words are among the name's, or the text is some of its words in a row."""
    words = _words(name)
    runs = {
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
    }
    return bool(_words(wanted)) and (set(_words(wanted)) <= set(words) or squeezed(wanted) in runs)


def _likeness(wanted: str, name: str) -> float:
    pieces = [squeezed(name), *_words(name)]
    return max(SequenceMatcher(None, wanted, piece).ratio() for piece in pieces)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())
