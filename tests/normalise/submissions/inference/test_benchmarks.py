import pytest

from pipeline.normalise.submissions.inference.benchmarks import official_name
from pipeline.rounds import new_round
from tests.normalise.submissions.inference.trees import detail, rows


@pytest.mark.parametrize(
    ("round_", "model", "official"),
    [
        ("6.0", "resnet50", "resnet"),
        ("6.0", "llama2-70b-99.9", "llama2-70b-99.9"),
        ("6.0", "llama3_1-8b", "llama3.1-8b"),
        ("0.5", "mobilenet", "mobilenet"),
        ("0.7", "mobilenet", "resnet"),
        ("0.5", "mobilenet-v1-0.25-128", "mobilenet"),
        ("1.1", "mobilenet-v1-0.25-128-quantized", "resnet"),
        ("5.1", "efficientnet-fp32-lite1", "resnet"),
        ("2.0", "ssd-resnet34", "ssd-large"),
        ("2.1", "ssd-resnet34", "retinanet"),
        ("2.0", "ssd-mobilenet", "ssd-small"),
        ("0.5", "ssd-resnet50-fpn", "ssd-small"),
        ("2.0", "rcnn-inception-v2-coco", "ssd-large"),
        ("2.0", "ssd_resnet101_v1_fpn_640x640", "ssd-small"),
        ("3.1", "bert-99.9_jpqd-large", "bert-99.9"),
        ("4.1", "mobilebert-none-base-none-bert-99", "bert-99"),
        ("6.1", "qwen3.6-27b", "agentic edge"),
    ],
)
def test_a_model_directory_means_what_the_rounds_checker_says(
    round_: str, model: str, official: str
) -> None:
    assert official_name(model, {}, new_round(f"inference-{round_}")) == official


@pytest.mark.parametrize("model", ["yolo-v3-coco", "ssd-inception-v2-coco", "distilbert_mp", "new"])
def test_a_name_that_leads_nowhere_is_kept(model: str) -> None:
    assert official_name(model, {}, new_round("inference-2.0")) == model


def test_an_object_detector_is_never_taken_for_resnet() -> None:
    names = ("ssd-mobilenet-v1-fpn-sbp-coco", "ssd-resnet50-v1-fpn-sbp-coco")
    for round_, model in [(r, model) for r in ("2.0", "2.1", "3.0") for model in names]:
        assert official_name(model, {}, new_round(f"inference-{round_}")) != "resnet"


def test_a_submitters_own_mapping_holds_for_that_submitter_only() -> None:
    log = detail(result_samples_per_second=5, result_tokens_per_second=1200)
    plain = detail(result_samples_per_second=5)
    run = "results/box/own-70b/Offline/performance/run_1/mlperf_log_detail.txt"
    mapped, other = rows(
        {
            "open/A/model_mapping.json": '{"own-70b": "llama2-70b-99.9"}',
            f"open/A/{run}": log,
            f"open/B/{run}": plain,
        },
        "5.1",
    )
    assert (mapped["benchmark"], mapped["model_used"]) == ("llama2-70b-99.9", "own-70b")
    assert (mapped["value"], mapped["unit"]) == ("1200", "Tokens/s")
    assert (other["benchmark"], other["unit"]) == ("own-70b", "Samples/s")


def test_a_mapping_to_what_cannot_be_stored_costs_no_result() -> None:
    folder = "closed/Org/results/box/mine/Offline/performance/run_1"
    (row,) = rows(
        {
            f"{folder}/mlperf_log_detail.txt": detail(result_samples_per_second=5),
            "closed/Org/model_mapping.json": '{"mine": "\\ud800"}',
        }
    )
    assert row["benchmark"] == "?"
