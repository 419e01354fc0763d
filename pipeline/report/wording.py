"""Words and numbers as the report shows them.

Belongs here: names of rounds, number formats, and making published text harmless to look at.
"""

from collections.abc import Iterable
from datetime import date
from urllib.parse import urlsplit

NOT_SHOWN = "–"
"""Stands where the warehouse holds nothing."""

_HOSTS = ("github.com", "raw.githubusercontent.com", "codeload.github.com", "mlcommons.org")


def linkable(address: str | None) -> str | None:
    """Return the address if it may be a link: https, and of GitHub or MLCommons; else None."""
    if address is None or not address.isprintable():
        return None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    is_known = parts.netloc in _HOSTS or parts.netloc.endswith(".mlcommons.org")
    return address if parts.scheme == "https" and is_known else None


def round_name(round_key: str | None) -> str:
    """Return a round's name: `Inference 6.0` for `inference-6.0`."""
    if round_key is None:
        return NOT_SHOWN
    suite, _, version = round_key.partition("-")
    return f"{suite.capitalize()} {version}"


def number(value: float | None) -> str:
    """Return a measured value: thousands apart, and no more digits than tell it from others."""
    if value is None:
        return NOT_SHOWN
    if abs(value) >= 1000:
        return f"{value:,.1f}".removesuffix(".0")
    return f"{value:.6g}"


def rough(value: float) -> str:
    """Return a measured value as a sentence says it: four digits, or all of a large one's whole."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def count(value: int | None) -> str:
    """Return a whole number, thousands apart."""
    return NOT_SHOWN if value is None else f"{value:,}"


def ratio(value: float | None) -> str:
    """Return a ratio or gain with three decimals."""
    return NOT_SHOWN if value is None else f"{value:.3f}"


def times(value: float) -> str:
    """Return a ratio as one says it: `2.80×`, `1.003×` near 1, and `12×` from ten on."""
    if value >= 10:
        return f"{value:,.0f}×"
    return f"{value:.3f}×" if 0.99 < value < 1.01 and value != 1 else f"{value:.2f}×"


def percent(value: float | None) -> str:
    """Return a share in per cent with one decimal."""
    return NOT_SHOWN if value is None else f"{value:.1%}"


def day(value: date | None) -> str:
    """Return a day as `1 April 2026`."""
    return NOT_SHOWN if value is None else f"{value.day} {value:%B %Y}"


def listed(names: Iterable[str]) -> str:
    """Return names as one says them: `A, B and C`."""
    *first, last = list(names) or [NOT_SHOWN]
    return f"{', '.join(first)} and {last}" if first else last


def counted(amount: int, noun: str, plural: str | None = None) -> str:
    """Return an amount with its noun: `1 gap`, `2,000 gaps`."""
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"
