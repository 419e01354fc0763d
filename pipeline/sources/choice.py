"""Which source a build reads, from the word the user gave.

Belongs here: the meaning of ``--source``. What each source does stands in its own module. No data
library is imported here: the choice is made before it is known whether there is anything to do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from pipeline.errors import UnusableCall
from pipeline.rounds import known_rounds
from pipeline.settings import Settings
from pipeline.sources.files import Source, SourceFile
from pipeline.sources.folder import Folder


class Bundle(Enum):
    """When the figures that come with the package serve."""

    NEVER = "never"
    AT_FAULT = "for a round whose file cannot be used, if there is no last good one"
    ALWAYS = "for every round that the source does not give"


@dataclass(frozen=True)
class Choice:
    """A source (None: bundled figures only), and when bundled figures serve."""

    source: Source | None
    bundle: Bundle


class OutOfReach:
    """Stands for a service that cannot be reached: it offers nothing, and every round is stale."""

    def __init__(self, reason: str) -> None:
        """Take the reason, as told with each stale round."""
        self._reason = reason

    def round_keys(self) -> Sequence[str]:
        """Return nothing."""
        return []

    def files(self, round_key: str) -> Sequence[SourceFile]:
        """Return nothing."""
        return []

    def archive(self, round_key: str) -> None:
        """Return nothing."""

    @property
    def stale(self) -> Mapping[str, str]:
        """Return every known round with the reason."""
        return dict.fromkeys(known_rounds(), self._reason)

    def fingerprint(self) -> str:
        """Return the same text each time: nothing can have changed as far as can be told."""
        return "out of reach"


def choose_source(
    mode: str,
    settings: Settings,
    say: Callable[[str], None],
    *,
    archives: Callable[[str], bool] = lambda round_key: False,
    only: str | None = None,
) -> Choice:
    """Return the source for ``auto``, ``github``, ``bundled`` or a folder's path.

    GitHub is asked at once, so that what is stale or out of reach is known; for what it takes to
    read a round's archive only if ``archives`` says of its key that it is wanted. ``only`` is the
    one round to ask for.

    Raises:
        UnusableCall: no such folder.
    """
    if mode == "bundled":
        return Choice(None, Bundle.ALWAYS)
    if mode in ("auto", "github"):
        bundle = Bundle.ALWAYS if mode == "auto" else Bundle.NEVER
        return Choice(_github(settings, say, mode, archives, only), bundle)
    if not Path(mode).is_dir():
        raise UnusableCall(
            f"--source {mode}: no such folder. Give auto, github, bundled or a folder's path."
        )
    folder = Folder(Path(mode))
    for name in folder.unread:
        say(f"not read: {name} (a table is named like inference-6.0.summary_results.json)")
    return Choice(folder, Bundle.AT_FAULT)


def _github(
    settings: Settings,
    say: Callable[[str], None],
    mode: str,
    archives: Callable[[str], bool],
    only: str | None,
) -> Source:
    from pipeline.sources.github import GitHub
    from pipeline.sources.http import Unreachable

    source = GitHub(settings, say=say)
    try:
        source.survey(archives=archives, only=only)
    except Unreachable as error:
        instead = (
            "bundled or last good figures serve" if mode == "auto" else "last good figures serve"
        )
        say(f"GitHub is out of reach ({error}); {instead}.")
        return OutOfReach(str(error))
    return source
