"""The energy of a run, from the power that its nodes and switches drew: sources.md section 6, 7.

Belongs here: what the readings of one run add up to. Which runs count is decided in ``scores``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.normalise.submissions.training.logs import read_power

_MOST_WATTS = 1e12
"""No node draws a terawatt; what says so is no reading."""

_WINDOW = ("power_measurement_start", "power_measurement_stop")


@dataclass(frozen=True)
class Drawn:
    """Mean power in watts behind the converter, or None if the file does not give it (F40)."""

    watts: float | None


def node_power(content: bytes) -> Drawn:
    """Read a node's file: its readings, each over the time since the one before, as a mean.

    A window without length gives none, nor does any reading that is no number (F40).
    """
    records = read_power(content)
    start, stop = (
        next((time for time, key, _ in order if key == wanted), None)
        for wanted, order in zip(_WINDOW, (records, reversed(records)), strict=True)
    )
    efficiency = _number(next((v for _, key, v in records if key == "conversion_eff"), None))
    readings = [(time, _number(v)) for time, key, v in records if key == "power_reading"]
    if start is None or stop is None or stop <= start or efficiency is None or not readings:
        return Drawn(None)
    energy, before = 0.0, start
    for time, watts in readings:
        if watts is None:
            return Drawn(None)
        energy += (time - before) * watts
        before = time
    return Drawn(_finite(efficiency * energy / (stop - start)))


def switch_power(content: bytes) -> Drawn:
    """Read a switch's file, which holds an estimate.

    One that holds readings instead, as 4.1 Dell's does, adds nothing: so the published energies.
    """
    records = read_power(content)
    told = {key: _number(value) for _, key, value in records}
    if "interconnect_power_est" not in told:
        return Drawn(0.0)
    efficiency, estimate = told.get("conversion_eff"), told["interconnect_power_est"]
    return Drawn(None if efficiency is None or estimate is None else efficiency * estimate)


def energy(drawn: Sequence[Drawn], milliseconds: float) -> float | None:
    """Return the joules of a run; None if a part is not known."""
    watts = [part.watts for part in drawn if part.watts is not None]
    if not watts or len(watts) < len(drawn):
        return None
    return sum(watts) * milliseconds / 1000


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _finite(float(value)) if abs(value) < _MOST_WATTS else None


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
