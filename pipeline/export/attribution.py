"""Whose results these are: the words that go with every answer for people.

Belongs here: which words; those that MLCommons' messaging guidelines fix, word for word. Answers
for machines (CSV, JSON, Parquet) never have them among the data.
"""

from pipeline.warehouse.datapackage import LEGEND, SOURCE

VERIFIED = "Result verified by MLCommons Association."
NOT_VERIFIED = "Result not verified by MLCommons Association."


def attribution_lines() -> list[str]:
    """Return two lines: source and what is derived, and the trademark legend."""
    return [SOURCE, LEGEND]


def verification(source_kind: str, is_withdrawn: bool = False) -> str:
    """Return the sentence due to a result: only what stands in a published table is verified."""
    is_verified = source_kind == "published table" and not is_withdrawn
    return VERIFIED if is_verified else NOT_VERIFIED
