-- Each row of each file is a result, an attached measurement, a comparison or a reject.
-- Gives the files for which that does not add up.
with rejected as (
    select round_key, file, source_sha256, count(*) as rejects
    from main.rejects
    where source_row > 0
    group by all
),

kept as (
    select source_sha256, count(*) as results
    from main.results
    group by all
),

-- The same bytes can lie there under two names.
told as (
    select sha256, sum(results) as results
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
left join kept on source.sha256 = kept.source_sha256
left join told on source.sha256 = told.sha256
where
    source.rows <> source.results + source.measurements + source.comparisons + source.rejects
    or source.rejects <> coalesce(rejected.rejects, 0)
    or told.results <> coalesce(kept.results, 0)
order by all
