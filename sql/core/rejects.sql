-- Every row or file that was not used, and why.
-- Grain: one rejected row of a file; source_row 0 stands for the whole file.
-- Ties: none; a row has only the first reason that applies.
select *
from staging.rejects
order by all
