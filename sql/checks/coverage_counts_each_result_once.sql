-- No join of the coverage model multiplies or loses rows: per round, category and kind of name, its
-- counts add up to the closed results of that round and category.
-- Gives the rounds and categories for which they do not.
with by_category as (
    select
        result.round_key,
        unnest(coalesce(string_split(result.category, ','), [null])) as category
    from main.results as result
    inner join main.rounds as round on result.round_key = round.round_key
    where round.is_complete and result.division = 'closed' and not result.is_withdrawn
),

closed as (
    select
        by_category.round_key,
        by_category.category,
        count(*) as results
    from by_category
    group by all
),

counted as (
    select
        coverage.round_key,
        coverage.category,
        coverage.by,
        sum(coverage.results) as results
    from main.coverage as coverage
    group by all
)

select
    closed.round_key,
    closed.category,
    counted.by,
    closed.results,
    counted.results as counted
from closed
left join counted
    on
        closed.round_key = counted.round_key
        and closed.category is not distinct from counted.category
where counted.results is distinct from closed.results
order by all
