-- claim_verdicts: what the results say of each statement of a claim.
--
-- Grain: claim_id, statement.
-- All rows of claim_comparators are eligible alike. Which of them decide follows from what the claim means:
-- - any: all reproduce it, or some (reproduced only against a chosen comparator), or none (contradicted).
-- - every: all reproduce it, else it is contradicted.
-- - best: the highest decides, of latencies the lowest; if only another reproduces it, that is a chosen one.
-- - geometric mean: that of all ratios decides.
-- A ranking is held by the number of cells in which the subject is best.
-- The row told (result_key, comparator_result_key), which gives computed_value, is the nearest to the claim,
-- among the comparators that the claim chose; the farthest where every one is meant; the best where best is.
-- reason: why results cannot tell: a round or name is not in the warehouse, or no result is what
-- the claim is about: an absence is never concluded from a name that nobody has.
-- Tie rule: of rows equally near the one with the lower value, then entry ids (null last), then result keys.
with known_names as (
    select
        'round' as fact,
        round as text
    from main.rounds
    where is_complete
    union
    select
        'submitter' as fact,
        submitter as text
    from main.submitters
    union
    select
        'organisation' as fact,
        unnest(organisations) as text
    from main.submitters
    union
    select
        unnest(['accelerator', 'product', 'vendor']) as fact,
        unnest([
            accelerator,
            regexp_replace(accelerator, ' [(][^)]* cap[)]$', ''),
            coalesce(vendor, accelerator)
        ]) as text
    from main.accelerators
    union
    select
        unnest(['benchmark', 'benchmark_family']) as fact,
        unnest([benchmark, benchmark_family]) as text
    from main.benchmarks
),

named as (
    select
        claim_id,
        statement,
        fact,
        operator,
        unnest(texts) as text
    from staging.claim_conditions
    where
        fact in (
            'round', 'submitter', 'organisation', 'accelerator', 'product', 'vendor', 'benchmark',
            'benchmark_family'
        )
        and operator in ('is', 'not')
),

unknown_names as (
    select
        named.claim_id,
        named.statement,
        min(
            case
                when named.fact = 'round' then 'round ' || named.text || ' is not in this warehouse'
                else 'no result has the ' || replace(named.fact, '_', ' ') || ' ' || named.text
            end
        ) as reason
    from named
    anti join known_names on named.fact = known_names.fact and named.text = known_names.text
    where named.text not in ('CPU only', 'none')
    group by all
),

subjects as (
    select distinct
        claim_id,
        statement
    from staging.claim_rows
    where side = 'subject'
),

judged as (
    select
        row.*,
        statement.meant_of,
        row.is_chosen and row.computed_value is not null as may_be_told,
        case
            when row.kind = 'value' and row.lower_is_better then -row.computed_value
            else row.computed_value
        end as goodness,
        abs(row.computed_value - statement.claimed_value) as distance
    from main.claim_comparators as row
    inner join staging.claim_statements as statement
        on row.claim_id = statement.claim_id and row.statement = statement.statement
),

ordered as (
    select
        *,
        row_number() over (
            partition by claim_id, statement
            order by
                may_be_told desc,
                case meant_of
                    when 'best' then -goodness
                    when 'every' then reproduces::bigint
                    else 1 - reproduces::bigint
                end,
                case when meant_of = 'every' then -distance else distance end,
                computed_value,
                entry_id,
                comparator_entry_id,
                result_key,
                comparator_result_key
        ) as place
    from judged
),

counted as (
    select
        claim_id,
        statement,
        count(computed_value) as comparators,
        count(*) filter (where reproduces) as reproducing,
        count(*) as cells,
        exp(avg(ln(computed_value))) as geometric_mean,
        arg_max(reproduces, goodness) as best_reproduces,
        list_sort(list_distinct(flatten(list(differences)))) as all_differences
    from judged
    group by all
),

computed as (
    select
        statement.*,
        case when statement.kind = 'ranking' then counted.cells else counted.comparators end as comparators,
        coalesce(counted.reproducing, 0) as reproducing,
        counted.best_reproduces,
        statement.kind = 'ranking' or statement.meant_of = 'geometric mean' as is_of_all,
        case
            when statement.kind = 'ranking' then counted.reproducing
            when statement.meant_of = 'geometric mean' then counted.geometric_mean
            else told.computed_value
        end as computed_value,
        case
            when statement.kind = 'ranking' then []
            when statement.meant_of = 'geometric mean' then counted.all_differences
            else told.differences
        end as differences,
        told.result_key,
        told.comparator_result_key,
        subjects.claim_id is not null as has_subject,
        unknown_names.reason as unknown_name
    from staging.claim_statements as statement
    left join counted
        on statement.claim_id = counted.claim_id and statement.statement = counted.statement
    left join ordered as told
        on
            statement.claim_id = told.claim_id
            and statement.statement = told.statement
            and told.place = 1
    left join unknown_names
        on statement.claim_id = unknown_names.claim_id and statement.statement = unknown_names.statement
    left join subjects
        on statement.claim_id = subjects.claim_id and statement.statement = subjects.statement
),

reasoned as (
    select
        * replace (
            coalesce(
                reason,
                unknown_name,
                case
                    when kind in ('value', 'ratio', 'ranking') and not has_subject
                        then 'no result is what the claim is about'
                    when coalesce(comparators, 0) > 0 then null
                    when kind in ('value', 'ratio', 'ranking') then 'there is no eligible comparator'
                    else 'there is nothing to count'
                end
            ) as reason
        ),
        coalesce(computed_value > claimed_above, true)
        and coalesce(computed_value >= claimed_from, true)
        and coalesce(computed_value < claimed_below, true) as is_as_claimed
    from computed
)

select
    claim_id,
    statement,
    case
        when reason is not null then 'not checkable from results'
        when
            case
                when kind = 'ranking' and claims_all then reproducing = comparators
                when is_of_all then is_as_claimed
                when meant_of = 'best' then best_reproduces
                else reproducing = comparators
            end
            then 'reproduced'
        when meant_of = 'every' or is_of_all or reproducing = 0 then 'contradicted'
        else 'reproduced only against a chosen comparator'
    end as verdict,
    reason,
    case when reason is null then computed_value end as computed_value,
    coalesce(comparators, 0) as comparators,
    reproducing,
    case when reason is null then coalesce(differences, []) else [] end as differences,
    case when not is_of_all then result_key end as result_key,
    case when not is_of_all then comparator_result_key end as comparator_result_key
from reasoned
order by claim_id, statement
