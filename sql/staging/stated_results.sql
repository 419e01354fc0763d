-- stated_results: what the published table and the submission logs say of each result, made fit to be held
-- against each other and against the results page.
--
-- Grain: source, result_key. Results taken from the page are left out: they can be held against nothing.
-- Logs stand beside a table only for rounds that have one; elsewhere they are the results themselves.
-- is_subject: the row that names the result: the table's, and the logs' where the table lacks it.
-- accelerators: as published by the table; by the logs those that really ran.
-- name_key, processor_key: by letters and digits only, lower case, since the page drops commas and more.
-- Tie rule: none needed.
with stated as (
    select
        result.*,
        result.source_kind as source,
        coalesce(result.accelerators_as_published, result.accelerators) as accelerators_stated
    from staging.results as result
    where result.source_kind <> 'results page'

    union all

    select
        derived.*,
        'submission logs' as source,
        derived.accelerators as accelerators_stated
    from staging.derived_results as derived
    where
        derived.round_key in (
            select result.round_key from staging.results as result
            where result.source_kind = 'published table'
        )
)

select
    source,
    result_key,
    source = 'published table' or count(*) over (partition by result_key) = 1 as is_subject,
    result_key in (select withdrawal.result_key from staging.withdrawals as withdrawal) as is_withdrawn,
    round_key,
    division,
    string_split(category, ',') as categories,
    entry_id,
    submitter,
    system_name,
    benchmark,
    benchmark_family,
    accuracy_target,
    scenario,
    value,
    unit,
    unit_as_published,
    nodes,
    coalesce(accelerators_per_node, 0) as accelerators_per_node,
    accelerators_stated as accelerators,
    accelerators as accelerators_that_ran,
    is_inferred,
    nullif(regexp_replace(lower(system_name), '[^a-z0-9]', '', 'g'), '') as name_key,
    regexp_replace(lower(processor), '[^a-z0-9]', '', 'g') as processor_key
from stated
order by round_key, result_key, source
