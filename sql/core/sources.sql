-- Every file read, with where it came from and what became of its rows.
-- Grain: round and file.
-- Ties: none.
select *
from staging.sources
order by all
