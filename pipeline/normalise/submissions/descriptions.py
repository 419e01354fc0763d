"""What submitters declare beside their logs: system files, measurements, model mappings.

Belongs here: the JSON files of a submission, as the raw fields of a published table. They are
written by hand; what is not there, or cannot be read, is null in the row and never an error.
"""

import json
from collections.abc import Mapping

SYSTEM_FIELDS = {
    "submitter": "submitter",
    "status": "availability",
    "system_type": "category",
    "system_name": "system_name",
    "accelerator_model_name": "accelerator",
    "number_of_nodes": "nodes",
    "accelerators_per_node": "accelerators_per_node",
    "host_processor_model_name": "processor",
    "host_processors_per_node": "processors_per_node",
    "framework": "software",
    "operating_system": "operating_system",
}
"""The keys of a system file, and the raw fields of the published tables that they fill."""


def system_fields(content: bytes, fields: Mapping[str, str] = SYSTEM_FIELDS) -> dict[str, str]:
    """Read a system file's raw fields; of a key that stands twice the last one counts (F30)."""
    described = _object(content)
    return {
        field: text
        for key, field in fields.items()
        if (text := storable(described.get(key))) is not None
    }


def measurement_fields(content: bytes) -> dict[str, str]:
    """Read the declared ``weight_data_types``."""
    types = storable(_object(content).get("weight_data_types"))
    return {} if types is None else {"weight_data_types": types}


def mapping_fields(content: bytes) -> dict[str, str]:
    """Read which official benchmark each of the submitter's own model names stands for."""
    mapping = _object(content)
    return {
        name: text
        for name, official in mapping.items()
        if isinstance(official, str) and (text := storable(official)) is not None
    }


def clock_fields(content: bytes) -> dict[str, str]:
    """Read the ``timezone`` of a power log's machine: seconds to add to its clock."""
    timezone = storable(_object(content).get("timezone"))
    return {} if timezone is None else {"timezone": timezone}


def _object(content: bytes) -> Mapping[str, object]:
    try:
        parsed = json.loads(content.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def storable(value: object) -> str | None:
    """Return a JSON value as text; a lone surrogate, written as an escape, cannot be stored."""
    return None if value is None else str(value).encode("utf-8", "replace").decode()
