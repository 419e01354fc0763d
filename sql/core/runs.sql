-- Every run of a training result: one row per log.
-- Grain: round_key, submitter_directory, platform, model_used, log.
-- Ties: none; a file of the submission is one row.
select *
from staging.runs
order by round_key, submitter_directory, platform, model_used, log
