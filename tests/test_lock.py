"""The lock file pins all that is asked for, by hash, and says no address."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def test_every_requirement_is_pinned_to_a_version_that_fits_and_has_a_hash() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lists = (
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    )
    asked = [Requirement(text) for each in lists for text in each if isinstance(text, str)]
    pins = re.findall(r"^(\S+)==(\S+)(?: ;.*)? \\\n    --hash=sha256:[0-9a-f]{64}", _lock(), re.M)
    missing = [
        str(wanted)
        for wanted in asked
        if not any(
            _plain(name) == _plain(wanted.name) and version in wanted.specifier
            for name, version in pins
        )
    ]
    assert missing == [], "run: make lock"
    assert len(pins) == len(re.findall("^[^ \n]", _lock(), re.M))


def test_no_address_stands_in_the_lock_file() -> None:
    assert re.search("://|index|find-links|@", _lock()) is None


def _lock() -> str:
    return (ROOT / "requirements.lock").read_text(encoding="utf-8")


def _plain(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()
