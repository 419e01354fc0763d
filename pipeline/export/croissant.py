"""The Croissant description of a folder of exported tables, in MLCommons' own vocabulary.

Belongs here: ``croissant.json`` (Croissant 1.0). The tables' meanings come from their declarations.
"""

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from pipeline.schema.tables import Column, Table, public_tables
from pipeline.warehouse.datapackage import ATTRIBUTION, LICENCE

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that the specification of Croissant 1.0 gives."""

_TYPES = {
    "varchar": "sc:Text",
    "bigint": "sc:Integer",
    "double": "sc:Float",
    "boolean": "sc:Boolean",
    "date": "sc:Date",
    "timestamp": "sc:DateTime",
    "varchar[]": "sc:Text",
}

_FORMATS = {".parquet": "application/x-parquet", ".csv": "text/csv"}


def write_croissant(folder: Path, files: Mapping[str, Path], published_on: date | None) -> Path:
    """Describe the tables' files, all inside ``folder``, in ``croissant.json``.

    ``published_on`` is the day of the latest round in them.
    """
    tables = [(public_tables()[name], file) for name, file in sorted(files.items())]
    version = importlib.metadata.version("roundtable")
    described = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "roundtable",
        "description": ATTRIBUTION,
        "license": LICENCE["path"],
        "url": "https://github.com/mlcommons",
        "citeAs": f"Roundtable {version}, from the results of MLCommons' MLPerf® benchmarks.",
        "version": version,
        **({"datePublished": published_on.isoformat()} if published_on else {}),
        "creator": {"@type": "sc:Organization", "name": "The Roundtable contributors"},
        "distribution": [_file(table, file, folder) for table, file in tables],
        "recordSet": [_record_set(table, file) for table, file in tables],
    }
    target = folder / "croissant.json"
    target.write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return target


def _file(table: Table, file: Path, folder: Path) -> dict[str, Any]:
    content = file.read_bytes()
    return {
        "@type": "cr:FileObject",
        "@id": _file_id(table, file),
        "name": file.name,
        "description": table.meaning,
        "contentUrl": file.relative_to(folder).as_posix(),
        "contentSize": f"{len(content)} B",
        "encodingFormat": _FORMATS[file.suffix],
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _record_set(table: Table, file: Path) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
        "field": [_field(table, column, file) for column in table.columns],
    }


def _field(table: Table, column: Column, file: Path) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": column.comment,
        "dataType": _TYPES[column.type],
        **({"repeated": True} if column.type == "varchar[]" and file.suffix != ".csv" else {}),
        "source": {
            "fileObject": {"@id": _file_id(table, file)},
            "extract": {"column": column.name},
        },
    }


def _file_id(table: Table, file: Path) -> str:
    return f"{table.name}{file.suffix}"
