-- vendor_ratios: how two products compare in one round, against every eligible result of the other.
--
-- Grain: round_key, category, nodes, accelerators, benchmark, accuracy_target, scenario, unit, accelerator_a,
-- division_a, accelerator_b. Every ordered pair of different products sharing all of that, closed on both
-- sides; besides, open a against closed b where both makers are known and differ. CPU-only systems and
-- network results take no part.
-- Ratios are of a's best result: over b's best (ratio_best), over every closed result of b (min, median,
-- max), and over the best that b's maker submitted itself. Above 1 a is better, for latency too.
-- verdict_flips: the range crosses 1, that is ratio_min < 1 < ratio_max; a range that ends at 1 does not.
-- Tie rule: of equal best results the one with the lowest entry_id (null last), then the lowest result_key.
-- Slices: suite, round_position.
with products as (
    select
        result.round_key,
        result.category,
        result.benchmark,
        result.accuracy_target,
        result.scenario,
        result.nodes,
        result.accelerators,
        result.unit,
        result.accelerator,
        result.accelerator_vendor as vendor,
        result.division,
        min(result.best_first).result_key as best_key,
        list_sort(list(result.score)) as scores,
        max(result.score) filter (where result.submitter = result.accelerator_vendor) as vendors_own_score,
        list(distinct result.entry_id) filter (where result.entry_id is not null) as entry_ids
    from staging.comparable_results as result
    where result.accelerators > 0 and result.division in ('closed', 'open')
    group by all
),

-- The closed products of a place in one row, so that a product meets all of them in one, too.
rivals as (
    select
        product.round_key,
        product.category,
        product.benchmark,
        product.accuracy_target,
        product.scenario,
        product.nodes,
        product.accelerators,
        product.unit,
        list(
            struct_pack(
                accelerator := product.accelerator,
                vendor := product.vendor,
                best_key := product.best_key,
                scores := product.scores,
                vendors_own_score := product.vendors_own_score,
                entry_ids := product.entry_ids
            )
        ) as products
    from products as product
    where product.division = 'closed'
    group by all
),

met as (
    select
        a.*,
        unnest(rivals.products) as b
    from products as a
    inner join rivals
        on
            a.round_key = rivals.round_key
            and a.category is not distinct from rivals.category
            and a.benchmark = rivals.benchmark
            and a.accuracy_target is not distinct from rivals.accuracy_target
            and a.scenario is not distinct from rivals.scenario
            and a.nodes = rivals.nodes
            and a.accelerators = rivals.accelerators
            and a.unit = rivals.unit
),

pairs as (
    select
        round_key,
        category,
        accelerator as accelerator_a,
        vendor as vendor_a,
        division as division_a,
        best_key as best_key_a,
        scores[-1] as score_a,
        b.best_key as best_key_b,
        b.scores as scores_b,
        b.vendors_own_score as vendors_own_score_b,
        b.entry_ids as entry_ids_b
    from met
    where division = 'closed' or vendor <> b.vendor
),

described as (
    select
        best_a.suite,
        best_a.round_position,
        best_a.benchmark,
        best_a.accuracy_target,
        best_a.scenario,
        best_a.nodes,
        best_a.accelerators,
        best_a.unit,
        best_b.accelerator as accelerator_b,
        best_b.accelerator_vendor as vendor_b,
        best_b.division as division_b,
        best_a.value as best_value_a,
        best_b.value as best_value_b,
        best_a.entry_id as entry_id_a,
        best_b.entry_id as entry_id_b,
        pairs.*,
        [
            case when best_a.division <> best_b.division then 'division: open against closed' end,
            case
                when best_a.availability is distinct from best_b.availability
                    then
                        'availability: ' || coalesce(best_a.availability, 'not stated')
                        || ' against ' || coalesce(best_b.availability, 'not stated')
            end,
            case
                when best_a.weight_data_types is distinct from best_b.weight_data_types
                    then
                        'precision: ' || coalesce(best_a.weight_data_types, 'not stated')
                        || ' against ' || coalesce(best_b.weight_data_types, 'not stated')
            end,
            case when best_a.has_power <> best_b.has_power then 'measured with power on one side only' end,
            case when best_a.is_inferred <> best_b.is_inferred then 'inferred on one side only' end,
            case
                when best_a.is_inferred is null or best_b.is_inferred is null then 'inferred not known'
            end
        ] as differences
    from pairs
    inner join staging.comparable_results as best_a
        on pairs.best_key_a = best_a.result_key and pairs.category is not distinct from best_a.category
    inner join staging.comparable_results as best_b
        on pairs.best_key_b = best_b.result_key and pairs.category is not distinct from best_b.category
    where pairs.accelerator_a <> best_b.accelerator
)

select
    round_key,
    category,
    benchmark,
    accuracy_target,
    scenario,
    nodes,
    accelerators,
    accelerator_a,
    vendor_a,
    division_a,
    accelerator_b,
    vendor_b,
    division_b,
    best_value_a as best_a,
    best_value_b as best_b,
    score_a / scores_b[-1] as ratio_best,
    score_a / scores_b[-1] as ratio_min,
    -- the mean of the two middle ratios, which are one where the number of results is odd
    (score_a / scores_b[(len(scores_b) + 1) // 2] + score_a / scores_b[len(scores_b) // 2 + 1]) / 2
        as ratio_median,
    score_a / scores_b[1] as ratio_max,
    score_a / vendors_own_score_b as ratio_vendors_own,
    len(scores_b) as comparators,
    ratio_min < 1 and ratio_max > 1 as verdict_flips,
    list_sort(list_filter(differences, lambda phrase: phrase is not null)) as differences,
    best_key_a as result_key_a,
    best_key_b as result_key_b,
    entry_id_a,
    entry_id_b,
    list_sort(coalesce(entry_ids_b, [])) as entry_ids_b,
    unit
from described
order by
    suite,
    round_position,
    category,
    benchmark,
    accuracy_target,
    scenario,
    nodes,
    accelerators,
    unit,
    accelerator_a,
    division_a,
    accelerator_b
