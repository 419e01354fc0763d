"""Reads claims files.

Belongs here: which fields a claim has, what they must be, and the tables that the SQL models start
from. The README beside this module tells writers the same.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.claims.claimed import FORMS, Interval, interval
from pipeline.claims.facts import FACTS, RESULT, SINGLE, Sort
from pipeline.claims.fields import Fields
from pipeline.claims.kinds import (
    ALL,
    BASES,
    CLAIM_FIELDS,
    COUNTING,
    KINDS,
    NOT_CHECKABLE,
    PAIRED_ON,
    PAIRED_UNLESS_STATED,
    STATEMENT_FIELDS,
)
from pipeline.claims.lines import Lines
from pipeline.claims.selections import MOST_TEXTS, conditions
from pipeline.errors import UnusableCall
from pipeline.normalise.figures import frame_schema
from pipeline.schema.tables import staging_tables

MADE = Path(__file__).parent / "made"
"""The claims that come with the package, one file a publisher."""

LARGEST = 1_000_000
MOST_CLAIMS = 200
MOST_STATEMENTS = 10
LONGEST_NAME = 200

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_URL = re.compile(r"https?://[^\s<>\"]+")
_SIDES = ("subject", "comparator", "chosen")

Line = dict[str, Any]


@dataclass(frozen=True)
class Claims:
    """Claims as lines of the inner tables."""

    made: list[Line] = field(default_factory=list)
    statements: list[Line] = field(default_factory=list)
    conditions: list[Line] = field(default_factory=list)

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return the inner tables by name."""
        lines = {
            "claims_made": self.made,
            "claim_statements": self.statements,
            "claim_conditions": self.conditions,
        }
        tables = staging_tables()
        return {
            name: pl.DataFrame(lines[name], schema=frame_schema(tables[name])) for name in lines
        }


def package_claims() -> Claims:
    """Return the claims that come with the package.

    Raises:
        ClaimFault: one cannot be read.
    """
    return read_claims(sorted(MADE.glob("*.toml")))


def read_claims(files: Iterable[Path]) -> Claims:
    """Return the claims of files, in order.

    Raises:
        UnusableCall: a file cannot be read, or is no TOML.
        ClaimFault: a claim cannot be read.
    """
    claims = Claims()
    seen: set[str] = set()
    for file in files:
        for entry in _entries(file):
            if entry.claim in seen:
                raise entry.fault("id", "is taken by another claim")
            seen.add(entry.claim)
            _read(entry, claims)
    return claims


def _entries(file: Path) -> list[Fields]:
    """Return the claims of a file, nothing but their ids looked at."""
    text = _content(file)
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        problem = str(error) or "nested too deeply"
        raise UnusableCall(f"{file.name}: is no TOML: {problem}.") from error
    entries = content.pop("claim", None)
    if content:
        raise UnusableCall(f"{file.name}: holds {next(iter(content))!r}; only [[claim]] is known.")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UnusableCall(f"{file.name}: holds no claim. Begin each with [[claim]].")
    if len(entries) > MOST_CLAIMS:
        raise UnusableCall(f"{file.name}: holds more than {MOST_CLAIMS} claims.")
    lines = Lines(text)
    return [_entry(file.name, lines, at, values) for at, values in enumerate(entries)]


def _content(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise UnusableCall(f"{file.name}: is larger than {LARGEST:,} bytes.")
        return content.decode("utf-8")
    except OSError as error:
        raise UnusableCall(f"{file}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UnusableCall(f"{file.name}: is not UTF-8 (byte {error.start}).") from error


def _entry(file: str, lines: Lines, at: int, values: Mapping[str, Any]) -> Fields:
    entry = Fields(file, lines, ("claim", at), values, f"number {at + 1}")
    claim = entry.needed_text("id")
    if not _ID.fullmatch(claim):
        raise entry.fault("id", "must be up to 40 letters, digits, dots and dashes")
    return replace(entry, claim=claim)


def _read(entry: Fields, claims: Claims) -> None:
    """Add a claim to those read."""
    entry.refuse_others([*sorted(CLAIM_FIELDS), *sorted(STATEMENT_FIELDS)])
    combined, statements = _statements(entry)
    stated = []
    for number, statement in enumerate(statements, start=1):
        key = {"claim_id": entry.claim, "statement": number}
        claims.statements.append(key | _statement(statement, key, claims.conditions))
        stated.append(_stated(statement))
    url = entry.text("url")
    if url is not None and not _URL.fullmatch(url):
        raise entry.fault("url", "must begin with http:// or https://")
    claims.made.append(
        {
            "claim_id": entry.claim,
            "position": len(claims.made) + 1,
            "said_by": entry.needed_text("said_by", LONGEST_NAME),
            "title": entry.needed_text("title"),
            "url": url,
            "published_on": entry.day("published"),
            "claim": entry.needed_text("claim"),
            "claimed": "; ".join(filter(None, dict.fromkeys(stated))) or None,
            "combined": combined,
            "note": entry.text("note"),
        }
    )


def _statements(entry: Fields) -> tuple[str | None, list[Fields]]:
    """Return how a claim's statements make it up, and each with what it takes from the claim."""
    lists = [name for name in ("parts", "readings") if name in entry.values]
    shared = {name: entry.values[name] for name in STATEMENT_FIELDS & entry.values.keys()}
    if not lists:
        return None, [entry]
    if len(lists) > 1:
        raise entry.fault("readings", "a claim has either parts or readings")
    (name,) = lists
    own = entry.values[name]
    if not isinstance(own, list) or not 2 <= len(own) <= MOST_STATEMENTS:
        raise entry.fault(name, f"must be a list of 2 to {MOST_STATEMENTS} tables")
    return name, [_merged(entry, name, at, shared, values) for at, values in enumerate(own)]


def _merged(entry: Fields, name: str, at: int, shared: Mapping[str, Any], values: object) -> Fields:
    """Return a part or reading with what it takes from its claim; selections fact by fact."""
    path = (*entry.path, name, at)
    if not isinstance(values, dict):
        raise entry.fault(name, "must be a list of tables")
    own = replace(entry, path=path, values=values, name=f"{name} {at + 1}")
    own.refuse_others(sorted(STATEMENT_FIELDS))
    merged = {**shared, **values}
    for side in _SIDES:
        if isinstance(shared.get(side), dict) and isinstance(values.get(side), dict):
            merged[side] = {**shared[side], **values[side]}
    return replace(own, values=merged)


def _stated(statement: Fields) -> str | None:
    claimed = statement.values.get("claimed")
    return ", ".join(claimed) if isinstance(claimed, list) else claimed


def _statement(statement: Fields, key: Line, found: list[Line]) -> Line:
    """Return a statement's line, and add its conditions to those found."""
    kind = statement.choice("kind", KINDS, "")
    allowed = KINDS[kind]
    for name in sorted(STATEMENT_FIELDS & statement.values.keys()):
        if name not in allowed.needs | allowed.may | {"kind"}:
            raise statement.fault(name, f"has no meaning for the kind {kind!r}")
    for name in sorted(allowed.needs - statement.values.keys()):
        raise statement.fault(name, f"is missing; the kind {kind!r} needs it")
    if kind == NOT_CHECKABLE:
        statement.text("claimed")
        return {"kind": kind, "reason": statement.needed_text("reason")}
    basis = statement.choice("basis", BASES, BASES[0])
    for side in _SIDES:
        if side in statement.values:
            found += [key | line for line in _side(statement, kind, side)]
    return {
        "kind": kind,
        "meant_of": statement.choice("meant_of", allowed.meant_of, "any"),
        "basis": basis,
        **_counted(statement, kind),
        "held": _held(statement, kind, basis),
        **_claimed(statement, kind),
        "has_chosen": "chosen" in statement.values,
    }


def _side(statement: Fields, kind: str, side: str) -> list[Line]:
    """Return the conditions of one side."""
    selection = statement.table(side)
    if side != "subject" and kind in PAIRED_ON:
        selection = replace(selection, values=_completed(statement, side))
    return [
        {
            "side": side,
            "condition": number,
            "fact": each.fact,
            "operator": each.operator,
            "texts": list(each.texts),
        }
        for number, each in enumerate(conditions(selection), start=1)
    ]


def _completed(statement: Fields, side: str) -> Mapping[str, Any]:
    """Return a paired side's selection with what it takes from the others.

    The chosen comparators are some of the comparators, and of the subject's round if none is named.
    """
    stated = {**statement.table(side).values}
    if side == "chosen":
        stated = {**statement.table("comparator").values, **stated}
    return {"round": statement.table("subject").values.get("round", "any"), **stated}


def _counted(statement: Fields, kind: str) -> Line:
    """Return what is counted or listed."""
    of, most = statement.text("of"), statement.text("most")
    numbers = [name for name, sort in FACTS.items() if sort is Sort.NUMBER]
    if kind in COUNTING and (of is None) == (most is None):
        raise statement.fault("of", f"the kind {kind!r} needs either `of` or `most`")
    if of is not None and of not in (RESULT, *FACTS):
        raise statement.fault("of", f"must be one of {', '.join((RESULT, *FACTS))}")
    if most is not None and most not in numbers:
        raise statement.fault("most", f"must be one of {', '.join(numbers)}")
    return {"counted": of, "largest": most}


def _held(statement: Fields, kind: str, basis: str) -> list[str]:
    """Return the facts in which subject and comparator agree."""
    if kind not in PAIRED_ON:
        return []
    both = statement.table("subject").values.keys() & statement.table("comparator").values.keys()
    others = set(PAIRED_UNLESS_STATED) - both if kind == "ratio" else set()
    if basis == "per accelerator":
        others -= {"accelerators", "nodes"}
    same = statement.texts("same", len(SINGLE))
    for name in same:
        if name not in SINGLE:
            raise statement.fault("same", f"{name!r} is none of {', '.join(SINGLE)}")
    return sorted({*PAIRED_ON[kind], *others, *same})


def _claimed(statement: Fields, kind: str) -> Line:
    """Return which numbers or names reproduce the claim."""
    if kind == "list":
        names = statement.texts("claimed", MOST_TEXTS)
        if not names:
            raise statement.fault("claimed", "must be a list of names")
        return {"claimed_names": names}
    claimed = statement.needed_text("claimed", LONGEST_NAME)
    if claimed == ALL:
        if kind != "ranking" and not (kind == "count" and "comparator" in statement.values):
            raise statement.fault("claimed", '"all" is said of a ranking, or a count of all')
        return {"claims_all": True}
    if kind == "count" and "comparator" in statement.values:
        raise statement.fault("comparator", 'a count has one only where "all" is claimed')
    stands_for = _explicit(statement, claimed, kind) or interval(claimed, kind == "growth")
    if stands_for is None:
        raise statement.fault(
            "claimed", f"must be a value such as {FORMS}, or else `from` and `below` must say it"
        )
    return {
        "claimed_value": stands_for.value,
        "claimed_above": stands_for.above,
        "claimed_from": stands_for.at_least,
        "claimed_below": stands_for.below,
    }


def _explicit(statement: Fields, claimed: str, kind: str) -> Interval | None:
    """Return the interval that `from` and `below` give; None if there are none."""
    at_least, below = statement.number("from"), statement.number("below")
    bounds = [bound for bound in (at_least, below) if bound is not None]
    if not bounds:
        return None
    if bounds != sorted(set(bounds)):
        raise statement.fault("below", "must be above `from`")
    stated = interval(claimed, kind == "growth")
    value = stated.value if stated else sum(bounds) / len(bounds)
    return Interval(value, at_least=at_least, below=below)
