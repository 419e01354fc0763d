"""The table store: sets of files that runs on different machines exchange, in a folder or in S3.

Belongs here: how a set is kept so that nobody ever sees half of it. Which sets there are, and what
they mean, stands in ``shared``.

    <name>/<version>/<file>    the files of a set; each time it is put, under a new version
    <name>/current.json        the version that holds, with its files' SHA-256; written last

The version before the current one stays, for those who are still reading it. Credentials and
region of S3 are taken from the usual ``AWS_*`` variables, none is ever told. What is read is held
against its SHA-256, and no name in the store leads out of the folder that it is fetched into.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

from pyarrow import fs

from pipeline.errors import RoundtableError

CURRENT = "current.json"
CHUNK_BYTES = 2**20
MAX_CURRENT_BYTES = 2**20
"""A set has some dozens of files, each told in a hundred bytes."""

# Names of buckets as Amazon S3 allows them, less the forms that nobody gets any more.
_S3 = re.compile(r"s3://(?P<place>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.=-]+)*)/?")
_NAME = re.compile(r"[a-z]+(/(inference|training)-\d{1,2}\.\d{1,2})?")


class StoreFault(RoundtableError):
    """The table store cannot be used, or does not hold what it should."""


class TableStore:
    """A place for sets of files, by name."""

    def __init__(self, address: str) -> None:
        """Take a folder, which need not exist yet, or ``s3://bucket/prefix``, whose bucket must.

        Raises:
            StoreFault: the address is neither.
        """
        self._address = address
        self._files = _file_system(address)

    def put(self, name: str, folder: Path) -> None:
        """Keep a folder's files as the set ``name``, in place of what it held.

        Raises:
            StoreFault: the store cannot be written.
        """
        version = uuid4().hex
        files = _files(folder)
        with self._told():
            former = self._current(name)
            parents = {PurePosixPath(), *(PurePosixPath(relative).parent for relative in files)}
            for parent in sorted(parents):
                self._files.create_dir(f"{name}/{version}/{parent}".removesuffix("/."))
            digests = {
                relative: self._write(file, f"{name}/{version}/{relative}")
                for relative, file in files.items()
            }
            told = {"version": version, "files": digests, "former": former.get("version")}
            self._point(name, told)
            if former.get("former"):
                with suppress(FileNotFoundError):  # whoever put at the same time has removed it
                    self._files.delete_dir(f"{name}/{former['former']}")

    def fetch(self, name: str, folder: Path) -> bool:
        """Make ``folder``, which must not exist, of the set's files; return whether there is one.

        Raises:
            StoreFault: the store cannot be read, or a file is not what was put.
        """
        with self._told():
            current = self._current(name)
            if not current:
                return False
            part = folder.with_name(f".{folder.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            for relative, digest in current["files"].items():
                place = f"{name}/{current['version']}/{relative}"
                if self._read(place, part / relative) != digest:
                    raise StoreFault(
                        f"{self._address}/{place}: is not what was put. "
                        f"Remove {name}/{CURRENT} there and run again."
                    )
            part.rename(folder)
            return True

    def holds(self, name: str, folder: Path) -> bool:
        """Return whether the set's files are those of a folder.

        Raises:
            StoreFault: the store cannot be read.
        """
        with self._told():
            kept = self._current(name).get("files")
        here = {
            relative: hashlib.sha256(file.read_bytes()).hexdigest()
            for relative, file in _files(folder).items()
        }
        return bool(kept == here)

    def _current(self, name: str) -> Mapping[str, Any]:
        """Return what holds for a set, checked; empty if it was never put."""
        if not _NAME.fullmatch(name):
            raise StoreFault(f"{name!r}: no name of a set in the table store.")
        try:
            with self._files.open_input_stream(f"{name}/{CURRENT}") as stream:
                text = stream.read(MAX_CURRENT_BYTES)
        except FileNotFoundError:
            return {}
        try:
            told = json.loads(text)
            names = [PurePosixPath(file) for file in told["files"]]
            versions = [told["version"], *filter(None, [told["former"]])]
            is_good = all(re.fullmatch("[0-9a-f]{32}", version) for version in versions)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            is_good, names = False, []
        if not is_good or any(path.is_absolute() or ".." in path.parts for path in names):
            raise StoreFault(f"{self._address}/{name}/{CURRENT}: damaged. Remove it and run again.")
        return dict(told)

    def _point(self, name: str, told: Mapping[str, Any]) -> None:
        """Write what holds for a set, at once: a folder's files are not replaced by writing."""
        part = f"{name}/.{told['version']}.part"
        with self._files.open_output_stream(part) as target:
            target.write(json.dumps(told, indent=1).encode())
        self._files.move(part, f"{name}/{CURRENT}")

    def _write(self, file: Path, place: str) -> str:
        with file.open("rb") as source, self._files.open_output_stream(place) as target:
            return _copy(source, target)

    def _read(self, place: str, file: Path) -> str:
        file.parent.mkdir(parents=True, exist_ok=True)
        with self._files.open_input_stream(place) as source, file.open("wb") as target:
            return _copy(source, target)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell what the file system raises as a fault of the store."""
        try:
            yield
        except OSError as error:
            raise StoreFault(
                f"ROUNDTABLE_STORE {self._address}: {error}. Check that it exists, and the AWS_* "
                "variables where it is S3."
            ) from error


def _file_system(address: str) -> fs.FileSystem:
    if "://" not in address:
        return fs.SubTreeFileSystem(str(Path(address).absolute()), fs.LocalFileSystem())
    found = _S3.fullmatch(address)
    if found is None:
        # What was given may hold a password and is not repeated.
        raise StoreFault(
            "ROUNDTABLE_STORE is neither a folder nor of the form s3://bucket/prefix. Credentials "
            "go into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    return fs.SubTreeFileSystem(found["place"], _s3())


def _s3() -> fs.FileSystem:
    """Return S3, or the service in its place that ``AWS_ENDPOINT_URL`` names.

    pyarrow reads the other variables by itself, but not this one.
    """
    # Delayed, a small file costs one request, else three.
    options = {"allow_delayed_open": True}
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint:
        return fs.S3FileSystem(**options)
    scheme, _, host = endpoint.rpartition("://")
    address = {"scheme": scheme or "https", "endpoint_override": host.rstrip("/")}
    return fs.S3FileSystem(**address, **options)


def _files(folder: Path) -> dict[str, Path]:
    """Return a folder's files by their names in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {file.relative_to(folder).as_posix(): file for file in files}


def _copy(source: Any, target: Any) -> str:
    """Copy a stream; return the SHA-256 of what it held."""
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK_BYTES):
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()
