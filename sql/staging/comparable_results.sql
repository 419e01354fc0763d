-- comparable_results: the results that marts may use, one row per result and category, with what they
-- compare by.
--
-- Grain: result_key, category. Complete rounds only, nothing withdrawn. A result of 'datacenter,edge' counts
-- in both and has two rows; category stays null where a suite or round has none.
-- score: higher is better, so that a over b is always score_a / score_b; 1 / value where lower is better.
-- best_first: of the results of a group, min(best_first) is the best one.
-- compatibility_group, record_group, compatibility_note: looked up for the scenario and, where it has no row,
--   for '*'.
-- host_key: the processor by letters and digits only, lower case, without (R), (TM), a count before it ("2x")
--   and "NN-Core Processor", which the same processor has in one round and lacks in another. The number of
--   processors is no part of it. Null where no processor is named.
-- system_key: the system name by letters and digits only, lower case, without bracketed text (accelerators
--   and software stand there). Null where nothing is left.
-- vendor_name, accelerator_name: what coverage counts by; 'CPU only' without accelerator, and an accelerator
--   of unknown vendor stands for its vendor.
-- Tie rule: of equal scores the one with the lowest entry_id (null last), then the lowest result_key.
with categorised as (
    select
        result.*,
        round.position as round_position,
        unnest(coalesce(string_split(result.category, ','), [null])) as single_category,
        case when result.lower_is_better then 1 / nullif(result.value, 0) else result.value end as score
    from main.results as result
    inner join main.rounds as round on result.round_key = round.round_key
    where round.is_complete and not result.is_withdrawn
),

-- A line written twice must not double results.
compatible_rounds as (
    select
        line.suite,
        line.category,
        line.benchmark,
        line.round,
        line.scenario,
        min(line.compatibility_group) as compatibility_group,
        min(coalesce(line.record_group, line.compatibility_group)) as record_group,
        min(line.note) as note
    from staging.compatibility as line
    group by all
)

select
    result.result_key,
    result.suite,
    result.round,
    result.round_key,
    result.round_position,
    result.division,
    result.single_category as category,
    result.availability,
    result.entry_id,
    result.submitter,
    result.organisations,
    result.system_name,
    result.accelerator,
    result.accelerator_as_published,
    result.accelerator_vendor,
    case
        when result.accelerator is null then 'CPU only'
        else coalesce(result.accelerator_vendor, result.accelerator)
    end as vendor_name,
    coalesce(result.accelerator, 'CPU only') as accelerator_name,
    coalesce(result.is_heterogeneous, false) as is_heterogeneous,
    result.nodes,
    result.accelerators,
    result.accelerators_as_published,
    result.processor,
    result.processors_per_node,
    result.benchmark,
    result.benchmark_family,
    result.accuracy_target,
    result.model_used,
    result.scenario,
    result.value,
    result.unit,
    result.lower_is_better,
    result.score,
    struct_pack(
        negative_score := -result.score,
        has_no_id := result.entry_id is null,
        entry_id := result.entry_id,
        result_key := result.result_key
    ) as best_first,
    coalesce(result.power_watts, result.energy_joules) is not null as has_power,
    result.software,
    result.weight_data_types,
    result.is_inferred,
    result.scaling_factor,
    result.repeats_result_key,
    coalesce(result.is_accuracy_copy, false) as is_accuracy_copy,
    coalesce(own.compatibility_group, general.compatibility_group) as compatibility_group,
    coalesce(own.record_group, general.record_group) as record_group,
    coalesce(own.note, general.note) as compatibility_note,
    nullif(
        regexp_replace(
            regexp_replace(lower(result.processor), '[(](r|tm)[)]|^\d+ ?x|\d+-core process[a-z]*', '', 'g'),
            '[^a-z0-9]', '', 'g'
        ), ''
    ) as host_key,
    nullif(
        regexp_replace(
            regexp_replace(lower(result.system_name), '[(][^)]*[)]|\[[^]]*\]', '', 'g'), '[^a-z0-9]', '', 'g'
        ), ''
    ) as system_key
from categorised as result
left join compatible_rounds as own
    on
        result.suite = own.suite
        and result.single_category is not distinct from own.category
        and result.benchmark_family = own.benchmark
        and result.round = own.round
        and result.scenario = own.scenario
left join compatible_rounds as general
    on
        result.suite = general.suite
        and result.single_category is not distinct from general.category
        and result.benchmark_family = general.benchmark
        and result.round = general.round
        and general.scenario = '*'
order by result.suite, result.round_position, result.result_key, result.single_category
