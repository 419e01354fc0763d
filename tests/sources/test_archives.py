import gzip
import io
import tarfile
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import FileFault
from pipeline.sources import archives
from pipeline.sources.archives import Member, Refused, read_members

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOP = f"inference_results_v6.0-{COMMIT}"


def packed(
    *members: tarfile.TarInfo | tuple[str, bytes], format: int = tarfile.PAX_FORMAT
) -> bytes:
    """Return a gzipped tar; a pair is a regular file under the top folder."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=format) as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
            else:
                path, content = member
                info = tarfile.TarInfo(f"{TOP}/{path}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def special(path: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type, info.linkname = kind, link
    return info


def read(archive: bytes, wanted: str = "") -> list[Member | Refused]:
    """Read the members whose path contains ``wanted``."""
    return list(read_members(io.BytesIO(archive), "a.tar.gz", lambda path: wanted in path))


def contents(archive: bytes, wanted: str = "") -> dict[str, bytes]:
    return {m.path: m.content for m in read(archive, wanted) if isinstance(m, Member)}


def refused(archive: bytes, wanted: str = "") -> dict[str, str]:
    return {m.path: m.problem for m in read(archive, wanted) if isinstance(m, Refused)}


GOOD = packed(("a/one.txt", b"one"), ("a/two.txt", b"2" * 5000), ("b/three.txt", b""))


def test_wanted_members_come_without_the_top_folder_and_with_its_commit() -> None:
    assert read(GOOD, "a/") == [
        Member("a/one.txt", sha256(b"one").hexdigest(), b"one", COMMIT),
        Member("a/two.txt", sha256(b"2" * 5000).hexdigest(), b"2" * 5000, COMMIT),
    ]
    assert contents(GOOD, "b/") == {"b/three.txt": b""}


def test_a_top_folder_without_a_commit_gives_none() -> None:
    info = tarfile.TarInfo("results/a.txt")
    assert read(packed(info)) == [Member("a.txt", sha256(b"").hexdigest(), b"", None)]


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("path", ["d/" * 60 + "end.txt", "d" * 90 + "/" + "f" * 90])
def test_long_paths_are_read_in_every_form_of_tar(path: str, format: int) -> None:
    assert contents(packed((path, b"x"), ("b", b"y"), format=format)) == {path: b"x", "b": b"y"}


def test_paths_in_other_letters_are_read() -> None:
    assert contents(packed(("é/‑.txt", b"x"))) == {"é/‑.txt": b"x"}


@pytest.mark.parametrize(
    ("member", "path", "problem"),
    [
        (tarfile.TarInfo("/etc/passwd"), "etc/passwd", "a path that leaves its folder"),
        (tarfile.TarInfo(f"{TOP}/../x"), "../x", "a path that leaves its folder"),
        (tarfile.TarInfo("other/x"), "x", "outside of the archive's top folder"),
        (special(f"{TOP}/l", tarfile.SYMTYPE, "/etc/passwd"), "l", "a symbolic link"),
        (special(f"{TOP}/l", tarfile.LNKTYPE, f"{TOP}/a"), "l", "a hard link"),
        (special(f"{TOP}/d", tarfile.CHRTYPE), "d", "a device"),
        (special(f"{TOP}/d", tarfile.BLKTYPE), "d", "a device"),
        (special(f"{TOP}/p", tarfile.FIFOTYPE), "p", "a named pipe"),
        (special(f"{TOP}/s", b"S"), "s", "a member of type b'S'"),
    ],
)
def test_what_is_no_file_of_the_tree_is_refused_by_name_and_the_rest_is_read(
    member: tarfile.TarInfo, path: str, problem: str
) -> None:
    archive = packed(("a", b"1"), member, ("b", b"2"))
    assert refused(archive, "no such path") == {path: problem}
    assert contents(archive) == {"a": b"1", "b": b"2"}


def test_the_second_member_of_a_path_is_refused() -> None:
    archive = packed(("a", b"1"), ("a", b"2"), ("b", b"3"))
    assert contents(archive) == {"a": b"1", "b": b"3"}
    assert refused(archive) == {"a": "stands twice in the archive"}
    assert refused(archive, "b") == {}


def test_a_member_too_large_is_refused_if_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 100)
    archive = packed(("big", b"1" * 101), ("a", b"2" * 100))
    assert list(refused(archive)) == ["big"]
    assert contents(archive) == {"a": b"2" * 100}
    assert refused(archive, "a") == {}


@pytest.mark.parametrize("cut", [0, 1, 15, 60, len(GOOD) // 2, len(GOOD) - 9, len(GOOD) - 1])
def test_an_archive_cut_anywhere_is_refused(cut: int) -> None:
    with pytest.raises(FileFault, match=r"^a\.tar\.gz: the archive is cut"):
        read(GOOD[:cut])


def test_a_tar_cut_inside_a_whole_gzip_is_refused() -> None:
    for size in (512, 700, 1024, 2000):
        with pytest.raises(FileFault, match="the archive is cut"):
            read(gzip.compress(gzip.decompress(GOOD)[:size]))


@pytest.mark.parametrize(
    "archive",
    [b"<html>not here</html>", gzip.compress(b"<html>" * 200, mtime=0), GOOD[:-8] + b"\0" * 8],
    ids=["a page", "a packed page", "a wrong checksum"],
)
def test_what_is_no_archive_or_a_damaged_one_is_refused(archive: bytes) -> None:
    with pytest.raises(FileFault, match="damaged"):
        read(archive)


def test_an_archive_without_members_is_refused() -> None:
    with pytest.raises(FileFault, match="holds no files"):
        read(packed())


def test_a_decompression_bomb_is_refused_before_it_is_inflated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "RATIO_COUNTS_FROM", 2**20)
    bomb = packed(("zeros", b"\0" * 2**23))
    for wanted in ("", "not this"):
        with pytest.raises(FileFault, match=r"a\.tar\.gz: inflates to \d{7} bytes or more"):
            read(bomb, wanted)
    monkeypatch.setattr(archives, "RATIO_COUNTS_FROM", 2**26)
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 2**22)
    with pytest.raises(FileFault, match="inflates to 4"):
        read(bomb)


def test_members_beyond_number_are_refused_before_all_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 10)
    wanted = [(f"{number}.txt", b"") for number in range(50)]
    outside = [tarfile.TarInfo(f"{TOP}/../{number}") for number in range(50)]
    for members in (wanted, outside):
        with pytest.raises(FileFault, match="more than 10 files of results"):
            read(packed(*members))
        assert len(read(packed(*members[:10]))) == 10
    assert read(packed(*wanted), "no such path") == []


def test_a_header_of_any_length_is_not_read_into_memory() -> None:
    with pytest.raises(FileFault, match="a header is too long"):
        read(packed(("p" * 70_000, b"")))


@pytest.mark.parametrize("record", [b"99 path=x\n", b"0 path=x\n", b"path=x\n", b"30 size=-1\n"])
def test_a_damaged_extended_header_is_refused(record: bytes) -> None:
    info = special("x", tarfile.XHDTYPE)
    info.size = len(record)
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        tar.addfile(info, io.BytesIO(record))
        tar.addfile(tarfile.TarInfo(f"{TOP}/a"))
    with pytest.raises(FileFault, match="a header is damaged"):
        read(stream.getvalue())


@given(st.binary(max_size=2000))
def test_no_bytes_raise_anything_but_a_fault_that_names_the_archive(content: bytes) -> None:
    for archive in (content, gzip.compress(content)):
        with pytest.raises(FileFault, match=r"^a\.tar\.gz: "):
            read(archive)


@given(place=st.integers(10, len(GOOD) - 1), flip=st.integers(1, 255))
def test_no_damaged_byte_changes_a_member_unseen(place: int, flip: int) -> None:
    damaged = bytearray(GOOD)
    damaged[place] ^= flip
    with pytest.raises(FileFault):
        read(bytes(damaged))


def test_a_first_member_that_is_refused_names_no_top_folder() -> None:
    for path in ("/etc/passwd", "../x", "/"):
        assert contents(packed(tarfile.TarInfo(path), ("a", b"1"))) == {"a": b"1"}


FIELDS = {"path": (0, 100), "size": (124, 12), "kind": (156, 1), "magic": (257, 8)}
"""Where a header's fields stand, and how long they are."""


@given(
    field=st.sampled_from(sorted(FIELDS)) | st.just("prefix"),
    value=st.binary(max_size=12)
    | st.sampled_from([b"../x", b"/x", b"77777777777", b"L", b"x", b"-7"]),
)
def test_a_header_of_any_fields_is_a_fault_or_refused_or_read(field: str, value: bytes) -> None:
    start, length = {**FIELDS, "prefix": (345, 155)}[field]
    tar = bytearray(gzip.decompress(GOOD))
    header = tar[:512]
    header[start : start + length] = value.ljust(length, b"\0")[:length]
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    tar[:512] = header
    try:
        found = read(gzip.compress(bytes(tar), compresslevel=1))
    except FileFault as fault:
        assert fault.file == "a.tar.gz"
        return
    paths = [item.path for item in found]
    assert {"a/two.txt", "b/three.txt"} <= {*paths} or paths == []
    leaves = [m.path for m in found if isinstance(m, Member) and ".." in m.path.split("/")]
    assert leaves == []
