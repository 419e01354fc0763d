-- Every result has one of the true units, a finite positive value, and the direction of its metric.
-- Gives the results for which that does not hold.
select
    result.result_key,
    result.round_key,
    result.metric,
    result.unit,
    result.value
from main.results as result
where
    (result.metric, result.unit) not in (
        ('throughput', 'tokens/s'),
        ('throughput', 'samples/s'),
        ('throughput', 'queries/s'),
        ('latency', 'ms'),
        ('streams', 'streams'),
        ('time_to_train', 'minutes')
    )
    or result.value <= 0
    or not isfinite(result.value)
    or result.lower_is_better <> (result.metric in ('latency', 'time_to_train'))
order by all
