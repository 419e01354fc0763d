"""Numbers and counts out of published text, as Polars expressions.

Belongs here: how text becomes a number, and when it does not. What a missing number means for its
row is decided in ``faults``.
"""

import polars as pl

_GROUPED = r"^[+-]?[1-9]\d{0,2}((,\d{3})+\.\d+|(,\d{3}){2,})$"
"""Thousands that cannot be meant otherwise: "6,862" alone could be a decimal comma."""


def number(column: str) -> pl.Expr:
    """Return the column as Float64: plain numbers and unambiguous thousands ("6,862.3"), else null.

    NaN and infinities are no numbers.
    """
    text = pl.col(column).str.strip_chars()
    plain = pl.when(text.str.contains(_GROUPED)).then(text.str.replace_all(",", "", literal=True))
    value = plain.otherwise(text).cast(pl.Float64, strict=False)
    return pl.when(value.is_finite()).then(value)


def count(column: str) -> pl.Expr:
    """Return the column as Int64 where it is a whole number that is not negative, else null."""
    value = number(column)
    whole = (value >= 0) & (value < 1e9) & (value == value.floor())
    return pl.when(whole).then(value).cast(pl.Int64)
