"""How the warehouse stands: rounds, freshness, and all that needs a look, as plain values.

Belongs here: what is asked of the tables. How it is told to a reader stands in ``status``.
"""

from dataclasses import asdict
from typing import Any

import duckdb

from pipeline.warehouse.failure import last_failure
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_for_own_queries

_ROUNDS = """
        with files as (
            select
                round_key,
                string_agg(distinct origin, ', ' order by origin) as origin,
                max(commit) as commit,
                max(fetched_at) as fetched_at,
                bool_or(is_stale) as is_stale,
                max(stale_reason) as stale_reason
            from sources group by round_key
        )
        select
            round.round_key, round.results, files.origin, files.commit, files.fetched_at,
            files.is_stale, files.stale_reason, round.is_complete, round.is_reviewed, round.state
        from rounds as round left join files using (round_key)
        where round.results > 0 or files.round_key is not null or round.state = 'archives only'
        order by round.suite, string_split(round.round, '.')::integer[]
"""
_COUNTED = {
    "names_not_in_the_vocabulary": """
        select
            field || ': ' || coalesce(value_as_published, 'blank')
            || coalesce(' (' || known_as || ')', '') as what,
            count(*) as rows
        from warnings
        where problem like '%not in the vocabulary'
        group by all order by what
""",
    "rejects": """
        select round_key || ' ' || file || ': ' || reason as what, count(*) as rows
        from rejects
        group by all order by rows desc, what
""",
    "warnings": """
        select
            round_key || ' ' || field || ': ' || problem
            || coalesce(' (' || known_as || ')', '') as what,
            count(*) as rows
        from warnings
        where problem not like '%not in the vocabulary'
        group by all order by rows desc, what
""",
    "withdrawn_results": """
        select
            concat_ws(
                ' ', result.round_key, result.division, result.submitter, result.platform,
                '(' || result.entry_id || ')'
            )
            || ': ' || withdrawal.reason
            || coalesce(', reported ' || withdrawal.reported_on, '')
            || ' (' || withdrawal.source || ')' as what,
            count(*) as rows
        from main.results as result
        inner join staging.withdrawals as withdrawal on result.result_key = withdrawal.result_key
        group by all
        order by what
""",
    "withdrawals_that_fit_no_result": """
        select
            concat_ws(
                ' ', line.round_key, line.division, line.submitter_directory, line.platform,
                line.model_used, line.scenario
            ) as what,
            count(*) as rows
        from staging.withdrawn_results as line
        anti join main.results as result
            on
                line.round_key = result.round_key
                and line.division = result.division
                and line.submitter_directory = result.submitter_directory
                and line.platform = result.platform
                and result.model_used = coalesce(line.model_used, result.model_used)
                and result.scenario is not distinct from coalesce(line.scenario, result.scenario)
        where line.round_key in (select known.round_key from main.results as known)
        group by all
        order by what
""",
}
"""What is counted, by kind: each query gives ``what`` and how many ``rows``."""

_DIFFERENCES = """
        select
            source_a || ' against ' || source_b as pair,
            kind,
            coalesce(right_source, 'not settled by logs') as right_one,
            count(*) as rows
        from reconciliation group by all order by rows desc, pair, kind, right_one
"""


def standing(warehouse: Warehouse) -> dict[str, Any]:
    """Return the standing of the current release, as values that JSON can hold but for times.

    ``rounds`` and ``differences`` are lists of rows, every kind of ``_COUNTED`` is one of what and
    rows, ``failed_checks`` are texts, and ``last_failure`` is None or that of a build since.

    Raises:
        RoundtableError: there is no warehouse yet, or another version made it.
    """
    with open_for_own_queries(warehouse) as connection:
        told = {
            "rounds": _rows(connection, _ROUNDS),
            **{kind: _rows(connection, query) for kind, query in _COUNTED.items()},
            "differences": _rows(connection, _DIFFERENCES),
        }
    failure = last_failure(warehouse)
    return told | {
        "failed_checks": warehouse.stamp().get("failed_checks", []),
        "last_failure": asdict(failure) if failure else None,
    }


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    answer = connection.execute(query)
    columns = [name for name, *_ in answer.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]
