"""Exports the published tables to a folder, as Parquet or CSV, with data package and attribution.

Belongs here: ``roundtable export``.
"""

import shutil
from pathlib import Path

from pipeline.errors import RoundtableError, UnusableCall
from pipeline.export.answers import write_csv
from pipeline.export.attribution import attribution_lines
from pipeline.schema.tables import public_tables
from pipeline.warehouse.datapackage import write_datapackage
from pipeline.warehouse.layout import PARQUET, Warehouse
from pipeline.warehouse.reading import open_database


def export_tables(warehouse: Warehouse, folder: Path, format: str) -> list[Path]:
    """Write every public table to ``<folder>/<table>.<format>``; return the files.

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
            told = folder / "ATTRIBUTION.txt"
            told.write_text("\n".join(attribution_lines()) + "\n", encoding="utf-8")
            return [*files.values(), write_datapackage(folder, files), told]
        except OSError as error:
            raise RoundtableError(f"{folder}: cannot be written ({error.strerror}).") from error
