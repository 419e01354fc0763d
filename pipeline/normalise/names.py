"""Canonical names: submitters, accelerators, benchmarks, and how published text is made plain.

Belongs here: one function per kind of name, from the published text to what is known of it. A name
that the vocabulary does not list is kept as published and marked unknown, never guessed at.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

from pipeline.normalise.rounds import lines_of
from pipeline.normalise.vocabulary import entries
from pipeline.rounds import Round

CPU_ONLY = frozenset(("", "-", "n/a", "none"))
"""How tables and system files write that there is no accelerator (F13, F34)."""

_BLANKS = re.compile(r"\s+")  # for str patterns this covers U+00A0 and U+202F (F10)
_HYPHENS = re.compile("[\u2010\u2011\u2012]")  # F10
_COUNT = re.compile(r"\(x(\d{1,6})\)")
_COUNTED_PRODUCT = re.compile(
    r"\s*(?:,\s*|and\s+|\+\s*)?(.+?\(x\d{1,6}\)(?:\s*\(Power Cap [^)]*\))?)", re.IGNORECASE
)  # the results page drops the comma between two products
_POWER_CAP = re.compile(r"\(Power Cap (\d{1,5}) ?W\)", re.IGNORECASE)
_VIRTUALISED = re.compile(r"^Virtualized ", re.IGNORECASE)
_ACCURACY_TARGET = re.compile(r"(?P<benchmark>.+)-(?P<target>99\.9|99|95)")


@dataclass(frozen=True)
class Submitter:
    """A submitter and the organisations it consists of."""

    submitter: str
    organisations: list[str]
    is_known: bool


@dataclass(frozen=True)
class Accelerator:
    """An accelerator string's product; all None for a CPU-only system.

    ``count_in_name`` is the number in "(x87)", summed over the products of a mixed system.
    """

    accelerator: str | None = None
    accelerator_vendor: str | None = None
    accelerator_memory_gb: int | None = None
    accelerator_power_cap_w: int | None = None
    is_heterogeneous: bool = False
    count_in_name: int | None = None
    is_known: bool = True


@dataclass(frozen=True)
class Benchmark:
    """A benchmark without its accuracy target, which stands beside it."""

    benchmark: str
    family: str
    accuracy_target: str | None
    is_known: bool


def plain(text: str | None) -> str | None:
    """Return the text with plain hyphens and single blanks; None where nothing is left (F10)."""
    cleaned = _BLANKS.sub(" ", _HYPHENS.sub("-", text or "")).strip()
    return cleaned or None


def describe_submitter(as_published: str) -> Submitter:
    """Return the canonical submitter; joint labels name several organisations."""
    name = plain(as_published) or as_published
    line = _by_spelling("submitters").get(name.casefold())
    if line is None:
        return Submitter(name, [name], is_known=False)
    return Submitter(line["submitter"], line["organisations"].split("|"), is_known=True)


def describe_accelerator(as_published: str | None) -> Accelerator:
    """Return the product behind an accelerator string such as ``A 288GB (x87)``.

    A declared power cap makes a product of its own. Several products with a count each are a mixed
    system (F14), named ``heterogeneous: A + B`` in alphabetical order.
    """
    text = plain(as_published) or ""
    if text.casefold() in CPU_ONLY:
        return Accelerator()
    if len(_COUNT.findall(text)) < 2:
        return _one_product(text)
    parts = [_one_product(part) for part in _COUNTED_PRODUCT.findall(text)]
    is_known = all(part.is_known for part in parts) and not _COUNTED_PRODUCT.sub("", text).strip()
    total = sum(part.count_in_name or 0 for part in parts)
    if len({part.accelerator for part in parts}) == 1:
        return replace(parts[0], count_in_name=total, is_known=is_known)
    makers = {part.accelerator_vendor for part in parts if part.accelerator_vendor}
    return Accelerator(
        accelerator="heterogeneous: " + " + ".join(sorted({str(p.accelerator) for p in parts})),
        accelerator_vendor=" + ".join(sorted(makers)) or None,
        is_heterogeneous=True,
        count_in_name=total,
        is_known=is_known,
    )


def describe_benchmark(round: Round, as_published: str) -> Benchmark:
    """Return the benchmark of a round's official model name, its accuracy target split off.

    A name can mean another benchmark in another round: training's ssd is RetinaNet from 2.0 on.
    """
    name = plain(as_published) or as_published
    match = _ACCURACY_TARGET.fullmatch(name)
    base, target = (match["benchmark"], match["target"]) if match else (name, None)
    benchmark = _benchmarks(round).get(base.casefold())
    if benchmark is None:
        return Benchmark(base, base, target, is_known=False)
    return Benchmark(benchmark, benchmark_family(round.suite, benchmark), target, is_known=True)


def benchmark_family(suite: str, benchmark: str) -> str:
    """Return the family that coverage and compatibility group a canonical benchmark by."""
    return _families().get((suite, benchmark), benchmark)


def weight_data_types(as_published: str | None) -> str | None:
    """Return declared numeric formats in one spelling, sorted; None if unset (F15)."""
    text = (plain(as_published) or "").casefold()
    line = _by_spelling("weight_data_types").get(text)
    if line is not None:
        return line["weight_data_types"] or None
    parts = [part.strip(" {}'\"").replace("': '", ":") for part in text.split(",")]
    return ",".join(sorted(part for part in parts if part)) or None


def _one_product(text: str) -> Accelerator:
    """Return the product of a string that names only one."""
    count, cap = _COUNT.search(text), _POWER_CAP.search(text)
    bare = _VIRTUALISED.sub("", _POWER_CAP.sub("", _COUNT.sub("", text)))
    bare = plain(bare) or text
    line = _by_spelling("accelerators").get(bare.casefold())
    product = line["accelerator"] if line else bare
    known = _products().get(product, {})
    cap_w = int(cap[1]) if cap else None
    return Accelerator(
        accelerator=f"{product} ({cap_w} W cap)" if cap_w else product,
        accelerator_vendor=known.get("vendor") or None,
        accelerator_memory_gb=int(known["memory_gb"]) if known.get("memory_gb") else None,
        accelerator_power_cap_w=cap_w,
        count_in_name=int(count[1]) if count else None,
        is_known=line is not None,
    )


@cache
def _by_spelling(vocabulary: str) -> dict[str, dict[str, str]]:
    return {line["as_published"].casefold(): line for line in entries(vocabulary)}


@cache
def _products() -> dict[str, dict[str, str]]:
    return {line["accelerator"]: line for line in entries("accelerator_products")}


@cache
def _benchmarks(round: Round) -> dict[str, str]:
    """Return the benchmark of each spelling: its own name, or an alias that the round knows."""
    aliases = {
        line["as_published"].casefold(): line["benchmark"]
        for line in lines_of("benchmark_aliases", round)
        if line["suite"] == round.suite
    }
    own = {
        line["benchmark"].casefold(): line["benchmark"]
        for line in entries("benchmarks")
        if line["suite"] == round.suite
    }
    return own | aliases


@cache
def _families() -> dict[tuple[str, str], str]:
    return {
        (line["suite"], line["benchmark"]): line["benchmark_family"]
        for line in entries("benchmarks")
    }
