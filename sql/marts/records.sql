-- records: the best result of every round, and whether it beat all that came before it.
--
-- Grain: scope, category, division, availability, benchmark, accuracy_target, scenario, unit, accelerators at
-- scope 'same count', round_key: one row per round in which there was a result. Results compare inside one
-- record group only: a compatibility group, or a part of it whose scores do not compare as they are,
-- and never across divisions or availabilities; those without a group take no part,
-- nor do inferred ones. A 99.9 row that repeats its 99 row's run stands under its own accuracy target.
-- scope: 'any count' compares whatever the number of accelerators, 'same count' those of one number (0 is
-- CPU-only; an unknown number takes no part).
-- The record before a round is the best result of the earlier rounds of rounds_compared. is_record: strictly
-- better than it, or the first. "First" and "best so far" hold for rounds_compared only: the complete rounds
-- of this warehouse, up to this one, with results of the benchmark, scenario and record group.
-- improvement is above 1 where the record was beaten, for latency and time to train too.
-- differences: what must be said with the improvement, besides who and on what; precision is of the weights.
-- runner_up: the best of the round's results that are worse than the best; it may be of the same submitter.
-- Tie rule: of equal best results of a round the one with the lowest entry_id (null last), then the lowest
-- result_key stands as holder (and likewise as runner-up), and ties lists the others; of equal records the
-- earlier round's stands.
-- Slices: suite.
with entries as (
    select
        result.suite,
        result.category,
        result.division,
        result.availability,
        result.benchmark,
        result.accuracy_target,
        result.scenario,
        result.unit,
        result.record_group,
        result.round_key,
        result.round_position,
        result.result_key,
        result.score,
        result.best_first,
        unnest(['any count', 'same count']) as scope,
        unnest([-1, result.accelerators]) as held_accelerators
    from staging.comparable_results as result
    where result.record_group is not null and result.is_inferred is not true
),

placed as (
    select
        entries.*,
        max(score) over (
            partition by
                scope, suite, category, division, availability, benchmark, accuracy_target, scenario, unit,
                record_group, held_accelerators, round_position
        ) as best_score
    from entries
    where held_accelerators is not null
),

round_bests as (
    select
        placed.* exclude (result_key, score, best_first, best_score),
        min(best_first) as best,
        min(best_first).result_key as best_key,
        (min(best_first) filter (where score < best_score)).result_key as runner_up_key,
        list(result_key order by best_first) filter (where score = best_score) as best_keys
    from placed
    group by all
),

held as (
    select
        round_bests.*,
        min(
            struct_pack(
                negative_score := best.negative_score,
                round_position := round_position,
                result_key := best_key
            )
        ) over (
            partition by
                scope, suite, category, division, availability, benchmark, accuracy_target, scenario, unit,
                record_group, held_accelerators
            order by round_position
            rows between unbounded preceding and 1 preceding
        ).result_key as former_key
    from round_bests
),

-- Which rounds "so far" is about.
group_rounds as (
    select distinct
        suite,
        category,
        benchmark,
        scenario,
        record_group,
        round_key,
        round_position
    from entries
),

rounds_so_far as (
    select
        group_rounds.*,
        list(round_key) over (
            partition by suite, category, benchmark, scenario, record_group
            order by round_position
        ) as rounds_compared
    from group_rounds
),

described as (
    select
        held.*,
        best.submitter,
        best.accelerator,
        best.system_name,
        best.accelerators,
        best.nodes,
        best.value,
        best.entry_id,
        best.score,
        best.compatibility_group,
        former.value as former_value,
        former.round_key as former_round_key,
        former.submitter as former_submitter,
        former.score as former_score,
        runner_up.value as runner_up_value,
        runner_up.submitter as runner_up_submitter,
        so_far.rounds_compared,
        case
            when former.result_key is not null
                then
                    [
                        case
                            when former.accelerators is distinct from best.accelerators
                                then
                                    'accelerators: ' || coalesce(former.accelerators::varchar, 'not stated')
                                    || ' -> ' || coalesce(best.accelerators::varchar, 'not stated')
                        end,
                        case
                            when former.weight_data_types is distinct from best.weight_data_types
                                then
                                    'precision: ' || coalesce(former.weight_data_types, 'not stated')
                                    || ' -> ' || coalesce(best.weight_data_types, 'not stated')
                        end,
                        case
                            when former.has_power <> best.has_power
                                then 'measured with power on one side only'
                        end,
                        case
                            when former.is_inferred is null or best.is_inferred is null
                                then 'inferred not known'
                        end,
                        -- a note that names a round after the former record's up to this one
                        case
                            when exists (
                                select 1 from staging.rounds as passed
                                where
                                    passed.suite = held.suite
                                    and passed.position > former.round_position
                                    and passed.position <= held.round_position
                                    and list_contains(
                                        regexp_extract_all(best.compatibility_note, '\d+[.]\d+'), passed.round
                                    )
                            )
                                then 'compatibility: ' || best.compatibility_note
                        end
                    ]
            else []
        end as differences
    from held
    inner join staging.comparable_results as best
        on held.best_key = best.result_key and held.category is not distinct from best.category
    left join staging.comparable_results as former
        on held.former_key = former.result_key and held.category is not distinct from former.category
    left join staging.comparable_results as runner_up
        on held.runner_up_key = runner_up.result_key and held.category is not distinct from runner_up.category
    inner join rounds_so_far as so_far
        on
            held.suite = so_far.suite
            and held.category is not distinct from so_far.category
            and held.benchmark = so_far.benchmark
            and held.scenario is not distinct from so_far.scenario
            and held.record_group = so_far.record_group
            and held.round_position = so_far.round_position
)

select
    suite,
    scope,
    category,
    division,
    availability,
    benchmark,
    accuracy_target,
    scenario,
    round_key,
    accelerators,
    submitter,
    accelerator,
    system_name,
    nodes,
    value,
    unit,
    former_key is null or score > former_score as is_record,
    score / former_score as improvement,
    former_value as value_before,
    former_round_key as round_key_before,
    former_submitter as submitter_before,
    runner_up_value,
    runner_up_submitter,
    list_sort(list_filter(differences, lambda phrase: phrase is not null)) as differences,
    rounds_compared[1] as first_round_key,
    rounds_compared,
    compatibility_group,
    best_keys[2:] as ties,
    best_key as result_key,
    former_key as result_key_before,
    runner_up_key as runner_up_result_key,
    entry_id
from described
order by
    suite,
    category,
    benchmark,
    accuracy_target,
    scenario,
    division,
    availability,
    scope,
    held_accelerators,
    unit,
    record_group,
    round_position
