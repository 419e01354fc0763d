import pytest

from pipeline.normalise.submissions.inference.tree import (
    Part,
    Place,
    place_of,
    scenario_of,
    wanted_in,
)
from pipeline.rounds import new_round

RUN = "closed/Org/results/box/resnet50/Offline/performance"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (f"{RUN}/run_1/mlperf_log_detail.txt", (Part.DETAIL, "box", "resnet50", "Offline", 1)),
        (f"{RUN}/run_5/mlperf_log_summary.txt", (Part.SUMMARY, "box", "resnet50", "Offline", 5)),
        (f"{RUN}/run_1/spl.txt", (Part.POWER, "box", "resnet50", "Offline", 1)),
        (f"{RUN}/power/client.json", (Part.CLIENT, "box", "resnet50", "Offline", 0)),
        (f"{RUN}/result_summary.json", (Part.HARNESS, "box", "resnet50", "Offline", 1)),
        (f"{RUN}/run_1/result_summary.json", (Part.HARNESS, "box", "resnet50", "Offline", 1)),
        (
            "closed/Org/results/box/resnet50/offline/accuracy/accuracy.txt",
            (Part.ACCURACY, "box", "resnet50", "offline", 0),
        ),
        (
            "closed/Org/results/box/resnet50/Offline/measurements.json",
            (Part.MEASUREMENTS, "box", "resnet50", "Offline", 0),
        ),
        (
            "closed/Org/measurements/box/resnet50/Offline/box_TRT_Offline.json",
            (Part.MEASUREMENTS, "box", "resnet50", "Offline", 0),
        ),
        ("closed/Org/systems/box.json", (Part.SYSTEM, "box", "", "", 0)),
        ("closed/Org/model_mapping.json", (Part.MAPPING, "", "", "", 0)),
    ],
)
def test_a_path_says_what_its_file_is(path: str, place: tuple[Part, str, str, str, int]) -> None:
    part, system, model, scenario, run = place
    assert place_of(path) == Place(part, "closed", "Org", system, model, scenario, run)


@pytest.mark.parametrize(
    "path",
    [
        "summary_results.json",
        "submitted/Org/results/box/resnet50/Offline/performance/run_1/mlperf_log_detail.txt",
        f"{RUN}/mlperf_log_summary.txt",
        f"{RUN}/run_1_1/mlperf_log_summary.txt",
        f"{RUN}/run_1/mlperf_log_accuracy.json",
        f"{RUN}/ranging/spl.txt",
        "closed/Org/results/box/resnet50/Offline/TEST01/performance/run_1/mlperf_log_detail.txt",
        "closed/Org/results/box/resnet50/compliance/TEST06/verify_accuracy.txt",
        "closed/Org/results/box/resnet50/Offline/test_1/performance/run_1/mlperf_log_summary.txt",
        "closed/Org/results/box/resnet50/Offline/accuracy/mlperf_log_summary.txt",
        "closed/Org/compliance/box/resnet50/Offline/TEST01/performance/run_1/mlperf_log_detail.txt",
        "closed/Org/audit/box/resnet50/Offline/TEST01/performance/run_1/mlperf_log_summary.txt",
        "closed/Org/code/common/systems/custom_list.json",
        "closed/Org/systems/old/box.json",
        "closed/Org/measurements/box/resnet50/Offline/user.conf",
        "closed/Org/measurements/box/resnet50/box.json",
    ],
)
def test_strays_audits_and_accuracy_runs_are_told_by_their_path(path: str) -> None:
    assert place_of(path) is None


def test_the_detail_log_is_left_unread_before_it_had_its_form() -> None:
    path = f"{RUN}/run_1/mlperf_log_detail.txt"
    wanted = {
        r: wanted_in(new_round(f"inference-{r}"))(path) for r in ("0.7", "1.0", "1.1", "10.0")
    }
    assert wanted == {"0.7": False, "1.0": True, "1.1": True, "10.0": True}


@pytest.mark.parametrize(
    ("directory", "scenario"),
    [
        ("offline", "Offline"),
        ("SERVER", "Server"),
        ("Single Stream", "SingleStream"),
        ("multi-stream", "MultiStream"),
        ("Interactive", "Interactive"),
        ("Batch", "Batch"),
    ],
)
def test_a_scenario_is_known_in_any_spelling(directory: str, scenario: str) -> None:
    assert scenario_of(directory) == scenario
