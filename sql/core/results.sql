-- Every published result, of all rounds, canonical names beside the published ones.
-- Grain: round_key, division, submitter_directory, platform, model_used, scenario, metric.
-- Ties: none; normalising keeps one row a key and sends the rest to rejects.
select *
from staging.results
order by
    suite, string_split(round, '.')[1]::integer, string_split(round, '.')[2]::integer,
    division, submitter_directory, platform, model_used, scenario, metric
