-- coverage_gaps: the rows of coverage that are not covered, with who covers them and how long they are open.
--
-- Grain: round_key, category, by, name, benchmark, as in coverage.
-- rounds_open: in how many complete rounds in a row, up to this one, the name submitted something in the
-- category, the benchmark had a closed row there, and the name had none; 0 where it has (preview only).
-- last_round_covered: the latest earlier round with status covered, of the same category, name and benchmark.
-- Tie rule: none needed.
-- Slices: suite.
with complete_rounds as (
    select
        round.round_key,
        round.suite,
        row_number() over (partition by round.suite order by round.position) as place
    from main.rounds as round
    where round.is_complete
),

rivals as (
    select
        coverage.round_key,
        coverage.category,
        coverage.by,
        coverage.benchmark,
        list(coverage.name order by coverage.name) as rivals
    from main.coverage as coverage
    where coverage.status = 'covered'
    group by all
),

cells as (
    select
        round.suite,
        round.place,
        coverage.round_key,
        coverage.category,
        coverage.by,
        coverage.name,
        coverage.benchmark,
        coverage.status,
        coverage.scenarios,
        coverage.scenarios_missing,
        coalesce(rivals.rivals, []) as rivals,
        last_value(case when coverage.status = 'covered' then coverage.round_key end ignore nulls) over (
            partition by round.suite, coverage.category, coverage.by, coverage.name, coverage.benchmark
            order by round.place
            rows between unbounded preceding and 1 preceding
        ) as last_round_covered,
        -- the last round that is not open, be it that the name or the benchmark was not there
        case
            when coverage.results > 0 then round.place
            when
                round.place <> coalesce(
                    lag(case when coverage.results = 0 then round.place + 1 end) over (
                        partition by
                            round.suite, coverage.category, coverage.by, coverage.name, coverage.benchmark
                        order by round.place
                    ),
                    0
                )
                then round.place - 1
        end as break_at
    from main.coverage as coverage
    inner join complete_rounds as round on coverage.round_key = round.round_key
    left join rivals
        on
            coverage.round_key = rivals.round_key
            and coverage.category is not distinct from rivals.category
            and coverage.by = rivals.by
            and coverage.benchmark = rivals.benchmark
),

counted as (
    select
        cells.*,
        cells.place - max(cells.break_at) over (
            partition by cells.suite, cells.category, cells.by, cells.name, cells.benchmark
            order by cells.place
            rows unbounded preceding
        ) as rounds_open
    from cells
    where cells.status <> 'covered'
)

select
    counted.round_key,
    counted.category,
    counted.by,
    counted.name,
    counted.benchmark,
    counted.status,
    counted.scenarios,
    counted.scenarios_missing,
    counted.rivals,
    counted.last_round_covered,
    counted.rounds_open
from counted
order by counted.suite, counted.place, counted.category, counted.by, counted.name, counted.benchmark
