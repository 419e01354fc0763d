-- coverage: who covers which benchmark, in every complete round; absence is a row.
--
-- Grain: round_key, category, by (vendor, accelerator, submitter), name, benchmark (the family).
-- Names are all that have any row in the round and category, benchmarks all that have a closed row there;
-- every name meets every benchmark.
-- status: covered = a closed row that is available; preview only = closed rows, none available (preview,
-- rdi); open only = rows, none closed (network counts as open); gap = none.
-- results, submitters and scenarios are of closed rows; scenarios_missing is what others have closed there
-- and this name has not. Lists are in the order Offline, Server, Interactive, SingleStream, MultiStream.
-- Tie rule: none needed. Copies on the 99.9 row are in results and not in results_without_copies.
-- Slices: suite, round_position.
with named as (
    select
        result.suite,
        result.round_position,
        result.round_key,
        result.category,
        unnest(['vendor', 'accelerator', 'submitter']) as by,
        unnest([result.vendor_name, result.accelerator_name, result.submitter]) as name,
        result.benchmark_family as benchmark,
        result.division = 'closed' as is_closed,
        result.availability = 'available' as is_available,
        result.submitter,
        result.scenario,
        result.is_accuracy_copy
    from staging.comparable_results as result
),

names as (
    select distinct
        named.suite,
        named.round_position,
        named.round_key,
        named.category,
        named.by,
        named.name
    from named
),

benchmarks as (
    select
        named.round_key,
        named.category,
        named.benchmark,
        list(distinct named.scenario) as scenarios
    from named
    where named.is_closed
    group by all
),

-- The benchmarks of a round in one row, so that a name meets all of them in one, too.
rounds as (
    select
        benchmarks.round_key,
        benchmarks.category,
        list(struct_pack(benchmark := benchmarks.benchmark, scenarios := benchmarks.scenarios)) as benchmarks
    from benchmarks
    group by all
),

wanted as (
    select
        names.*,
        unnest(rounds.benchmarks) as cell
    from names
    inner join rounds
        on names.round_key = rounds.round_key and names.category is not distinct from rounds.category
),

cells as (
    select
        named.round_key,
        named.category,
        named.by,
        named.name,
        named.benchmark,
        count(*) filter (where named.is_closed) as results,
        count(*) filter (where named.is_closed and not named.is_accuracy_copy) as results_without_copies,
        count(distinct named.submitter) filter (where named.is_closed) as submitters,
        coalesce(bool_or(named.is_closed and named.is_available), false) as is_covered,
        list(distinct named.scenario) filter (where named.is_closed) as scenarios
    from named
    group by all
),

grid as (
    select
        wanted.suite,
        wanted.round_position,
        wanted.round_key,
        wanted.category,
        wanted.by,
        wanted.name,
        wanted.cell.benchmark as benchmark,
        case
            when cells.is_covered then 'covered'
            when cells.results > 0 then 'preview only'
            when cells.results = 0 then 'open only'
            else 'gap'
        end as status,
        coalesce(cells.results, 0) as results,
        coalesce(cells.results_without_copies, 0) as results_without_copies,
        coalesce(cells.submitters, 0) as submitters,
        coalesce(cells.scenarios, []) as scenarios,
        wanted.cell.scenarios as scenarios_of_all,
        ['Offline', 'Server', 'Interactive', 'SingleStream', 'MultiStream'] as scenarios_in_order
    from wanted
    left join cells
        on
            wanted.round_key = cells.round_key
            and wanted.category is not distinct from cells.category
            and wanted.by = cells.by
            and wanted.name = cells.name
            and wanted.cell.benchmark = cells.benchmark
)

select
    grid.round_key,
    grid.category,
    grid.by,
    grid.name,
    grid.benchmark,
    grid.status,
    grid.results,
    grid.results_without_copies,
    grid.submitters,
    list_filter(scenarios_in_order, lambda s: list_contains(scenarios, s)) as scenarios,
    list_filter(
        scenarios_in_order, lambda s: list_contains(scenarios_of_all, s) and not list_contains(scenarios, s)
    ) as scenarios_missing
from grid
order by grid.suite, grid.round_position, grid.category, grid.by, grid.name, grid.benchmark
