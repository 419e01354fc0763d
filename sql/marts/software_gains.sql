-- software_gains: how much faster a benchmark became from one complete round to a later, compatible one.
--
-- Grain: match, suite, from_round, to_round, division, category, submitter_from (not at best of round),
-- accelerator, accelerators, nodes, benchmark, accuracy_target, scenario, unit.
-- Rounds compare where the compatibility table puts them in one group. Inferred results take no part, nor
-- those of unknown number of accelerators.
-- Levels, the first three each inside the one before, say which results of the two rounds may meet:
-- - same accelerator: all of one submitter, product, count, nodes, benchmark, target, scenario and division;
-- - same host: those of one host processor (host_key; the number of processors may differ and is then said);
-- - same system: those of one host processor, system name (system_key) and availability;
--   results whose runs were submitted before (repeats_result_key) are left out of these two: they are no new
--   measurement, and a gain of 1 from the same logs is nothing that software did;
-- - best of round: whatever the submitter; closed only, no CPU-only systems.
-- gain is best over best, above 1 is better, for latency too; gain_min, gain_median and gain_max are over all
-- pairs of results that may meet, counted by distinct values so that equal ones cost nothing.
-- differences: what differs between the two best results besides software and operating system, and a note of
-- the compatibility table that names a round after from_round up to to_round (what changed in between).
-- Tie rule: of equal best results the one with the lowest entry_id (null last), then the lowest result_key.
-- Where several hosts or systems match, the one whose best later result comes first by value and that rule.
-- Slices: suite.
with levels as (
    select
        result.suite,
        result.round_position,
        result.division,
        result.category,
        result.accelerator,
        result.accelerators,
        result.nodes,
        result.benchmark,
        result.accuracy_target,
        result.scenario,
        result.unit,
        result.compatibility_group,
        result.score,
        result.best_first,
        unnest(['same accelerator', 'same host', 'same system', 'best of round']) as match,
        unnest([result.submitter, result.submitter, result.submitter, '']) as held_submitter,
        -- what results must share besides; null: takes no part at this level
        unnest([
            '',
            case when result.repeats_result_key is null then result.host_key end,
            case
                when result.repeats_result_key is null
                    then result.host_key || ' ' || result.system_key || ' ' || result.availability
            end,
            case when result.division = 'closed' and result.accelerators > 0 then '' end
        ]) as grouping
    from staging.comparable_results as result
    where result.is_inferred is not true and result.compatibility_group is not null
),

-- The results of a round that may meet those of another, with how often each score occurs.
pools as (
    select
        levels.* exclude (score, best_first),
        min(best_first) as best,
        histogram(score) as scores
    from levels
    where grouping is not null
    group by all
),

-- comparison numbers the rows of the outcome: several hosts or systems of one may match.
pool_pairs as (
    select
        pool_from.suite,
        pool_from.category,
        pool_from.match,
        pool_from.round_position as from_position,
        pool_to.round_position as to_position,
        pool_from.best as best_from,
        pool_to.best as best_to,
        pool_from.scores as scores_from,
        pool_to.scores as scores_to,
        dense_rank() over (
            order by
                pool_from.suite,
                pool_from.round_position,
                pool_to.round_position,
                pool_from.division,
                pool_from.category,
                pool_from.match,
                pool_from.held_submitter,
                pool_from.accelerator,
                pool_from.accelerators,
                pool_from.nodes,
                pool_from.benchmark,
                pool_from.accuracy_target,
                pool_from.scenario,
                pool_from.unit
        ) as comparison
    from pools as pool_from
    inner join pools as pool_to
        on
            pool_from.suite = pool_to.suite
            and pool_from.round_position < pool_to.round_position
            and pool_from.division = pool_to.division
            and pool_from.category is not distinct from pool_to.category
            and pool_from.match = pool_to.match
            and pool_from.held_submitter = pool_to.held_submitter
            and pool_from.grouping = pool_to.grouping
            and pool_from.accelerator is not distinct from pool_to.accelerator
            and pool_from.accelerators = pool_to.accelerators
            and pool_from.nodes = pool_to.nodes
            and pool_from.benchmark = pool_to.benchmark
            and pool_from.accuracy_target is not distinct from pool_to.accuracy_target
            and pool_from.scenario is not distinct from pool_to.scenario
            and pool_from.unit = pool_to.unit
            and pool_from.compatibility_group = pool_to.compatibility_group
),

comparisons as (
    select
        pool_pairs.* exclude (scores_from, scores_to),
        best_from.result_key as result_key_from,
        best_to.result_key as result_key_to
    from pool_pairs
    qualify row_number() over (partition by comparison order by best_to) = 1
),

-- Every earlier score with all later ones, then each pair of scores, with how many pairs of results it is.
scores_from as (
    select
        comparison,
        unnest(map_entries(scores_from)) as score_from,
        scores_to
    from pool_pairs
),

score_pairs as (
    select
        comparison,
        score_from,
        unnest(map_entries(scores_to)) as score_to
    from scores_from
),

gains as (
    select
        comparison,
        score_to.key / score_from.key as gain,
        score_from.value * score_to.value as pairs
    from score_pairs
),

totals as (
    select
        comparison,
        sum(pairs) as all_pairs,
        max(pairs) as most_pairs,
        min(gain) as gain_min,
        median(gain) as plain_median,
        max(gain) as gain_max
    from gains
    group by comparison
),

-- Only where a gain stands for several pairs does the median need their numbers, and so an order.
ranked_gains as (
    select
        gains.comparison,
        gains.gain,
        totals.all_pairs,
        sum(gains.pairs) over (
            partition by gains.comparison order by gains.gain rows unbounded preceding
        ) as pairs_so_far
    from gains
    inner join totals on gains.comparison = totals.comparison
    where totals.most_pairs > 1
),

-- The median is the mean of the two middle gains, which are one where the number of pairs is odd.
weighted_medians as (
    select
        comparison,
        (
            min(gain) filter (where 2 * pairs_so_far >= all_pairs)
            + min(gain) filter (where 2 * pairs_so_far > all_pairs)
        ) / 2 as gain_median
    from ranked_gains
    group by comparison
),

spreads as (
    select
        totals.comparison,
        totals.gain_min,
        coalesce(weighted_medians.gain_median, totals.plain_median) as gain_median,
        totals.gain_max,
        cast(totals.all_pairs as bigint) as pairs
    from totals
    left join weighted_medians on totals.comparison = weighted_medians.comparison
),

suite_rounds as (
    select
        round.suite,
        list(struct_pack(position := round.position, round := round.round)) as rounds
    from staging.rounds as round
    group by round.suite
),

described as (
    select
        compared.suite,
        f.round as from_round,
        t.round as to_round,
        f.division,
        f.category,
        compared.match,
        f.submitter as submitter_from,
        t.submitter as submitter_to,
        f.accelerator,
        f.accelerators,
        f.nodes,
        f.benchmark,
        f.accuracy_target,
        f.scenario,
        f.value as value_from,
        t.value as value_to,
        f.unit,
        t.score / f.score as gain,
        f.value / f.scaling_factor as unscaled_from,
        t.value / t.scaling_factor as unscaled_to,
        unscaled_from / unscaled_to as gain_unscaled,
        spread.gain_min,
        spread.gain_median,
        spread.gain_max,
        spread.pairs,
        f.software as software_from,
        t.software as software_to,
        f.weight_data_types as weight_data_types_from,
        t.weight_data_types as weight_data_types_to,
        [
            case
                when f.submitter <> t.submitter then 'submitter: ' || f.submitter || ' -> ' || t.submitter
            end,
            case
                when f.system_key is null or t.system_key is null or f.system_key <> t.system_key
                    then
                        'system: ' || coalesce(f.system_name, 'not stated')
                        || ' -> ' || coalesce(t.system_name, 'not stated')
            end,
            case
                when f.host_key is null or t.host_key is null or f.host_key <> t.host_key
                    then
                        'processor: ' || coalesce(f.processor, 'not stated')
                        || ' -> ' || coalesce(t.processor, 'not stated')
            end,
            case
                when f.processors_per_node <> t.processors_per_node
                    then 'processors per node: ' || f.processors_per_node || ' -> ' || t.processors_per_node
            end,
            case
                when f.availability is distinct from t.availability
                    then
                        'availability: ' || coalesce(f.availability, 'not stated')
                        || ' -> ' || coalesce(t.availability, 'not stated')
            end,
            case
                when f.weight_data_types is distinct from t.weight_data_types
                    then
                        'precision: ' || coalesce(f.weight_data_types, 'not stated')
                        || ' -> ' || coalesce(t.weight_data_types, 'not stated')
            end,
            case
                when f.scaling_factor <> t.scaling_factor
                    then 'scaling factor: ' || f.scaling_factor || ' -> ' || t.scaling_factor
            end,
            case
                when t.repeats_result_key is not null
                    then 'runs: submitted before, see repeats_result_key of the later result'
            end,
            case when f.has_power <> t.has_power then 'measured with power on one side only' end,
            case when f.is_inferred is null or t.is_inferred is null then 'inferred not known' end,
            -- A note that names a round after the earlier one up to the later one concerns the pair.
            case
                when
                    list_has_any(
                        regexp_extract_all(t.compatibility_note, '\d+[.]\d+'),
                        list_transform(
                            list_filter(
                                suite_rounds.rounds,
                                lambda passed: passed.position > compared.from_position
                                and passed.position <= compared.to_position
                            ),
                            lambda passed: passed.round
                        )
                    )
                    then 'compatibility: ' || t.compatibility_note
            end
        ] as differences,
        compared.result_key_from,
        compared.result_key_to,
        f.entry_id as entry_id_from,
        t.entry_id as entry_id_to,
        compared.comparison
    from comparisons as compared
    inner join staging.comparable_results as f
        on compared.result_key_from = f.result_key and compared.category is not distinct from f.category
    inner join staging.comparable_results as t
        on compared.result_key_to = t.result_key and compared.category is not distinct from t.category
    inner join spreads as spread on compared.comparison = spread.comparison
    inner join suite_rounds on compared.suite = suite_rounds.suite
)

select
    suite,
    from_round,
    to_round,
    division,
    category,
    match,
    submitter_from,
    submitter_to,
    accelerator,
    accelerators,
    nodes,
    benchmark,
    accuracy_target,
    scenario,
    value_from,
    value_to,
    unit,
    gain,
    gain_min,
    gain_median,
    gain_max,
    pairs,
    unscaled_from,
    unscaled_to,
    gain_unscaled,
    software_from,
    software_to,
    weight_data_types_from,
    weight_data_types_to,
    list_sort(list_filter(differences, lambda phrase: phrase is not null)) as differences,
    result_key_from,
    result_key_to,
    entry_id_from,
    entry_id_to
from described
order by comparison
