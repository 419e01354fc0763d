"""The fields of a claim, with where they stand.

Belongs here: taking one field after the other, and naming file, line, claim and field when one
cannot be used. A claims file is anyone's text: nothing in it is trusted.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from pipeline.claims.lines import Lines, Path
from pipeline.errors import UnusableCall

LONGEST = 1000


class ClaimFault(UnusableCall):
    """A claim cannot be read; the message names file, line, claim and field."""


@dataclass(frozen=True)
class Fields:
    """One table of a claims file; ``name`` is how messages call it, empty for the claim itself."""

    file: str
    lines: Lines
    path: Path
    values: Mapping[str, Any]
    claim: str
    name: str = ""

    def fault(self, field: str, problem: str) -> ClaimFault:
        """Return the error of a field, to be raised."""
        line = self.lines.of((*self.path, field))
        called = f"{self.name}.{field}" if self.name else field
        return ClaimFault(f"{self.file} line {line}: claim {self.claim}, {called}: {problem}.")

    def refuse_others(self, allowed: Collection[str]) -> None:
        """Raise ClaimFault if there is a field that is not allowed."""
        for field in self.values:
            if field not in allowed:
                raise self.fault(field, f"no such field. There are: {', '.join(allowed)}")

    def table(self, field: str) -> "Fields":
        """Return the table that is a field's value.

        Raises:
            ClaimFault: it is none.
        """
        value = self.values.get(field)
        if not isinstance(value, dict):
            raise self.fault(field, 'must be a table, such as { round = "6.0" }')
        called = f"{self.name}.{field}" if self.name else field
        return replace(self, path=(*self.path, field), values=value, name=called)

    def checked(self, field: str, value: str, longest: int = LONGEST) -> str:
        """Return a text without blanks around it.

        Raises:
            ClaimFault: it is empty, too long or holds characters that cannot be shown.
        """
        text = value.strip()
        if not text or len(text) > longest:
            raise self.fault(field, f"must have 1 to {longest} characters")
        if not text.isprintable():
            raise self.fault(field, "must be one line of printable characters")
        return text

    def text(self, field: str, longest: int = LONGEST) -> str | None:
        """Return a text, or None if the field is not there."""
        value = self.values.get(field)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.fault(field, "must be a text, in quotes")
        return self.checked(field, value, longest)

    def needed_text(self, field: str, longest: int = LONGEST) -> str:
        """Return a text that must be there."""
        text = self.text(field, longest)
        if text is None:
            raise self.fault(field, "is missing")
        return text

    def texts(self, field: str, most: int) -> list[str]:
        """Return a list of texts, sorted; empty if the field is not there."""
        value = self.values.get(field, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.fault(field, "must be a list of texts")
        if len(value) > most:
            raise self.fault(field, f"must have at most {most} texts")
        return sorted({self.checked(field, each) for each in value})

    def choice(self, field: str, allowed: Collection[str], default: str) -> str:
        """Return a text that must be one of those allowed."""
        text = self.text(field) or default
        if text not in allowed:
            raise self.fault(field, f"must be one of {', '.join(allowed)}")
        return text

    def day(self, field: str) -> date | None:
        """Return a date, or None if the field is not there."""
        value = self.values.get(field)
        if value is not None and (not isinstance(value, date) or isinstance(value, datetime)):
            raise self.fault(field, "must be a date, such as 2026-04-01 without quotes")
        return value

    def number(self, field: str) -> float | None:
        """Return a finite number, or None if the field is not there."""
        value = self.values.get(field)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fault(field, "must be a number, such as 0.96")
        if not math.isfinite(value) or abs(value) > 1e15:
            raise self.fault(field, "must be a number below 1e15")
        return float(value)
