"""The code location that ``dagster dev`` and ``dg dev`` load. Needs no secrets."""

import dagster as dg

from pipeline.orchestration.graph import build_defs
from pipeline.rounds import known_rounds


@dg.definitions
def definitions() -> dg.Definitions:
    """Return the whole graph over the known rounds."""
    return build_defs(list(known_rounds()))
