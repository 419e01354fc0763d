"""Runs the bench: ``python -m bench FOLDER [PARTS]``.

Belongs here: the command line. Every part that is measured takes its place in ``docs/bench.md``
and ``docs/bench.json``; the others stay there as they were.
"""

import argparse
import tempfile
from pathlib import Path

from bench.measuring import REPOSITORY
from bench.parts import PARTS, Bench
from bench.report import Report


def main() -> None:
    """Read the command line, measure, and write what was found; a missed target is no failure."""
    parser = argparse.ArgumentParser(prog="bench", description="Measure builds, reads and models.")
    parser.add_argument("data", type=Path, help="folder with published/ and submissions/")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"no part {min(unknown)}: there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="bench-", dir=REPOSITORY / "warehouse") as work:
        bench = Bench(arguments.data.resolve(), Path(work))
        for name in arguments.parts or PARTS:
            title, measure = PARTS[name]
            report = Report(name, title)
            measure(bench, report)
            report.write(REPOSITORY / "docs")


if __name__ == "__main__":
    main()
