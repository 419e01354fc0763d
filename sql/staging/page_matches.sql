-- page_matches: the cells of the results page, each with the result it shows.
--
-- Grain: one row per distinct page cell (exact duplicates count once), numbered by cell_id; result_key is
-- null where no result fits. A result may be shown by several cells: copy numbers them. Withdrawn results
-- are matched too, so that their cells can be left out.
--
-- Which result a cell belongs to: one of the table, or one that only the logs have. Round, division,
-- benchmark, accuracy target and scenario are always equal; names are compared by name_key.
-- 1. By id or name: the same entry id, or the same submitter and system name (the only way where a round
--    has no ids). A name alone also needs an agreeing value or, where a round has no ids, the same nodes
--    and accelerators per node; it does not count where the cell's id and name are an entry without such a
--    result.
-- 2. Of what is left on both sides, by hardware and value: same submitter, nodes and accelerators per
--    node, an agreeing value, and no second candidate on either side.
-- Values agree when equal to 1e-4 or half_digit, or when a llama3.1-8b cell is in samples/s of 128 tokens.
--
-- half_digit: half of the last decimal where the page prints two or more, in the unit of value; else 0.
-- is_mean: the value is the mean over systems of the submitter with one name, processor, nodes and count, as
-- if they were one; systems: how many they are; mean_gap: how far from their mean the value is.
--
-- Tie rule: of several results that fit a cell the one with an agreeing value wins, then the one with the
-- same id and name, then the one in the same place by value, then the nearest value, then the lower
-- result_key.
with page_rows as (
    select distinct
        page.round_key,
        page.entry_id,
        page.division,
        page.submitter,
        page.system_name,
        page.benchmark,
        page.benchmark_family,
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

-- A hair more than half, for binary fractions.
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

results as (
    select
        stated.*,
        count(stated.entry_id) over (partition by stated.round_key) = 0 as has_no_ids,
        row_number() over (
            partition by
                stated.round_key,
                stated.division,
                stated.submitter,
                stated.name_key,
                stated.benchmark,
                stated.accuracy_target,
                stated.scenario
            order by stated.value, stated.result_key
        ) as place
    from staging.stated_results as stated
    where
        stated.is_subject
        and list_contains(stated.categories, 'datacenter')
        and stated.round_key in (select page.round_key from staging.page_cells as page)
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
    inner join results as entry
        on
            cell.round_key = entry.round_key
            and cell.division = entry.division
            and cell.entry_id = entry.entry_id
            and cell.name_key = entry.name_key
    group by cell.cell_id
),

-- Every result a cell could be, before the best one is chosen: of the same id or submitter at least.
candidates as (
    select
        cell.cell_id,
        result.result_key,
        cell.value as page_value,
        result.value as result_value,
        result.has_no_ids,
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
        abs(cell.value - result.value) <= greatest(1e-4 * abs(result.value), cell.half_digit)
        or (
            result.benchmark_family = 'llama3.1-8b'
            and result.unit = 'tokens/s'
            and abs(128 * cell.value - result.value) <= 1e-3 * abs(result.value)
        ) as agrees
    from cells as cell
    inner join results as result
        on
            cell.round_key = result.round_key
            and cell.division = result.division
            and cell.benchmark = result.benchmark
            and cell.accuracy_target is not distinct from result.accuracy_target
            and cell.scenario = result.scenario
            and (cell.entry_id = result.entry_id or cell.submitter = result.submitter)
    left join known_entries as known on cell.cell_id = known.cell_id
),

by_id_or_name as (
    select candidates.*
    from candidates
    where same_id or (same_name and not is_pooled and (agrees or (has_no_ids and same_hardware)))
    qualify row_number() over (
        partition by cell_id
        order by
            agrees desc,
            same_id and same_name desc,
            place_gap,
            abs(page_value - result_value),
            result_key
    ) = 1
),

by_hardware as (
    select candidates.*
    from candidates
    where
        same_hardware
        and not is_pooled
        and agrees
        and cell_id not in (select taken.cell_id from by_id_or_name as taken)
        and result_key not in (select taken.result_key from by_id_or_name as taken)
    qualify
        count(*) over (partition by cell_id) = 1
        and count(*) over (partition by result_key) = 1
),

-- At most one result per cell.
matches as (
    select
        found.cell_id,
        found.result_key,
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
    from results
    group by all
)

select
    cell.cell_id,
    cell.round_key,
    cell.division,
    cell.entry_id,
    cell.submitter,
    cell.system_name,
    cell.name_key,
    cell.benchmark,
    cell.benchmark_family,
    cell.accuracy_target,
    cell.scenario,
    cell.value,
    cell.unit,
    cell.unit_as_published,
    cell.half_digit,
    cell.accelerators,
    found.result_key,
    found.copy,
    mean.systems,
    abs(cell.value - mean.mean_value) as mean_gap,
    coalesce(mean_gap <= greatest(1e-4 * abs(mean.mean_value), cell.half_digit), false) as is_mean
from cells as cell
left join matches as found on cell.cell_id = found.cell_id
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
order by cell.cell_id
