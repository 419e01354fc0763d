-- submitters: every submitter of the vocabulary or of a result, under its canonical name.
--
-- Grain: one row per submitter; a joint submission ("Dell+MangoBoost") is a submitter of its own.
-- First and last round go by day of publication (unknown: last), then by suite and version.
-- Tie rule: where spellings differ on the organisations, the alphabetically first spelling's count.
-- Withdrawn results count nowhere.
with spellings as (
    select
        name.submitter,
        name.as_published as spelling,
        name.organisations,
        true as is_known
    from staging.submitter_names as name

    union all

    select distinct
        result.submitter,
        result.submitter_as_published as spelling,
        result.organisations,
        false as is_known
    from main.results as result
    where not result.is_withdrawn
),

names as (
    select
        submitter,
        first(organisations order by is_known desc, spelling) as organisations,
        list(distinct spelling order by spelling) as spellings,
        bool_or(is_known) as is_known
    from spellings
    where submitter is not null
    group by submitter
),

release_order as (
    select
        round.round_key,
        row_number() over (order by round.released_on nulls last, round.suite, round.position) as place
    from staging.rounds as round
),

counted as (
    select
        result.submitter,
        arg_min(result.round_key, release_order.place) as first_round_key,
        arg_max(result.round_key, release_order.place) as last_round_key,
        count(distinct result.round_key) as rounds,
        count(*) as results
    from main.results as result
    inner join release_order on result.round_key = release_order.round_key
    where not result.is_withdrawn
    group by result.submitter
)

select
    names.submitter,
    names.organisations,
    names.spellings,
    names.is_known,
    counted.first_round_key,
    counted.last_round_key,
    coalesce(counted.rounds, 0) as rounds,
    coalesce(counted.results, 0) as results
from names
left join counted on names.submitter = counted.submitter
order by names.submitter
