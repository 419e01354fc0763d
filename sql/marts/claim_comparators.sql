-- claim_comparators: what each claim is held against: every eligible pair, result, cell or count.
--
-- Grain: claim_id, statement, result_key, comparator_result_key, benchmark, scenario. By kind of statement:
-- - value: a row per result of the subject.
-- - ratio: a row per result of the subject and comparator that agree in the facts held; across rounds only
--   inside one compatibility group. Above 1 the subject is better, for latency too.
-- - ranking: a row per cell of the comparator's results, a benchmark and scenario of any accuracy target:
--   the subject's best over the best of all others; either may be missing.
-- - count, proportion, growth, list: one row, with both sides' numbers; names are those counted.
-- A result in several categories makes each pair once. Per accelerator, latencies have no value.
-- reproduces: the computed value is among those that the claimed one stands for; in a ranking, the subject is
-- best or equal. is_chosen: the claim means this comparator; true of all where it does not say.
-- differences: what must be said with the row.
-- Tie rule: of equal best results of a cell the one with the lowest entry_id (null last), then result_key.
with entries as (
    select
        selected.*,
        statement.kind,
        comparable.round_key,
        comparable.compatibility_group,
        comparable.best_first,
        case
            when statement.basis = 'aggregate' then comparable.value
            when not comparable.lower_is_better then comparable.value / nullif(comparable.accelerators, 0)
        end as number,
        case
            when statement.basis = 'aggregate' then comparable.score
            when not comparable.lower_is_better then comparable.score / nullif(comparable.accelerators, 0)
        end as score
    from staging.claim_rows as selected
    inner join staging.claim_statements as statement
        on selected.claim_id = statement.claim_id and selected.statement = statement.statement
    inner join staging.comparable_results as comparable
        on
            selected.result_key = comparable.result_key
            and selected.category is not distinct from comparable.category
    where statement.kind in ('value', 'ratio', 'ranking')
),

values_alone as (
    select
        claim_id,
        statement,
        result_key,
        min(number) as number
    from entries
    where kind = 'value' and side = 'subject'
    group by all
),

pairs as (
    select
        subject.claim_id,
        subject.statement,
        subject.result_key,
        comparator.result_key as comparator_result_key,
        min(subject.number) as number,
        min(comparator.number) as comparator_number,
        min(subject.score / comparator.score) as computed_value
    from entries as subject
    inner join entries as comparator
        on
            subject.claim_id = comparator.claim_id
            and subject.statement = comparator.statement
            and subject.held = comparator.held
            and subject.result_key <> comparator.result_key
            and (
                subject.round_key = comparator.round_key
                or subject.compatibility_group = comparator.compatibility_group
            )
    where subject.kind = 'ratio' and subject.side = 'subject' and comparator.side = 'comparator'
    group by all
),

-- Of a ranking, each result once, with whether the subject has it.
contenders as (
    select
        claim_id,
        statement,
        held,
        result_key,
        bool_or(side = 'subject') as is_subject,
        min(number) as number,
        min(score) as score,
        min(best_first) as best_first
    from entries
    where kind = 'ranking'
    group by all
),

cells as (
    select
        claim_id,
        statement,
        held,
        (min(best_first) filter (where is_subject)).result_key as result_key,
        (min(best_first) filter (where not is_subject)).result_key as comparator_result_key,
        arg_max(number, score) filter (where is_subject) as number,
        arg_max(number, score) filter (where not is_subject) as comparator_number,
        max(score) filter (where is_subject) / max(score) filter (where not is_subject) as computed_value
    from contenders
    group by all
),

-- Each name once; null stands for a side whose results have none.
side_names as (
    select distinct
        claim_id,
        statement,
        side,
        unnest(if(names = [], [null], names)) as name
    from staging.claim_rows
),

sides as (
    select
        side_names.claim_id,
        side_names.statement,
        side_names.side,
        count(side_names.name) as names_counted,
        list(side_names.name order by side_names.name) filter (
            where
                side_names.name is not null
                and (statement.kind = 'list' or coalesce(statement.counted, 'result') <> 'result')
        ) as names,
        max(try_cast(side_names.name as double)) as largest
    from side_names
    inner join staging.claim_statements as statement
        on side_names.claim_id = statement.claim_id and side_names.statement = statement.statement
    group by all
),

-- What each side counts: how many different names, or the largest number. Results that
-- are counted are not named.
counts as (
    select
        statement.claim_id,
        statement.statement,
        statement.kind,
        statement.claimed_names,
        coalesce(subject.names, []) as names,
        coalesce(comparator.names, []) as comparator_names,
        case
            when statement.largest is null then coalesce(subject.names_counted, 0)
            else subject.largest
        end as number,
        case when statement.largest is null then comparator.names_counted else comparator.largest end
            as comparator_number
    from staging.claim_statements as statement
    left join sides as subject
        on
            statement.claim_id = subject.claim_id
            and statement.statement = subject.statement
            and subject.side = 'subject'
    left join sides as comparator
        on
            statement.claim_id = comparator.claim_id
            and statement.statement = comparator.statement
            and comparator.side = 'comparator'
    where statement.kind in ('count', 'proportion', 'growth', 'list')
),

-- Of a list, the names that the comparator has not.
new_counts as (
    select
        *,
        list_filter(names, lambda name: not list_contains(comparator_names, name)) as new_names
    from counts
),

compared as (
    select
        claim_id,
        statement,
        result_key,
        null as comparator_result_key,
        number,
        null as comparator_number,
        number as computed_value,
        [] as names
    from values_alone
    union all by name
    select
        *,
        [] as names
    from pairs
    union all by name
    select
        * exclude (held),
        [] as names
    from cells
    union all by name
    select
        claim_id,
        statement,
        number,
        comparator_number,
        case kind
            when 'count' then number
            when 'list' then len(list_intersect(new_names, claimed_names))
            when 'proportion' then number / nullif(comparator_number, 0)
            when 'growth' then number / nullif(comparator_number, 0) - 1
        end as computed_value,
        case when kind = 'list' then new_names else names end as names
    from new_counts
),

chosen as (
    select distinct
        claim_id,
        statement,
        result_key
    from staging.claim_rows
    where side = 'chosen'
),

-- The results compared; one of several categories is described by the first.
described_results as (
    select *
    from staging.comparable_results
    where
        result_key in (select compared.result_key from compared)
        or result_key in (select compared.comparator_result_key from compared)
    qualify row_number() over (partition by result_key order by category) = 1
),

-- All rounds of a suite: a note that names one passed from the comparator's up to the subject's concerns
-- the pair.
suite_rounds as (
    select
        suite,
        list(struct_pack(round := round, position := position)) as rounds
    from main.rounds
    group by suite
),

told as (
    select
        compared.claim_id,
        compared.statement,
        statement.kind,
        coalesce(subject.benchmark, comparator.benchmark) as benchmark,
        subject.accuracy_target,
        coalesce(subject.scenario, comparator.scenario) as scenario,
        subject.round_key,
        subject.division,
        subject.availability,
        subject.submitter,
        subject.accelerator,
        subject.accelerators,
        subject.nodes,
        subject.entry_id,
        compared.result_key,
        compared.number as value,
        comparator.round_key as comparator_round_key,
        comparator.division as comparator_division,
        comparator.availability as comparator_availability,
        comparator.submitter as comparator_submitter,
        comparator.accelerator as comparator_accelerator,
        comparator.accelerators as comparator_accelerators,
        comparator.nodes as comparator_nodes,
        comparator.entry_id as comparator_entry_id,
        compared.comparator_result_key,
        compared.comparator_number as comparator_value,
        coalesce(subject.unit, comparator.unit) as unit,
        coalesce(subject.lower_is_better, comparator.lower_is_better) as lower_is_better,
        compared.computed_value,
        coalesce(
            case
                when statement.kind = 'ranking'
                    then compared.result_key is not null and coalesce(compared.computed_value >= 1, true)
                when statement.kind = 'list' then compared.names = statement.claimed_names
                when statement.claims_all
                    then compared.number = compared.comparator_number and compared.number > 0
                else
                    coalesce(compared.computed_value > statement.claimed_above, true)
                    and coalesce(compared.computed_value >= statement.claimed_from, true)
                    and coalesce(compared.computed_value < statement.claimed_below, true)
                    and compared.computed_value is not null
            end,
            false
        ) as reproduces,
        not coalesce(statement.has_chosen, false) or chosen.result_key is not null as is_chosen,
        compared.names,
        [
            case
                when comparator.result_key is null and subject.division <> 'closed'
                    then 'division: ' || subject.division
                when subject.division <> comparator.division
                    then 'division: ' || subject.division || ' against ' || comparator.division
            end,
            case
                when comparator.result_key is null and subject.availability <> 'available'
                    then 'availability: ' || subject.availability
                when
                    subject.result_key <> comparator.result_key
                    and subject.availability is distinct from comparator.availability
                    then
                        'availability: ' || coalesce(subject.availability, 'not stated')
                        || ' against ' || coalesce(comparator.availability, 'not stated')
            end,
            case
                when subject.round_key <> comparator.round_key
                    then 'round: ' || subject.round_key || ' against ' || comparator.round_key
            end,
            case
                when subject.submitter <> comparator.submitter
                    then 'submitter: ' || subject.submitter || ' against ' || comparator.submitter
            end,
            case
                when subject.accelerators <> comparator.accelerators
                    then
                        'accelerators: ' || subject.accelerators || ' against ' || comparator.accelerators
            end,
            case
                when subject.nodes <> comparator.nodes
                    then 'nodes: ' || subject.nodes || ' against ' || comparator.nodes
            end,
            case
                when
                    subject.result_key <> comparator.result_key
                    and subject.weight_data_types is distinct from comparator.weight_data_types
                    then
                        'precision: ' || coalesce(subject.weight_data_types, 'not stated')
                        || ' against ' || coalesce(comparator.weight_data_types, 'not stated')
            end,
            case
                when subject.has_power <> comparator.has_power
                    then 'measured with power on one side only'
            end,
            case when subject.is_inferred <> comparator.is_inferred then 'inferred on one side only' end,
            case
                when list_has_any(
                        regexp_extract_all(subject.compatibility_note, '\d+[.]\d+'),
                        list_transform(
                            list_filter(
                                suite_rounds.rounds,
                                lambda passed: passed.position > comparator.round_position
                                and passed.position <= subject.round_position
                            ),
                            lambda passed: passed.round
                        )
                    )
                    then 'compatibility: ' || subject.compatibility_note
            end
        ] as differences
    from compared
    inner join staging.claim_statements as statement
        on compared.claim_id = statement.claim_id and compared.statement = statement.statement
    left join described_results as subject on compared.result_key = subject.result_key
    left join described_results as comparator on compared.comparator_result_key = comparator.result_key
    left join suite_rounds on subject.suite = suite_rounds.suite
    left join chosen
        on
            compared.claim_id = chosen.claim_id
            and compared.statement = chosen.statement
            and compared.comparator_result_key = chosen.result_key
)

select
    * exclude (differences),
    list_sort(list_filter(differences, lambda phrase: phrase is not null)) as differences
from told
order by claim_id, statement, benchmark, scenario, computed_value, result_key, comparator_result_key
