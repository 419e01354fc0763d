"""Two accelerators or two submitters in one round, benchmark by benchmark, with what differs.

Belongs here: which results are held against each other (``roundtable compare``). Accelerators come
as ``vendor_ratios`` has them. Submitters are held against each other by the same rules: on the same
accelerator, or where they have none in common for a benchmark, on whatever each has, which is then
said among the differences. How it is written stands in ``comparison_text``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from pipeline.errors import UnusableCall
from pipeline.export.answers import printable, printable_rows
from pipeline.export.attribution import VERIFIED, verification
from pipeline.export.matching import Names, pair_of_a_kind
from pipeline.rounds import ROUND_KEY
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_for_own_queries

KINDS = ("accelerator", "submitter")

Row = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """What two sides have in one round; rows are JSON-ready, texts printable.

    ``is_verified``: every result compared stands in a published table.

    ``comparisons`` holds each ratio with what differs between the two best results, ``coverage``
    what one has and the other lacks, ``sizes`` what both have at no shared size.
    """

    kind: str
    a: str
    b: str
    round_key: str
    is_latest: bool
    is_verified: bool
    comparisons: list[Row]
    coverage: list[Row]
    sizes: list[Row]


def compare(
    warehouse: Warehouse,
    a: str,
    b: str,
    round_key: str | None = None,
    category: str | None = None,
    division: str | None = None,
) -> Comparison:
    """Return how ``a`` compares with ``b``, by default in the latest round that has both.

    ``division`` is that of a's results; b's are closed.

    Raises:
        UnusableCall: a name is unknown or ambiguous, or the round does not have both.
        RoundtableError: there is no warehouse yet, or another version made it.
    """
    with open_for_own_queries(warehouse) as connection:
        kind, a, b = pair_of_a_kind(a, b, {kind: _names(connection, kind) for kind in KINDS})
        given = {"a": a, "b": b, "category": category}
        chosen = _chosen_round(connection, kind, given, round_key)
        given = {**given, "round": chosen}
        in_division = {**given, "division": division}
        comparisons = _asked(connection, _RATIOS[kind], in_division)
        results = _results_of(connection, comparisons)
        for row in comparisons:
            row["differences"] = _differences(
                results[row["result_key_a"]], results[row["result_key_b"]], kind
            )
        return Comparison(
            kind=kind,
            a=printable(a),
            b=printable(b),
            round_key=chosen,
            is_latest=round_key is None,
            is_verified=all(
                verification(result["source_kind"]) == VERIFIED for result in results.values()
            ),
            comparisons=comparisons,
            coverage=_asked(connection, _COVERAGE, {**given, "kind": kind}),
            sizes=_asked(connection, _SIZES.format(kind=kind), in_division),
        )


def _asked(
    connection: duckdb.DuckDBPyConnection, query: str, given: Mapping[str, Any]
) -> list[Row]:
    return printable_rows(connection.sql(query, params=dict(given)))


def _names(connection: duckdb.DuckDBPyConnection, kind: str) -> Names:
    """Return the names that have results, with their spellings."""
    rows = connection.execute(
        f"select known.{kind}, known.spellings from main.{kind}s as known where known.results > 0"
    ).fetchall()
    return dict(rows)


# -- the round --------------------------------------------------------------------------------


def _chosen_round(
    connection: duckdb.DuckDBPyConnection,
    kind: str,
    given: Mapping[str, Any],
    wanted: str | None,
) -> str:
    """Return the wanted round, or the latest complete one in which both have results."""
    if wanted is not None and not ROUND_KEY.fullmatch(wanted):
        raise UnusableCall(
            f"--round {wanted}: no round. Write one such as inference-6.0: two sides are compared "
            "inside one round.\nHow results moved from round to round is in software_gains."
        )
    shared = [row["round_key"] for row in _asked(connection, _SHARED.format(kind=kind), given)]
    if wanted in shared or (wanted is None and shared):
        return wanted or shared[0]
    category = f" in the {given['category']} category" if given["category"] else ""
    raise UnusableCall(
        f"{given['a']} and {given['b']} do not both have results{category} in "
        f"{f'{wanted}, or it is not complete' if wanted else 'any complete round'}.\n"
        f"Complete rounds with both: {', '.join(shared) or 'none'}."
    )


_SHARED = """
    select result.round_key
    from main.results as result
    inner join main.rounds as round on result.round_key = round.round_key
    where
        round.is_complete
        and not result.is_withdrawn
        and result.{kind} in ($a, $b)
        and ($category is null or contains(result.category, $category))
    group by result.round_key, round.released_on, round.suite, round.position
    having count(distinct result.{kind}) = 2
    order by round.released_on desc nulls last, round.suite, round.position desc
"""

# -- ratios -----------------------------------------------------------------------------------

_ACCELERATORS = """
    select
        ratio.category, ratio.benchmark, ratio.accuracy_target, ratio.scenario, ratio.nodes,
        ratio.accelerators, ratio.accelerator_a, ratio.accelerator_b, ratio.division_a,
        ratio.division_b, ratio.best_a, ratio.best_b, ratio.unit, ratio.ratio_best,
        ratio.ratio_min, ratio.ratio_median, ratio.ratio_max, ratio.ratio_vendors_own,
        ratio.comparators, ratio.verdict_flips, ratio.result_key_a, ratio.result_key_b,
        ratio.entry_id_a, ratio.entry_id_b
    from main.vendor_ratios as ratio
    where
        ratio.round_key = $round
        and ratio.accelerator_a = $a
        and ratio.accelerator_b = $b
        and ($category is null or ratio.category = $category)
        and ($division is null or ratio.division_a = $division)
    order by
        ratio.category, ratio.benchmark, ratio.accuracy_target, ratio.scenario, ratio.nodes,
        ratio.accelerators, ratio.unit, ratio.division_a
"""

_SUBMITTERS = """
    with scored as (
        select
            result.submitter, result.division, result.benchmark, result.accuracy_target,
            result.scenario, result.nodes, result.accelerators, result.accelerator, result.unit,
            result.value, result.result_key, result.entry_id,
            unnest(coalesce(string_split(result.category, ','), [null])) as category,
            if(result.lower_is_better, 1 / nullif(result.value, 0), result.value) as score
        from main.results as result
        where
            result.round_key = $round
            and result.submitter in ($a, $b)
            and result.accelerators > 0
            and not result.is_withdrawn
    ),

    sides as (
        select
            scored.submitter, scored.category, scored.division, scored.benchmark,
            scored.accuracy_target, scored.scenario, scored.nodes, scored.accelerators,
            scored.accelerator, scored.unit,
            list(scored.score order by scored.score) as scores,
            first(
                struct_pack(
                    value := scored.value,
                    result_key := scored.result_key,
                    entry_id := scored.entry_id
                )
                order by scored.score desc, scored.entry_id nulls last, scored.result_key
            ) as best
        from scored
        where $category is null or scored.category = $category
        group by all
    ),

    pairs as (
        select
            a.category, a.benchmark, a.accuracy_target, a.scenario, a.nodes, a.accelerators,
            a.accelerator as accelerator_a, b.accelerator as accelerator_b,
            a.division as division_a, b.division as division_b, a.unit,
            a.best as best_a, b.best as best_b,
            list_transform(b.scores, lambda score: a.scores[-1] / score) as ratios
        from sides as a
        inner join sides as b
            on a.category is not distinct from b.category
            and a.benchmark = b.benchmark
            and a.accuracy_target is not distinct from b.accuracy_target
            and a.scenario is not distinct from b.scenario
            and a.nodes = b.nodes
            and a.accelerators = b.accelerators
            and a.unit = b.unit
        where
            a.submitter = $a
            and b.submitter = $b
            and b.division = 'closed'
            and a.division in ('closed', 'open')
            and ($division is null or a.division = $division)
        qualify
            a.accelerator = b.accelerator
            or not bool_or(a.accelerator = b.accelerator) over (
                partition by
                    a.category, a.division, a.benchmark, a.accuracy_target, a.scenario, a.nodes,
                    a.accelerators, a.unit
            )
    )

    select
        category, benchmark, accuracy_target, scenario, nodes, accelerators,
        accelerator_a, accelerator_b, division_a, division_b,
        best_a.value as best_a, best_b.value as best_b, unit,
        list_min(ratios) as ratio_best, list_min(ratios) as ratio_min,
        list_median(ratios) as ratio_median, list_max(ratios) as ratio_max,
        null as ratio_vendors_own, len(ratios) as comparators,
        ratio_min < 1 and ratio_max > 1 as verdict_flips,
        pairs.best_a.result_key as result_key_a, pairs.best_b.result_key as result_key_b,
        pairs.best_a.entry_id as entry_id_a, pairs.best_b.entry_id as entry_id_b
    from pairs
    order by
        category, benchmark, accuracy_target, scenario, nodes, accelerators, unit,
        accelerator_a, accelerator_b, division_a
"""

_RATIOS = {"accelerator": _ACCELERATORS, "submitter": _SUBMITTERS}

# -- what differs -----------------------------------------------------------------------------

_TOLD = {
    "division": "division",
    "availability": "availability",
    "deployment": "deployment",
    "accelerator": "accelerator",
    "accelerators as published": "accelerators_as_published",
    "precision": "weight_data_types",
    "submitter": "submitter",
    "host": "processor",
    "hosts per node": "processors_per_node",
    "software": "software",
    "scaling factor of the time": "scaling_factor",
}
"""What is said where it differs, and its column in results."""


def _results_of(
    connection: duckdb.DuckDBPyConnection, comparisons: Sequence[Row]
) -> dict[str, Row]:
    """Return all results that are compared, by key, with what may differ between them."""
    keys = [row[key] for row in comparisons for key in ("result_key_a", "result_key_b")]
    query = f"""
        select
            result.result_key, {", ".join(f"result.{column}" for column in _TOLD.values())},
            coalesce(result.power_watts, result.energy_joules) is not null as has_power,
            result.is_inferred, result.source_kind
        from main.results as result
        where list_contains($keys, result.result_key)
        order by result.result_key
    """
    return {row["result_key"]: row for row in _asked(connection, query, {"keys": keys})}


def _differences(a: Row, b: Row, kind: str) -> list[str]:
    """Return all that differs between two results but the names that were asked for."""
    told = [
        f"{name}: {_stated(a[column])} against {_stated(b[column])}"
        for name, column in _TOLD.items()
        if a[column] != b[column] and name != kind
    ]
    return told + _disclosures(a, b)


def _disclosures(a: Row, b: Row) -> list[str]:
    """Return what else must be said, in the words of ``vendor_ratios``."""
    flags = a["is_inferred"], b["is_inferred"]
    told = {
        "what keeps the open result from being closed is not in the tables": a["division"]
        != b["division"],
        "measured with power on one side only": a["has_power"] != b["has_power"],
        "inferred on one side only": None not in flags and flags[0] != flags[1],
        "inferred not known": None in flags,
    }
    return [text for text, applies in told.items() if applies]


def _stated(value: Any) -> str:
    return "not stated" if value is None else str(value)


# -- what one has and the other lacks -----------------------------------------------------------

_COVERAGE = """
    with cells as (
        select coverage.*
        from main.coverage as coverage
        where
            coverage.round_key = $round
            and coverage.by = $kind
            and ($category is null or coverage.category = $category)
    ),

    benchmarks as (
        select distinct cells.category, cells.benchmark
        from cells
        where cells.name in ($a, $b)
    ),

    both_sides as (
        select
            benchmarks.category,
            benchmarks.benchmark,
            coalesce(a.status, 'gap') as status_a,
            coalesce(b.status, 'gap') as status_b,
            coalesce(a.scenarios, []) as scenarios_a,
            coalesce(b.scenarios, []) as scenarios_b
        from benchmarks
        left join cells as a
            on benchmarks.category is not distinct from a.category
            and benchmarks.benchmark = a.benchmark
            and a.name = $a
        left join cells as b
            on benchmarks.category is not distinct from b.category
            and benchmarks.benchmark = b.benchmark
            and b.name = $b
    )

    select
        category,
        benchmark,
        status_a,
        status_b,
        list_filter(scenarios_a, lambda name: not list_contains(scenarios_b, name)) as only_a,
        list_filter(scenarios_b, lambda name: not list_contains(scenarios_a, name)) as only_b
    from both_sides
    where status_a <> status_b or len(only_a) > 0 or len(only_b) > 0
    order by category, benchmark
"""

_SIZES = """
    with sized as (
        select
            result.{kind} as name, result.benchmark, result.accuracy_target, result.scenario,
            struct_pack(accelerators := result.accelerators, nodes := result.nodes) as size,
            unnest(coalesce(string_split(result.category, ','), [null])) as category
        from main.results as result
        where
            result.round_key = $round
            and result.{kind} in ($a, $b)
            and not result.is_withdrawn
            and result.accelerators > 0
            and result.division in ('closed', if(result.{kind} = $a, 'open', 'closed'))
            and ($division is null or result.{kind} = $b or result.division = $division)
    ),

    sides as (
        select
            sized.name, sized.category, sized.benchmark, sized.accuracy_target, sized.scenario,
            list(distinct sized.size order by sized.size) as sizes
        from sized
        where $category is null or sized.category = $category
        group by all
    )

    select
        a.category, a.benchmark, a.accuracy_target, a.scenario,
        a.sizes as sizes_a, b.sizes as sizes_b
    from sides as a
    inner join sides as b
        on a.category is not distinct from b.category
        and a.benchmark = b.benchmark
        and a.accuracy_target is not distinct from b.accuracy_target
        and a.scenario is not distinct from b.scenario
    where a.name = $a and b.name = $b and not list_has_any(a.sizes, b.sizes)
    order by a.category, a.benchmark, a.accuracy_target, a.scenario
"""
