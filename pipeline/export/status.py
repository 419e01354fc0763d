"""What ``roundtable status`` tells: rounds, freshness, and all that needs a look.

Belongs here: the wording. All of it comes from the warehouse's tables and the release's stamp.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import duckdb

from pipeline.export.answers import printable
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_for_own_queries

SHOWN = 20


def status_lines(warehouse: Warehouse) -> Iterator[str]:
    """Return the status of the current release, line by line.

    Raises:
        RoundtableError: there is no warehouse yet, or another version made it.
    """
    with open_for_own_queries(warehouse) as connection:
        yield from _tables(connection)
    failed = warehouse.stamp().get("failed_checks", [])
    yield f"failed checks: {len(failed)}" if failed else "failed checks: none"
    yield from (f"  {printable(text)}" for text in failed)


def _tables(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    yield from _rounds(connection)
    yield from _unmapped(connection)
    yield from _counted(
        connection,
        "rejects",
        "select round_key || ' ' || file || ': ' || reason as what, count(*) as rows "
        "from rejects group by all order by rows desc, what",
    )
    yield from _counted(
        connection,
        "warnings (rows kept)",
        "select round_key || ' ' || field || ': ' || problem "
        "|| coalesce(' (' || known_as || ')', '') as what, count(*) as rows "
        "from warnings where problem not like '%not in the vocabulary' "
        "group by all order by rows desc, what",
    )
    yield from _withdrawn(connection)
    yield from _differences(connection)


def _rounds(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    rows = connection.execute(
        """
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
    ).fetchall()
    yield f"{'round':<16}{'rows':>7}  {'source':<16}{'commit':<9}{'fetched':<18}state"
    for key, results, origin, commit, fetched, stale, reason, complete, reviewed, state in rows:
        notes = ["STALE: " + reason] if stale else ["fresh"] if origin else [state]
        notes += ["incomplete"] if complete is False else []
        notes += [] if reviewed else ["unreviewed"]
        when = fetched.strftime("%Y-%m-%d %H:%M") if fetched else "-"
        yield printable(
            f"{key:<16}{results:>7}  {origin or '-':<16}{(commit or '-')[:7]:<9}{when:<18}"
            + ", ".join(notes)
        )


def _unmapped(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    yield from _counted(
        connection,
        "names not in the vocabulary",
        "select field || ': ' || coalesce(value_as_published, 'blank') "
        "|| coalesce(' (' || known_as || ')', '') as what, count(*) as rows from warnings "
        "where problem like '%not in the vocabulary' group by all order by what",
    )


def _withdrawn(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Tell the withdrawn results by system and reason, then the lines that fit no result."""
    yield from _counted(
        connection,
        "withdrawn results (kept, in no other table)",
        """
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
    )
    yield from _counted(
        connection,
        "withdrawals that fit no result",
        """
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
    )


def _differences(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Sum up how the sources differ: in all, by pair of sources, and which ones are right."""
    counted = connection.execute(
        """
        select
            source_a || ' against ' || source_b as pair,
            kind,
            coalesce(right_source, 'not settled by logs') as right_one,
            count(*) as rows
        from reconciliation group by all order by rows desc, pair, kind, right_one
        """
    ).fetchall()
    unexplained = sum(rows for _, kind, _, rows in counted if kind == "unknown")
    total = sum(rows for *_, rows in counted)
    yield f"differences between sources: {total or 'none'}" + (
        f", {unexplained} of them unexplained" if unexplained else ", all explained" * bool(total)
    )
    for pair in sorted({pair for pair, *_ in counted}):
        yield f"  {pair}: {_summed((kind, rows) for of, kind, _, rows in counted if of == pair)}"
    if counted:
        yield f"  right: {_summed((right, rows) for _, _, right, rows in counted)}"


def _summed(counted: Iterable[tuple[str, int]]) -> str:
    """Return the counts by name, the largest first."""
    sums: Counter[str] = Counter()
    for name, rows in counted:
        sums[name] += rows
    return ", ".join(f"{name} {rows}" for name, rows in sums.most_common())


def _counted(connection: duckdb.DuckDBPyConnection, title: str, query: str) -> Iterator[str]:
    rows = connection.execute(query).fetchall()
    yield f"{title}: {sum(count for _, count in rows) or 'none'}"
    yield from (f"  {count:>6}  {printable(what)}" for what, count in rows[:SHOWN])
    if len(rows) > SHOWN:
        yield f"          and {len(rows) - SHOWN} more kinds"
