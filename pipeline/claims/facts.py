"""What results can be selected and counted by.

Belongs here: the names of the facts and what may be said of each. Their texts come from the SQL
model ``claim_rows``, which has the same names.
"""

from enum import Enum


class Sort(Enum):
    """What a fact's values are, and so what a condition on it may be."""

    NAME = "a text"
    NUMBER = "a whole number"
    FLAG = "true or false"
    VERSION = 'a version such as "6.0"'


FACTS = {
    "suite": Sort.NAME,
    "round": Sort.VERSION,
    "division": Sort.NAME,
    "category": Sort.NAME,
    "availability": Sort.NAME,
    "entry_id": Sort.NAME,
    "submitter": Sort.NAME,
    "organisation": Sort.NAME,
    "vendor": Sort.NAME,
    "accelerator": Sort.NAME,
    "product": Sort.NAME,
    "products": Sort.NUMBER,
    "benchmark": Sort.NAME,
    "benchmark_family": Sort.NAME,
    "accuracy_target": Sort.NAME,
    "scenario": Sort.NAME,
    "workload": Sort.NAME,
    "model_used": Sort.NAME,
    "unit": Sort.NAME,
    "system_name": Sort.NAME,
    "processor": Sort.NAME,
    "weight_data_types": Sort.NAME,
    "nodes": Sort.NUMBER,
    "accelerators": Sort.NUMBER,
    "accelerator_memory_gb": Sort.NUMBER,
    "is_accuracy_copy": Sort.FLAG,
    "is_inferred": Sort.FLAG,
    "is_heterogeneous": Sort.FLAG,
    "is_makers_own": Sort.FLAG,
}

RESULT = "result"
"""The result itself; it can be counted, but a selection cannot name single results by it."""

FIXED = {
    "suite": ("inference", "training"),
    "division": ("closed", "open", "network"),
    "category": ("datacenter", "edge", "none"),
    "availability": ("available", "preview", "rdi", "none"),
    "scenario": ("Offline", "Server", "Interactive", "SingleStream", "MultiStream", "none"),
}
"""Facts with few texts, all known: a condition naming another one is a slip of the pen."""

DEFAULTS = {
    "suite": "inference",
    "division": "closed",
    "category": "datacenter",
    "is_accuracy_copy": False,
}
"""What a selection means unless it says otherwise."""

TRAINING_DEFAULTS = {"suite": "training", "division": "closed"}
"""The same for training, which has neither categories nor copies."""

INDICATING = (
    "submitter",
    "organisation",
    "vendor",
    "accelerator",
    "product",
    "benchmark",
    "benchmark_family",
    "workload",
    "model_used",
    "system_name",
    "processor",
)
"""Facts that say what is selected; an entry id only narrows one of these."""

SINGLE = tuple(name for name in FACTS if name not in ("organisation", "product"))
"""Facts that hold once of a result, so that two results can agree in them."""

BOUNDS = ("at_least", "above", "below")
