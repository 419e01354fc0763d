"""Reads one archive as a build does, from a file or over HTTP, streamed or downloaded first.

python -m bench.reading file|stream|download FILE|ADDRESS training-5.1
"""

import argparse
import io
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from pipeline.normalise.submissions.archive import read_archive
from pipeline.rounds import rounds_by_key
from pipeline.sources.http import Http


@contextmanager
def _opened(way: str, place: str) -> Iterator[BinaryIO]:
    if way == "file":
        with Path(place).open("rb") as file:
            yield file
    else:
        with closing(Http()) as http, http.stream(place) as body:
            yield body if way == "stream" else io.BytesIO(body.read())


def main() -> None:
    """Read the command line and the archive; tell how many results it gives."""
    parser = argparse.ArgumentParser(description="Read one archive.")
    parser.add_argument("way", choices=("file", "stream", "download"))
    parser.add_argument("place", help="a file, or an address")
    parser.add_argument("round")
    arguments = parser.parse_args()
    round = rounds_by_key({arguments.round})[arguments.round]
    with _opened(arguments.way, arguments.place) as stream:
        derived = read_archive(stream, arguments.place, round)
    print(derived.table.frame.height)


if __name__ == "__main__":
    main()
