"""An archive becomes frames: for each part of a submission one row a file, with what it says.

Belongs here: reading the members of an archive, each distinct content once, and keeping only what
was read of them. How files belong together is decided in ``derive``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import polars as pl

from pipeline.normalise.submissions.descriptions import (
    clock_fields,
    mapping_fields,
    measurement_fields,
    system_fields,
)
from pipeline.normalise.submissions.inference.accuracy import accuracy_fields
from pipeline.normalise.submissions.inference.logs import (
    detail_fields,
    harness_fields,
    summary_fields,
)
from pipeline.normalise.submissions.inference.power import power_samples
from pipeline.normalise.submissions.inference.tree import (
    Part,
    Place,
    place_of,
    scenario_of,
    wanted_in,
)
from pipeline.rounds import Round
from pipeline.sources.archives import Member, Refused, read_members

SUBMITTER = ("division", "submitter_directory")
SYSTEM = (*SUBMITTER, "platform")
SCENARIO = (*SYSTEM, "model_used", "scenario")
DIRECTORY = (*SCENARIO, "scenario_directory")
RUN = (*DIRECTORY, "run")
"""What identifies a submitter, a system, a scenario, its directory as spelled, and a run of it."""

_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "part": pl.String,
    **dict.fromkeys((*SYSTEM, "model_used", "scenario_directory"), pl.String),
    "run": pl.Int64,
    "path": pl.String,
    "sha256": pl.String,
}
_READERS: Mapping[Part, Callable[[bytes], dict[str, str]]] = {
    Part.DETAIL: detail_fields,
    Part.SUMMARY: summary_fields,
    Part.HARNESS: harness_fields,
    Part.ACCURACY: accuracy_fields,
    Part.MEASUREMENTS: measurement_fields,
    Part.SYSTEM: system_fields,
    Part.MAPPING: mapping_fields,
    Part.CLIENT: clock_fields,
    Part.SERVER: clock_fields,
}


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was read: where it stands, its digest, and what it says."""

    place: Place
    path: str
    sha256: str
    fields: dict[str, str]


@dataclass
class Tree:
    """All that was read of one archive; ``samples`` are those of power, by the file's digest."""

    files: list[Found] = field(default_factory=list)
    samples: dict[str, pl.DataFrame] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    commit: str | None = None

    def of(self, *parts: Part) -> list[Found]:
        """Return the files of some parts, in the order of their paths."""
        return [found for found in self.files if found.place.part in parts]

    def frame(self, *parts: Part, fields: Sequence[str] = ()) -> pl.DataFrame:
        """Return the files of some parts, one a row.

        The columns are ``part``, those of RUN, ``path``, ``sha256``, and the fields asked for as
        text, null where a file does not say them.
        """
        rows = [
            (
                *(found.place.part.value, found.place.division, found.place.submitter),
                *(found.place.system, found.place.model, found.place.scenario, found.place.run),
                *(found.path, found.sha256),
                *map(found.fields.get, fields),
            )
            for found in self.of(*parts)
        ]
        schema: dict[str, type[pl.DataType]] = {**_SCHEMA, **dict.fromkeys(fields, pl.String)}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        spellings = {name: scenario_of(name) for name in frame["scenario_directory"].unique()}
        return frame.with_columns(scenario=pl.col("scenario_directory").replace(spellings))


def read_tree(stream: BinaryIO, name: str, round: Round) -> Tree:
    """Read all that a round needs of an archive, streamed; ``name`` is for messages.

    Of a path that stands twice neither file is kept, since nothing says which is right.

    Raises:
        FileFault: the archive is cut or damaged.
    """
    tree = Tree()
    read: dict[tuple[Part, str], dict[str, str]] = {}
    for item in read_members(stream, name, wanted_in(round)):
        place = place_of(item.path)
        if isinstance(item, Refused):
            tree.refused.append(item)
        elif place is not None:
            fields = _fields(item, place.part, read, tree.samples)
            tree.files.append(Found(place, item.path, item.sha256, fields))
            tree.commit = item.commit
    refused = {item.path for item in tree.refused}
    tree.files = sorted(
        (found for found in tree.files if found.path not in refused), key=lambda found: found.path
    )
    return tree


def _fields(
    member: Member,
    part: Part,
    read: dict[tuple[Part, str], dict[str, str]],
    samples: dict[str, pl.DataFrame],
) -> dict[str, str]:
    if part is Part.POWER:
        if member.sha256 not in samples:
            samples[member.sha256] = power_samples(member.content)
        return {}
    key = part, member.sha256
    if key not in read:
        read[key] = _READERS[part](member.content)
    return read[key]
