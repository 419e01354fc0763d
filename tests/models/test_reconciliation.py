from collections.abc import Iterable

import polars as pl

from tests.conftest import Made, ModelRunner
from tests.models.literal import Line, result, tables, withdrawal

TABLE, PAGE, LOGS = "published table", "results page", "submission logs"
Difference = tuple[str, str, str, str, str | None, str | None, str | None]


def logged(key: str, value: float = 100.0, **given: object) -> Line:
    """Return what the logs of 6.0 say: as `result`, but no entry id and the true label."""
    line = {"entry_id": None, "unit_as_published": "Tokens/s", "source_kind": LOGS}
    return result(key, value=value, **(line | given))


def published(key: str, value: float = 100.0, **given: object) -> Line:
    """Return what the table of 6.0 says: as `result`, with a label."""
    return result(key, value=value, **({"unit_as_published": "Tokens/s"} | given))


def cell(key: str, printed: str = "100", **given: object) -> Line:
    """Return the page's cell for the table's result of that key, but for what is given."""
    return {
        "round_key": "inference-6.0",
        "entry_id": f"6.0-{key}",
        "division": "closed",
        "submitter": "Acme",
        "system_name": "Box",
        "processor": "EPYC 1",
        "nodes": 1,
        "accelerators_per_node": 8,
        "accelerators": 8,
        "benchmark": "llm",
        "benchmark_family": given.get("benchmark", "llm"),
        "scenario": "Offline",
        "value": float(printed.replace(",", "")),
        "unit": "tokens/s",
        "value_as_published": printed,
        "unit_as_published": "Tokens/s",
    } | given


def reconciled(
    run_models: ModelRunner,
    in_table: Iterable[Line] = (),
    on_page: Iterable[Line] = (),
    in_logs: Iterable[Line] = (),
    carried: Iterable[Line] = (),
    withdrawn: Iterable[Line] = (),
) -> Made:
    """Run the models over what each source says, with eight accelerators in each node."""
    per_node = {"accelerators_per_node": 8}
    frames = {
        "derived_results": [per_node | line for line in in_logs],
        "page_cells": list(on_page),
        "reconciliation": list(carried),
    }
    given = tables([per_node | line for line in in_table], withdrawn=withdrawn)
    return run_models(
        **given,
        **{
            name: pl.DataFrame(lines, infer_schema_length=None)
            for name, lines in frames.items()
            if lines
        },
    )


def differences(made: Made, where: str = "true") -> list[Difference]:
    """Return each difference by result and field, then by source, without whose it is."""
    return made.sql(
        "select source_a, source_b, field, kind, value_a, value_b, right_source "
        f"from reconciliation where {where} order by result_key, field, source_a, source_b"
    ).fetchall()


def test_what_the_three_sources_agree_on_gives_no_row(run_models: ModelRunner) -> None:
    """A billionth apart is equal; names differ in commas, labels in case."""
    made = reconciled(
        run_models,
        [published("a", 100.0, system_name="Box, 8x")],
        [cell("a", "100", value=100.00000009, system_name="Box 8x")],
        [logged("a", 100.00000009, unit_as_published="tokens/s", system_name="Box, 8x")],
    )
    assert differences(made) == []


def test_the_logs_say_whether_table_or_page_has_the_right_number(run_models: ModelRunner) -> None:
    """a: table right; b: page right; c: neither; d: not in the logs; e: both wrong alike."""
    made = reconciled(
        run_models,
        [
            *(published(key, 100.0, system_name=key) for key in "abcd"),
            published("e", 150.0, system_name="e"),
        ],
        [cell(key, "150", system_name=key) for key in "abcde"],
        [logged("a", 100.0), logged("b", 150.0), logged("c", 125.0), logged("e", 100.0)],
    )
    found = made.sql(
        "select result_key, source_a, source_b, kind, ratio, right_source from reconciliation "
        "where field = 'value' order by all"
    )
    assert found.fetchall() == [
        ("a", TABLE, PAGE, "unknown", 1.5, TABLE),
        ("a", PAGE, LOGS, "unknown", 100 / 150, LOGS),
        ("b", TABLE, PAGE, "unknown", 1.5, PAGE),
        ("b", TABLE, LOGS, "unknown", 1.5, LOGS),
        ("c", TABLE, PAGE, "unknown", 1.5, None),
        ("c", TABLE, LOGS, "unknown", 1.25, LOGS),
        ("c", PAGE, LOGS, "unknown", 125 / 150, LOGS),
        ("d", TABLE, PAGE, "unknown", 1.5, None),
        ("e", TABLE, LOGS, "unknown", 100 / 150, LOGS),
        ("e", PAGE, LOGS, "unknown", 100 / 150, LOGS),
    ]


def test_without_logs_nothing_is_said_to_be_right(run_models: ModelRunner) -> None:
    made = reconciled(run_models, [published("a")], [cell("a", "150")])
    assert differences(made) == [(TABLE, PAGE, "value", "unknown", "100.0", "150.0", None)]


def test_rounding_is_a_ten_thousandth_or_half_the_pages_last_decimal(
    run_models: ModelRunner,
) -> None:
    made = reconciled(
        run_models,
        [
            published("a", 8840.42),
            published("b", 1.234, scenario="Server"),
            published("c", 1.236, scenario="Interactive"),
        ],
        [
            cell("a", "8,840.9"),
            cell("b", "1.23", scenario="Server"),
            cell("c", "1.23", scenario="Interactive"),
        ],
        [logged("a", 8840.42)],
    )
    assert differences(made, "source_b = 'results page'") == [
        (TABLE, PAGE, "value", "rounding", "8840.42", "8840.9", TABLE),
        (TABLE, PAGE, "value", "rounding", "1.234", "1.23", None),
        (TABLE, PAGE, "value", "unknown", "1.236", "1.23", None),
    ]


def test_a_llama_cell_128_times_too_small_is_in_samples_and_the_table_right(
    run_models: ModelRunner,
) -> None:
    """Of another benchmark the same factor explains nothing."""
    llama = {"benchmark": "llama3.1-8b"}
    made = reconciled(
        run_models,
        [published("a", 806.105, **llama), published("b", 806.105)],
        [cell("a", "6.29769", **llama), cell("b", "6.29769")],
        [logged("a", 806.105, **llama), logged("b", 806.105)],
    )
    assert differences(made, "benchmark = 'llama3.1-8b'") == [
        (TABLE, PAGE, "value", "unit label", "806.105", "6.29769", TABLE),
        (PAGE, LOGS, "value", "unit label", "6.29769", "806.105", LOGS),
    ]
    explained = made.sql("select explanation from reconciliation where benchmark = 'llama3.1-8b'")
    assert explained.fetchall()[0] == (
        "The number on the page, labelled Tokens/s, is in samples/s: 1/128 of the tokens/s in the "
        "table, since a sample is 128 tokens. The logs bear out the table.",
    )
    assert {kind for _, _, _, kind, *_ in differences(made, "benchmark = 'llm'")} == {"unknown"}


def test_a_wrong_label_is_told_of_whoever_prints_it(run_models: ModelRunner) -> None:
    """Offline: both print it; Server: only the page does."""
    tokens, samples = "Tokens/s", "Samples/s"
    wrong = {"unit": "samples/s", "unit_as_published": samples}
    made = reconciled(
        run_models,
        [published("a", unit_as_published=samples), published("b", scenario="Server")],
        [cell("a", **wrong), cell("b", scenario="Server", **wrong)],
        [logged("a"), logged("b", scenario="Server")],
    )
    assert differences(made, "scenario = 'Offline'") == [
        (TABLE, PAGE, "unit", "unit label", "tokens/s", samples, None),
        (TABLE, LOGS, "unit", "unit label", samples, "tokens/s", LOGS),
        (PAGE, LOGS, "unit", "unit label", samples, "tokens/s", LOGS),
    ]
    assert differences(made, "scenario = 'Server'") == [
        (TABLE, PAGE, "unit", "unit label", "tokens/s", samples, TABLE),
        (PAGE, LOGS, "unit", "unit label", samples, "tokens/s", LOGS),
    ]
    explained = made.sql(f"select explanation from reconciliation where right_source = '{TABLE}'")
    assert explained.fetchall() == [
        (
            f"The page prints {samples} and the table {tokens}; the number is in tokens/s. "
            "The logs bear out the table.",
        )
    ]
    units = made.sql("select distinct unit from reconciliation")
    assert units.fetchall() == [("tokens/s",)]


def test_different_numbers_under_different_units_are_one_unknown_difference(
    run_models: ModelRunner,
) -> None:
    made = reconciled(run_models, [published("a")], [cell("a", "150", unit="samples/s")])
    assert differences(made) == [(TABLE, PAGE, "value", "unknown", "100.0", "150.0", None)]


def test_a_page_that_averages_systems_of_one_name_is_wrong_on_each(
    run_models: ModelRunner,
) -> None:
    """So near that each is the mean within a ten-thousandth."""
    made = reconciled(
        run_models,
        [published("a", 11898.8), published("b", 11899.7)],
        [cell("a", "11,899.25"), cell("b", "11,899.25")],
        [logged("a", 11898.8), logged("b", 11899.7)],
    )
    assert differences(made) == [
        (TABLE, PAGE, "value", "averaged systems", "11898.8", "11899.25", TABLE),
        (PAGE, LOGS, "value", "averaged systems", "11899.25", "11898.8", LOGS),
        (TABLE, PAGE, "value", "averaged systems", "11899.7", "11899.25", TABLE),
        (PAGE, LOGS, "value", "averaged systems", "11899.25", "11899.7", LOGS),
    ]


def test_a_number_nearer_to_its_own_system_than_to_the_mean_is_rounded(
    run_models: ModelRunner,
) -> None:
    made = reconciled(
        run_models,
        [published("a", 100.0), published("b", 100.002)],
        [cell("a", "100.0004"), cell("b", "100.002")],
    )
    assert differences(made) == [(TABLE, PAGE, "value", "rounding", "100.0", "100.0004", None)]


def test_an_entry_shown_its_namesakes_result_has_none_and_the_logs_bear_that_out(
    run_models: ModelRunner,
) -> None:
    """Entries a and b share a name; only b has a Server result, and the page shows it for both."""
    server = {"scenario": "Server", "entry_id": "6.0-b"}
    in_table = [published("a"), published("b"), published("c", 50.0, **server)]
    on_page = [
        cell("a"),
        cell("b"),
        cell("c", "50", **server),
        cell("c", "50", **(server | {"entry_id": "6.0-a"})),
    ]
    in_logs = [logged("a"), logged("b"), logged("c", 50.0, scenario="Server")]
    without = reconciled(run_models, in_table, on_page)
    assert differences(without) == [(TABLE, PAGE, "row", "averaged systems", None, "50.0", None)]
    made = reconciled(run_models, in_table, on_page, in_logs)
    found = made.sql(
        "select entry_id, result_key, source_a, value_a, source_b, value_b, kind, right_source "
        "from reconciliation"
    )
    assert found.fetchall() == [
        ("6.0-a", None, TABLE, None, PAGE, "50.0", "averaged systems", TABLE),
        ("6.0-a", None, PAGE, "50.0", LOGS, None, "averaged systems", LOGS),
    ]


def test_logs_hold_no_ids_so_rotated_ids_are_settled_only_by_a_wrong_name(
    run_models: ModelRunner,
) -> None:
    """Box and Cube keep their own numbers under the other's id; Ring and Orb have two names."""
    made = reconciled(
        run_models,
        [
            published("a", 1.0, system_name="Box"),
            published("b", 2.0, system_name="Cube"),
            published("c", 3.0, system_name="Ring"),
            published("d", 4.0, system_name="Disc"),
        ],
        [
            cell("b", "1", system_name="Box"),
            cell("a", "2", system_name="Cube"),
            cell("x", "3", system_name="Torus"),
            cell("y", "4", system_name="Orb"),
        ],
        [
            logged("a", 1.0, system_name="Box"),
            logged("b", 2.0, system_name="Cube"),
            logged("c", 3.0, system_name="Ring"),
            logged("d", 4.0, system_name="Orb"),
        ],
    )
    assert differences(made) == [
        (TABLE, PAGE, "entry_id", "rotated ids", "6.0-a", "6.0-b", None),
        (TABLE, PAGE, "entry_id", "rotated ids", "6.0-b", "6.0-a", None),
        (TABLE, PAGE, "entry_id", "rotated ids", "6.0-c", "6.0-x", TABLE),
        (TABLE, PAGE, "system_name", "system name", "Ring", "Torus", TABLE),
        (PAGE, LOGS, "system_name", "system name", "Torus", "Ring", LOGS),
        (TABLE, PAGE, "entry_id", "rotated ids", "6.0-d", "6.0-y", PAGE),
        (TABLE, PAGE, "system_name", "system name", "Disc", "Orb", PAGE),
        (TABLE, LOGS, "system_name", "system name", "Disc", "Orb", LOGS),
    ]
    explained = made.sql("select explanation from reconciliation where value_a = '6.0-a'")
    assert explained.fetchall() == [
        ("The page shows this result under 6.0-b, the table under 6.0-a. The logs hold no ids.",)
    ]


def test_a_cell_belongs_to_the_namesake_whose_number_it_shows(run_models: ModelRunner) -> None:
    """Swapped ids, not two wrong values."""
    made = reconciled(
        run_models, [published("a", 1.0), published("b", 2.0)], [cell("a", "2"), cell("b", "1")]
    )
    assert differences(made) == [
        (TABLE, PAGE, "entry_id", "rotated ids", "6.0-a", "6.0-b", None),
        (TABLE, PAGE, "entry_id", "rotated ids", "6.0-b", "6.0-a", None),
    ]


def test_a_name_alone_belongs_to_no_result_of_another_number_where_there_are_ids(
    run_models: ModelRunner,
) -> None:
    """In a round without ids the name and the hardware are all there is."""
    made = reconciled(run_models, [published("a")], [cell("x", "150")])
    assert differences(made) == [
        (TABLE, PAGE, "row", "missing on page", "100.0", None, None),
        (TABLE, PAGE, "row", "missing in table", None, "150.0", None),
    ]
    made = reconciled(run_models, [published("a", entry_id=None)], [cell("x", "150")])
    assert differences(made) == [(TABLE, PAGE, "value", "unknown", "100.0", "150.0", None)]


def test_hardware_and_number_decide_only_where_one_cell_and_one_result_have_them(
    run_models: ModelRunner,
) -> None:
    """Two results for the cell of 1, two cells for the result of 2, and 3 is shown by its id."""
    made = reconciled(
        run_models,
        [
            published("a", 1.0),
            published("b", 1.0),
            published("c", 2.0),
            published("d", 3.0, system_name="Ring"),
        ],
        [
            cell("w", "1", system_name="Cube"),
            cell("x", "2", system_name="Cube"),
            cell("y", "2", system_name="Disc"),
            cell("d", "3", system_name="Ring"),
            cell("z", "3", system_name="Cube"),
        ],
    )
    assert {kind for _, _, _, kind, *_ in differences(made)} == {
        "missing on page",
        "missing in table",
    }


def test_the_count_that_ran_is_right_against_the_product_of_nodes(run_models: ModelRunner) -> None:
    ran = {"accelerators": 87, "nodes": 11}
    made = reconciled(
        run_models,
        [published("a", accelerators_as_published=88, **ran)],
        [cell("a", **ran)],
        [logged("a", accelerators_as_published=88, **ran)],
    )
    assert differences(made) == [
        (TABLE, PAGE, "accelerators", "accelerator count", "88", "87", PAGE),
        (TABLE, LOGS, "accelerators", "accelerator count", "88", "87", LOGS),
    ]


def test_a_name_the_table_and_the_page_share_can_be_another_than_the_systems_own(
    run_models: ModelRunner,
) -> None:
    made = reconciled(run_models, [published("a")], [cell("a")], [logged("a", system_name="Cube")])
    assert differences(made) == [
        (TABLE, LOGS, "system_name", "system name", "Box", "Cube", LOGS),
        (PAGE, LOGS, "system_name", "system name", "Box", "Cube", LOGS),
    ]


def test_the_logs_put_a_known_inferred_flag_right(run_models: ModelRunner) -> None:
    made = reconciled(
        run_models,
        [
            published("a", is_inferred=True),
            published("b", is_inferred=False),
            published("c", is_inferred=None),
        ],
        in_logs=[
            logged("a", is_inferred=False),
            logged("b", is_inferred=True),
            logged("c", is_inferred=True),
        ],
    )
    assert differences(made) == [
        (TABLE, LOGS, "is_inferred", "inferred flag", "true", "false", LOGS),
        (TABLE, LOGS, "is_inferred", "inferred flag", "false", "true", LOGS),
    ]


def test_a_logged_result_the_table_lists_no_kind_of_is_filtered_else_missing(
    run_models: ModelRunner,
) -> None:
    """The table lists llm Offline in the datacenter and, at the edge, Server."""
    both = {"category": "datacenter,edge"}
    made = reconciled(
        run_models,
        [published("a"), published("b", scenario="Server", category="edge")],
        in_logs=[
            logged("a"),
            logged("b", scenario="Server", category="edge"),
            logged("c", 1.0, scenario="Server"),
            logged("d", 2.0, benchmark="image"),
            logged("e", 3.0, category="edge"),
            logged("f", 4.0),
            logged("g", 5.0, scenario="Server", **both),
        ],
    )
    assert differences(made) == [
        (TABLE, LOGS, "row", "filtered by the report", None, "1.0", None),
        (TABLE, LOGS, "row", "filtered by the report", None, "2.0", None),
        (TABLE, LOGS, "row", "filtered by the report", None, "3.0", None),
        (TABLE, LOGS, "row", "missing in table", None, "4.0", LOGS),
        (TABLE, LOGS, "row", "missing in table", None, "5.0", LOGS),
    ]


def test_a_result_that_one_source_lacks_is_told_for_each_that_has_it(
    run_models: ModelRunner,
) -> None:
    """Only closed datacenter results belong on the page."""
    made = reconciled(
        run_models,
        [
            published("on all"),
            published("b not on page", 2.0, system_name="Two"),
            published("a not in logs", 3.0, system_name="Three"),
            published("open", 4.0, division="open"),
            published("edge", 5.0, category="edge"),
        ],
        [
            cell("on all"),
            cell("a not in logs", "3", system_name="Three"),
            cell("c not in table", "6", system_name="Six"),
            cell("only on page", "7", system_name="Seven"),
        ],
        [
            logged("on all"),
            logged("b not on page", 2.0, system_name="Two"),
            logged("open", 4.0, division="open"),
            logged("edge", 5.0, category="edge"),
            logged("c not in table", 6.0, system_name="Six"),
        ],
    )
    on_page, in_table, in_logs = "missing on page", "missing in table", "missing in logs"
    assert differences(made) == [
        (TABLE, LOGS, "row", in_logs, "3.0", None, None),
        (PAGE, LOGS, "row", in_logs, "3.0", None, None),
        (TABLE, PAGE, "row", on_page, "2.0", None, TABLE),
        (PAGE, LOGS, "row", on_page, None, "2.0", LOGS),
        (TABLE, PAGE, "row", in_table, None, "6.0", PAGE),
        (TABLE, LOGS, "row", in_table, None, "6.0", LOGS),
        (TABLE, PAGE, "row", in_table, None, "7.0", None),
        (PAGE, LOGS, "row", in_logs, "7.0", None, None),
    ]
    explained = made.sql(
        f"select explanation from reconciliation where value_b = '6.0' and source_b = '{PAGE}'"
    )
    assert explained.fetchall() == [
        ("This result stands on the page, not in the table. The logs bear out the page.",)
    ]


def test_a_round_without_a_table_is_held_against_the_page_by_its_logs_once(
    run_models: ModelRunner,
) -> None:
    own = [logged("a"), logged("b", 5.0, system_name="Two")]
    made = reconciled(run_models, own, [cell("a", "150")], in_logs=own)
    assert differences(made) == [
        (PAGE, LOGS, "value", "unknown", "150.0", "100.0", LOGS),
        (PAGE, LOGS, "row", "missing on page", None, "5.0", LOGS),
    ]


def test_rows_are_named_after_the_table_also_where_it_takes_no_part(
    run_models: ModelRunner,
) -> None:
    made = reconciled(
        run_models,
        [published("a", system_name="Box, 8x")],
        [cell("a", "150", system_name="Box 8x")],
        [logged("a", system_name="Box 8x")],
    )
    found = made.sql(
        "select source_a, source_b, entry_id, entry_id_on_page, system_name, unit "
        "from reconciliation"
    )
    assert found.fetchall() == [
        (TABLE, PAGE, "6.0-a", "6.0-a", "Box, 8x", "tokens/s"),
        (PAGE, LOGS, "6.0-a", "6.0-a", "Box, 8x", "tokens/s"),
    ]


def test_a_result_the_page_repeats_is_one_in_the_logs_and_multiplies_nothing(
    run_models: ModelRunner,
) -> None:
    """The very same line twice counts once; under a second id it is told against each source."""
    in_logs = [logged("b", 100.0)]
    made = reconciled(run_models, [published("b")], [cell("a"), cell("b"), cell("b")], in_logs)
    assert differences(made) == [
        (TABLE, PAGE, "entry_id", "rotated ids", "6.0-b", "6.0-a", None),
        (PAGE, LOGS, "row", "averaged systems", "100.0", None, LOGS),
    ]
    repeated = made.sql("select distinct entry_id_on_page from reconciliation")
    assert repeated.fetchall() == [("6.0-a",)]
    explained = made.sql(f"select explanation from reconciliation where source_b = '{PAGE}'")
    assert explained.fetchall() == [
        ("The page repeats this result of 6.0-b under 6.0-a. The logs hold no ids.",)
    ]


def test_a_repeated_result_without_ids_or_logs_is_told_and_not_settled(
    run_models: ModelRunner,
) -> None:
    made = reconciled(run_models, [published("a", entry_id=None)], [cell("a"), cell("b")])
    assert differences(made) == [(TABLE, PAGE, "row", "averaged systems", None, "100.0", None)]


def test_a_withdrawn_result_and_its_cell_appear_nowhere(run_models: ModelRunner) -> None:
    """a: in the table; c: in the logs only; carried: found by an earlier build."""
    made = reconciled(
        run_models,
        [published("a"), published("b", 5.0, system_name="Two")],
        [cell("a", "150"), cell("b", "5", system_name="Two")],
        [logged("a", 140.0), logged("b", 5.0, system_name="Two"), logged("c", system_name="Three")],
        [{"round_key": "inference-5.1", "result_key": "a", "source_a": PAGE, "source_b": LOGS}],
        [withdrawal("a"), withdrawal("c")],
    )
    assert differences(made) == []


def test_carried_rows_stand_only_where_one_of_their_sources_is_not_at_hand(
    run_models: ModelRunner,
) -> None:
    line = {"round_key": "inference-6.0", "field": "value", "kind": "rounding"}
    carried = [
        line | {"source_a": a, "source_b": b, "value_a": "carried"}
        for a, b in ((TABLE, PAGE), (TABLE, LOGS), (PAGE, LOGS))
    ]
    in_table, on_page, in_logs = [published("a")], [cell("a")], [logged("a")]
    kept = "select source_a, source_b from reconciliation where value_a = 'carried' order by all"
    expected = [
        ((), (), [(TABLE, PAGE), (TABLE, LOGS), (PAGE, LOGS)]),
        (on_page, (), [(TABLE, LOGS), (PAGE, LOGS)]),
        ((), in_logs, [(TABLE, PAGE), (PAGE, LOGS)]),
        (on_page, in_logs, []),
    ]
    for page, logs, stands in expected:
        made = reconciled(run_models, in_table, page, logs, carried)
        assert made.sql(kept).fetchall() == stands
