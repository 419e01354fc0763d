"""Sites that the report's tests open: from the bundled figures, and from hostile names."""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl
import pytest

from pipeline.report.reading import Published
from pipeline.report.site import site_texts, write_files
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_database
from tests.conftest import models_over
from tests.models.literal import TRAINING, result, tables

HOSTILE = "<script>alert(1)</script>\"'`&amp;\u202egnp.exe\u200f"
"""A name that would run, end an attribute, and turn the reading direction around."""

SHOWN = "<script>alert(1)</script>\"'`&amp;\\u202egnp.exe\\u200f"


@dataclass(frozen=True)
class Site:
    """A site on disk."""

    folder: Path

    def address(self, name: str) -> str:
        return (self.folder / f"{name}.html").as_uri()

    @property
    def pages(self) -> list[str]:
        return sorted(file.stem for file in self.folder.glob("*.html"))


def shared_site(factory: pytest.TempPathFactory, name: str, warehouse: Path | None) -> Site:
    """Write a site once for all workers of a test run."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / name
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "results.js").exists():
            connection = open_database(Warehouse(warehouse)) if warehouse else hostile_tables()
            with connection:
                write_files(site_texts(Published(connection)), folder)
    return Site(folder)


def hostile_tables() -> duckdb.DuckDBPyConnection:
    """Return all tables over results whose names and addresses mean harm."""
    names = {
        "submitter": HOSTILE,
        "system_name": HOSTILE,
        "accelerator": f"A {HOSTILE}",
        "accelerator_vendor": HOSTILE,
        "benchmark": HOSTILE,
        "source_url": "javascript:alert(1)",
    }
    others = {"accelerator": "B1", "accelerator_vendor": "Boreal", "submitter": "Boreal"}
    results = [
        result("a", "5.1", 80, **names),
        result("b", "6.0", 100, **names),
        result("c", "6.0", 90, **names | others),
        result("d", "6.0", 200, **names, accelerators=16, nodes=2),
        result("e", "6.0", 70, **others, source_url="https://github.com.evil.example/x"),
        result("f", "5.1", 7, **names | TRAINING, metric="time_to_train"),
        result("g", "6.0", 5, **names | TRAINING, metric="time_to_train"),
    ]
    warning = {"round_key": "inference-6.0", "file": HOSTILE, "source_row": 1, "field": "platform"}
    warnings = pl.DataFrame([warning | {"problem": HOSTILE, "value_as_published": HOSTILE}])
    return models_over(**tables(results), warnings=warnings).all_tables()
