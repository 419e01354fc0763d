from tests.conftest import ModelRunner, rows
from tests.models.literal import CPU_ONLY, result, tables


def test_every_name_meets_every_benchmark_and_absence_is_a_row(run_models: ModelRunner) -> None:
    results = [
        result("a", benchmark="llm"),
        result("b", benchmark="image", submitter="Early", availability="preview"),
        result("c", benchmark="llm", submitter="Early", division="open"),
        result("d", benchmark="llm", submitter="Net", division="network"),
        result("e", benchmark="open only", submitter="Net", division="open"),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select name, benchmark, status from coverage where coverage.by = 'submitter' order by all"
    )
    assert found.fetchall() == [
        ("Acme", "image", "gap"),
        ("Acme", "llm", "covered"),
        ("Early", "image", "preview only"),
        ("Early", "llm", "open only"),
        ("Net", "image", "gap"),
        ("Net", "llm", "open only"),
    ]


def test_systems_without_accelerator_and_unknown_vendors_have_a_name(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a"),
        result("b", **CPU_ONLY),
        result("c", accelerator="X", accelerator_vendor=None),
    ]
    made = run_models(**tables(results))
    found = made.sql("select coverage.by, name from coverage where name <> 'Acme' order by all")
    assert found.fetchall() == [
        ("accelerator", "A1"),
        ("accelerator", "CPU only"),
        ("accelerator", "X"),
        ("vendor", "Aurora"),
        ("vendor", "CPU only"),
        ("vendor", "X"),
    ]


def test_a_copy_counts_once_without_copies_and_a_result_of_both_categories_in_each(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a", accuracy_target="99", category="datacenter,edge"),
        result("b", accuracy_target="99.9", is_accuracy_copy=True),
        result("c", accuracy_target="99.9", submitter="Other"),
        result("d", accuracy_target="99.9", submitter="Open", division="open"),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select category, results, results_without_copies, submitters from coverage "
        "where coverage.by = 'vendor' order by all"
    )
    assert found.fetchall() == [("datacenter", 3, 2, 2), ("edge", 1, 1, 1)]


def test_missing_scenarios_are_those_that_others_have_closed_in_a_fixed_order(
    run_models: ModelRunner,
) -> None:
    results = [
        result("a", scenario="Server"),
        result("b", scenario="Server", submitter="Other"),
        result("c", scenario="Offline", submitter="Other"),
        result("d", scenario="MultiStream", submitter="Other"),
        result("e", scenario="Interactive", submitter="Other", division="open"),
    ]
    made = run_models(**tables(results))
    found = made.sql(
        "select scenarios, scenarios_missing from coverage where name = 'Acme' "
        "union all select scenarios, scenarios_missing from coverage where name = 'Other'"
    )
    assert found.fetchall() == [
        (["Server"], ["Offline", "MultiStream"]),
        (["Offline", "Server", "MultiStream"], []),
    ]


def test_a_gap_is_open_since_the_name_last_had_a_row_or_was_away_or_the_benchmark_was(
    run_models: ModelRunner,
) -> None:
    """Rounds 8.0 to 12.0: rival always there; 10.0 follows 9.0, which no order of text does."""
    versions = ["8.0", "9.0", "10.0", "11.0", "12.0"]
    image = {"benchmark": "image"}
    results = [
        *(result(f"rival {round}", round, submitter="Rival") for round in versions),
        result("covered once", "10.0", submitter="Covered"),
        *(result(f"c{round}", round, submitter="Covered", **image) for round in versions),
        *(result(f"w{round}", round, submitter="Away", **image) for round in ("8.0", "9.0")),
        *(result(f"v{round}", round, submitter="Away", **image) for round in ("11.0", "12.0")),
        result("open", "11.0", submitter="Away", division="open"),
        *(result(f"p{round}", round, submitter="Preview", **image) for round in versions),
        result("preview", "12.0", submitter="Preview", availability="preview"),
        result("pause", "8.0", submitter="Pause", benchmark="video"),
        *(result(f"z{round}", round, submitter="Pause") for round in versions[1:]),
        result("video again", "12.0", submitter="Rival", benchmark="video"),
    ]
    made = run_models(**tables(results))
    found = rows(
        made,
        "select name, benchmark, status, rivals, last_round_covered as last, rounds_open as open "
        "from coverage_gaps where round_key = 'inference-12.0' and coverage_gaps.by = 'submitter' "
        "and ((benchmark = 'llm' and name <> 'Pause') or (benchmark, name) = ('video', 'Pause')) "
        "order by benchmark, name",
    )
    llm = {"benchmark": "llm", "rivals": ["Pause", "Rival"]}
    assert found == [
        llm | {"name": "Away", "status": "gap", "last": None, "open": 2},
        llm | {"name": "Covered", "status": "gap", "last": "inference-10.0", "open": 2},
        llm | {"name": "Preview", "status": "preview only", "last": None, "open": 0},
        {
            "name": "Pause",
            "benchmark": "video",
            "status": "gap",
            "rivals": ["Rival"],
            "last": "inference-8.0",
            "open": 1,
        },
    ]
