"""Pads a training archive to the size it has with full logs, for measuring how fast it is read.

The archives at hand keep only the lines that a score needs. Real logs hold many more: other
``:::MLLOG`` records, and what the framework prints. Both are put back into each run's log, after
its run_start, in stretches as they alternate in real logs. The same arguments give the same bytes.

    python bench/pad_training.py SOURCE.tar.gz TARGET.tar.gz --megabytes 370
"""

import argparse
import gzip
import io
import random
import tarfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

SEED = 20251112
RECORDS_SHARE = 0.5
"""How much of the padding, by bytes, is ``:::MLLOG`` lines."""

STRETCH = 2000
"""Bytes of one kind of line before the other one follows."""


def record_line(chance: random.Random, time_ms: int) -> str:
    """Return a record such as training code logs at each step."""
    samples = chance.randrange(10**6)
    value = chance.choice(
        (
            f'{{"train_loss": {chance.random() * 9}, "step_time": {chance.random()}}}',
            f'{{"throughput": {chance.random() * 1e4}}}',
            f"{chance.random()}",
            f"{samples}",
            "null",
        )
    )
    key = chance.choice(("tracked_stats", "train_loss", "block_start", "block_stop"))
    return (
        f':::MLLOG {{"namespace": "", "time_ms": {time_ms}, "event_type": "POINT_IN_TIME", '
        f'"key": "{key}", "value": {value}, "metadata": {{"file": '
        f'"/workspace/llm/custom_callbacks.py", "lineno": {chance.randrange(900)}, '
        f'"samples_count": {samples}}}}}\n'
    )


def text_line(chance: random.Random) -> str:
    """Return a line such as frameworks print."""
    node, rank, step = chance.randrange(64), chance.randrange(8), chance.randrange(10**5)
    return chance.choice(
        (
            f"node{node}:{step}:{step + rank} [{rank}] NCCL INFO Channel {rank:02d}/0 : {rank}[0] "
            f"-> {node}[0] via P2P/CUMEM/read\n",
            f"{rank}: Epoch 0: {step / 1000:.0f}%| {step}/99999 [{chance.random() * 60:.2f}s/it, "
            f"reduced_train_loss={chance.random():.3f}, lr={chance.random() / 1e4:.3e}]\n",
            f"[rank{rank}]: UserWarning: the buffer of {step} bytes is not contiguous\n",
            "=" * chance.randrange(20, 90) + "\n",
        )
    )


def padding(chance: random.Random, size: int) -> bytes:
    """Return about as many bytes of lines, of both kinds in turn."""
    parts: list[str] = []
    written, time_ms, is_record = 0, 1_760_000_000_000, True
    while written < size:
        share = RECORDS_SHARE if is_record else 1 - RECORDS_SHARE
        end = min(size, written + int(2 * STRETCH * share))
        while written < end:
            time_ms += chance.randrange(500)
            line = record_line(chance, time_ms) if is_record else text_line(chance)
            parts.append(line)
            written += len(line)
        is_record = not is_record
    return "".join(parts).encode()


def padded(content: bytes, lines: bytes) -> bytes:
    """Return a log with the lines after its run_start, or at its end if it has none."""
    found = content.find(b'"run_start"')
    end = content.find(b"\n", found) + 1 if found >= 0 else 0
    cut = end or len(content)
    return content[:cut] + lines + content[cut:]


def is_run(path: str) -> bool:
    """Whether a member is the log of a run."""
    parts = path.split("/")
    return len(parts) == 6 and parts[2] == "results" and fnmatch(parts[5], "result_*.txt")


def members(source: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Give the files of an archive in order."""
    with tarfile.open(source, "r:gz") as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is not None:
                yield member, file.read()


def pad(source: Path, target: Path, megabytes: int) -> None:
    """Write the archive again with all run logs padded alike, so that its files weigh as much."""
    chance = random.Random(SEED)
    sizes = [(is_run(member.name), len(content)) for member, content in members(source)]
    runs = sum(of_run for of_run, _ in sizes)
    missing = megabytes * 10**6 - sum(size for _, size in sizes)
    each = max(0, missing // max(runs, 1))
    # The header would hold the name and the time otherwise, and the bytes would differ.
    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        for member, content in members(source):
            if is_run(member.name):
                content = padded(content, padding(chance, each))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def main() -> None:
    """Read the command line and pad."""
    parser = argparse.ArgumentParser(description="Pad a training archive to its full size.")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--megabytes", type=int, default=370)
    arguments = parser.parse_args()
    pad(arguments.source, arguments.target, arguments.megabytes)


if __name__ == "__main__":
    main()
