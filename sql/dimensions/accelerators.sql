-- accelerators: every product of the vocabulary and every accelerator a result names.
--
-- Grain: one row per accelerator, canonical. A power cap makes a product of its own, described by its base
-- product; a mixed system ("heterogeneous: A + B") is one name, known where all its parts are.
-- First and last round go by day of publication (unknown: last), then by suite and version.
-- Tie rule: none needed. CPU-only systems have no accelerator and no row. Withdrawn results count nowhere.
with spellings as (
    select
        name.accelerator,
        name.as_published as spelling
    from staging.accelerator_names as name

    union all

    select
        product.accelerator,
        null as spelling
    from staging.accelerator_products as product

    union all

    select
        result.accelerator,
        result.accelerator_as_published as spelling
    from main.results as result
    where not result.is_withdrawn
),

names as (
    select
        accelerator,
        list(distinct spelling order by spelling) filter (where spelling is not null) as spellings
    from spellings
    where accelerator is not null
    group by accelerator
),

parts as (
    select
        accelerator,
        unnest(string_split(regexp_replace(accelerator, '^heterogeneous: ', ''), ' + ')) as part
    from names
),

described as (
    select
        parts.accelerator,
        string_agg(distinct product.vendor, ' + ' order by product.vendor) as vendor,
        case when count(*) = 1 then min(product.form_factor) end as form_factor,
        case when count(*) = 1 then min(product.memory_gb) end as memory_gb,
        case
            when count(*) = 1
                then min(try_cast(regexp_extract(parts.part, '[(](\d+) W cap[)]$', 1) as bigint))
        end as power_cap_w,
        count(*) > 1 as is_heterogeneous,
        bool_and(product.accelerator is not null) as is_known
    from parts
    left join staging.accelerator_products as product
        on regexp_replace(parts.part, ' [(]\d+ W cap[)]$', '') = product.accelerator
    group by parts.accelerator
),

release_order as (
    select
        round.round_key,
        row_number() over (order by round.released_on nulls last, round.suite, round.position) as place
    from staging.rounds as round
),

counted as (
    select
        result.accelerator,
        arg_min(result.round_key, release_order.place) as first_round_key,
        arg_max(result.round_key, release_order.place) as last_round_key,
        count(distinct result.round_key) as rounds,
        count(*) as results
    from main.results as result
    inner join release_order on result.round_key = release_order.round_key
    where not result.is_withdrawn
    group by result.accelerator
)

select
    names.accelerator,
    described.vendor,
    described.form_factor,
    described.memory_gb,
    described.power_cap_w,
    described.is_heterogeneous,
    described.is_known,
    coalesce(names.spellings, []) as spellings,
    counted.first_round_key,
    counted.last_round_key,
    coalesce(counted.rounds, 0) as rounds,
    coalesce(counted.results, 0) as results
from names
inner join described on names.accelerator = described.accelerator
left join counted on names.accelerator = counted.accelerator
order by names.accelerator
