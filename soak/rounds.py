"""A future round: columns, benchmarks, scenarios and units that nobody knows yet.

Belongs here: what a round may bring that no vocabulary has. The rules are those of the README:
names are kept and listed, a unit or scenario that is unknown is a reject.
"""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from soak.ground import Ground, rows, write_table
from soak.home import Home
from soak.trial import ANSWERS, CLEAR, HEALS, WHOLE, Attempt, Trial
from tests.normalise.published_rows import Row
from tests.normalise.submissions.inference.trees import archive
from tests.normalise.submissions.training.trees import log, runs, system

NEW = "7.0"
COUNT = "select count(*) as n from results where round_key = '{}'"

CHANGES: dict[str, tuple[Mapping[str, object], int, tuple[str, ...]]] = {
    "a column": ({"Qubits": 4096}, 20, ("Qubits",)),
    "a column that is a structure": ({"Qubits": {"a": [1, {"b": None}]}}, 20, ("Qubits",)),
    "a benchmark": ({"UsedModel": "gpt-9", "Model": "gpt-9"}, 20, ("benchmark: gpt-9",)),
    "a scenario": ({"Scenario": "Oracle"}, 0, ("scenario",)),
    "a unit": ({"Performance_Units": "Thoughts/s"}, 0, ("unit",)),
    "an accelerator": ({"Accelerator": "Acme Abacus 1"}, 20, ("accelerator: Acme Abacus 1",)),
    "a submitter": ({"Submitter": "Acme"}, 20, ("submitter: Acme",)),
    "a division": ({"Category": "quantum"}, 20, ("division not known",)),
    "a category": ({"Suite": "quantum"}, 20, ("category not known",)),
}
"""What is new in every row of the table, how many of its 20 rows are kept, and what is listed."""


def trials(ground: Ground) -> Iterator[Trial]:
    """Build from a folder that has one more round, each time with something else that is new."""
    trial = Trial(
        "a future inference round",
        "tests/warehouse/test_build.py::"
        "test_what_nobody_knows_of_a_future_round_is_kept_or_rejected_and_told",
    )
    for what, (fields, kept, listed) in CHANGES.items():
        folder = _source(ground)
        lines: list[Row] = [{**row, **fields} for row in rows(9.5, NEW)]
        write_table(folder, lines, NEW)
        with trial.attempt(what) as attempt:
            _build(ground, attempt, folder, f"inference-{NEW}", kept, listed)
    trial.note = ", ".join(CHANGES)
    yield trial
    trial = Trial(
        "a future training round",
        "tests/normalise/submissions/training/test_scores.py::"
        "test_a_benchmark_that_nobody_listed_needs_three_runs_and_drops_one_at_each_end",
    )
    for what, benchmark, kept, listed in (
        ("a known benchmark", "llama2_70b_lora", 1, ()),
        ("an unknown benchmark", "quantum_folding", 1, ("quantum_folding",)),
    ):
        folder = _source(ground)
        logs = [log(minutes) for minutes in (10, 20, 30, 40, 50, 60, 70, 80, 90, 95)]
        files = system() | runs(logs, f"Org/results/box/{benchmark}")
        name = "training_results_v6.0.tar.gz"
        (folder / "submissions" / name).write_bytes(archive(files).getvalue())
        with trial.attempt(what) as attempt:
            _build(ground, attempt, folder, "training-6.0", kept, listed)
    trial.note = "an archive with a benchmark that is known, and with one that is not"
    yield trial


def _source(ground: Ground) -> Path:
    folder = ground.folder("future")
    shutil.copytree(ground.source, folder, dirs_exist_ok=True)
    return folder


def _build(
    ground: Ground, attempt: Attempt, folder: Path, key: str, kept: int, listed: tuple[str, ...]
) -> None:
    home = ground.fresh("future-home")
    build = ("build", "--source", folder, "--submissions")
    done = home(*build)
    if done.code != 0:
        attempt.lose(f"exits with {done.code}: {done.err.strip()[-300:]}")
    attempt.ask(ANSWERS, [*home.unlike(home.contents()), *_other_rounds(home, ground, key)])
    found = int(home("query", COUNT.format(key), "--format", "csv").out.splitlines()[1])
    if found != kept:
        attempt.lose(f"{found} rows are kept, not {kept}")
    status = home("status").out
    attempt.ask(CLEAR, [f"status lists no {word!r}" for word in listed if word not in status])
    attempt.ask(WHOLE, home.half_made())
    before = home.parquet()
    attempt.ask(HEALS, home.unhealed(build, before))


def _other_rounds(home: Home, ground: Ground, key: str) -> list[str]:
    query = f"select * from results where round_key <> '{key}' order by result_key"
    told = [each("query", query, "--format", "csv").out for each in (home, ground.after)]
    return [] if told[0] == told[1] else ["another round has other results"]
