"""The energy of a result, from what its nodes and switches drew: sources.md section 6, 7."""

import json

import pytest

from pipeline.normalise.submissions.training.power import node_power
from tests.normalise.submissions.training.trees import (
    DIRECTORY,
    Files,
    derive,
    log,
    record,
    row,
    runs,
    system,
    tree,
)

SECOND = 1000
READINGS = ((1, "100.0"), (4, "300.0"))
"""Each reading holds for the time since the one before: 250 W over the four seconds."""


def node(stop: object = 4 * SECOND, readings: tuple[tuple[int, str], ...] = READINGS) -> str:
    return "".join(
        (
            record("power_measurement_start", 0),
            record("conversion_eff", 0, "0.9", measurement_type="AC"),
            *(record("power_reading", time * SECOND, watts) for time, watts in readings),
            record("power_measurement_stop", stop),
        )
    )


def switch(watts: str = "100") -> str:
    return record("conversion_eff", 0, "0.5") + record("interconnect_power_est", 0, watts)


def power(run: int, **files: str) -> Files:
    return {
        f"{DIRECTORY}/power/result_{run:02}/{name}.txt": content for name, content in files.items()
    }


def powered(**files: str) -> Files:
    """Return a tree whose counted runs last 20, 30 and 40 minutes, with power for all runs."""
    found = tree(log(10))
    for run in range(5):
        found |= power(run, **files)
    return found


def joules(files: Files) -> float:
    only = row(files)
    assert only["power_unit"] is not None
    return float(only["power"])


def test_the_mean_power_of_a_node_counts_over_the_time_of_the_run() -> None:
    assert joules(powered(node_0=node())) == pytest.approx(0.9 * 250 * 30 * 60)
    told = derive(powered(node_0=node())).runs
    assert told["energy_joules"][1] == pytest.approx(0.9 * 250 * 20 * 60)


def test_nodes_and_the_estimate_of_switches_add_up() -> None:
    files = powered(node_0=node(), node_1=node(), sw_0=switch())
    assert joules(files) == pytest.approx((2 * 0.9 * 250 + 0.5 * 100) * 30 * 60)


def test_a_switch_that_holds_readings_but_no_estimate_adds_nothing() -> None:
    measured = node(readings=((1, "705.0"), (4, "706.0")))
    assert joules(powered(node_0=node(), sw_0=measured)) == joules(powered(node_0=node()))


def test_the_same_bytes_mean_another_thing_of_a_node_than_of_a_switch() -> None:
    assert joules(powered(node_0=node(), sw_0=node())) == joules(powered(node_0=node()))


def test_energy_is_scaled_as_the_time_is() -> None:
    scaling: Files = {f"{DIRECTORY}/scaling.json": json.dumps({"scaling_factor": 1.5})}
    files = powered(node_0=node()) | scaling
    assert joules(files) == pytest.approx(1.5 * 0.9 * 250 * 30 * 60)
    counted = derive(files).runs.filter("is_counted")["energy_joules"].mean()
    assert joules(files) == pytest.approx(1.5 * float(counted))  # type: ignore[arg-type]


def test_runs_are_dropped_by_their_time_and_not_by_their_energy() -> None:
    files = tree(log(10))
    for run, watts in enumerate(("9000", "1", "2", "3", "0")):
        files |= power(run, node_0=node(readings=((1, watts), (4, watts))))
    expected = sum(0.9 * watts * time * 60 for watts, time in ((1, 20), (2, 30), (3, 40))) / 3
    assert joules(files) == pytest.approx(expected)


def test_a_failed_run_is_dropped_for_energy_too() -> None:
    files = system() | runs([log(5, "aborted"), *(log(each) for each in (20, 30, 40, 50))])
    for run in range(1, 5):
        files |= power(run, node_0=node())
    assert joules(files) == pytest.approx(0.9 * 250 * 40 * 60)


@pytest.mark.parametrize(
    "content",
    [
        node(stop=0),
        node(stop=-5),
        node(readings=((1, '"null"'), (4, '"null"'))),
        node(readings=((1, "100.0"), (4, "null"))),
        node(readings=()),
        node(stop="9" * 400),
        node(readings=((10**400, "100.0"),)),
        node(readings=((1, "NaN"),)),
        node(readings=((1, "9" * 400),)),
        record("power_reading", 5, "100.0"),
        "",
        "\x00\xff",
    ],
)
def test_a_measurement_that_gives_no_number_is_told_and_costs_no_result(content: str) -> None:
    derived = derive(powered(node_0=content))
    (only,) = derived.table.frame.to_dicts()
    assert (float(only["value"]), only["power"], only["power_unit"]) == (30, None, None)
    (warning,) = derived.table.warnings
    assert (warning.source_row, warning.field) == (1, "power")


def test_one_counted_run_without_power_leaves_the_result_without_energy() -> None:
    files = powered(node_0=node()) | power(2, node_0=node(stop=0))
    derived = derive(files)
    assert derived.table.frame["power"].to_list() == [None]
    assert len(derived.table.warnings) == 1


def test_a_dropped_run_may_lack_power() -> None:
    files = powered(node_0=node()) | power(0, node_0=node(stop=0)) | power(4, node_0=node(stop=0))
    assert joules(files) == pytest.approx(0.9 * 250 * 30 * 60)


def test_switches_alone_are_no_energy() -> None:
    for alone in (switch(), node()):
        derived = derive(powered(sw_0=alone))
        assert derived.table.frame["power"].to_list() == [None]


def test_a_result_without_a_power_folder_has_neither_energy_nor_a_warning() -> None:
    derived = derive(tree(log(10)))
    assert derived.table.frame["power"].to_list() == [None]
    assert derived.table.warnings == []


def test_no_bytes_in_a_power_file_are_an_error() -> None:
    whole = node().encode()
    for cut in range(0, len(whole), 37):
        node_power(whole[:cut] + b"\xff\x00" + whole[cut:])
