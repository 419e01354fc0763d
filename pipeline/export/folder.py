"""Exports the published tables to a folder, as Parquet or CSV, with what describes them.

Belongs here: ``roundtable export``, and what is enclosed beside tables and descriptions: whose
results these are, how to cite them, a README and examples.
"""

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from string import Template

import duckdb

from pipeline.errors import RoundtableError, UnusableCall
from pipeline.export.answers import write_csv
from pipeline.export.attribution import attribution_lines
from pipeline.export.croissant import write_croissant
from pipeline.schema.tables import public_tables
from pipeline.settings import citation_file
from pipeline.warehouse.datapackage import ATTRIBUTION, LICENCE, write_datapackage
from pipeline.warehouse.layout import PARQUET, Warehouse
from pipeline.warehouse.reading import open_database

_ENCLOSED = Path(__file__).with_name("enclosed")
_PLACES = {
    "README.md": "README.md",
    "queries.sql": "examples/queries.sql",
    "with_polars.py": "examples/with_polars.py",
    "with_pandas.py": "examples/with_pandas.py",
}


def export_tables(warehouse: Warehouse, folder: Path, format: str) -> list[Path]:
    """Write every public table to ``<folder>/<table>.<format>``; return all files.

    Raises:
        RoundtableError: there is no warehouse yet, or the folder cannot be written.
        UnusableCall: the folder is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise UnusableCall(f"{folder}: is a file. Give a folder to write to.")
    release = warehouse.release
    with open_database(warehouse) as connection:
        files = {name: folder / f"{name}.{format}" for name in public_tables()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, file in files.items():
                part = file.with_name(f".{file.name}.part")
                if format == "csv":
                    with part.open("w", encoding="utf-8", newline="") as out:
                        write_csv(connection.table(f"main.{name}"), out)
                elif release is not None:
                    shutil.copyfile(release / PARQUET / file.name, part)
                part.replace(file)
            return [
                *files.values(),
                write_datapackage(folder, files),
                write_croissant(folder, files, _latest(connection)),
                *_enclose(connection, folder, format),
            ]
        except OSError as error:
            raise RoundtableError(f"{folder}: cannot be written ({error.strerror}).") from error


def _latest(connection: duckdb.DuckDBPyConnection) -> date | None:
    latest: date | None = connection.execute("select max(released_on) from results").fetchall()[0][
        0
    ]
    return latest


def _enclose(connection: duckdb.DuckDBPyConnection, folder: Path, format: str) -> Iterator[Path]:
    """Write attribution, citation, README and examples; yield the files."""
    told = folder / "ATTRIBUTION.txt"
    told.write_text("\n".join(attribution_lines()) + "\n", encoding="utf-8")
    yield told
    yield Path(shutil.copyfile(citation_file(), folder / "CITATION.cff"))
    words = {
        "format": format,
        "tables": "\n".join(_table_lines(connection)),
        "attribution": ATTRIBUTION,
        "licence": LICENCE["title"],
    }
    for name, place in _PLACES.items():
        template = Template((_ENCLOSED / f"{name}.template").read_text(encoding="utf-8"))
        file = folder / place
        file.parent.mkdir(exist_ok=True)
        file.write_text(template.substitute(words), encoding="utf-8")
        yield file


def _table_lines(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    for name, table in public_tables().items():
        rows = connection.execute(f"select count(*) from main.{name}").fetchall()[0][0]
        yield f"| `{name}` | {rows:,} | {table.meaning} |"
