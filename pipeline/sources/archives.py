"""A submission archive, streamed member by member from one gzipped tar file.

Belongs here: the archive's form and what is refused of it. Nothing is unpacked to disk, and no
more than one member is in memory at a time. Where archives are found or fetched stands in the
source's own module; what a member's path and content mean is read by ``normalise.submissions``.

``tarfile`` is not used: it keeps every header for good, reads an extended header of any length
into memory, and takes six times as long over the hundred thousand small files of eight rounds.

What is wrong with one member refuses that member, by name, and the others are read on: a path
that leaves its folder, a link or a device (none is ever written to disk), a second member of the
same path, a member too large. What puts every byte in doubt refuses the whole archive: a cut or
damaged stream, one that inflates without end, or members beyond number.
"""

import hashlib
import io
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from pipeline.errors import FileFault

MAX_MEMBER_BYTES = 100 * 2**20
"""Largest member read: GitHub takes no file over 100 MiB into a repository."""

MAX_UNPACKED_BYTES = 128 * 2**30
"""Largest archive read on, unpacked: real ones reach 2 GB packed, at ratios up to 53."""

MAX_RATIO = 250
"""Most bytes out of one: rounds 0.5 to 6.0 reach 53, deflate itself a thousand."""

MAX_MEMBERS = 200_000
"""Most members read or refused: Inference 3.0 has 42,430, and each costs some kilobytes."""

RATIO_COUNTS_FROM = 64 * 2**20
"""Unpacked bytes below which no ratio is too large: that much may be skipped at no cost."""

MAX_EXTENDED_HEADER_BYTES = 64 * 2**10
"""Longest extended header: it holds a path, and GitHub's own have a few hundred bytes."""

_BLOCK = 512
_CHUNK = 2**16
_COMMIT = re.compile(r".+-([0-9a-f]{40})")
_REGULAR, _DIRECTORY = (b"0", b"\0"), b"5"
_PAX, _PAX_GLOBAL, _GNU_LONG_PATH = b"x", b"g", b"L"
SYMBOLIC_LINK = "a symbolic link"
_IRREGULAR = {
    b"1": "a hard link",
    b"2": SYMBOLIC_LINK,
    b"3": "a device",
    b"4": "a device",
    b"6": "a named pipe",
}
_REFETCH = "Fetch it again."


@dataclass(frozen=True, slots=True)
class Member:
    """A file of the archive; ``path`` is without the top folder, whose name ends in ``commit``."""

    path: str
    sha256: str
    content: bytes
    commit: str | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A member that was not read, and why."""

    path: str
    problem: str


class _Entry(NamedTuple):
    """A header: the member's path as written, its type flag, and the bytes that follow it."""

    path: str
    kind: bytes
    size: int


def read_members(
    stream: BinaryIO, name: str, wanted: Callable[[str], bool]
) -> Iterator[Member | Refused]:
    """Give the members whose path (without the top folder) is wanted, in the archive's order.

    ``stream`` is read once, forward; ``name`` is the archive's name, for messages. Unwanted
    members are skipped unread. A refused member is given whether it is wanted or not, except that
    only wanted ones are compared with each other and measured.

    Raises:
        FileFault: the archive is cut, damaged, holds no files or too many, or inflates without
            end. It may come after members were given: until the last one is read, none can be
            relied on.
    """
    unpacked = _Unpacked(stream, name)
    seen: set[str] = set()
    refused = 0
    top: str | None = None
    while (entry := _next_entry(unpacked)) is not None:
        if len(seen) + refused > MAX_MEMBERS:
            raise unpacked.fault(f"more than {MAX_MEMBERS} files of results")
        first, _, path = entry.path.rstrip("/").partition("/")
        problem = _misplaced(entry, top) or _IRREGULAR.get(entry.kind)
        if problem is None:
            top = first
        if problem is None and entry.kind in _REGULAR and wanted(path):
            problem = _unusable(path, entry.size, seen)
            if problem is None:
                content = unpacked.read(entry.size)
                unpacked.skip(-entry.size % _BLOCK)
                match = _COMMIT.fullmatch(first)
                digest = hashlib.sha256(content).hexdigest()
                yield Member(path, digest, content, match[1] if match else None)
                continue
        elif problem is None and entry.kind not in (*_REGULAR, _DIRECTORY):
            problem = f"a member of type {entry.kind!r}"
        unpacked.skip(entry.size + -entry.size % _BLOCK)
        if problem is not None:
            refused += 1
            yield Refused(path or entry.path, problem)
    if top is None and not refused:
        raise FileFault(name, "the archive holds no files", _REFETCH)
    unpacked.finish()


def _misplaced(entry: _Entry, top: str | None) -> str | None:
    parts = entry.path.rstrip("/").split("/")
    if parts[0] == "" or ".." in parts:
        return "a path that leaves its folder"
    return None if top in (None, parts[0]) else "outside of the archive's top folder"


def _unusable(path: str, size: int, seen: set[str]) -> str | None:
    if path in seen:
        return "stands twice in the archive"
    seen.add(path)
    return f"{size} bytes, more than a file on GitHub" if size > MAX_MEMBER_BYTES else None


def _next_entry(unpacked: "_Unpacked") -> _Entry | None:
    """Return the next member's header, its extended headers applied; None at the end."""
    extended: dict[str, str] = {}
    while True:
        block = unpacked.read(_BLOCK)
        if block.count(0) == _BLOCK:
            return None
        kind, size = block[156:157], _plain_size(block, unpacked)
        if kind not in (_PAX, _PAX_GLOBAL, _GNU_LONG_PATH):
            path = extended["path"] if "path" in extended else _plain_path(block)
            if kind in _IRREGULAR:
                size = 0
            elif "size" in extended:
                size = _extended_size(extended["size"], unpacked)
            return _Entry(path, kind, size)
        if size > MAX_EXTENDED_HEADER_BYTES:
            raise unpacked.fault("a header is too long")
        content = unpacked.read(size)
        unpacked.skip(-size % _BLOCK)
        if kind == _PAX:
            extended |= _pax_fields(content, unpacked)
        elif kind == _GNU_LONG_PATH:
            extended["path"] = _text(content)


def _plain_size(block: bytes, unpacked: "_Unpacked") -> int:
    """Return the size that a header block of POSIX tar gives, once its checksum is proven."""
    try:
        size = int(block[124:136].strip(b"\0 ") or b"0", 8)
        checksum = int(block[148:156].strip(b"\0 "), 8)
    except ValueError as error:
        raise unpacked.fault("a header is damaged") from error
    # The checksum's own field counts as blanks.
    total = _byte_sum(block) - sum(block[148:156]) + 8 * ord(" ")
    if total != checksum or size < 0:
        raise unpacked.fault("a header is damaged")
    return size


def _byte_sum(block: bytes) -> int:
    """Return the sum of a block's bytes, in a tenth of the time that ``sum`` takes.

    Adler-32's lower half is one more than the sum modulo 65521, which half a block cannot reach.
    """
    half = _BLOCK // 2
    return (zlib.adler32(block[:half]) & 0xFFFF) + (zlib.adler32(block[half:]) & 0xFFFF) - 2


def _plain_path(block: bytes) -> str:
    path, prefix = _text(block[:100]), _text(block[345:500])
    is_posix = block[257:263] == b"ustar\0"
    return f"{prefix}/{path}" if prefix and is_posix else path


def _pax_fields(content: bytes, unpacked: "_Unpacked") -> dict[str, str]:
    """Read the records of an extended header, each ``<length> <key>=<value>`` and a newline."""
    fields: dict[str, str] = {}
    start = 0
    while start < len(content):
        digits = content[start : start + 8].partition(b" ")[0]
        length = int(digits) if digits.isdigit() else 0
        if not len(digits) + 2 <= length <= len(content) - start:
            raise unpacked.fault("a header is damaged")
        key, _, value = content[start + len(digits) + 1 : start + length - 1].partition(b"=")
        fields[_text(key)] = _text(value)
        start += length
    return fields


def _extended_size(digits: str, unpacked: "_Unpacked") -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise unpacked.fault("a header is damaged")
    return int(digits)


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")


class Hashed(io.RawIOBase):
    """A stream that knows how many bytes were read from it, and their SHA-256."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self.bytes = 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes, and return how many they are."""
        content = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        self._digest.update(content)
        self.bytes += len(content)
        return len(content)

    @property
    def sha256(self) -> str:
        """Return the digest of what was read so far."""
        return self._digest.hexdigest()


class _Unpacked:
    """The archive's bytes, inflated as they are asked for, and counted on both sides."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._inflater = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self._buffer = b""
        self._position = 0
        self._bytes_in = 0
        self._bytes_out = 0

    def fault(self, problem: str) -> FileFault:
        """Return the fault of the whole archive, with the place that was reached."""
        return FileFault(self._name, f"{problem}, near byte {self._bytes_in}", _REFETCH)

    def read(self, size: int) -> bytes:
        """Return exactly the next ``size`` bytes."""
        end = self._position + size
        if end <= len(self._buffer):
            content = self._buffer[self._position : end]
            self._position = end
            return content
        parts = []
        while size > 0:
            part = self._available()[self._position : self._position + size]
            self._position += len(part)
            size -= len(part)
            parts.append(part)
        return b"".join(parts)

    def skip(self, size: int) -> None:
        """Pass over the next ``size`` bytes."""
        while size > 0:
            step = min(size, len(self._available()) - self._position)
            self._position += step
            size -= step

    def finish(self) -> None:
        """Read to the end, which proves that nothing was cut: gzip ends in length and checksum."""
        while not self._inflater.eof:
            self._position = len(self._buffer)
            self._inflate()

    def _available(self) -> bytes:
        """Return the buffer, with at least one byte after the position."""
        while self._position == len(self._buffer):
            if self._inflater.eof:
                raise self.fault("the archive is cut")
            self._inflate()
        return self._buffer

    def _inflate(self) -> None:
        packed = self._inflater.unconsumed_tail
        if not packed:
            packed = self._stream.read(_CHUNK)
            self._bytes_in += len(packed)
            if not packed:
                raise self.fault("the archive is cut")
        try:
            self._buffer = self._inflater.decompress(packed, 4 * _CHUNK)
        except zlib.error as error:
            raise self.fault("not a gzip archive, or a damaged one") from error
        self._position = 0
        self._bytes_out += len(self._buffer)
        is_bomb = self._bytes_out > max(RATIO_COUNTS_FROM, MAX_RATIO * self._bytes_in)
        if is_bomb or self._bytes_out > MAX_UNPACKED_BYTES:
            raise self.fault(f"inflates to {self._bytes_out} bytes or more")
