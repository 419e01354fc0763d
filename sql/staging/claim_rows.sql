-- claim_rows: the results that each statement of a claim selects, on each side.
--
-- Grain: claim_id, statement, side, result_key, category; the results are those of comparable_results. One is
-- selected when all conditions of the side hold.
-- Facts are what results are selected and counted by, as texts: numbers and yes/no as DuckDB writes them,
-- 'none' where nothing is known or applies, 'CPU only' for accelerator, product and vendor of a system with
-- none. A product is an accelerator without its power cap. Some facts hold several times of a result,
-- its organisations and the products of a mixed system: there, one text has to satisfy a condition.
-- held: the texts of the facts in which the two sides must agree. names: the texts of the fact that is
-- counted, those that satisfy the conditions on it themselves: with organisation not Dell, a result of Dell
-- and MangoBoost counts MangoBoost. 'none' is never counted.
-- Tie rule: none, every selected result has its row.
with described as (
    select
        comparable.*,
        result.accelerator_memory_gb,
        list_contains(result.organisations, result.accelerator_vendor) as is_makers_own,
        string_split(
            regexp_replace(
                comparable.accelerator_name, '^heterogeneous: | [(][^)]* cap[)]', '', 'g'
            ), ' + '
        ) as parts
    from staging.comparable_results as comparable
    inner join main.results as result on comparable.result_key = result.result_key
),

named as (
    select
        result_key,
        category,
        round,
        [
            {'fact': 'suite', 'texts': [suite]},
            {'fact': 'round', 'texts': [round]},
            {'fact': 'division', 'texts': [division]},
            {'fact': 'category', 'texts': [category]},
            {'fact': 'availability', 'texts': [availability]},
            {'fact': 'result', 'texts': [result_key]},
            {'fact': 'entry_id', 'texts': [entry_id]},
            {'fact': 'submitter', 'texts': [submitter]},
            {'fact': 'organisation', 'texts': organisations},
            {'fact': 'vendor', 'texts': [vendor_name]},
            {'fact': 'accelerator', 'texts': [accelerator_name]},
            {'fact': 'product', 'texts': list_distinct(parts)},
            {'fact': 'products', 'texts': [len(list_distinct(parts))::varchar]},
            {'fact': 'benchmark', 'texts': [benchmark]},
            {'fact': 'benchmark_family', 'texts': [benchmark_family]},
            {'fact': 'accuracy_target', 'texts': [accuracy_target]},
            {'fact': 'scenario', 'texts': [scenario]},
            {'fact': 'workload', 'texts': [concat_ws(' ', benchmark, scenario)]},
            {'fact': 'model_used', 'texts': [model_used]},
            {'fact': 'unit', 'texts': [unit]},
            {'fact': 'system_name', 'texts': [system_name]},
            {'fact': 'processor', 'texts': [processor]},
            {'fact': 'weight_data_types', 'texts': [weight_data_types]},
            {'fact': 'nodes', 'texts': [nodes::varchar]},
            {'fact': 'accelerators', 'texts': [accelerators::varchar]},
            {'fact': 'accelerator_memory_gb', 'texts': [accelerator_memory_gb::varchar]},
            {'fact': 'is_accuracy_copy', 'texts': [is_accuracy_copy::varchar]},
            {'fact': 'is_inferred', 'texts': [is_inferred::varchar]},
            {'fact': 'is_heterogeneous', 'texts': [is_heterogeneous::varchar]},
            {'fact': 'is_makers_own', 'texts': [is_makers_own::varchar]}
        ] as facts
    from described
),

all_rounds as (
    select list(distinct round) as rounds from named
),

-- Facts are spread out only in the rounds where a condition is on them: those that its side names, else all.
side_rounds as (
    select distinct
        condition.claim_id,
        condition.statement,
        condition.side,
        unnest(case when condition.operator = 'is' then condition.texts else all_rounds.rounds end) as round
    from staging.claim_conditions as condition
    cross join all_rounds
    where condition.fact = 'round'
),

round_facts as (
    select
        side_rounds.round,
        list(distinct condition.fact) as facts
    from side_rounds
    inner join staging.claim_conditions as condition
        on
            side_rounds.claim_id = condition.claim_id
            and side_rounds.statement = condition.statement
            and side_rounds.side = condition.side
    group by side_rounds.round
),

spread as (
    select
        result.result_key,
        result.category,
        result.round,
        unnest(
            list_filter(result.facts, lambda entry: list_contains(round_facts.facts, entry.fact))
        ) as entry
    from named as result
    inner join round_facts on result.round = round_facts.round
),

facts as (
    select
        result_key,
        category,
        round,
        entry.fact,
        coalesce(unnest(entry.texts), 'none') as text
    from spread
),

vocabulary as (
    select distinct
        fact,
        text,
        try_cast(text as double) as number
    from facts
),

-- Every condition is held against each text once, not against each result.
judged as (
    select
        condition.claim_id,
        condition.statement,
        condition.side,
        condition.condition,
        vocabulary.fact,
        vocabulary.text,
        coalesce(
            case condition.operator
                when 'is' then list_contains(condition.texts, vocabulary.text)
                when 'not' then not list_contains(condition.texts, vocabulary.text)
                when 'at_least' then vocabulary.number >= try_cast(condition.texts[1] as double)
                when 'above' then vocabulary.number > try_cast(condition.texts[1] as double)
                when 'below' then vocabulary.number < try_cast(condition.texts[1] as double)
            end,
            false
        ) as holds
    from staging.claim_conditions as condition
    inner join vocabulary on condition.fact = vocabulary.fact
),

wanted as (
    select
        claim_id,
        statement,
        side,
        count(*) as conditions
    from staging.claim_conditions
    group by all
),

selected as (
    select
        judged.claim_id,
        judged.statement,
        judged.side,
        facts.result_key,
        facts.category
    from judged
    inner join side_rounds
        on
            judged.claim_id = side_rounds.claim_id
            and judged.statement = side_rounds.statement
            and judged.side = side_rounds.side
    inner join facts
        on judged.fact = facts.fact and judged.text = facts.text and side_rounds.round = facts.round
    inner join wanted
        on
            judged.claim_id = wanted.claim_id
            and judged.statement = wanted.statement
            and judged.side = wanted.side
    where judged.holds
    group by all
    having count(distinct judged.condition) = any_value(wanted.conditions)
),

-- Of the fact that is counted, the texts that do not satisfy the conditions on it.
excluded as (
    select
        judged.claim_id,
        judged.statement,
        judged.side,
        list(judged.text) as texts
    from judged
    inner join staging.claim_statements as statement
        on
            judged.claim_id = statement.claim_id
            and judged.statement = statement.statement
            and judged.fact = coalesce(statement.counted, statement.largest)
    where not judged.holds
    group by all
),

told as (
    select
        selected.claim_id,
        selected.statement,
        selected.side,
        selected.result_key,
        selected.category,
        result.facts,
        statement.held,
        coalesce(statement.counted, statement.largest) as counted,
        coalesce(excluded.texts, []) as excluded
    from selected
    inner join staging.claim_statements as statement
        on selected.claim_id = statement.claim_id and selected.statement = statement.statement
    inner join named as result
        on selected.result_key = result.result_key and selected.category is not distinct from result.category
    left join excluded
        on
            selected.claim_id = excluded.claim_id
            and selected.statement = excluded.statement
            and selected.side = excluded.side
)

select
    claim_id,
    statement,
    side,
    result_key,
    category,
    list_transform(
        list_filter(facts, lambda entry: list_contains(held, entry.fact)),
        lambda entry: coalesce(entry.texts[1], 'none')
    ) as held,
    list_filter(
        flatten(
            list_transform(
                list_filter(facts, lambda entry: entry.fact = counted), lambda entry: entry.texts
            )
        ),
        lambda text: text is not null and not list_contains(excluded, text)
    ) as names
from told
order by claim_id, statement, side, result_key, category
