-- Oddities of rows that were kept all the same.
-- Grain: one row of a file, field and problem; source_row 0 stands for the whole file.
-- Ties: none.
select *
from staging.warnings
order by all
