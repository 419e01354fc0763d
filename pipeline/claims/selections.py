"""Turns a selection into conditions on facts.

Belongs here: what a selection may say, and what it means where it says nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.claims.facts import (
    BOUNDS,
    DEFAULTS,
    FACTS,
    FIXED,
    INDICATING,
    TRAINING_DEFAULTS,
    Sort,
)
from pipeline.claims.fields import Fields
from pipeline.rounds import ROUND_KEY

ANY = "any"
MOST_TEXTS = 100
OPERATORS = ("not", *BOUNDS)


@dataclass(frozen=True)
class Condition:
    """One condition: a fact, how it is held against the texts, and these."""

    fact: str
    operator: str
    texts: tuple[str, ...]


def conditions(selection: Fields, needs_round: bool = True) -> list[Condition]:
    """Return the conditions of a selection, defaults included.

    Raises:
        ClaimFault: a fact is not known, or what is said of it cannot be.
    """
    stated = selection.values
    selection.refuse_others(FACTS)
    if needs_round and "round" not in stated:
        raise selection.fault("round", 'is missing: name the round, such as "6.0", or "any"')
    if "entry_id" in stated and not any(_says(stated, fact) for fact in INDICATING):
        raise selection.fault(
            "entry_id",
            "an entry id only narrows a selection and cannot stand alone: name beside it what is "
            f"selected, by one of {', '.join(INDICATING)}",
        )
    is_training = stated.get("suite") == "training"
    defaults: Mapping[str, Any] = TRAINING_DEFAULTS if is_training else DEFAULTS
    return [
        condition
        for fact, value in {**defaults, **stated}.items()
        for condition in _of_fact(selection, fact, value)
    ]


def _says(stated: Mapping[str, Any], fact: str) -> bool:
    return bool(stated.get(fact, ANY) != ANY)


def _of_fact(selection: Fields, fact: str, value: Any) -> list[Condition]:
    if value == ANY:
        # Every selection looks at rounds, so one of any round says so with a bound all have.
        return [Condition(fact, "at_least", ("0",))] if fact == "round" else []
    if not isinstance(value, dict):
        return [Condition(fact, "is", _texts(selection, fact, value))]
    inner = selection.table(fact)
    inner.refuse_others(OPERATORS)
    if not value:
        raise selection.fault(fact, f"is empty; say one of {', '.join(OPERATORS)}")
    return [_compared(inner, fact, operator, other) for operator, other in value.items()]


def _compared(inner: Fields, fact: str, operator: str, value: Any) -> Condition:
    is_bound = operator in BOUNDS
    if is_bound and FACTS[fact] not in (Sort.NUMBER, Sort.VERSION):
        raise inner.fault(operator, f"{fact} is no number; it can only be equal, or `not`")
    texts = _texts(inner, fact, value, operator)
    if is_bound and len(texts) > 1:
        raise inner.fault(operator, "must be one value")
    return Condition(fact, operator, texts)


def _texts(fields: Fields, fact: str, value: Any, operator: str | None = None) -> tuple[str, ...]:
    """Return the texts of one value or of a list of them; ``operator`` names the field."""
    field = operator or fact
    values = value if isinstance(value, list) else [value]
    if not 1 <= len(values) <= MOST_TEXTS:
        raise fields.fault(field, f"must name 1 to {MOST_TEXTS} values")
    return tuple(_text(fields, field, fact, each) for each in values)


def _text(fields: Fields, field: str, fact: str, value: Any) -> str:
    sort = FACTS[fact]
    if sort is Sort.FLAG and isinstance(value, bool):
        return "true" if value else "false"
    if sort is Sort.NUMBER and type(value) is int and 0 <= value < 10**9:
        return str(value)
    if sort in (Sort.NAME, Sort.VERSION) and isinstance(value, str):
        text = fields.checked(field, value)
        allowed = FIXED.get(fact)
        if allowed is not None and text not in allowed:
            raise fields.fault(field, f"must be one of {', '.join(allowed)}")
        if sort is Sort.NAME or ROUND_KEY.fullmatch(f"inference-{text}"):
            return text
    raise fields.fault(field, f"must be {sort.value}")
