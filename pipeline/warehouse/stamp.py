"""What a build would be made from, as a digest, to tell whether there is anything to do.

Belongs here: the identity of inputs and code. No data library is imported: the answer must come
before they are.
"""

import hashlib
import importlib.metadata
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
        *(f"{engine} {importlib.metadata.version(engine)}" for engine in _ENGINES),
        *_code_digests(PACKAGE),
        *_code_digests(sql_folder()),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _code_digests(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.suffix in _CODE)
    return [
        f"{file.relative_to(folder)} {hashlib.sha256(file.read_bytes()).hexdigest()}"
        for file in sorted(files)
    ]
