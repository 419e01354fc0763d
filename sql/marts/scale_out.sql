-- scale_out: what more nodes or accelerators gave one submitter, against its smallest system of one round.
--
-- Grain: result_key, category: every result larger than its base, so that each of several systems of one size
-- has a row. Base and result share round, submitter, product, division, category, benchmark, accuracy target,
-- scenario and unit; a base has no row of its own. CPU-only systems take no part, nor those of unknown size.
-- Base in inference: the smallest number of nodes; on one node the most accelerators, on several the fewest;
-- then the best result. Larger is what has more nodes.
-- Base in training: the fewest accelerators, then the fewest nodes, then the best result. Larger is what has
-- more accelerators, on whatever nodes, so that kind may also be single-to-single or multi-to-single there.
-- heterogeneous: a mixed system against the sum of its parts, each a result of one of its products on a
-- single node with the same round, division, category, benchmark, target, scenario and unit, as often as the
-- published accelerator string tells of that product. A part is of the same submitter, else of one that
-- shares an organisation with it; of these the most accelerators that divide the product's number, then the
-- best. No row where a part is missing or the parts do not make up the number of accelerators, nor where
-- results do not add up (latency, time to train).
-- speedup: result over base, above 1 is better, for latency and time to train too. efficiency: the same per
-- accelerator. is_accuracy_copy: both sides are 99.9 rows that repeat the run of their 99 row.
-- Tie rule: of equal best results the one with the lowest entry_id (null last), then the lowest result_key.
-- Slices: suite, round_position.
with uniform as (
    select
        result.*,
        case when result.suite = 'training' then result.accelerators else result.nodes end as size,
        case
            when result.suite = 'training' then result.nodes
            when result.nodes = 1 then -result.accelerators
            else result.accelerators
        end as shape
    from staging.comparable_results as result
    where result.accelerators > 0 and result.nodes > 0 and not result.is_heterogeneous
),

smallest as (
    select
        round_key,
        category,
        submitter,
        accelerator,
        division,
        benchmark,
        accuracy_target,
        scenario,
        unit,
        min(struct_pack(size := size, shape := shape, best_first := best_first)) as base
    from uniform
    group by all
    having max(size) > min(size)
),

-- "A (x32), B (x16)" and "A (x8) and B (x8)": a product and its number each, spelled as published.
spelled_parts as (
    select
        result.result_key,
        result.category,
        unnest(
            regexp_extract_all(
                result.accelerator_as_published, '.+?[(]x\d+[)](?: *[(][Pp]ower [Cc]ap [^)]*[)])?'
            )
        ) as spelling
    from staging.comparable_results as result
    where result.is_heterogeneous and not result.lower_is_better
),

plain_parts as (
    select
        result_key,
        category,
        cast(regexp_extract(spelling, '[(]x(\d+)[)]', 1) as bigint) as accelerators,
        nullif(regexp_extract(lower(spelling), '[(]power cap (\d+) ?w[)]', 1), '') as power_cap_w,
        trim(
            regexp_replace(
                regexp_replace(spelling, '[(](x\d+|[Pp]ower [Cc]ap [^)]*)[)]', '', 'g'),
                '^ *(,|and |[+])? *',
                ''
            )
        ) as name
    from spelled_parts
),

products as (
    select
        lower(name.as_published) as spelling,
        min(name.accelerator) as accelerator
    from staging.accelerator_names as name
    group by lower(name.as_published)
),

named_parts as (
    select
        part.result_key,
        part.category,
        part.accelerators,
        coalesce(product.accelerator, part.name)
        || coalesce(' (' || part.power_cap_w || ' W cap)', '') as accelerator
    from plain_parts as part
    left join products as product on lower(part.name) = product.spelling
),

wanted_parts as (
    select
        result_key,
        category,
        accelerator,
        sum(accelerators) as accelerators
    from named_parts
    group by all
),

-- Materialized, or all results would be paired before the few that have parts are picked.
mixed as materialized (
    select
        wanted.accelerator as wanted_accelerator,
        wanted.accelerators as wanted_accelerators,
        cluster.*
    from wanted_parts as wanted
    inner join staging.comparable_results as cluster
        on wanted.result_key = cluster.result_key and wanted.category is not distinct from cluster.category
),

chosen_parts as (
    select
        mixed.result_key,
        mixed.category,
        mixed.wanted_accelerator as accelerator,
        mixed.wanted_accelerators as accelerators,
        min(
            struct_pack(
                is_anothers := part.submitter <> mixed.submitter,
                fewer := -part.accelerators,
                best_first := part.best_first
            )
        ) as chosen
    from mixed
    inner join staging.comparable_results as part
        on
            mixed.round_key = part.round_key
            and mixed.category is not distinct from part.category
            and mixed.division = part.division
            and mixed.benchmark = part.benchmark
            and mixed.accuracy_target is not distinct from part.accuracy_target
            and mixed.scenario is not distinct from part.scenario
            and mixed.unit = part.unit
            and mixed.wanted_accelerator = part.accelerator
    where
        part.nodes = 1
        and part.accelerators > 0
        and mixed.wanted_accelerators % part.accelerators = 0
        and (
            part.submitter = mixed.submitter
            or list_has_any(part.organisations, mixed.organisations)
        )
    group by all
),

-- What a result is held against: one base, or the parts of a mixed system.
comparisons as (
    select
        uniform.result_key,
        uniform.category,
        smallest.base.best_first.result_key as base_key,
        1 as times
    from uniform
    inner join smallest
        on
            uniform.round_key = smallest.round_key
            and uniform.category is not distinct from smallest.category
            and uniform.submitter = smallest.submitter
            and uniform.accelerator = smallest.accelerator
            and uniform.division = smallest.division
            and uniform.benchmark = smallest.benchmark
            and uniform.accuracy_target is not distinct from smallest.accuracy_target
            and uniform.scenario is not distinct from smallest.scenario
            and uniform.unit = smallest.unit
            and uniform.size > smallest.base.size

    union all

    select
        chosen_parts.result_key,
        chosen_parts.category,
        chosen_parts.chosen.best_first.result_key as base_key,
        chosen_parts.accelerators // -chosen_parts.chosen.fewer as times
    from chosen_parts
),

compared as (
    select
        comparisons.result_key,
        comparisons.category,
        base.accelerator,
        comparisons.times,
        base.result_key as base_key,
        base.entry_id,
        base.nodes,
        base.accelerators,
        base.accelerators_as_published,
        base.value,
        base.score,
        base.is_accuracy_copy,
        [
            case
                when result.submitter <> base.submitter
                    then 'submitter: ' || result.submitter || ' against ' || base.submitter
            end,
            case
                when result.model_used is distinct from base.model_used
                    then
                        'model: ' || coalesce(result.model_used, 'not stated')
                        || ' against ' || coalesce(base.model_used, 'not stated')
            end,
            -- a mixed system names the processors of all its nodes
            case
                when
                    coalesce(
                        case
                            when result.is_heterogeneous then not contains(result.host_key, base.host_key)
                            else result.host_key <> base.host_key
                        end,
                        true
                    )
                    then
                        'processor: ' || coalesce(result.processor, 'not stated')
                        || ' against ' || coalesce(base.processor, 'not stated')
            end,
            case
                when result.availability is distinct from base.availability
                    then
                        'availability: ' || coalesce(result.availability, 'not stated')
                        || ' against ' || coalesce(base.availability, 'not stated')
            end,
            case
                when result.weight_data_types is distinct from base.weight_data_types
                    then
                        'precision: ' || coalesce(result.weight_data_types, 'not stated')
                        || ' against ' || coalesce(base.weight_data_types, 'not stated')
            end,
            case when result.has_power <> base.has_power then 'measured with power on one side only' end,
            case when result.is_inferred <> base.is_inferred then 'inferred on one side only' end,
            case
                when result.is_inferred is null or base.is_inferred is null then 'inferred not known'
            end
        ] as differences
    from comparisons
    inner join staging.comparable_results as result
        on
            comparisons.result_key = result.result_key
            and comparisons.category is not distinct from result.category
    inner join staging.comparable_results as base
        on
            comparisons.base_key = base.result_key
            and comparisons.category is not distinct from base.category
),

bases as (
    select
        compared.result_key,
        compared.category,
        min(compared.nodes) as nodes,
        cast(sum(compared.times * compared.accelerators) as bigint) as accelerators,
        cast(sum(compared.times * compared.accelerators_as_published) as bigint)
            as accelerators_as_published,
        sum(compared.times * compared.value) as value,
        sum(compared.times * compared.score) as score,
        bool_and(compared.is_accuracy_copy) as is_accuracy_copy,
        min(compared.base_key) as result_key_base,
        min(compared.entry_id) as entry_id_base,
        list(
            compared.times || ' x ' || coalesce(compared.entry_id, compared.base_key)
            order by compared.accelerator
        ) as parts,
        list(compared.base_key order by compared.accelerator) as result_keys_parts,
        list_sort(
            list_distinct(
                list_filter(flatten(list(compared.differences)), lambda phrase: phrase is not null)
            )
        ) as differences
    from compared
    group by all
)

select
    result.round_key,
    result.category,
    result.submitter,
    result.accelerator,
    result.benchmark,
    result.accuracy_target,
    result.scenario,
    result.division,
    case
        when result.is_heterogeneous then 'heterogeneous'
        else
            case when base.nodes = 1 then 'single' else 'multi' end
            || case when result.nodes = 1 then '-to-single' else '-to-multi' end
    end as kind,
    case when not result.is_heterogeneous then base.nodes end as base_nodes,
    base.accelerators as base_accelerators,
    base.value as base_value,
    result.nodes,
    result.accelerators,
    result.accelerators_as_published,
    result.value,
    result.unit,
    result.score / base.score as speedup,
    (result.score / result.accelerators) / (base.score / base.accelerators) as efficiency,
    case
        when not result.is_heterogeneous
            then
                (result.score / nullif(result.accelerators_as_published, 0))
                / (base.score / nullif(base.accelerators_as_published, 0))
    end as efficiency_as_published_count,
    result.is_accuracy_copy and base.is_accuracy_copy as is_accuracy_copy,
    base.differences,
    case when not result.is_heterogeneous then base.result_key_base end as result_key_base,
    result.result_key,
    case when not result.is_heterogeneous then base.entry_id_base end as entry_id_base,
    result.entry_id,
    case when result.is_heterogeneous then base.parts else [] end as parts,
    case when result.is_heterogeneous then base.result_keys_parts else [] end as result_keys_parts
from bases as base
inner join staging.comparable_results as result
    on base.result_key = result.result_key and base.category is not distinct from result.category
where not result.is_heterogeneous or base.accelerators = result.accelerators
order by
    result.suite,
    result.round_position,
    result.category,
    result.submitter,
    result.accelerator,
    result.benchmark,
    result.accuracy_target,
    result.scenario,
    result.division,
    result.unit,
    result.nodes,
    result.accelerators,
    result.best_first
