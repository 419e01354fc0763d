-- reconciliation: where the published table and MLCommons' results page differ on a result, value by
-- value.
--
-- Grain: one row per page cell or result and field on which they differ: value, unit, accelerators,
-- entry_id, system_name, or row where only one source has it. What is equal gives no row. Compared are the
-- closed datacenter results of the rounds that have page cells; other rounds keep the rows carried from
-- earlier builds. value_a is what the results table says (value and unit canonical, so a wrong label is
-- already put right there; accelerators as published), value_b what the page says, ratio is b / a. A
-- number that only the page has is never a result.
--
-- Which result a page cell belongs to. Round, division, benchmark, accuracy target and scenario are always
-- equal; names are compared by letters and digits only, since the page drops commas and more.
-- 1. By id or name: the same entry id, or the same submitter and system name (the only way where the table
--    has no ids). A name alone also needs an agreeing value or, where the table has no ids, the same nodes
--    and accelerators per node; it does not count where the cell's id and name are an entry without such a
--    result.
-- 2. Of what is left on both sides, by hardware and value: same submitter, nodes and accelerators per
--    node, an agreeing value, and no second candidate on either side.
--
-- Kinds, the first that fits:
-- - rounding: equal to 1e-4, or to half the last decimal where the page prints two or more (1e-9 is
--   equal);
-- - unit label: the same number under another unit, or a llama3.1-8b value in samples/s of 128 tokens
--   each;
-- - averaged systems: the page prints the mean over the submitter's systems of one name, processor, nodes
--   and count, also under entries of that name that have no such result, or prints one result under
--   several ids;
-- - rotated ids: the page shows the result under an id that is not its own in the table;
-- - system name, accelerator count: the sources write different ones;
-- - missing on page, missing in table: only one source has the result;
-- - unknown: the values differ and no rule says why.
--
-- Tie rule: of several results that fit a cell the one with an agreeing value wins, then the one with the
-- same id and name, then the one in the same place by value, then the nearest value, then the lower
-- result_key. Exact duplicates of a page cell count once. Carried rows never stand beside computed rows of
-- their round.
with page_rows as (
    select distinct
        page.round_key,
        page.entry_id,
        page.division,
        page.submitter,
        page.system_name,
        page.benchmark,
        page.accuracy_target,
        page.scenario,
        page.value,
        page.unit,
        page.value_as_published,
        page.unit_as_published,
        page.nodes,
        coalesce(page.accelerators_per_node, 0) as accelerators_per_node,
        coalesce(page.accelerators, page.nodes * page.accelerators_per_node) as accelerators,
        nullif(regexp_replace(lower(page.system_name), '[^a-z0-9]', '', 'g'), '') as name_key,
        regexp_replace(lower(page.processor), '[^a-z0-9]', '', 'g') as processor_key
    from staging.page_cells as page
),

-- scale: from the number as printed to the unit of value.
measured as (
    select
        page_rows.*,
        length(regexp_extract(value_as_published, '[.]([0-9]+)$', 1)) as decimals,
        value / nullif(try_cast(replace(value_as_published, ',', '') as double), 0) as scale
    from page_rows
),

-- half_digit: half of the last printed decimal (and a hair, for binary fractions), in the unit of value.
cells as (
    select
        measured.*,
        case
            when decimals >= 2 then coalesce(scale, 1) * 0.5001 * pow(10, -decimals)
            else 0
        end as half_digit,
        row_number() over (
            order by
                round_key, division, entry_id, name_key, benchmark, accuracy_target, scenario, value, unit,
                system_name, submitter, value_as_published, unit_as_published, nodes,
                accelerators_per_node, accelerators, processor_key
        ) as cell_id,
        row_number() over (
            partition by round_key, division, submitter, name_key, benchmark, accuracy_target, scenario
            order by value, entry_id
        ) as place
    from measured
),

published as (
    select
        result.result_key,
        result.round_key,
        result.division,
        result.entry_id,
        result.submitter,
        result.system_name,
        result.benchmark,
        result.benchmark_family,
        result.accuracy_target,
        result.scenario,
        result.value,
        result.unit,
        result.unit_as_published,
        result.source_kind,
        result.nodes,
        coalesce(result.accelerators_per_node, 0) as accelerators_per_node,
        result.accelerators as accelerators_that_ran,
        coalesce(result.accelerators_as_published, result.accelerators) as accelerators,
        nullif(regexp_replace(lower(result.system_name), '[^a-z0-9]', '', 'g'), '') as name_key,
        regexp_replace(lower(result.processor), '[^a-z0-9]', '', 'g') as processor_key,
        row_number() over (
            partition by
                result.round_key,
                result.division,
                result.submitter,
                name_key,
                result.benchmark,
                result.accuracy_target,
                result.scenario
            order by result.value, result.result_key
        ) as place
    from staging.results as result
    where
        result.division = 'closed'
        and contains(result.category, 'datacenter')
        and result.is_withdrawn is not true
        and result.round_key in (select page.round_key from staging.page_cells as page)
),

-- One row per cell whose id and name are an entry of the table; has_result: also a result of it.
known_entries as (
    select
        cell.cell_id,
        bool_or(
            entry.benchmark = cell.benchmark
            and entry.accuracy_target is not distinct from cell.accuracy_target
            and entry.scenario = cell.scenario
        ) as has_result
    from cells as cell
    inner join published as entry
        on
            cell.round_key = entry.round_key
            and cell.division = entry.division
            and cell.entry_id = entry.entry_id
            and cell.name_key = entry.name_key
    group by cell.cell_id
),

-- Every result a cell could be, before the best one is chosen.
candidates as (
    select
        cell.cell_id,
        result.result_key,
        cell.value as page_value,
        result.value as table_value,
        result.entry_id is null as has_no_id,
        coalesce(cell.entry_id = result.entry_id, false) as same_id,
        coalesce(cell.submitter = result.submitter and cell.name_key = result.name_key, false) as same_name,
        coalesce(not known.has_result, false) as is_pooled,
        coalesce(
            cell.submitter = result.submitter
            and cell.nodes = result.nodes
            and cell.accelerators_per_node = result.accelerators_per_node,
            false
        ) as same_hardware,
        abs(cell.place - result.place) as place_gap,
        abs(cell.value - result.value)
        <= greatest(1e-4 * abs(result.value), cell.half_digit) as same_number,
        result.benchmark_family = 'llama3.1-8b'
        and result.unit = 'tokens/s'
        and abs(128 * cell.value - result.value) <= 1e-3 * abs(result.value) as is_per_sample
    from cells as cell
    inner join published as result
        on
            cell.round_key = result.round_key
            and cell.division = result.division
            and cell.benchmark = result.benchmark
            and cell.accuracy_target is not distinct from result.accuracy_target
            and cell.scenario = result.scenario
    left join known_entries as known on cell.cell_id = known.cell_id
),

by_id_or_name as (
    select
        candidates.*,
        same_number or is_per_sample as agrees
    from candidates
    where
        same_id
        or (same_name and not is_pooled and (same_number or is_per_sample or (has_no_id and same_hardware)))
    qualify row_number() over (
        partition by cell_id
        order by
            agrees desc,
            same_id and same_name desc,
            place_gap,
            abs(page_value - table_value),
            result_key
    ) = 1
),

by_hardware as (
    select
        candidates.*,
        same_number or is_per_sample as agrees
    from candidates
    where
        same_hardware
        and not is_pooled
        and (same_number or is_per_sample)
        and cell_id not in (select taken.cell_id from by_id_or_name as taken)
        and result_key not in (select taken.result_key from by_id_or_name as taken)
    qualify
        count(*) over (partition by cell_id) = 1
        and count(*) over (partition by result_key) = 1
),

-- At most one result per cell; a result may be shown by several cells, numbered by copy.
matches as (
    select
        found.*,
        row_number() over (
            partition by found.result_key
            order by found.same_id desc, found.agrees desc, found.place_gap, found.cell_id
        ) as copy
    from (
        select * from by_id_or_name
        union all
        select * from by_hardware
    ) as found
),

-- The mean the page would print if it took all systems of one name for one.
means as (
    select
        round_key,
        division,
        submitter,
        name_key,
        processor_key,
        nodes,
        accelerators_per_node,
        benchmark,
        accuracy_target,
        scenario,
        avg(value) as mean_value,
        count(*) as systems
    from published
    group by all
),

-- One row per page cell, with its result (if any) beside it.
compared as (
    select
        cell.round_key,
        coalesce(result.entry_id, cell.entry_id) as entry_id,
        cell.entry_id as entry_id_on_page,
        result.entry_id as entry_id_in_table,
        coalesce(result.submitter, cell.submitter) as submitter,
        coalesce(result.system_name, cell.system_name) as system_name,
        result.system_name as system_name_in_table,
        cell.system_name as system_name_on_page,
        cell.benchmark,
        cell.accuracy_target,
        cell.scenario,
        result.result_key,
        coalesce(result.source_kind, 'published table') as source_a,
        result.value as table_value,
        cell.value as page_value,
        result.unit as table_unit,
        cell.unit as page_unit,
        result.unit_as_published as table_label,
        cell.unit_as_published as page_label,
        result.accelerators as table_accelerators,
        result.accelerators_that_ran,
        cell.accelerators as page_accelerators,
        found.same_id,
        found.same_name,
        found.same_number,
        found.is_per_sample,
        found.copy,
        mean.systems,
        abs(cell.value - result.value) <= 1e-9 * abs(result.value) as is_equal,
        coalesce(
            abs(cell.value - mean.mean_value) <= greatest(1e-4 * abs(mean.mean_value), cell.half_digit), false
        ) as is_mean
    from cells as cell
    left join matches as found on cell.cell_id = found.cell_id
    left join published as result on found.result_key = result.result_key
    left join means as mean
        on
            cell.round_key = mean.round_key
            and cell.division = mean.division
            and cell.submitter = mean.submitter
            and cell.name_key = mean.name_key
            and cell.processor_key = mean.processor_key
            and cell.nodes = mean.nodes
            and cell.accelerators_per_node = mean.accelerators_per_node
            and cell.benchmark = mean.benchmark
            and cell.accuracy_target is not distinct from mean.accuracy_target
            and cell.scenario = mean.scenario
),

differences as (
    select
        compared.*,
        'value' as field,
        case
            when same_number then 'rounding'
            when is_per_sample then 'unit label'
            when is_mean and systems > 1 then 'averaged systems'
            else 'unknown'
        end as kind,
        cast(table_value as varchar) as value_a,
        cast(page_value as varchar) as value_b,
        page_value / nullif(table_value, 0) as ratio,
        case
            when same_number then 'The two sources round the same number differently.'
            when is_per_sample
                then
                    'The page, labelled ' || page_label
                    || ', gives samples/s: 1/128 of the tokens/s in the table, since a sample is 128 tokens.'
            when is_mean and systems > 1
                then
                    'The page prints the mean of the ' || cast(systems as varchar)
                    || ' systems of this name, the table each system''s own value.'
            when page_unit <> table_unit
                then 'The two sources print different numbers under different units.'
            else 'The two sources print different numbers and no known rule explains it.'
        end as explanation
    from compared
    where result_key is not null and not is_equal

    union all

    select
        compared.*,
        'unit' as field,
        'unit label' as kind,
        table_unit as value_a,
        page_label as value_b,
        null as ratio,
        case
            when lower(table_label) = lower(page_label)
                then 'Both sources print ' || page_label || ', but the number is in ' || table_unit || '.'
            else
                'The page prints ' || page_label || ' and the table ' || coalesce(table_label, 'no label')
                || '; the number is in ' || table_unit || '.'
        end as explanation
    from compared
    where page_unit <> table_unit and (same_number or is_mean)

    union all

    select
        compared.*,
        'accelerators' as field,
        'accelerator count' as kind,
        cast(table_accelerators as varchar) as value_a,
        cast(page_accelerators as varchar) as value_b,
        page_accelerators / nullif(table_accelerators, 0) as ratio,
        case
            when page_accelerators = accelerators_that_ran
                then
                    'The page counts the accelerators that really ran, '
                    || 'the table multiplies nodes by accelerators per node.'
            else 'The two sources print different accelerator counts.'
        end as explanation
    from compared
    where page_accelerators <> table_accelerators

    union all

    select
        compared.*,
        'entry_id' as field,
        'rotated ids' as kind,
        entry_id_in_table as value_a,
        entry_id_on_page as value_b,
        null as ratio,
        case
            when copy > 1
                then
                    'The page repeats this result of ' || entry_id_in_table || ' under '
                    || entry_id_on_page || '.'
            else
                'The page shows this result under ' || entry_id_on_page || ', the table under '
                || entry_id_in_table || '.'
        end as explanation
    from compared
    where entry_id_on_page <> entry_id_in_table

    union all

    select
        compared.*,
        'system_name' as field,
        'system name' as kind,
        system_name_in_table as value_a,
        system_name_on_page as value_b,
        null as ratio,
        'The two sources give the same result another system name.' as explanation
    from compared
    where result_key is not null and not same_name

    union all

    select
        compared.*,
        'row' as field,
        case
            when is_mean or result_key is not null then 'averaged systems'
            else 'missing in table'
        end as kind,
        null as value_a,
        cast(page_value as varchar) as value_b,
        null as ratio,
        case
            when result_key is not null
                then 'The page shows this result once more under ' || entry_id_on_page || '.'
            when is_mean
                then
                    'The page takes systems of one name for one: ' || entry_id_on_page
                    || ' has no such result and is shown its namesakes''.'
            else 'Only the page has this result.'
        end as explanation
    from compared
    where result_key is null or (entry_id_in_table is null and copy > 1)
),

reconciled as (
    select
        round_key,
        entry_id,
        entry_id_on_page,
        submitter,
        system_name,
        benchmark,
        accuracy_target,
        scenario,
        result_key,
        field,
        kind,
        source_a,
        value_a,
        'results page' as source_b,
        value_b,
        coalesce(table_unit, page_unit) as unit,
        ratio,
        explanation
    from differences

    union all

    select
        round_key,
        entry_id,
        null as entry_id_on_page,
        submitter,
        system_name,
        benchmark,
        accuracy_target,
        scenario,
        result_key,
        'row' as field,
        'missing on page' as kind,
        source_kind as source_a,
        cast(value as varchar) as value_a,
        'results page' as source_b,
        null as value_b,
        unit,
        null as ratio,
        'Only the table has this result.' as explanation
    from published
    where
        result_key not in (select shown.result_key from matches as shown)
        and division in (select cell.division from cells as cell where cell.round_key = published.round_key)

    union all

    select
        carried.round_key,
        carried.entry_id,
        carried.entry_id_on_page,
        carried.submitter,
        carried.system_name,
        carried.benchmark,
        carried.accuracy_target,
        carried.scenario,
        carried.result_key,
        carried.field,
        carried.kind,
        carried.source_a,
        carried.value_a,
        carried.source_b,
        carried.value_b,
        carried.unit,
        carried.ratio,
        carried.explanation
    from staging.reconciliation as carried
    where carried.round_key not in (select page.round_key from staging.page_cells as page)
)

select
    round_key,
    entry_id,
    entry_id_on_page,
    submitter,
    system_name,
    benchmark,
    accuracy_target,
    scenario,
    result_key,
    field,
    kind,
    source_a,
    value_a,
    source_b,
    value_b,
    unit,
    ratio,
    explanation
from reconciled
order by
    round_key,
    entry_id,
    entry_id_on_page,
    submitter,
    system_name,
    benchmark,
    accuracy_target,
    scenario,
    result_key,
    field,
    kind,
    value_a,
    value_b
