-- Every published result, of all rounds, canonical names beside the published ones.
-- Grain: round_key, division, submitter_directory, platform, model_used, scenario, metric.
-- is_withdrawn: listed as withdrawn now, whatever an earlier build said; such a result stays here, and no
-- other model counts it.
-- scaling_factor, repeats_result_key: from the runs; the same ones were submitted again if all of them
-- started at the same millisecond and took as long, whatever else their logs say (F42).
-- Ties: of results with the same runs the one of the earliest round is the first, then by its directories.
with run_sets as (
    select
        result_key,
        max(scaling_factor) as scaling_factor,
        string_agg(started_at_ms || '+' || minutes, ' ' order by started_at_ms, minutes) as runs
    from staging.runs
    where result_key is not null
    group by result_key
),

scored as (
    select
        result.result_key,
        run_sets.scaling_factor,
        first_value(result.result_key) over (
            partition by result.benchmark_family, run_sets.runs
            order by
                string_split(result.round, '.')::integer[], result.submitter_directory, result.platform,
                result.model_used, result.result_key
        ) as first_result_key
    from staging.results as result
    inner join run_sets on result.result_key = run_sets.result_key
    where run_sets.runs is not null
)

select
    result.* replace (
        coalesce(scored.scaling_factor, result.scaling_factor) as scaling_factor,
        nullif(scored.first_result_key, result.result_key) as repeats_result_key,
        withdrawal.result_key is not null as is_withdrawn
    )
from staging.results as result
left join scored on result.result_key = scored.result_key
left join staging.withdrawals as withdrawal on result.result_key = withdrawal.result_key
order by
    result.suite, string_split(result.round, '.')[1]::integer, string_split(result.round, '.')[2]::integer,
    result.division, result.submitter_directory, result.platform, result.model_used, result.scenario,
    result.metric
