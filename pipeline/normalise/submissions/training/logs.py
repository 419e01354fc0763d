"""A log of ``:::MLLOG`` records becomes what it says: of a run, or of the power it took.

Belongs here: finding the records, as bytes and once, and the fields that matter. No input is an
error: what cannot be read is not there, or is told as the line that is malformed. What follows
from it is decided in ``scores`` and ``power``.
"""

import json
import math
from dataclasses import dataclass

import msgspec

from pipeline.normalise.submissions.descriptions import storable

_MARK = b":::MLLOG "
_RUN_KEYS = frozenset(
    (
        "init_start",
        "init_stop",
        "run_start",
        "run_stop",
        "seed",
        "global_batch_size",
        "eval_accuracy",
    )
)


_LATEST_MS = 2**53
"""Times from here on are not exact as a double, and some 285,000 years away."""


class Record(msgspec.Struct):
    """A record of a log: JSON with the time in milliseconds since 1970, a key and its value."""

    time_ms: int | float
    key: str | None = None
    value: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()


@dataclass(frozen=True)
class Run:
    """What a run's log says; times in milliseconds, None where the log does not say it.

    ``malformed`` is the first record that is no JSON object with a numeric ``time_ms``, shortened
    (sources.md section 6, 3a). ``started`` is the last run_start before the first run_stop.
    """

    has_records: bool
    malformed: str | None = None
    init_started: float | None = None
    init_stopped: float | None = None
    started: float | None = None
    stopped: float | None = None
    status: str | None = None
    seed: str | None = None
    global_batch_size: int | None = None
    samples_to_converge: int | None = None

    @property
    def milliseconds(self) -> float | None:
        """Return how long the run took."""
        if self.started is None or self.stopped is None:
            return None
        return self.stopped - self.started


def read_run(content: bytes) -> Run:
    """Read the log of a run."""
    texts = _texts(content)
    records, malformed = _records(texts)
    told = [record for record in records if record.key in _RUN_KEYS]
    stop = next((at for at, record in enumerate(told) if record.key == "run_stop"), len(told))
    before, stopped = told[:stop], told[stop] if stop < len(told) else None
    start = _last(before, "run_start")
    init_start, init_stop = _first(told, "init_start"), _last(told, "init_stop")
    metadata = _object(stopped.metadata) if stopped else {}
    batch = _integer(_value(_first(told, "global_batch_size")))
    samples = _integer(metadata.get("samples_count"))
    if samples is None:
        evaluated = _last(before, "eval_accuracy")
        samples = _integer(_object(evaluated.metadata).get("samples_count")) if evaluated else None
    status, seed = metadata.get("status"), _value(_first(told, "seed"))
    return Run(
        has_records=bool(texts),
        malformed=malformed,
        init_started=_time(init_start),
        init_stopped=_time(init_stop),
        started=_time(start),
        stopped=_time(stopped),
        status=storable(status),
        seed=storable(seed),
        global_batch_size=batch,
        samples_to_converge=samples,
    )


def read_power(content: bytes) -> list[tuple[float, str, object]]:
    """Read a power file's records as time in milliseconds (NaN: none), key and value."""
    records, _ = _records(_texts(content))
    times = (_time(record) for record in records)
    return [
        (math.nan if time is None else time, record.key or "", _value(record))
        for time, record in zip(times, records, strict=True)
    ]


def _texts(content: bytes) -> list[bytes]:
    """Return the text of each record: what follows the last mark on a line, which may be prefixed.

    A mark that the same line follows up with another begins no record: two processes wrote there.
    """
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    _, *pieces = content.split(_MARK)
    if not pieces:
        return []
    *pieces, last = pieces
    cut = [piece.partition(b"\n") for piece in pieces]
    return [text for text, end, _ in cut if end] + [last.partition(b"\n")[0]]


_DECODER = msgspec.json.Decoder(Record)


def _records(texts: list[bytes]) -> tuple[list[Record], str | None]:
    """Return the records that can be read, and the first text that is malformed."""
    try:
        return [_DECODER.decode(text) for text in texts], None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # one at a time, to know which
    found = [(text, _one_record(text)) for text in texts]
    malformed = next((text for text, record in found if record is None), None)
    shown = None if malformed is None else malformed[:100].decode("latin-1")
    return [record for _, record in found if record is not None], shown


def _one_record(text: bytes) -> Record | None:
    """Read a record as the checker does, which takes any bytes as Latin-1."""
    try:
        parsed = json.loads(text.decode("latin-1"))
    except (ValueError, RecursionError):
        return None
    time_ms = parsed.get("time_ms") if isinstance(parsed, dict) else None
    if isinstance(time_ms, bool) or not isinstance(time_ms, int | float):
        return None
    key = parsed.get("key")
    value, metadata = (
        msgspec.Raw(json.dumps(parsed.get(name)).encode()) for name in ("value", "metadata")
    )
    return Record(time_ms, key if isinstance(key, str) else None, value, metadata)


def _time(record: Record | None) -> float | None:
    """Return a record's time; None for one that no clock shows, such as a wrapped one (T31)."""
    if record is None or not abs(record.time_ms) < _LATEST_MS:
        return None
    return record.time_ms


def _first(records: list[Record], key: str) -> Record | None:
    return next((record for record in records if record.key == key), None)


def _last(records: list[Record], key: str) -> Record | None:
    return next((record for record in reversed(records) if record.key == key), None)


def _value(record: Record | None) -> object:
    return None if record is None else _parsed(record.value)


def _object(raw: msgspec.Raw) -> dict[str, object]:
    parsed = _parsed(raw)
    return parsed if isinstance(parsed, dict) else {}


def _parsed(raw: msgspec.Raw) -> object:
    try:
        parsed: object = json.loads(bytes(raw))
    except (ValueError, RecursionError):
        return None
    return parsed


def _integer(value: object) -> int | None:
    """Return a whole number below 2**63, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**63:
        return None
    return int(value) if float(value).is_integer() else None
