import pytest

from pipeline.rounds import REPOSITORY, ROUND_KEY, new_round


@pytest.mark.parametrize(
    "version", ["../6.0", "6.0/..", "6.0\n", "6.0\x00", "\u0666.\u0660", "600.0", "6", "", "6.0 "]
)
def test_what_becomes_part_of_a_path_is_a_suite_and_two_short_numbers(version: str) -> None:
    """Round keys are the only names from upstream that files and pages are named after."""
    assert REPOSITORY.fullmatch(f"inference_results_v{version}") is None
    assert ROUND_KEY.fullmatch(f"inference-{version}") is None
    with pytest.raises(ValueError, match="no round"):
        new_round(f"inference-{version}")
