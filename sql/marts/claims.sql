-- claims: each public claim with what the results say of it.
--
-- Grain: claim_id.
-- Of several parts each must hold: the claim has the least favourable of their verdicts, and is contradicted
-- whatever else if one part is. Readings are of equal standing: where some hold, the claim is reproduced only
-- against a chosen comparator, here a chosen reading.
-- kind and computed_value are the first statement's; number and range of comparators are the first part's, or
-- all readings'. reproduced_by: the comparators that reproduce the claim; without comparators, the results.
-- verdict_flips: the eligible ratios lie on both sides of 1.
-- finding: what was found, in words; one sentence a statement. Ratios are derived.
-- Tie rule: of equal least or largest values the one with the lowest entry ids, then result keys, is named.
with labelled as (
    select
        *,
        submitter || ' (' || coalesce(accelerators || ' x ' || accelerator, 'CPU only')
        || coalesce(', ' || entry_id, '') || ')' as label,
        comparator_submitter || ' ('
        || coalesce(comparator_accelerators || ' x ' || comparator_accelerator, 'CPU only')
        || coalesce(', ' || comparator_entry_id, '') || ')' as comparator_label,
        case
            when abs(computed_value) >= 1000 then format('{:,}', round(computed_value)::bigint)
            when kind in ('ratio', 'proportion') then format('{:.3f}', computed_value)
            when kind = 'growth' then format('{:+.1f}%', 100 * computed_value)
            else format('{:.6g}', computed_value)
        end as shown
    from main.claim_comparators
),

spans as (
    select
        claim_id,
        statement,
        arg_min(shown, computed_value) as least,
        arg_max(shown, computed_value) as most,
        string_agg(
            benchmark || ' ' || scenario || ': ' || comparator_label, '; ' order by benchmark, scenario
        ) filter (where not reproduces) as cells_of_others
    from labelled
    group by all
),

statements as (
    select
        statement.claim_id,
        statement.statement,
        statement.kind,
        statement.meant_of,
        statement.counted,
        statement.largest,
        statement.claims_all,
        statement.claimed_names,
        verdict.verdict,
        verdict.reason,
        verdict.computed_value,
        verdict.comparators,
        verdict.reproducing,
        verdict.differences,
        told.entry_id,
        told.comparator_entry_id,
        told.label,
        told.comparator_label,
        told.value,
        told.comparator_value,
        told.unit,
        told.shown,
        coalesce(told.names, []) as names,
        spans.least,
        spans.most,
        spans.cells_of_others
    from staging.claim_statements as statement
    inner join staging.claim_verdicts as verdict
        on statement.claim_id = verdict.claim_id and statement.statement = verdict.statement
    left join spans
        on statement.claim_id = spans.claim_id and statement.statement = spans.statement
    left join labelled as told
        on
            statement.claim_id = told.claim_id
            and statement.statement = told.statement
            and verdict.result_key is not distinct from told.result_key
            and verdict.comparator_result_key is not distinct from told.comparator_result_key
),

-- What a list lacks and has besides, and how a row stands among the eligible ones.
explained as (
    select
        *,
        list_filter(claimed_names, lambda name: not list_contains(names, name)) as missing,
        list_filter(names, lambda name: not list_contains(claimed_names, name)) as further,
        case
            when counted is not null then 'number of different ' || replace(counted, '_', ' ') || 's'
            else 'largest value of ' || replace(largest, '_', ' ')
        end as what,
        case
            when comparators = 1 then 'the only eligible one'
            else
                case meant_of when 'best' then 'the best' when 'every' then 'the farthest' else 'one' end
                || ' of ' || comparators || ' eligible from ' || least || ' to ' || most || ', of which '
                || case reproducing
                    when 0 then 'none reproduces'
                    when 1 then '1 reproduces'
                    else reproducing || ' reproduce'
                end
                || ' the claim'
        end as place
    from statements
),

found as (
    select
        *,
        case
            when reason is not null then 'Results cannot tell: ' || reason || '.'
            when meant_of = 'geometric mean'
                then
                    'The geometric mean of ' || comparators || ' derived ratios from ' || least
                    || ' to ' || most || ' is ' || format('{:.3f}', computed_value) || '.'
            when kind = 'ratio'
                then
                    'The derived ratio of ' || label || ' to ' || comparator_label || ' is ' || shown || ', '
                    || place || '.'
            when kind = 'value'
                then 'The result of ' || label || ' is ' || shown || ' ' || unit || ', ' || place || '.'
            when kind = 'ranking'
                then
                    'The subject is best in ' || reproducing || ' of ' || comparators
                    || ' benchmarks and scenarios'
                    || coalesce('; elsewhere others are, ' || cells_of_others, '') || '.'
            when kind = 'list'
                then
                    'The results have ' || len(names) || ' (' || array_to_string(names, ', ') || ')'
                    || case when missing = [] then '' else ', without ' || array_to_string(missing, ', ') end
                    || case when further = [] then '' else ', besides ' || array_to_string(further, ', ') end
                    || '.'
            when claims_all
                then
                    'The ' || what || ' is ' || value::bigint || ', of all '
                    || comparator_value::bigint || '.'
            when kind = 'count' then 'The ' || what || ' is ' || shown || '.'
            else
                'The ' || what || ' is ' || value::bigint || ' against ' || comparator_value::bigint
                || ', which is ' || shown || '.'
        end as finding
    from explained
),

verdicts as (
    select
        made.claim_id,
        case
            when made.combined = 'readings'
                then
                    case
                        when bool_and(found.verdict = 'reproduced') then 'reproduced'
                        when bool_and(found.verdict = 'not checkable from results')
                            then 'not checkable from results'
                        when bool_or(found.verdict like 'reproduced%')
                            then 'reproduced only against a chosen comparator'
                        else 'contradicted'
                    end
            when bool_or(found.verdict = 'contradicted') then 'contradicted'
            when bool_or(found.verdict = 'not checkable from results') then 'not checkable from results'
            when bool_and(found.verdict = 'reproduced') then 'reproduced'
            else 'reproduced only against a chosen comparator'
        end as verdict,
        case
            when made.combined = 'readings' then sum(found.comparators)
            else arg_min(found.comparators, found.statement)
        end as comparators,
        case
            when made.combined = 'readings' then sum(found.reproducing)
            else arg_min(found.reproducing, found.statement)
        end as reproducing,
        string_agg(
            case when made.combined = 'readings' then 'Reading ' || found.statement || ': ' else '' end
            || found.finding,
            ' ' order by found.statement
        ) as finding
    from staging.claims_made as made
    inner join found on made.claim_id = found.claim_id
    group by made.claim_id, made.combined
),

counted_rows as (
    select
        labelled.*,
        struct_pack(
            computed_value := labelled.computed_value,
            entry_id := labelled.entry_id,
            comparator_entry_id := labelled.comparator_entry_id,
            result_key := labelled.result_key,
            comparator_result_key := labelled.comparator_result_key
        ) as lowest_first,
        struct_pack(
            computed_value := -labelled.computed_value,
            entry_id := labelled.entry_id,
            comparator_entry_id := labelled.comparator_entry_id,
            result_key := labelled.result_key,
            comparator_result_key := labelled.comparator_result_key
        ) as highest_first
    from labelled
    inner join staging.claims_made as made on labelled.claim_id = made.claim_id
    where (labelled.statement = 1 or made.combined = 'readings') and labelled.computed_value is not null
),

ranges as (
    select
        claim_id,
        min(computed_value) as computed_min,
        median(computed_value) as computed_median,
        max(computed_value) as computed_max,
        min(lowest_first) as lowest,
        min(highest_first) as highest,
        bool_and(kind = 'ratio') and min(computed_value) < 1 and max(computed_value) > 1 as verdict_flips,
        list_sort(
            list(distinct coalesce(comparator_label, label))
            filter (where reproduces and coalesce(comparator_label, label) is not null)
        ) as reproduced_by
    from counted_rows
    group by claim_id
)

select
    made.claim_id,
    made.said_by,
    made.title,
    made.url,
    made.published_on,
    made.claim,
    first_statement.kind,
    made.claimed,
    first_statement.computed_value,
    verdicts.verdict,
    verdicts.finding,
    first_statement.entry_id,
    first_statement.comparator_entry_id,
    verdicts.comparators::bigint as comparators,
    verdicts.reproducing::bigint as reproducing,
    ranges.computed_min,
    ranges.computed_median,
    ranges.computed_max,
    ranges.lowest.entry_id as entry_id_min,
    ranges.lowest.comparator_entry_id as comparator_entry_id_min,
    ranges.highest.entry_id as entry_id_max,
    ranges.highest.comparator_entry_id as comparator_entry_id_max,
    coalesce(ranges.verdict_flips, false) as verdict_flips,
    coalesce(ranges.reproduced_by, []) as reproduced_by,
    first_statement.differences,
    made.note
from staging.claims_made as made
inner join verdicts on made.claim_id = verdicts.claim_id
inner join found as first_statement
    on made.claim_id = first_statement.claim_id and first_statement.statement = 1
left join ranges on made.claim_id = ranges.claim_id
order by made.position, made.claim_id
