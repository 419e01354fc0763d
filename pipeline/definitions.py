"""The code location that ``dagster dev`` and ``dg dev`` load. Needs no secrets."""

import dagster as dg

from pipeline.orchestration.graph import build_defs
from pipeline.rounds import REPOSITORY, rounds_by_key
from pipeline.settings import Settings
from pipeline.sources.snapshots import Snapshots


@dg.definitions
def definitions() -> dg.Definitions:
    """Return the whole graph over the known rounds and those that were found upstream before."""
    seen = Snapshots(Settings.from_environment().home).repositories()
    matches = [match for name in seen if (match := REPOSITORY.fullmatch(name))]
    return build_defs(list(rounds_by_key({f"{m['suite']}-{m['round']}" for m in matches})))
