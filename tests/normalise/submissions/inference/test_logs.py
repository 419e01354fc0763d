import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.normalise.submissions.descriptions import (
    mapping_fields,
    measurement_fields,
    system_fields,
)
from pipeline.normalise.submissions.inference.accuracy import accuracy_fields
from pipeline.normalise.submissions.inference.logs import (
    detail_fields,
    harness_fields,
    summary_fields,
)
from pipeline.normalise.submissions.inference.power import power_samples
from tests.normalise.submissions.inference.trees import detail, mllog, summary

VALID_RUN = {
    "effective_scenario": "Offline",
    "result_validity": "VALID",
    "result_samples_per_second": "806.105",
}


def test_a_detail_log_is_read_by_its_keys() -> None:
    assert detail_fields(detail(result_samples_per_second=806.105).encode()) == VALID_RUN


def test_a_raw_newline_or_a_bad_escape_in_one_line_costs_no_other_line() -> None:
    broken = mllog("sut_name", '"two\nlines"') + mllog("config", r'"D:\inference\q.conf"')
    log = broken + detail(result_samples_per_second=806.105) + ':::MLLOG {"key": "power_begin", "v'
    assert detail_fields(log.encode()) == VALID_RUN


def test_two_values_under_one_key_are_both_told() -> None:
    log = detail(result_samples_per_second=5) + detail(result_samples_per_second=7)
    assert detail_fields(log.encode())["result_samples_per_second"] == "5 and 7"
    log += mllog("result_validity", '"INVALID"')
    assert detail_fields(log.encode())["result_validity"] == "VALID and INVALID"


def test_errors_are_counted_in_both_logs() -> None:
    log = detail() + mllog("error_runtime", '"too slow"', is_error=True) * 2
    assert detail_fields(log.encode())["errors"] == "2"
    assert summary_fields(b"1 ERROR encountered. See detailed log.\n") == {"errors": "1"}
    assert "errors" not in summary_fields(summary().encode())


def test_a_summary_says_the_same_under_other_names() -> None:
    lines = (
        "Samples per second: 806.11",
        "  Performance constraints satisfied : Yes",
        " * Early stopping 90.0th percentile estimate: 746142",
        " * Early stopping 99.9th percentile estimate: 999999",
        "90.00 percentile latency (ns)   : 745725",
        "90.00 percentile first token latency (ns)   : 1",
    )
    assert summary_fields(summary("Single Stream", "VALID", *lines).encode()) == {
        "effective_scenario": "Single Stream",
        "result_validity": "VALID",
        "result_samples_per_second": "806.11",
        "early_stopping_latency_ss": "746142",
        "result_90.00_percentile_latency_ns": "745725",
    }


@pytest.mark.parametrize(
    ("text", "validity"),
    [
        ('{"complete": true, "n_samples_failed": 0}', "VALID"),
        ('{"complete": false, "n_samples_failed": 0}', "INVALID"),
        ('{"complete": true, "n_samples_failed": 1}', "INVALID"),
        ('{"complete": true}', "INVALID"),
        ("[]", None),
        ('{"complete": tru', None),
    ],
)
def test_a_run_of_the_harness_is_valid_if_it_is_complete_and_nothing_failed(
    text: str, validity: str | None
) -> None:
    assert harness_fields(text.encode()).get("result_validity") == validity


def test_the_harness_numbers_keep_their_text() -> None:
    text = '{"complete": true, "n_samples_failed": 0, "tps": 1.50, "latency": {"avg": 38.0}}'
    fields = harness_fields(text.encode())
    assert (fields["tps"], fields["latency.avg"]) == ("1.50", "38.0")


@given(before=st.binary(max_size=300), after=st.binary(max_size=300))
def test_no_bytes_around_a_run_lose_it(before: bytes, after: bytes) -> None:
    run = b"\n" + detail(result_samples_per_second=806.105).encode()
    assert detail_fields(before + run + after) == VALID_RUN
    lines = b"\n" + summary("Offline", "VALID", "Samples per second: 806.105").encode()
    assert summary_fields(before + lines + after).items() >= VALID_RUN.items()


@given(
    content=st.binary(max_size=300)
    | st.text(max_size=300).map(str.encode)
    | st.sampled_from((detail(result_samples_per_second=5), summary())).flatmap(
        lambda log: st.integers(0, len(log)).map(lambda cut: log[:cut].encode())
    )
)
def test_no_content_of_any_file_is_an_error(content: bytes) -> None:
    for read in (
        *(detail_fields, summary_fields, harness_fields),
        *(accuracy_fields, measurement_fields, system_fields, mapping_fields),
    ):
        assert all(isinstance(value, str) for value in read(content).values())
    assert power_samples(content).columns == ["time", "watts"]


def test_text_that_cannot_be_stored_is_no_number_of_the_harness() -> None:
    assert harness_fields(b'{"tps": "\\ud800"}')["tps"] == "?"
