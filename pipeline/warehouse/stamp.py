"""What a build would be made from, as a digest, to tell whether there is anything to do.

Belongs here: the identity of inputs and code. No data library is imported: the answer must come
before they are.
"""

import hashlib
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

from pipeline.rounds import new_round
from pipeline.settings import PACKAGE, sql_folder
from pipeline.sources.files import Source

_CODE = (".py", ".toml", ".csv", ".sql", ".parquet")
_ENGINES = ("duckdb", "polars")


def identity(
    mode: str, source: Source | None, refresh: Iterable[str] | None, archives: Iterable[str]
) -> str:
    """Return a digest of all that decides what a build's tables hold.

    ``archives`` are the rounds whose archive is read.
    """
    read = (
        archive
        for key in sorted(archives, key=lambda key: new_round(key).order)
        if source is not None and (archive := source.archive(key))
    )
    parts = [
        mode,
        source.fingerprint() if source is not None else "",
        *(f"{archive.name} {archive.identity}" for archive in read),
        ",".join(sorted(refresh)) if refresh is not None else "all rounds",
        *(f"{engine} {_version(engine)}" for engine in _ENGINES),
        *_code_digests(PACKAGE),
        *_code_digests(sql_folder()),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _version(package: str) -> str:
    """Return a package's installed version.

    It is told by the name of a folder beside the package. To import ``importlib.metadata`` would
    take a third of the time of a build that finds nothing changed.
    """
    found = importlib.util.find_spec(package)
    if found is not None and found.origin is not None:
        beside = Path(found.origin).parents[1].glob(f"{package}-*.dist-info")
        named = sorted(folder.name for folder in beside)
        if named:
            return named[-1].removeprefix(f"{package}-").removesuffix(".dist-info")
    from importlib.metadata import version

    return version(package)


def _code_digests(folder: Path) -> list[str]:
    digests = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(_CODE):
                content = Path(place, name).read_bytes()
                inner = place.removeprefix(str(folder))
                digests.append(f"{inner}/{name} {hashlib.sha256(content).hexdigest()}")
    return digests
