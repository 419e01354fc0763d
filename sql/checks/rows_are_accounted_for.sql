-- Each row of each file is a result, an attached measurement, a comparison or a reject.
-- Gives the files for which that does not add up.
with rejected as (
    select round_key, file, source_sha256, count(*) as rejects
    from main.rejects
    where source_row > 0
    group by all
),

kept as (
    select round_key, source_kind, count(*) as results
    from main.results
    group by all
),

told as (
    select round_key, kind, sum(results) as results
    from main.sources
    group by all
)

select
    source.round_key,
    source.file,
    source.rows,
    source.results,
    source.measurements,
    source.comparisons,
    source.rejects
from main.sources as source
left join rejected
    on
        source.round_key = rejected.round_key
        and source.file = rejected.file
        and source.sha256 = rejected.source_sha256
left join kept on source.round_key = kept.round_key and source.kind = kept.source_kind
left join told on source.round_key = told.round_key and source.kind = told.kind
where
    source.rows <> source.results + source.measurements + source.comparisons + source.rejects
    or source.rejects <> coalesce(rejected.rejects, 0)
    or told.results <> coalesce(kept.results, 0)
order by all
