"""Which numbers a stated value stands for.

Belongs here: reading "93%" or "2.77x" as the interval of all numbers that round to it.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

FORMS = '"93%", "+3.83%", "1.8x", "24", "250,634", ">1,000,000", "<3", "~100%"'

_STATED = re.compile(
    r"(?P<bound>>=|>|<|~)?\s*(?P<sign>[+\-])?(?P<number>\d{1,3}(?:,\d{3})+|\d{1,15})"
    r"(?P<decimals>\.\d{1,9})?\s*(?P<unit>%|x|×)?",
    re.ASCII,
)


@dataclass(frozen=True)
class Interval:
    """The number stated, and the bounds of those that it stands for; None is no bound."""

    value: float | None = None
    above: float | None = None
    at_least: float | None = None
    below: float | None = None


def interval(text: str, is_change: bool = False) -> Interval | None:
    """Return what a stated value stands for; None if it is of no known form.

    A signed per cent is a change: +3.83% stands for the ratio 1.0383, and with ``is_change`` for
    0.0383 itself.
    """
    match = _STATED.fullmatch(text.strip())
    if match is None:
        return None
    decimals = match["decimals"] or ""
    number = Decimal(match["number"].replace(",", "") + decimals)
    half = Decimal(1).scaleb(-max(len(decimals) - 1, 0)) / 2
    if match["unit"] == "%":
        number, half = number / 100, half / 100
    if match["sign"] == "-":
        number = -number
    if match["sign"] and match["unit"] == "%" and not is_change:
        number += 1
    value = float(number)
    if match["bound"] == ">":
        return Interval(value, above=value)
    if match["bound"] == ">=":
        return Interval(value, at_least=value)
    if match["bound"] == "<":
        return Interval(value, below=value)
    return Interval(value, at_least=float(number - half), below=float(number + half))
