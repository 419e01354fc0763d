"""What a page is made of: figures, their tables, and the footnote that each must carry.

Belongs here: plain data, ready to be written by the templates.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from markupsafe import Markup

Row = Mapping[str, Any]
Kind = Literal["text", "count", "number", "ratio", "percent", "round", "list", "address", "day"]


@dataclass(frozen=True)
class Column:
    """A table's column: where its cells come from, and how they are written."""

    key: str
    title: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Table:
    """Rows and the columns to show of them."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]

    @property
    def is_short(self) -> bool:
        """Return whether the table can stand open without pushing the next figure away."""
        return len(self.rows) <= 10


@dataclass(frozen=True)
class Figure:
    """A finding: the sentence that states it, its chart, and a table with the same numbers."""

    name: str
    finding: str
    table: Table
    footnote: str
    chart: Markup | None = None
    reading: str = ""
    """How the chart is read: what the marks are, which way is better."""

    @property
    def anchor(self) -> str:
        """Return the figure's name as it stands in an address."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


@dataclass(frozen=True)
class Choice:
    """Figures of which a reader picks one: by the match level, for example."""

    name: str
    legend: str
    options: Sequence[tuple[str, str, Figure]]
    """Label, what it means, and the figure."""


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading."""

    title: str
    parts: Sequence[Figure | Choice] = ()
    are_multiples: bool = False
    """The figures are small and alike, and stand beside each other."""


@dataclass(frozen=True)
class Page:
    """A page: its file, what stands at its top, and what its template needs besides."""

    name: str
    menu: str
    title: str
    lead: str
    template: str = "sections.html"
    sections: Sequence[Section] = ()
    siblings: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    """The same page for other rounds or parts: by suite, name to show and name of the page."""
    headline: str | None = None
    """The finding that the first page tells of this one, where it is not the first figure's."""
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Return the name of the page's file."""
        return f"{self.name}.html"

    @property
    def finding(self) -> str | None:
        """Return what the first page tells of this one; None if the warehouse gives nothing."""
        if self.headline:
            return self.headline
        for section in self.sections:
            for part in section.parts:
                return part.finding if isinstance(part, Figure) else part.options[0][2].finding
        return None
