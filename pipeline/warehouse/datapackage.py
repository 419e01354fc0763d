"""The Frictionless description of a folder of exported tables.

Belongs here: ``datapackage.json``. The tables' meanings come from their declarations.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.schema.tables import Column, Table, public_tables

SOURCE = (
    "Results: MLPerf® benchmarks of MLCommons, retrieved from the mlcommons organisation's results "
    "repositories. Ratios, gains and per-accelerator values are derived metrics, not verified by "
    "MLCommons Association."
)

LEGEND = (
    "The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association "
    "in the United States and other countries. All rights reserved. Unauthorized use strictly "
    "prohibited. See www.mlcommons.org for more information."
)
"""Trademark legend: results messaging guidelines of mlcommons/policies, section 3.2."""

ATTRIBUTION = f"{SOURCE} {LEGEND}"

LICENCE = {
    "name": "Apache-2.0",
    "title": "Apache License 2.0",
    "path": "https://www.apache.org/licenses/LICENSE-2.0",
}

_TYPES = {
    "varchar": "string",
    "bigint": "integer",
    "double": "number",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "datetime",
    "varchar[]": "array",
}


def write_datapackage(folder: Path, files: Mapping[str, Path]) -> Path:
    """Describe the tables' files, all inside ``folder``, in ``datapackage.json``."""
    package = {
        "name": "roundtable",
        "title": "Roundtable: every published result in one table",
        "description": ATTRIBUTION,
        "licenses": [LICENCE],
        "sources": [{"title": "MLCommons", "path": "https://github.com/mlcommons"}],
        "resources": [
            _resource(public_tables()[name], file, folder) for name, file in sorted(files.items())
        ],
    }
    target = folder / "datapackage.json"
    target.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return target


def _resource(table: Table, file: Path, folder: Path) -> dict[str, Any]:
    content = file.read_bytes()
    return {
        "name": table.name.replace("_", "-"),
        "path": file.relative_to(folder).as_posix(),
        "format": file.suffix.removeprefix("."),
        "description": table.meaning,
        "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "schema": {
            "fields": [
                {
                    "name": column.name,
                    **_type(column, file.suffix),
                    "description": column.meaning,
                    **({"unit": column.unit} if column.unit else {}),
                }
                for column in table.columns
            ],
            "primaryKey": list(table.key),
        },
    }


def _type(column: Column, suffix: str) -> dict[str, str]:
    if column.type == "varchar[]" and suffix == ".csv":
        return {"type": "list", "delimiter": "|"}
    return {"type": _TYPES[column.type]}
