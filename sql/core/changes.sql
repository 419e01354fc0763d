-- What moved when a round's file was corrected: results added, removed or changed, row by row.
-- Grain: round, bytes before and after, result, and field (result for a whole row).
-- Compared are the rounds whose results come from other bytes than in the last warehouse; what was
-- found earlier is kept. Derived columns and provenance are not compared: they follow from others.
-- Ties: none; a result has one row in each warehouse.
with before as (
    select former.*
    from staging.former_results as former
),

-- The bytes that a round's results came from: one table's, or many logs', which stand for one digest.
files_before as (
    select
        before.round_key,
        string_agg(distinct before.source_sha256, ' ' order by before.source_sha256) as all_sha256,
        max(before.source_commit) as commit
    from before
    group by before.round_key
),

files_after as (
    select
        result.round_key,
        string_agg(distinct result.source_sha256, ' ' order by result.source_sha256) as all_sha256,
        max(result.source_commit) as commit
    from staging.results as result
    group by result.round_key
),

corrected as (
    select
        files_after.round_key,
        files_before.commit as commit_before,
        files_after.commit as commit_after,
        if(contains(files_before.all_sha256, ' '), sha256(files_before.all_sha256), files_before.all_sha256)
            as sha256_before,
        if(contains(files_after.all_sha256, ' '), sha256(files_after.all_sha256), files_after.all_sha256)
            as sha256_after
    from files_after
    inner join files_before on files_after.round_key = files_before.round_key
    where files_after.all_sha256 <> files_before.all_sha256
),

after as (
    select result.*
    from staging.results as result
    where result.round_key in (select corrected.round_key from corrected)
),

gone as (
    select
        before.*,
        'removed' as change,
        concat_ws(' ', before.value_as_published, before.unit_as_published) as shown_before,
        null as shown_after
    from before
    where
        before.round_key in (select corrected.round_key from corrected)
        and before.result_key not in (select after.result_key from after)
),

come as (
    select
        after.*,
        'added' as change,
        null as shown_before,
        concat_ws(' ', after.value_as_published, after.unit_as_published) as shown_after
    from after
    where after.result_key not in (select before.result_key from before)
),

-- One row per result that both have and column that is compared.
compared as (
    select
        after.round_key,
        after.result_key,
        after.entry_id,
        after.submitter,
        after.platform,
        after.model_used,
        after.scenario,
        unnest([
            {'field': 'value', 'before': before.value::varchar, 'after': after.value::varchar},
            {
                'field': 'unit_as_published',
                'before': before.unit_as_published,
                'after': after.unit_as_published
            },
            {'field': 'entry_id', 'before': before.entry_id, 'after': after.entry_id},
            {'field': 'category', 'before': before.category, 'after': after.category},
            {'field': 'availability', 'before': before.availability, 'after': after.availability},
            {
                'field': 'submitter_as_published',
                'before': before.submitter_as_published,
                'after': after.submitter_as_published
            },
            {'field': 'system_name', 'before': before.system_name, 'after': after.system_name},
            {
                'field': 'accelerator_as_published',
                'before': before.accelerator_as_published,
                'after': after.accelerator_as_published
            },
            {'field': 'nodes', 'before': before.nodes::varchar, 'after': after.nodes::varchar},
            {
                'field': 'accelerators_per_node',
                'before': before.accelerators_per_node::varchar,
                'after': after.accelerators_per_node::varchar
            },
            {
                'field': 'accelerators_as_published',
                'before': before.accelerators_as_published::varchar,
                'after': after.accelerators_as_published::varchar
            },
            {'field': 'processor', 'before': before.processor, 'after': after.processor},
            {
                'field': 'processors_per_node',
                'before': before.processors_per_node::varchar,
                'after': after.processors_per_node::varchar
            },
            {
                'field': 'benchmark_as_published',
                'before': before.benchmark_as_published,
                'after': after.benchmark_as_published
            },
            {
                'field': 'power_watts',
                'before': before.power_watts::varchar,
                'after': after.power_watts::varchar
            },
            {
                'field': 'energy_joules',
                'before': before.energy_joules::varchar,
                'after': after.energy_joules::varchar
            },
            {'field': 'accuracy', 'before': before.accuracy, 'after': after.accuracy},
            {'field': 'software', 'before': before.software, 'after': after.software},
            {
                'field': 'operating_system',
                'before': before.operating_system,
                'after': after.operating_system
            },
            {
                'field': 'weight_data_types',
                'before': before.weight_data_types,
                'after': after.weight_data_types
            },
            {
                'field': 'is_inferred',
                'before': before.is_inferred::varchar,
                'after': after.is_inferred::varchar
            }
        ]) as change
    from after
    inner join before on after.round_key = before.round_key and after.result_key = before.result_key
),

moved as (
    select
        compared.round_key,
        if(compared.change.field = 'value', 'value changed', 'field changed') as change,
        compared.change.field as field,
        compared.change.before as value_before,
        compared.change.after as value_after,
        compared.result_key,
        compared.entry_id,
        compared.submitter,
        compared.platform,
        compared.model_used,
        compared.scenario
    from compared
    where compared.change.before is distinct from compared.change.after

    union all

    select
        whole.round_key,
        whole.change,
        'result' as field,
        whole.shown_before as value_before,
        whole.shown_after as value_after,
        whole.result_key,
        whole.entry_id,
        whole.submitter,
        whole.platform,
        whole.model_used,
        whole.scenario
    from (
        select * from gone
        union all by name
        select * from come
    ) as whole
),

found as (
    select
        moved.*,
        corrected.commit_before,
        corrected.commit_after,
        corrected.sha256_before,
        corrected.sha256_after
    from moved
    inner join corrected on moved.round_key = corrected.round_key
),

-- The same correction met a second time adds nothing.
kept as (
    select former.*
    from staging.former_changes as former
    anti join found
        on
            former.round_key = found.round_key
            and former.sha256_before = found.sha256_before
            and former.sha256_after = found.sha256_after
)

select * from kept
union all
select * from found
order by
    round_key,
    sha256_before,
    sha256_after,
    submitter,
    platform,
    model_used,
    scenario,
    result_key,
    field
