"""The known rounds, read from ``rounds.toml``, and the names and order of rounds in general.

Belongs here: what a round is. Whether a round's files can be had is a matter of ``sources``.
"""

import re
import tomllib
from dataclasses import dataclass
from datetime import date

from pipeline.settings import PACKAGE

ROUND_KEY = re.compile(r"(?P<suite>inference|training)-(?P<round>[0-9]{1,2}\.[0-9]{1,2})")
REPOSITORY = re.compile(r"(?P<suite>inference|training)_results_v(?P<round>[0-9]{1,2}\.[0-9]{1,2})")


@dataclass(frozen=True)
class Round:
    """One round of one suite, with what is known of it; ``reviewed`` is false for a new one."""

    suite: str
    round: str
    repository: str
    released_on: date | None = None
    released_on_source: str | None = None
    table: str | None = None
    inferred_flag: bool = True
    reviewed: bool = True

    @property
    def key(self) -> str:
        """Return the round's key, such as ``inference-6.0``."""
        return f"{self.suite}-{self.round}"

    @property
    def order(self) -> tuple[str, tuple[int, ...]]:
        """Return what rounds are sorted by: suite, then version by number."""
        return self.suite, tuple(int(part) for part in self.round.split("."))


def known_rounds() -> dict[str, Round]:
    """Return the rounds of ``rounds.toml`` by key, in order."""
    with (PACKAGE / "rounds.toml").open("rb") as file:
        rounds = [Round(**entry) for entry in tomllib.load(file)["round"]]
    return {round.key: round for round in sorted(rounds, key=lambda round: round.order)}


def new_round(key: str) -> Round:
    """Return a round that nobody has reviewed yet.

    Its own ``inferred`` flags are not trusted: round 6.0 showed that they can change meaning (F7).

    Raises:
        ValueError: the key is not of the form ``suite-X.Y``.
    """
    match = ROUND_KEY.fullmatch(key)
    if match is None:
        raise ValueError(f"{key!r} is no round; expected a key such as inference-6.0")
    suite, version = match["suite"], match["round"]
    return Round(suite, version, f"{suite}_results_v{version}", inferred_flag=False, reviewed=False)


def rounds_by_key(keys: set[str]) -> dict[str, Round]:
    """Return the known rounds and those of ``keys`` that are not known yet, in order."""
    rounds = known_rounds()
    rounds |= {key: new_round(key) for key in keys if key not in rounds}
    return dict(sorted(rounds.items(), key=lambda item: item[1].order))
