-- benchmarks: every benchmark of the vocabulary or of a result, under its canonical name.
--
-- Grain: one row per suite and benchmark; accuracy targets (99, 99.9) are not benchmarks of their own.
-- First and last round go by version within the suite.
-- Tie rule: none needed. Withdrawn results count nowhere.
with counted as (
    select
        result.suite,
        result.benchmark,
        min(result.benchmark_family) as benchmark_family,
        arg_min(result.round_key, round.position) as first_round_key,
        arg_max(result.round_key, round.position) as last_round_key,
        count(distinct result.round_key) as rounds,
        count(*) as results
    from main.results as result
    inner join staging.rounds as round on result.round_key = round.round_key
    where not result.is_withdrawn
    group by result.suite, result.benchmark
)

select
    coalesce(known.suite, counted.suite) as suite,
    coalesce(known.benchmark, counted.benchmark) as benchmark,
    coalesce(known.benchmark_family, counted.benchmark_family) as benchmark_family,
    known.name,
    known.task,
    known.benchmark is not null as is_known,
    counted.first_round_key,
    counted.last_round_key,
    coalesce(counted.rounds, 0) as rounds,
    coalesce(counted.results, 0) as results
from staging.benchmarks as known
full join counted on known.suite = counted.suite and known.benchmark = counted.benchmark
order by 1, 2
