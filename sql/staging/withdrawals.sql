-- withdrawals: the results that MLCommons withdrew, or that were reported to us, with the reason.
--
-- Grain: result_key; those that only the logs have are among them. A line without model_used or scenario
-- means all of them. A 99.9 row that repeats the run of a withdrawn 99 row is withdrawn with it; a 99 row
-- stands when only its 99.9 row is withdrawn, since its own target may have been reached.
-- Tie rule: of several lines for one result the earliest report tells, then the alphabetically first reason.
with known as (
    select result.*
    from staging.results as result

    union all

    select derived.*
    from staging.derived_results as derived
),

listed as (
    select
        known.result_key,
        struct_pack(
            reported_on := line.reported_on,
            reason := line.reason,
            source := line.source
        ) as report
    from known
    inner join staging.withdrawn_results as line
        on
            known.round_key = line.round_key
            and known.division = line.division
            and known.submitter_directory = line.submitter_directory
            and known.platform = line.platform
            and known.model_used = coalesce(line.model_used, known.model_used)
            and known.scenario is not distinct from coalesce(line.scenario, known.scenario)
),

copied as (
    select
        repeated.result_key,
        listed.report
    from listed
    inner join known as original on listed.result_key = original.result_key
    inner join known as repeated
        on
            original.round_key = repeated.round_key
            and original.division = repeated.division
            and original.submitter_directory = repeated.submitter_directory
            and original.platform = repeated.platform
            and original.benchmark = repeated.benchmark
            and original.scenario = repeated.scenario
            and original.metric = repeated.metric
    where original.accuracy_target = '99' and repeated.is_accuracy_copy
),

reported as (
    select
        withdrawn.result_key,
        min(withdrawn.report) as report
    from (
        select * from listed
        union all
        select * from copied
    ) as withdrawn
    group by withdrawn.result_key
)

select
    result_key,
    report.reported_on,
    report.reason,
    report.source
from reported
order by result_key
