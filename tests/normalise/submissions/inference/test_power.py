"""Power from an analyser's samples: sources.md section 5, Power."""

from typing import Any

import pytest

from tests.normalise.submissions.inference.trees import derive, detail, rows

WINDOW = {
    "power_begin": '"02-28-2023 10:00:00.000"',
    "power_end": '"02-28-2023 10:01:40.000"',
    "result_query_count": 1000,
    "result_qps_with_loadgen_overhead": 20,
    "generated_query_count": 50,
    "generated_samples_per_query": 8,
    "result_samples_per_second": 5,
    "early_stopping_latency_ss": 1,
    "early_stopping_latency_ms": 1,
    "result_90__00_percentile_latency_ns": 1,
    "effective_samples_per_query": 8,
}
"""100 seconds of a run, with all that any scenario of any round needs."""


def samples(*watts: float, hour: int = 10) -> str:
    """Return one sample a second from 10:00:00 on; the first is at the window's very start."""
    return "".join(
        f"Time,02-28-2023 {hour:02}:00:{second:02}.000,Watts,{value},Volts,230.1,Mark,x\n"
        for second, value in enumerate(watts)
    )


def power(
    round_: str,
    scenario: str,
    logged: str | None = None,
    spl: str = samples(999, 10, 30),
    **more: str,
) -> tuple[float, str]:
    folder = f"closed/Org/results/box/resnet50/{scenario}/performance"
    log = detail(logged or scenario, **WINDOW)
    files = {f"{folder}/run_1/mlperf_log_detail.txt": log, f"{folder}/run_1/spl.txt": spl}
    machines = {f"{folder}/power/{name}.json": text for name, text in more.items()}
    (row,) = rows(files | machines, round_)
    return float(row["power"]), row["power_unit"]


@pytest.mark.parametrize(
    ("round_", "scenario", "logged", "value", "unit"),
    [
        ("3.0", "Offline", "Offline", 20, "Watts"),
        ("2.1", "SingleStream", "SingleStream", 2, "Joules"),
        ("3.0", "SingleStream", "SingleStream", 2000, "millijoules"),
        ("5.1", "MultiStream", "MultiStream", 2000, "millijoules"),
        ("5.1", "MultiStream", "SingleStream", 16000, "millijoules"),
        ("5.1", "Offline", "SingleStream", 20, "Watts"),
        ("1.1", "SingleStream", "SingleStream", 1, "Joules"),
        ("1.1", "MultiStream", "MultiStream", 5, "Joules"),
    ],
)
def test_power_is_published_for_throughput_and_energy_for_streams(
    round_: str, scenario: str, logged: str, value: float, unit: str
) -> None:
    fields = {"result_qps_without_loadgen_overhead": 5}
    folder = f"closed/Org/results/box/resnet50/{scenario}/performance/run_1"
    (row,) = rows(
        {
            f"{folder}/mlperf_log_detail.txt": detail(logged, **WINDOW, **fields),
            f"{folder}/spl.txt": samples(999, 10, 30),
        },
        round_,
    )
    assert (float(row["power"]), row["power_unit"]) == (pytest.approx(value, rel=1e-12), unit)


def test_only_samples_strictly_inside_the_window_count() -> None:
    inside = samples(999, 10, 30) + "Time,02-28-2023 10:01:40.000,Watts,999,Volts,230\n"
    assert power("5.1", "Offline", spl=inside) == (20, "Watts")


def test_samples_of_nothing_are_left_out_from_3_1_on() -> None:
    assert power("3.0", "Offline", spl=samples(999, 0, 10, 30)) == (pytest.approx(40 / 3), "Watts")
    assert power("3.1", "Offline", spl=samples(999, 0, 10, 30)) == (20, "Watts")


def test_the_clocks_of_1_0_stand_in_their_time_zones() -> None:
    zones = {"client": '{"timezone": 3600}', "server": '{"timezone": 7200}'}
    assert power("1.0", "Offline", spl=samples(999, 10, 30, hour=9), **zones) == (20, "Watts")
    assert power("1.1", "Offline", spl=samples(999, 10, 30), **zones) == (20, "Watts")


@pytest.mark.parametrize("spl", ["", "no samples\n", samples(10, 30, hour=12), "Time,x,Watts,y\n"])
def test_samples_that_give_no_power_leave_it_empty_and_are_told(spl: str) -> None:
    folder = "closed/Org/results/box/resnet50/Offline/performance/run_1"
    files = {f"{folder}/mlperf_log_detail.txt": detail(**WINDOW), f"{folder}/spl.txt": spl}
    derived = derive(files)
    row: dict[str, Any] = derived.table.frame.row(0, named=True)
    assert (row["value"], row["power"], row["power_unit"]) == ("5", None, None)
    assert [odd.problem for odd in derived.table.warnings] == ["samples that give no power"]


@pytest.mark.parametrize("timezone", ["1e300", "NaN", "Infinity", '"nan"', "90000"])
def test_a_time_zone_that_no_place_has_is_none(timezone: str) -> None:
    """It cannot be added to a time."""
    clocks = {"server": f'{{"timezone": {timezone}}}', "client": '{"timezone": 0}'}
    assert power("1.0", "Offline", **clocks) == power("1.0", "Offline")


def test_power_of_a_run_counts_once_where_another_folder_has_its_number() -> None:
    folder = "closed/Org/results/box/resnet50/Offline/performance"
    log = detail("Offline", **WINDOW)
    files = {
        f"{folder}/{run}/{name}": content
        for run in ("run_1", "run_01", "run_\u0661")
        for name, content in (("mlperf_log_detail.txt", log), ("spl.txt", samples(999, 10, 30)))
    }
    (row,) = rows(files)
    assert row["power"] == "20.0"
