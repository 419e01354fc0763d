-- compatibility: which rounds of a benchmark may be compared, by MLCommons' own table.
--
-- Grain: suite, category, benchmark family, round, scenario ('*': all that have no row of their own).
-- Results compare inside a compatibility_group only; a round without a row compares with none.
-- Tie rule: none needed.
select
    line.suite,
    line.category,
    line.benchmark,
    line.suite || '-' || line.round as round_key,
    line.round,
    line.scenario,
    line.compatibility_group,
    coalesce(line.record_group, line.compatibility_group) as record_group,
    coalesce(line.doubt = 'yes', false) as is_doubtful,
    line.note,
    line.source
from staging.compatibility as line
left join staging.rounds as round on line.suite = round.suite and line.round = round.round
order by line.suite, line.benchmark, line.category, round.position, line.round, line.scenario
