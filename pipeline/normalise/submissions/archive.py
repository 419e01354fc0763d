"""An archive is read by the rules of its suite.

Belongs here: which reader a round's archive is handed to.
"""

from typing import BinaryIO

from pipeline.normalise.submissions.derived import DerivedTable
from pipeline.normalise.submissions.inference.derive import read_inference
from pipeline.normalise.submissions.training.derive import read_training
from pipeline.rounds import Round

_READERS = {"inference": read_inference, "training": read_training}


def read_archive(stream: BinaryIO, name: str, round: Round) -> DerivedTable:
    """Read an archive of a round, streamed, and derive every result in it.

    Raises:
        FileFault: the archive is cut or damaged, or holds no results.
    """
    return _READERS[round.suite](stream, name, round)
