"""What the pages read from the published database.

Belongs here: the connection, and what every page asks of it: which rounds there are, what
benchmarks are called, and the footnote that is due to results.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

import duckdb

from pipeline.report.wording import listed, round_name

SUITES = ("inference", "training")


@dataclass(frozen=True)
class Round:
    """A complete round with results in the warehouse."""

    key: str
    suite: str
    version: str
    position: int
    released_on: date | None
    repository: str | None
    state: str
    fetched_on: date | None

    @property
    def name(self) -> str:
        """Return the round's name, such as `Inference 6.0`."""
        return round_name(self.key)


class Published:
    """The published tables of one release."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Take a connection that can read the public tables in schema ``main``."""
        self._connection = connection

    def rows(self, query: str, **values: Any) -> list[dict[str, Any]]:
        """Return a query's rows; ``$name`` in it stands for the value of that name."""
        found = self._connection.execute(query, values or None)
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    @cached_property
    def rounds(self) -> list[Round]:
        """Return the complete rounds with results, the oldest first within each suite."""
        return [
            Round(**row)
            for row in self.rows(
                """
                select
                    round_key as key, suite, round as version, position, released_on, repository,
                    state,
                    (
                        select max(fetched_at)::date from sources
                        where sources.round_key = rounds.round_key
                    ) as fetched_on
                from rounds
                where is_complete and results > 0
                order by suite, position
                """
            )
        ]

    def of_suite(self, suite: str) -> list[Round]:
        """Return the suite's complete rounds, the oldest first."""
        return [found for found in self.rounds if found.suite == suite]

    def latest(self, suite: str) -> Round | None:
        """Return the suite's latest complete round; None without one."""
        found = self.of_suite(suite)
        return found[-1] if found else None

    @cached_property
    def latest_rounds(self) -> list[Round]:
        """Return the latest complete round of each suite that has one."""
        return [found for suite in SUITES if (found := self.latest(suite))]

    @cached_property
    def _benchmarks(self) -> dict[tuple[str, str], str]:
        rows = self.rows(
            "select suite, benchmark, coalesce(name, benchmark) as name from benchmarks"
        )
        return {(row["suite"], row["benchmark"]): row["name"] for row in rows}

    def benchmark(self, suite: str, benchmark: str) -> str:
        """Return a benchmark's full name, else the one it is published under."""
        return self._benchmarks.get((suite, benchmark), benchmark)

    @cached_property
    def vendors(self) -> list[str]:
        """Return all makers of accelerators, those with the most rounds and results first."""
        rows = self.rows(
            """
            select accelerator_vendor as vendor from results
            where accelerator_vendor is not null and division = 'closed' and not is_withdrawn
            group by all order by count(distinct round_key) desc, count(*) desc, vendor
            """
        )
        return [row["vendor"] for row in rows]

    def short(self, accelerator: str | None) -> str:
        """Return an accelerator's name without its maker's, for a chart's rows."""
        if accelerator is None:
            return "CPU only"
        maker, _, product = accelerator.partition(" ")
        return product if maker in self.vendors and product else accelerator

    def footnote(
        self, round_keys: Iterable[str], divisions: str = "closed", derived: bool = True
    ) -> str:
        """Return what must stand beneath a figure: whose results, whence, and what is derived."""
        wanted = set(round_keys)
        used = [found for found in self.rounds if found.key in wanted]
        sentences = [_attributed(used, divisions)] if used else []
        if used:
            sentences.append(_verified(used))
        if derived:
            sentences.append(
                "Ratios, gains and counts are derived metrics, not verified by MLCommons "
                "Association."
            )
        return " ".join(sentences)


def _verified(used: list[Round]) -> str:
    """Return which results MLCommons published in a table, and which were scored from logs."""
    scored = [found.name for found in used if found.state == "submission logs"]
    if not scored:
        return "Results verified by MLCommons Association."
    if len(scored) == len(used):
        return "Results scored from submission logs, not verified by MLCommons Association."
    return (
        f"Results verified by MLCommons Association, but for those of {listed(scored)}: these are "
        "scored from submission logs and not verified."
    )


def _attributed(used: list[Round], divisions: str) -> str:
    versions = "; ".join(
        f"{suite.capitalize()} "
        + ", ".join(f"v{found.version}" for found in used if found.suite == suite)
        for suite in SUITES
        if any(found.suite == suite for found in used)
    )
    fetched = max((found.fetched_on for found in used if found.fetched_on), default=None)
    when = f" on {fetched:%Y-%m-%d}" if fetched else ""
    return (
        f"MLPerf® {versions}, {divisions} division. Retrieved from the results repositories of "
        f"github.com/mlcommons{when}; entry ids or sources stand in the table."
    )
