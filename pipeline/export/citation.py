"""The footnote that MLCommons' results messaging guidelines ask for, for any results.

Belongs here: which results are meant, and the footnote's words (``roundtable cite``). Nothing is
said that the warehouse does not know: a date of retrieval that was not kept stays unknown.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

import duckdb

from pipeline.errors import UnusableCall
from pipeline.export.answers import escaped, printable_rows
from pipeline.export.attribution import VERIFIED, verification
from pipeline.export.matching import squeezed
from pipeline.warehouse.datapackage import LEGEND
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_for_own_queries

DERIVED = "The ratio is a derived metric, not verified by MLCommons Association."
NO_RATIO = (
    "No ratio may be formed across these versions: "
    "MLCommons' compatibility table does not let them be compared."
)

_ENTRY = re.compile(r"v?(\d{1,2}\.\d{1,2}-\d+)", re.IGNORECASE)
_KEY = re.compile(r"[0-9a-f]{6,16}", re.IGNORECASE)

Result = dict[str, Any]


@dataclass(frozen=True)
class Footnote:
    """Results with their footnote's paragraphs; a markup says how the paragraphs are written."""

    results: list[Result]
    is_derived: bool

    def text(self) -> str:
        """Return the footnote as plain text, one line a paragraph."""
        return "\n".join(self._paragraphs(_Markup())) + "\n"

    def markdown(self) -> str:
        """Return the footnote as Markdown."""
        markup = _Markup(escaped, "<{}>".format, "**{}**".format, "*{}*".format)
        return "\n\n".join(self._paragraphs(markup)) + "\n"

    def json(self) -> str:
        """Return the footnote's text, and each result with what the text says of it."""
        results = [
            result | {"statement": _statement(result, str), "is_verified": _is_verified(result)}
            for result in self.results
        ]
        told = {"footnote": self.text(), "results": results}
        return json.dumps(told, ensure_ascii=False, indent=1, default=str) + "\n"

    def _paragraphs(self, markup: "_Markup") -> list[str]:
        told = [
            _paragraph(list(results), markup) for _, results in groupby(self.results, _of_one_kind)
        ]
        sentence = _ratio_sentence(self.results, self.is_derived)
        return [*told, *([sentence] if sentence else []), markup.legend(LEGEND)]


@dataclass(frozen=True)
class _Markup:
    """How text, addresses, warnings and the legend are written."""

    escape: Callable[[str], str] = str
    address: Callable[[str], str] = str
    warning: Callable[[str], str] = str
    legend: Callable[[str], str] = str


def cite(
    warehouse: Warehouse,
    references: Sequence[str],
    benchmark: str | None = None,
    scenario: str | None = None,
    is_derived: bool = False,
) -> Footnote:
    """Return the footnote for result keys, their beginnings, and entry ids.

    ``benchmark`` and ``scenario`` narrow what each reference means.

    Raises:
        UnusableCall: a reference means no result, or several where it has to mean one.
        RoundtableError: there is no warehouse yet, or another version made it.
    """
    with open_for_own_queries(warehouse) as connection:
        found = {
            result["result_key"]: result
            for reference in references
            for result in _narrowed(
                reference, _meant(connection, reference.strip()), benchmark, scenario
            )
        }
    return Footnote(sorted(found.values(), key=_order), is_derived)


# -- which results ----------------------------------------------------------------------------

_RESULTS = """
    with retrieved as (
        select source.round_key, source.kind, max(source.fetched_at) as fetched_at
        from main.sources as source
        group by all
    )
    select
        result.result_key, result.entry_id, result.suite, result.round, result.division,
        result.category, result.availability, result.submitter,
        coalesce(result.system_name, result.platform) as system_name,
        result.nodes, result.accelerators, result.accelerator,
        result.benchmark, coalesce(benchmark.name, result.benchmark) as benchmark_name,
        result.model_used, result.accuracy_target, result.scenario, result.value, result.unit,
        result.source_kind, result.source_url, result.source_commit,
        cast(retrieved.fetched_at as date) as retrieved_on,
        coalesce(own.compatibility_group, general.compatibility_group) as compatibility_group,
        result.is_withdrawn, withdrawal.reported_on as withdrawal_reported_on,
        withdrawal.reason as withdrawal_reason, withdrawal.source as withdrawal_source
    from main.results as result
    left join main.benchmarks as benchmark
        on result.suite = benchmark.suite and result.benchmark = benchmark.benchmark
    left join retrieved
        on result.round_key = retrieved.round_key and result.source_kind = retrieved.kind
    left join staging.withdrawals as withdrawal on result.result_key = withdrawal.result_key
    left join main.compatibility as own
        on result.round_key = own.round_key and result.benchmark_family = own.benchmark
        and string_split(result.category, ',')[1] is not distinct from own.category
        and result.scenario = own.scenario
    left join main.compatibility as general
        on result.round_key = general.round_key and result.benchmark_family = general.benchmark
        and string_split(result.category, ',')[1] is not distinct from general.category
        and general.scenario = '*'
"""


def _meant(connection: duckdb.DuckDBPyConnection, reference: str) -> list[Result]:
    """Return the results of an entry id, or the one of a key or the beginning of a key."""
    entry = _ENTRY.fullmatch(reference)
    if entry:
        return _found(connection, reference, "entry_id", entry[1], "result.entry_id = $1")
    if not _KEY.fullmatch(reference):
        raise UnusableCall(
            f"{reference}: neither a result key (at least 6 of its 16 hexadecimal digits) nor an "
            "entry id such as 6.0-0001."
        )
    starts = "starts_with(result.result_key, $1)"
    results = _found(connection, reference, "result_key", reference.lower(), starts)
    if len(results) > 1:
        keys = ", ".join(sorted(result["result_key"] for result in results))
        raise UnusableCall(f"{reference}: several result keys begin so: {keys}.")
    return results


def _found(
    connection: duckdb.DuckDBPyConnection, reference: str, column: str, value: str, where: str
) -> list[Result]:
    relation = connection.sql(f"{_RESULTS} where {where}", params=[value])
    results = printable_rows(relation)
    if not results:
        nearest = connection.execute(
            f"""
            select distinct result.{column}
            from main.results as result
            where result.{column} is not null
            order by levenshtein(result.{column}[:length($1)], $1), result.{column}
            limit 3
            """,
            [value],
        ).fetchall()
        raise UnusableCall(
            f"{reference}: no such {'entry' if column == 'entry_id' else 'result'}.\n"
            f"Nearest: {', '.join(name for (name,) in nearest) or 'none'}."
        )
    return results


def _narrowed(
    reference: str, results: list[Result], benchmark: str | None, scenario: str | None
) -> list[Result]:
    """Return the results of a benchmark and a scenario, where these are given."""
    left = [
        result
        for result in results
        if benchmark is None
        or squeezed(benchmark)
        in {squeezed(result[name]) for name in ("benchmark", "benchmark_name", "model_used")}
        if scenario is None or squeezed(scenario) == squeezed(result["scenario"] or "")
    ]
    if not left:
        wanted = " ".join(text for text in (benchmark, scenario) if text)
        there = sorted({f"{r['benchmark']} {r['scenario'] or ''}".strip() for r in results})
        raise UnusableCall(f"{reference}: has no result of {wanted}.\nIt has: {', '.join(there)}.")
    return left


# -- the footnote's words ---------------------------------------------------------------------


def _order(result: Result) -> tuple[Any, ...]:
    names = ("benchmark", "accuracy_target", "scenario", "entry_id", "result_key")
    return (*_of_one_kind(result), *(result[name] or "" for name in names))


def _of_one_kind(result: Result) -> tuple[Any, ...]:
    """Return what the results of one paragraph share."""
    version = [int(part) for part in result["round"].split(".")]
    standing = (_withdrawal_note(result) or "", not _is_verified(result))
    return (result["suite"], version, result["division"], *standing)


def _of_one_benchmark(result: Result) -> tuple[Any, ...]:
    return tuple(result[name] for name in ("benchmark", "accuracy_target", "scenario"))


def _is_verified(result: Result) -> bool:
    """Whether MLCommons published this very number; what we derive from logs it did not."""
    return verification(result["source_kind"], result["is_withdrawn"]) == VERIFIED


def _paragraph(results: list[Result], markup: _Markup) -> str:
    """Return what is said of results that share suite, round, division and standing."""
    sentences = []
    for _, same in groupby(results, _of_one_benchmark):
        told = list(same)
        systems = "; ".join(_statement(result, markup.escape) for result in told)
        sentences.append(f"{markup.escape(_benchmark(told[0]))}: {systems}.")
    sentences += [f"Retrieved from {text}." for text in _retrievals(results, markup)]
    sentences.append(verification(results[0]["source_kind"], results[0]["is_withdrawn"]))
    note = _withdrawal_note(results[0])
    return " ".join([*([markup.warning(markup.escape(note))] if note else []), *sentences])


def _benchmark(result: Result) -> str:
    target = result["accuracy_target"]
    parts = (
        f"MLPerf® v{result['round']} {result['suite'].capitalize()}",
        result["division"].capitalize(),
        result["benchmark_name"],
        f"({target}% accuracy target)" if target else None,
        result["scenario"],
    )
    return " ".join(part for part in parts if part)


def _statement(result: Result, escape: Callable[[str], str]) -> str:
    """Return who reached what on which system, marked where the number is not verified."""
    count, accelerator = result["accelerators"], result["accelerator"]
    if accelerator is None:
        hardware = "no accelerator"
    else:
        hardware = f"{'an unknown number of' if count is None else count} x {accelerator}"
    told = (_identity(result), result["category"], result["availability"], hardware)
    value = f"{result['value']:.10g} {result['unit']}"
    value += "" if _is_verified(result) else " (unverified)"
    system = f"{result['submitter']}, {result['system_name']}"
    return escape(f"{system} ({', '.join(part for part in told if part)}): {value}")


def _identity(result: Result) -> str:
    entry: str | None = result["entry_id"]
    return entry or f"result {result['result_key']}"


def _retrievals(results: Iterable[Result], markup: _Markup) -> list[str]:
    """Return each address with commit, date and the entries or results that come from it."""
    origins: dict[tuple[Any, ...], list[str]] = {}
    for result in results:
        origin = tuple(result[name] for name in ("source_url", "source_commit", "retrieved_on"))
        origins.setdefault(origin, []).append(_identity(result))
    told = []
    for (url, commit, day), identities in origins.items():
        named = list(dict.fromkeys(identities))
        entries = [name for name in named if not name.startswith("result ")]
        others = [name.removeprefix("result ") for name in named if name not in entries]
        parts = [
            markup.address(url),
            f"commit {commit}" if commit else "commit not known",
            str(day) if day else "date of retrieval not known",
            _counted("entry", "entries", entries),
            _counted("result without entry id", "results without entry id", others),
        ]
        told.append(", ".join(part for part in parts if part))
    return told


def _counted(one: str, several: str, names: list[str]) -> str:
    return f"{one if len(names) == 1 else several} {', '.join(names)}" if names else ""


def _withdrawal_note(result: Result) -> str | None:
    if not result["is_withdrawn"]:
        return None
    day = result["withdrawal_reported_on"]
    reported = f", reported {day}" if day else ""
    return f"WITHDRAWN{reported}: {result['withdrawal_reason']} ({result['withdrawal_source']})."


def _ratio_sentence(results: Sequence[Result], is_derived: bool) -> str | None:
    """Return what must be said of a ratio, if one is asked for or two results form one."""
    by_unit = ("suite", "benchmark", "accuracy_target", "scenario", "unit")
    pairs = [
        (a, b)
        for a, b in combinations(results, 2)
        if all(a[name] == b[name] for name in by_unit)
        and not (a["is_withdrawn"] or b["is_withdrawn"])
    ]
    if pairs and not any(_are_compatible(a, b) for a, b in pairs):
        return NO_RATIO
    return DERIVED if pairs or is_derived else None


def _are_compatible(a: Result, b: Result) -> bool:
    group = a["compatibility_group"]
    return a["round"] == b["round"] or (group is not None and group == b["compatibility_group"])
