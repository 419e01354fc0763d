-- rounds: every known round, with or without results, and whether marts may use it.
--
-- Grain: one row per round_key.
-- A round is complete where it has results, none of its files says that it is partial, and it is reviewed or
-- has at least a quarter of the results of the last reviewed complete round before it in its suite, since
-- tables are published in pieces. An unreviewed round with nothing to be held against is not complete.
-- state: the best kind of source its results come from; without results, whether a table is known at all.
-- Tie rule: none needed. Withdrawn results count nowhere.
with counted as (
    select
        result.round_key,
        count(*) as results,
        count(distinct result.submitter) as submitters,
        count(distinct row(result.submitter_directory, result.platform)) as systems,
        -- in the order of the alphabet: published table, results page, submission logs
        min(result.source_kind) as best_source_kind
    from main.results as result
    where not result.is_withdrawn
    group by result.round_key
),

partial as (
    select distinct source.round_key
    from staging.sources as source
    where source.is_partial
),

described as (
    select
        round.round_key,
        round.suite,
        round.round,
        round.position,
        round.released_on,
        round.released_on_source,
        round.repository,
        round.table_file,
        round.is_reviewed,
        counted.results,
        counted.submitters,
        counted.systems,
        counted.best_source_kind,
        counted.results is not null and partial.round_key is null as is_whole
    from staging.rounds as round
    left join counted on round.round_key = counted.round_key
    left join partial on round.round_key = partial.round_key
),

measured as (
    select
        described.*,
        last_value(case when is_reviewed and is_whole then results end ignore nulls) over (
            partition by suite
            order by position
            rows between unbounded preceding and 1 preceding
        ) as results_before
    from described
)

select
    round_key,
    suite,
    round,
    position,
    released_on,
    released_on_source,
    repository,
    table_file,
    coalesce(results, 0) as results,
    coalesce(submitters, 0) as submitters,
    coalesce(systems, 0) as systems,
    case
        when results is not null
            then is_whole and coalesce(is_reviewed or results >= results_before / 4, false)
    end as is_complete,
    is_reviewed,
    case
        when best_source_kind is not null then best_source_kind
        when table_file is null then 'archives only'
        else 'not in this warehouse'
    end as state
from measured
order by suite, position, round_key
