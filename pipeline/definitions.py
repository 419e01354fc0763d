"""The code location that ``dagster dev`` and ``dg dev`` load. Needs no secrets."""

import dagster as dg

from pipeline.orchestration.batches import shared_defs
from pipeline.orchestration.graph import build_defs
from pipeline.rounds import REPOSITORY, rounds_by_key
from pipeline.settings import Settings
from pipeline.sources.snapshots import Snapshots


@dg.definitions
def definitions() -> dg.Definitions:
    """Return the whole graph over the known rounds and those that were found upstream before."""
    settings = Settings.from_environment()
    seen = Snapshots(settings.home).repositories()
    matches = [match for name in seen if (match := REPOSITORY.fullmatch(name))]
    rounds = list(rounds_by_key({f"{m['suite']}-{m['round']}" for m in matches}))
    return build_defs(rounds) if settings.store is None else shared_defs(rounds)
