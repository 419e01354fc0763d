-- reconciliation: where the published table, MLCommons' results page and the submission logs differ on a
-- result, value by value.
--
-- Grain: one row per pair of sources, result or page cell, and field on which they differ: value, unit,
-- accelerators, entry_id, system_name, is_inferred, or row where only one of them has it. What is equal
-- (values to 1e-9) gives no row. Sources stand in the order of the alphabet: table against page, table
-- against logs, page against logs. staging.page_matches says which result a cell shows; a result that no cell
-- shows is missing on the page if it is of the datacenter and of a division that the page has (closed). A
-- number that only the page has is never a result. Withdrawn results, and the cells that show them, are left
-- out.
--
-- Values are in the unit that each source's label means, the table's in the true unit (a wrong label is
-- already put right in results, and is a difference of the field unit); accelerators as published, by the
-- logs those that really ran. ratio is b / a.
--
-- Kinds, the first that fits:
-- - averaged systems: the page prints the mean over the submitter's systems of one name, processor, nodes
--   and count, and is nearer to it than to the result's own value; also under entries of that name that
--   have no such result; or it prints one result under several ids;
-- - rounding: equal to 1e-4, or to half the last decimal where the page prints two or more;
-- - unit label: the same number under another unit, or a llama3.1-8b value in samples/s of 128 tokens
--   each;
-- - rotated ids: the page shows the result under an id that is not its own in the table;
-- - system name, accelerator count, inferred flag: the sources write different ones;
-- - filtered by the report: only the logs have the result, and the table has no result of this benchmark and
--   scenario in its category: the report generator leaves such combinations out;
-- - missing in table, missing on page, missing in logs: one source has the result, that one has not;
-- - unknown: the values differ and no rule says why.
--
-- right_source: which of the two the logs prove right. Null where no logs were read, where they bear out both
-- or neither, and where they do not tell: they hold no ids, a report filter is no fault, and what an archive
-- lacks may only be left out of it.
--
-- Tie rule: staging.page_matches. Rows carried from earlier builds stand only where one of their two sources
-- is not at hand.
-- Slices: round_key.
with statements as (
    select
        stated.source,
        stated.result_key,
        stated.round_key,
        stated.division,
        stated.entry_id,
        stated.submitter,
        stated.system_name,
        stated.name_key,
        stated.benchmark,
        stated.benchmark_family,
        stated.accuracy_target,
        stated.scenario,
        stated.value,
        stated.unit,
        stated.unit_as_published,
        stated.accelerators,
        stated.accelerators_that_ran,
        stated.is_inferred,
        stated.categories,
        coalesce(list_contains(stated.categories, 'datacenter'), false) as is_datacenter,
        stated.is_subject,
        if(stated.source = 'published table', 'in the table', 'in the logs') as place,
        -- of the page only
        null as entry_id_on_page,
        1 as copy,
        0 as half_digit,
        null as systems,
        null as mean_gap,
        false as is_mean
    from staging.stated_results as stated
    where not stated.is_withdrawn

    union all by name

    select
        page.* exclude (cell_id),
        'results page' as source,
        'on the page' as place,
        page.entry_id as entry_id_on_page,
        true as is_datacenter,
        false as is_subject
    from staging.page_matches as page
    where
        page.result_key is null
        or page.result_key not in (
            select stated.result_key from staging.stated_results as stated where stated.is_withdrawn
        )
),

at_hand as (
    select
        statement.round_key,
        statement.source,
        statement.place,
        list(distinct statement.division) as divisions
    from statements as statement
    group by all
),

-- What the table lists: the report generator knows combinations of these only.
listed as (
    select distinct
        statement.round_key,
        statement.benchmark,
        statement.scenario,
        unnest(coalesce(statement.categories, [null])) as category
    from statements as statement
    where statement.source = 'published table'
),

-- Results that several sources have: only these can differ in anything but being there.
shared as (
    select statement.result_key
    from statements as statement
    group by statement.result_key
    having min(statement.source) < max(statement.source)
),

-- Each statement as one value, by what it is looked up by.
said as (
    select
        statement.result_key,
        statement.round_key,
        statement.source,
        statement.is_subject,
        statement
    from statements as statement
),

logged as (
    select
        statement.result_key,
        struct_pack(
            value := statement.value,
            unit_as_published := statement.unit_as_published,
            accelerators := statement.accelerators,
            name_key := statement.name_key
        ) as log
    from statements as statement
    where statement.source = 'submission logs'
),

-- Two sources that both have the result, with what the logs say of it.
both_sided as (
    select
        first.statement as a,
        second.statement as b,
        logged.log,
        logged.result_key is not null as is_logged
    from said as first
    inner join said as second on first.result_key = second.result_key and first.source < second.source
    left join logged on first.result_key = logged.result_key
    where first.result_key in (select shared.result_key from shared)
),

pairs as (
    select
        both_sided.*,
        a.source as source_a,
        b.source as source_b,
        coalesce(a.entry_id_on_page, b.entry_id_on_page) as entry_id_on_page,
        greatest(a.copy, b.copy) as copy,
        coalesce(a.systems, b.systems) as systems,
        a.is_mean or b.is_mean as is_mean,
        abs(a.value - b.value) as gap,
        greatest(abs(a.value), abs(b.value)) as larger,
        gap <= 1e-9 * larger as is_equal,
        gap <= greatest(1e-4 * larger, a.half_digit, b.half_digit) as same_number,
        coalesce(is_mean and systems > 1 and coalesce(a.mean_gap, b.mean_gap) < gap, false) as is_averaged,
        coalesce(
            a.benchmark_family = 'llama3.1-8b'
            and abs(128 * least(a.value, b.value) - larger) <= 1e-3 * larger,
            false
        ) as is_per_sample
    from both_sided
),

differences as (
    select
        pairs.*,
        'value' as field,
        case
            when is_averaged then 'averaged systems'
            when same_number then 'rounding'
            when is_per_sample then 'unit label'
            else 'unknown'
        end as kind,
        cast(a.value as varchar) as value_a,
        cast(b.value as varchar) as value_b,
        b.value / nullif(a.value, 0) as ratio,
        abs(a.value - log.value) <= 1e-9 * abs(log.value) as is_a_right,
        abs(b.value - log.value) <= 1e-9 * abs(log.value) as is_b_right,
        case
            when is_averaged
                then
                    'The page prints the mean of the ' || cast(systems as varchar)
                    || ' systems of this name; each system''s own value is '
                    || if(source_a = 'results page', b.place, a.place) || '.'
            when same_number then 'The two sources round the same number differently.'
            when is_per_sample
                then
                    'The number ' || if(a.value < b.value, a.place, b.place) || ', labelled '
                    || if(a.value < b.value, a.unit_as_published, b.unit_as_published)
                    || ', is in samples/s: 1/128 of the tokens/s '
                    || if(a.value < b.value, b.place, a.place) || ', since a sample is 128 tokens.'
            when a.unit <> b.unit then 'The two sources print different numbers under different units.'
            else 'The two sources print different numbers and no known rule explains it.'
        end as explanation
    from pairs
    where not is_equal

    union all

    -- The table's own label can only be told wrong by the logs; the page's also by the table.
    select
        pairs.*,
        'unit' as field,
        'unit label' as kind,
        case
            when source_a = 'published table' and source_b = 'results page' then a.unit
            else a.unit_as_published
        end as value_a,
        case when source_b = 'submission logs' then b.unit else b.unit_as_published end as value_b,
        null as ratio,
        lower(a.unit_as_published) = lower(log.unit_as_published) as is_a_right,
        lower(b.unit_as_published) = lower(log.unit_as_published) as is_b_right,
        case
            when source_b = 'submission logs'
                then
                    'The label ' || a.place || ' is ' || coalesce(a.unit_as_published, 'blank')
                    || '; by the logs the number is in ' || b.unit || '.'
            when lower(a.unit_as_published) = lower(b.unit_as_published)
                then
                    'Both sources print ' || b.unit_as_published || ', but the number is in ' || a.unit || '.'
            else
                'The page prints ' || b.unit_as_published || ' and the table '
                || coalesce(a.unit_as_published, 'no label') || '; the number is in ' || a.unit || '.'
        end as explanation
    from pairs
    where
        (same_number or is_mean)
        and (
            a.unit <> b.unit
            or (
                source_b = 'submission logs'
                and lower(a.unit_as_published) is distinct from lower(b.unit_as_published)
            )
        )

    union all

    select
        pairs.*,
        'accelerators' as field,
        'accelerator count' as kind,
        cast(a.accelerators as varchar) as value_a,
        cast(b.accelerators as varchar) as value_b,
        b.accelerators / nullif(a.accelerators, 0) as ratio,
        a.accelerators = log.accelerators as is_a_right,
        b.accelerators = log.accelerators as is_b_right,
        case
            when b.accelerators = a.accelerators_that_ran
                then
                    if(source_b = 'results page', 'The page counts', 'The logs'' system description counts')
                    || ' the accelerators that really ran, '
                    || 'the table multiplies nodes by accelerators per node.'
            else 'The two sources print different accelerator counts.'
        end as explanation
    from pairs
    where a.accelerators <> b.accelerators

    union all

    -- Ids are in no log. What can be proved is that a source shows the result with another system's name.
    select
        pairs.*,
        'entry_id' as field,
        'rotated ids' as kind,
        a.entry_id as value_a,
        b.entry_id as value_b,
        null as ratio,
        coalesce(a.name_key = log.name_key, false) as is_a_right,
        coalesce(b.name_key = log.name_key, false) as is_b_right,
        if(
            copy > 1,
            'The page repeats this result of ' || a.entry_id || ' under ' || b.entry_id || '.',
            'The page shows this result under ' || b.entry_id || ', the table under ' || a.entry_id || '.'
        ) as explanation
    from pairs
    where a.entry_id <> b.entry_id

    union all

    select
        pairs.*,
        'system_name' as field,
        'system name' as kind,
        a.system_name as value_a,
        b.system_name as value_b,
        null as ratio,
        coalesce(a.name_key, '') = coalesce(log.name_key, '') as is_a_right,
        coalesce(b.name_key, '') = coalesce(log.name_key, '') as is_b_right,
        'The two sources give the same result another system name.' as explanation
    from pairs
    where a.name_key is distinct from b.name_key

    union all

    select
        pairs.*,
        'is_inferred' as field,
        'inferred flag' as kind,
        cast(a.is_inferred as varchar) as value_a,
        cast(b.is_inferred as varchar) as value_b,
        null as ratio,
        false as is_a_right,
        true as is_b_right,
        if(
            b.is_inferred,
            'The logs are those of another scenario, which the table does not say.',
            'The logs are those of this very scenario, which the table says is inferred from another.'
        ) as explanation
    from pairs
    where source_b = 'submission logs' and a.is_inferred <> b.is_inferred

    union all

    select
        pairs.*,
        'row' as field,
        'averaged systems' as kind,
        case when source_a = 'results page' then cast(a.value as varchar) end as value_a,
        case when source_b = 'results page' then cast(b.value as varchar) end as value_b,
        null as ratio,
        source_a <> 'results page' as is_a_right,
        source_b <> 'results page' as is_b_right,
        'The page shows this result once more under ' || entry_id_on_page || '.' as explanation
    from pairs
    where copy > 1 and (a.entry_id is null or b.entry_id is null)
),

-- What one source has and another one that was read for the round has not.
one_sided as (
    select
        said.statement as has,
        absent.source as source_without,
        absent.place as place_without,
        least(said.source, absent.source) as source_a,
        greatest(said.source, absent.source) as source_b,
        exists (
            select 1 from said as log
            where log.result_key = said.result_key and log.source = 'submission logs'
        ) as is_logged,
        exists (
            select 1 from at_hand as logs
            where logs.round_key = said.round_key and logs.source = 'submission logs'
        ) as has_logs,
        exists (
            select 1 from listed
            where
                listed.round_key = said.round_key
                and listed.benchmark = said.statement.benchmark
                and listed.scenario = said.statement.scenario
                and (
                    said.statement.categories is null
                    or list_contains(said.statement.categories, listed.category)
                )
        ) as is_listed
    from said
    inner join at_hand as absent on said.round_key = absent.round_key and said.source <> absent.source
    where
        (
            absent.source <> 'results page'
            or (said.statement.is_datacenter and list_contains(absent.divisions, said.statement.division))
        )
        and not exists (
            select 1 from said as other
            where other.source = absent.source and other.result_key = said.result_key
        )
),

absences as (
    select
        one_sided.*,
        case
            when has.result_key is null and has.is_mean then 'averaged systems'
            when source_without = 'published table' and has.source = 'submission logs' and not is_listed
                then 'filtered by the report'
            else 'missing ' || replace(place_without, 'the ', '')
        end as kind,
        case
            when kind = 'averaged systems' and has_logs then source_without
            when kind <> 'filtered by the report' and is_logged then has.source
        end as right_source,
        case
            when kind = 'averaged systems'
                then
                    'The page takes systems of one name for one: ' || has.entry_id_on_page
                    || ' has no such result and is shown its namesakes''.'
            when kind = 'filtered by the report'
                then
                    'Only the logs have this result: the table lists no ' || has.benchmark || ' '
                    || has.scenario || ' in its category.'
            else 'This result stands ' || has.place || ', not ' || place_without || '.'
        end as explanation
    from one_sided
),

found as (
    select
        difference.a as statement,
        difference.entry_id_on_page,
        difference.field,
        difference.kind,
        difference.source_a,
        difference.value_a,
        difference.source_b,
        difference.value_b,
        if(difference.source_a = 'results page', difference.b.unit, difference.a.unit) as unit,
        difference.ratio,
        difference.is_logged,
        case
            when not difference.is_logged then null
            when difference.is_a_right and not difference.is_b_right then difference.source_a
            when difference.is_b_right and not difference.is_a_right then difference.source_b
        end as right_source,
        difference.explanation
    from differences as difference

    union all

    select
        absence.has as statement,
        absence.has.entry_id_on_page,
        'row' as field,
        absence.kind,
        absence.source_a,
        if(absence.has.source = absence.source_a, cast(absence.has.value as varchar), null) as value_a,
        absence.source_b,
        if(absence.has.source = absence.source_b, cast(absence.has.value as varchar), null) as value_b,
        absence.has.unit,
        null as ratio,
        absence.is_logged,
        absence.right_source,
        absence.explanation
    from absences as absence
),

-- Named after the table, or the logs where it lacks the result; a cell that shows no result by itself.
reconciled as (
    select
        found.statement.round_key,
        coalesce(subject.statement.entry_id, found.entry_id_on_page) as entry_id,
        found.entry_id_on_page,
        coalesce(subject.statement.submitter, found.statement.submitter) as submitter,
        coalesce(subject.statement.system_name, found.statement.system_name) as system_name,
        found.statement.benchmark,
        found.statement.accuracy_target,
        found.statement.scenario,
        found.statement.result_key,
        found.field,
        found.kind,
        found.source_a,
        found.value_a,
        found.source_b,
        found.value_b,
        found.unit,
        found.ratio,
        found.right_source,
        found.explanation
        || case
            when found.source_b <> 'results page' then ''
            when found.right_source = 'published table' then ' The logs bear out the table.'
            when found.right_source = 'results page' then ' The logs bear out the page.'
            when found.field = 'entry_id' and found.is_logged then ' The logs hold no ids.'
            else ''
        end as explanation
    from found
    left join said as subject on found.statement.result_key = subject.result_key and subject.is_subject

    union all by name

    select carried.*
    from staging.reconciliation as carried
    anti join staging.withdrawals as withdrawal on carried.result_key = withdrawal.result_key
    where
        (
            select count(*) from at_hand
            where
                at_hand.round_key = carried.round_key
                and at_hand.source in (carried.source_a, carried.source_b)
        ) < 2
)

select
    round_key,
    entry_id,
    entry_id_on_page,
    submitter,
    system_name,
    benchmark,
    accuracy_target,
    scenario,
    result_key,
    field,
    kind,
    source_a,
    value_a,
    source_b,
    value_b,
    unit,
    ratio,
    right_source,
    explanation
from reconciled
order by
    round_key,
    entry_id,
    entry_id_on_page,
    submitter,
    system_name,
    benchmark,
    accuracy_target,
    scenario,
    result_key,
    source_a,
    source_b,
    field,
    kind,
    value_a,
    value_b
