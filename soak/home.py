"""A warehouse folder under trial: the command line over it, and what must be true of it.

Belongs here: running commands as processes, and looking at a folder from outside, with no help of
the code that wrote it but the names of the public tables.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from pipeline.schema.tables import public_tables

REPOSITORY = Path(__file__).parents[1]
LONGEST_SECONDS = 900

DECLARED = {
    *("roundtable.duckdb", "parquet", "current", "releases", "snapshots", "derived", "build"),
    *("builds.jsonl", "last_failure.json", ".lock"),
}
"""All that may lie in a warehouse folder; see ``warehouse/README.md``."""

_ROWS = "select count(*), coalesce(bit_xor(hash(t)), 0) from {} as t"


@dataclass(frozen=True)
class Finished:
    """A finished command."""

    code: int
    out: str
    err: str


class Home:
    """A warehouse folder, and ``roundtable`` over it without any network but what is given."""

    def __init__(self, path: Path, prefix: Sequence[str] = (), **environment: str) -> None:
        """Take the folder, what to run commands under, and variables to set."""
        self.path = path
        self._prefix = list(prefix)
        secrets = ("GITHUB_TOKEN", "ROUNDTABLE_WEBHOOK")
        nowhere = {name: "http://127.0.0.1:9" for name in ADDRESSES}
        self._environment = {
            **{key: value for key, value in os.environ.items() if key not in secrets},
            **nowhere,
            **environment,
            "ROUNDTABLE_HOME": str(path),
        }

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start a command as the leader of a process group of its own."""
        return subprocess.Popen(
            [*self._prefix, sys.executable, "-m", "pipeline.cli", *map(str, arguments)],
            env=self._environment,
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __call__(self, *arguments: str | Path) -> Finished:
        """Run a command to its end."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            err += f"\nstill running after {LONGEST_SECONDS} s"
        return Finished(process.returncode, out, err)

    def copy(self, path: Path, prefix: Sequence[str] = (), **environment: str) -> "Home":
        """Return a copy at another path."""
        shutil.copytree(self.path, path, symlinks=True, dirs_exist_ok=True)
        return Home(path, prefix, **environment)

    # -- what is there ------------------------------------------------------------------------

    def contents(self, but: Sequence[str] = ()) -> str:
        """Return a digest of all public tables, the same in the database and in Parquet.

        Raises:
            ValueError: there is no release, or its two forms hold different rows.
        """
        current = self.path / "current"
        if not current.exists():
            raise ValueError("there is no release")
        return _contents(current.resolve(), but)

    def parquet(self, but: Sequence[str] = ()) -> dict[str, str]:
        """Return the SHA-256 of each published Parquet file, by table."""
        return {
            file.stem: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted((self.path / "parquet").glob("*.parquet"))
            if file.stem not in but
        }

    def unlike(self, *known: str, but: Sequence[str] = ()) -> list[str]:
        """Return what is wrong unless a query answers and all is as in a release that is known."""
        asked = self("query", "select count(*) from results")
        if asked.code != 0:
            return [f"query exits with {asked.code}: {asked.err.strip()}"]
        try:
            found = self.contents(but)
        except (ValueError, duckdb.Error) as error:
            return [str(error)]
        return [] if found in known else ["the tables are those of no release that was made"]

    def half_made(self) -> list[str]:
        """Return what lies here half-made: a release, a link, a line of the journal."""
        names = {path.name for path in self.path.iterdir()}
        wrong = [
            f"{name} is not declared"
            for name in sorted(names - DECLARED)
            if not re.fullmatch(r"\..+\.(new|part)", name)  # see ``leftovers``
        ]
        for release in sorted((self.path / "releases").glob("*")):
            try:
                json.loads((release / "stamp.json").read_text(encoding="utf-8"))
                _contents(release, ())
            except (OSError, ValueError, duckdb.Error) as error:
                wrong.append(f"releases/{release.name}: {error}")
        for name, target in {
            "roundtable.duckdb": "current/roundtable.duckdb",
            "parquet": "current/parquet",
        }.items():
            link = self.path / name
            if link.is_symlink() and str(link.readlink()) != target:
                wrong.append(f"{name} leads to {link.readlink()}")
        wrong += [f"a line of builds.jsonl is cut: {line[:80]}" for line in self._cut_lines()]
        return wrong

    def leftovers(self) -> list[str]:
        """Return the parts of files that nobody will finish."""
        build = self.path / "build"
        parts = [path for path in self.path.rglob(".*") if build not in path.parents]
        parts = [path for path in parts if path.name.endswith((".part", ".new"))]
        return [f"left over: {path.relative_to(self.path)}" for path in sorted(parts)]

    def unhealed(
        self, build: Sequence[str | Path], good: Mapping[str, str], but: Sequence[str] = ()
    ) -> list[str]:
        """Build undisturbed; return what is then not as if nothing had ever happened."""
        done = self(*build)
        if done.code != 0:
            return [f"exits with {done.code}: {done.err.strip()[-300:]}"]
        found = self.parquet(but)
        wrong = [f"{name} differs" for name in sorted(good) if found.get(name) != good[name]]
        return [*wrong, *self.half_made(), *self.leftovers()]

    def journal(self) -> dict[str, Any]:
        """Return the last line of ``builds.jsonl``."""
        lines = (self.path / "builds.jsonl").read_text(encoding="utf-8").splitlines()
        line: dict[str, Any] = json.loads(lines[-1])
        return line

    def _cut_lines(self) -> list[str]:
        journal = self.path / "builds.jsonl"
        lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
        return [line for line in lines if not _is_json(line)]


ADDRESSES = ("ROUNDTABLE_GITHUB_API", "ROUNDTABLE_GITHUB_RAW", "ROUNDTABLE_GITHUB_CODELOAD")


def unclear(told: str, *words: str) -> list[str]:
    """Return what a message to the user lacks: itself, plain words, or one of ``words``."""
    wrong = [] if told.strip() else ["nothing is said"]
    if "Traceback" in told or "Unexpected" in told:
        wrong.append(f"an error that nobody foresaw: {told.strip()[-300:]}")
    told_in_short = told.strip()[-500:]
    return wrong + [f"says no {word!r}: {told_in_short}" for word in words if word not in told]


def _contents(release: Path, but: Sequence[str]) -> str:
    digest = hashlib.sha256()
    with (
        duckdb.connect(release / "roundtable.duckdb", read_only=True) as database,
        duckdb.connect() as files,
    ):
        for table in sorted(set(public_tables()) - set(but)):
            parquet = f"read_parquet('{release / 'parquet' / table}.parquet')"
            there = database.execute(_ROWS.format(f"main.{table}")).fetchall()
            if there != files.execute(_ROWS.format(parquet)).fetchall():
                raise ValueError(f"database and Parquet differ in {table}")
            digest.update(f"{table} {there}\n".encode())
    return digest.hexdigest()


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
