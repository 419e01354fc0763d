-- partner_spread: how near a partner's result comes to the best one of the accelerator's maker.
--
-- Grain: result_key_partner, category: every closed result of another submitter than the maker, against the
-- best that the maker submitted under its own name with the same round, category, product, number of
-- accelerators, nodes, benchmark, accuracy target, scenario and unit. Where the maker has none there is no
-- row. A joint submission in which the maker takes part is another submitter. CPU-only and mixed systems take
-- no part.
-- ratio: partner over maker, above 1 the partner is better, for latency and time to train too.
-- is_accuracy_copy: both results are 99.9 rows that repeat the run of their 99 row.
-- Tie rule: of the maker's equal best results the one with the lowest entry_id (null last), then the lowest
-- result_key.
-- Slices: suite, round_position.
with entries as not materialized (
    select result.*
    from staging.comparable_results as result
    where result.division = 'closed' and result.accelerators > 0 and not result.is_heterogeneous
),

-- The maker's best result, by all that a partner's must share with it.
makers_best as (
    select
        entries.round_key,
        entries.category,
        entries.accelerator,
        entries.accelerators,
        entries.nodes,
        entries.benchmark,
        entries.accuracy_target,
        entries.scenario,
        entries.unit,
        min(entries.best_first).result_key as result_key
    from entries
    where entries.submitter = entries.accelerator_vendor
    group by all
),

described as (
    select
        partner.suite,
        partner.round_position,
        partner.round_key,
        partner.category,
        partner.accelerator_vendor as vendor,
        partner.accelerator,
        partner.accelerators,
        partner.nodes,
        partner.benchmark,
        partner.accuracy_target,
        partner.scenario,
        partner.submitter as partner,
        partner.value as partner_value,
        own.submitter as vendor_submitter,
        own.value as vendor_value,
        partner.unit,
        partner.score / own.score as ratio,
        partner.availability,
        partner.is_accuracy_copy and own.is_accuracy_copy as is_accuracy_copy,
        [
            case
                when partner.availability is distinct from own.availability
                    then
                        'availability: ' || coalesce(partner.availability, 'not stated')
                        || ' against ' || coalesce(own.availability, 'not stated')
            end,
            case
                when partner.weight_data_types is distinct from own.weight_data_types
                    then
                        'precision: ' || coalesce(partner.weight_data_types, 'not stated')
                        || ' against ' || coalesce(own.weight_data_types, 'not stated')
            end,
            case when partner.has_power <> own.has_power then 'measured with power on one side only' end,
            case when partner.is_inferred <> own.is_inferred then 'inferred on one side only' end,
            case
                when partner.is_inferred is null or own.is_inferred is null then 'inferred not known'
            end
        ] as differences,
        partner.result_key as result_key_partner,
        own.result_key as result_key_vendor,
        partner.entry_id as entry_id_partner,
        own.entry_id as entry_id_vendor
    from entries as partner
    inner join makers_best as best
        on
            partner.round_key = best.round_key
            and partner.category is not distinct from best.category
            and partner.accelerator is not distinct from best.accelerator
            and partner.accelerators = best.accelerators
            and partner.nodes is not distinct from best.nodes
            and partner.benchmark = best.benchmark
            and partner.accuracy_target is not distinct from best.accuracy_target
            and partner.scenario is not distinct from best.scenario
            and partner.unit = best.unit
    inner join staging.comparable_results as own
        on best.result_key = own.result_key and best.category is not distinct from own.category
    where partner.submitter <> own.submitter
)

select
    round_key,
    category,
    vendor,
    accelerator,
    accelerators,
    nodes,
    benchmark,
    accuracy_target,
    scenario,
    partner,
    partner_value,
    vendor_submitter,
    vendor_value,
    unit,
    ratio,
    availability,
    is_accuracy_copy,
    list_sort(list_filter(differences, lambda phrase: phrase is not null)) as differences,
    result_key_partner,
    result_key_vendor,
    entry_id_partner,
    entry_id_vendor
from described
order by
    suite,
    round_position,
    category,
    vendor,
    accelerator,
    accelerators,
    nodes,
    benchmark,
    accuracy_target,
    scenario,
    unit,
    partner,
    entry_id_partner,
    result_key_partner
