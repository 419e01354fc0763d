"""Whatever is in an archive: a file fault, or every folder of a result accounted for."""

import json

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import FileFault
from pipeline.normalise.round import derived_figures
from pipeline.normalise.submissions.archive import read_archive
from pipeline.rounds import known_rounds
from pipeline.sources.files import Archive
from tests.anything import changed_files
from tests.normalise.submissions.inference import trees as inference
from tests.normalise.submissions.training import trees as training

SCENARIO = f"{inference.SYSTEM}/resnet50/Offline"
TOKENS = f"{inference.SYSTEM}/llama2-70b-99/Server"
WINDOW = {"power_begin": '"01-02-2024 10:00:00.0"', "power_end": '"01-02-2024 10:00:09.0"'}
SAMPLES = "".join(f"Time,01-02-2024 10:00:0{at}.5,Watts,30{at}.5,Volts,230\n" for at in range(9))
DESCRIBED = json.dumps(
    {
        "submitter": "Org",
        "division": "closed",
        "status": "available",
        "system_type": "datacenter",
        "system_name": "Box",
        "accelerator_model_name": "NVIDIA H200-SXM-141GB",
        "number_of_nodes": "1",
        "accelerators_per_node": 8,
    },
    indent=1,
)
INFERENCE = {
    f"{inference.RUN}/mlperf_log_detail.txt": inference.detail(
        result_samples_per_second=5.5, **WINDOW
    ),
    f"{inference.RUN}/mlperf_log_summary.txt": inference.summary(
        "Offline", "VALID", "Samples per second: 5.5"
    ),
    f"{inference.RUN}/spl.txt": SAMPLES,
    f"{SCENARIO}/performance/power/client.json": '{"timezone": 0}',
    f"{SCENARIO}/performance/power/server.json": '{"timezone": 3600}',
    f"{SCENARIO}/accuracy/accuracy.txt": "accuracy=76.1%, good=38\nhash=ab\n",
    f"{SCENARIO}/measurements.json": '{"weight_data_types": "int8"}',
    f"{TOKENS}/performance/result_summary.json": json.dumps(
        {"complete": True, "n_samples_failed": 0, "tps": 7.5, "latency": {"avg": 0.5}}, indent=1
    ),
    f"{TOKENS}/performance/run_1/mlperf_log_detail.txt": inference.detail(
        "Server", result_completed_tokens_per_second=70.5, result_completed_samples_per_sec=3
    ),
    "closed/Org/systems/box.json": DESCRIBED,
    "closed/Org/model_mapping.json": '{"resnet50": "resnet"}',
}
NODE_POWER = "".join(
    (
        training.record("conversion_eff", 0, "0.9"),
        training.record("power_measurement_start", 60_000),
        training.record("power_reading", 90_000, "700.5"),
        training.record("power_measurement_stop", 600_000),
    )
)
EVALUATED = "".join(
    (
        training.record("seed", 1, "17"),
        training.record("global_batch_size", 1, "64"),
        training.record("eval_accuracy", 70_000, "0.9", samples_count=640),
    )
)
TRAINING = {
    **{path: str(text) for path, text in training.system(**json.loads(DESCRIBED)).items()},
    **{
        f"{training.DIRECTORY}/result_{at}.txt": training.log(10 * (at + 1), lines=EVALUATED)
        for at in range(5)
    },
    f"{training.DIRECTORY}/scaling.json": '{"scaling_factor": 1.5}',
    **{f"{training.DIRECTORY}/power/result_{at}/node_0.txt": NODE_POWER for at in range(5)},
    f"{training.DIRECTORY}/power/result_0/sw_0.txt": training.record(
        "interconnect_power_est", 0, "50"
    ),
}


@given(
    changed_files(INFERENCE, ["resnet50", "Offline", "run_1", "box", "Org", "closed", "results"]),
    st.sampled_from(["inference-0.7", "inference-1.0", "inference-3.1", "inference-6.0"]),
)
def test_an_inference_archive_of_any_files_is_accounted_for(
    files: dict[str, bytes], round_key: str
) -> None:
    _read(files, round_key)


@given(
    changed_files(TRAINING, ["result_1.txt", "resnet", "box", "Org", "results", "power"]),
    st.sampled_from(["training-2.0", "training-5.1"]),
)
def test_a_training_archive_of_any_files_is_accounted_for(
    files: dict[str, bytes], round_key: str
) -> None:
    _read(files, round_key)


def test_the_files_that_are_changed_give_results_with_power_before() -> None:
    for files, round_key, results, powers in (
        (INFERENCE, "inference-6.0", 2, 1),
        (TRAINING, "training-5.0", 1, 1),
    ):
        packed = inference.archive(files)
        table = read_archive(packed, "a.tar.gz", known_rounds()[round_key]).table
        assert table.rejects == []
        assert (table.frame.height, table.frame["power"].count()) == (results, powers)


def _read(files: dict[str, bytes], round_key: str) -> None:
    round, packed = known_rounds()[round_key], inference.archive(files)
    try:
        derived = read_archive(packed, "a.tar.gz", round)
    except FileFault as fault:
        assert fault.file == "a.tar.gz"
        return
    rows = sorted(
        [*derived.table.frame["source_row"], *(r.source_row for r in derived.table.rejects)]
    )
    assert rows == list(range(1, len(rows) + 1))
    archive = Archive(
        round_key, "a.tar.gz", "https://there.test", "folder", "", None, lambda: packed
    )
    figures = derived_figures(derived, archive, round)
    (line,) = figures.sources.rows(named=True)
    assert line["rows"] == len(rows) == line["results"] + line["measurements"] + line["rejects"]
    for column in ("value", "power_watts", "energy_joules"):
        assert figures.results[column].drop_nulls().is_finite().all()
    assert figures.runs.filter(pl.col("minutes").is_infinite()).is_empty()
