import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import REAL_DATA, Roundtable, build_without_orchestrator, plan_of
from tests.test_build_command import source

MIRROR = REAL_DATA / "tools" / "github_mirror.py"

pytestmark = pytest.mark.skipif(not MIRROR.is_file(), reason="the local GitHub is not here")

FAULTS = ("429:0.2", "cut:0.1", "reset:0.1", "html:0.05", "500:0.1")
WITH_FAULTS = (*(x for fault in FAULTS for x in ("--fault", fault)), "--seed", "44")
"""With this seed each of the faults is among the first dozen answers."""


@contextmanager
def mirror(*arguments: str) -> Iterator[dict[str, str]]:
    """Run a local GitHub; give the settings that lead to it."""
    server = subprocess.Popen(
        [sys.executable, str(MIRROR), *arguments], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    base = server.stdout.readline().strip()
    try:
        yield {
            f"ROUNDTABLE_GITHUB_{name}": f"{base}/{name.lower()}"
            for name in ("API", "RAW", "CODELOAD")
        }
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(10)


def data(folder: Path, *archives: str) -> str:
    """Return a folder with the published tables, and of the archives only these, to serve fast."""
    (folder / "submissions").mkdir(parents=True)
    (folder / "published").symlink_to(REAL_DATA / "data" / "published")
    for name in archives:
        file = Path("submissions") / f"{name}.tar.gz"
        (folder / file).symlink_to(REAL_DATA / "data" / file)
    return str(folder)


def direct(
    home: Path,
    settings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    refresh: frozenset[str] | None = None,
) -> None:
    """Build from the local GitHub as the command does, without the orchestrator."""
    monkeypatch.setenv("ROUNDTABLE_HOME", str(home))
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    build_without_orchestrator(home, plan_of("github", refresh))


def requests(settings: dict[str, str]) -> dict[str, int]:
    address = settings["ROUNDTABLE_GITHUB_API"].removesuffix("api") + "stats"
    with urllib.request.urlopen(address) as answer:
        counts: dict[str, int] = json.loads(answer.read())["by"]
        return counts


def without_sources(roundtable: Roundtable) -> dict[str, bytes]:
    return {name: content for name, content in roundtable.parquet().items() if name != "sources"}


def test_faults_on_the_wire_change_nothing_and_a_second_build_only_asks_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm, rough = Roundtable(tmp_path / "calm"), Roundtable(tmp_path / "rough")
    # All rounds are asked for; of two the tables are made, which takes less time.
    rounds = ("inference-6.0", "inference-6.1")
    build = ("build", "--source", "github", "--rounds", ",".join(rounds))
    served = ("--data", data(tmp_path / "data", "inference_results_v0.5"), "--with-samples")
    with mirror(*served) as settings:
        direct(calm.home, settings, monkeypatch, frozenset(rounds))
        before = requests(settings)
        again = calm(*build, **settings)
        assert "Nothing has changed" in again.err
        after = requests(settings)
        assert after["raw 200"] == before["raw 200"]
        assert after["raw 404"] == before["raw 404"]
        assert "inference-6.1" in calm("discover", **settings).out
    with mirror(*served, *WITH_FAULTS) as settings:
        done = rough(*build, "--strict", **settings)
        assert done.code == 0, done.err
        assert {f"fault {fault.partition(':')[0]}" for fault in FAULTS} <= requests(settings).keys()
    assert without_sources(rough) == without_sources(calm)
    # The new round has few rows: it is taken in, but no gap is concluded from it.
    query = """
        select round.is_complete, round.is_reviewed, round.results,
            (select count(*) from coverage where round_key = 'inference-6.1') as coverage
        from rounds as round where round_key = 'inference-6.1'
    """
    told = json.loads(calm("query", query, "--format", "json").out)
    assert told == [{"is_complete": False, "is_reviewed": False, "results": 24, "coverage": 0}]


def test_what_cannot_be_fetched_any_more_serves_as_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roundtable = Roundtable(tmp_path / "home")
    for round_ in ("5.0", "5.1"):
        source(tmp_path / "data", name=f"inference-{round_}")
    with mirror("--data", str(tmp_path / "data")) as settings:
        direct(roundtable.home, settings, monkeypatch)
    before = without_sources(roundtable)
    direct(roundtable.home, settings, monkeypatch)
    for strict, code in (([], 0), (["--strict"], 1)):
        done = roundtable("build", "--source", "github", *strict, **settings)
        assert done.code == code
        assert "stale: inference-5.0, inference-5.1" in done.err
        assert without_sources(roundtable) == before


def test_a_build_killed_while_it_streams_resumes_with_what_is_missing(
    bundled_copy: Roundtable, tmp_path: Path
) -> None:
    before = bundled_copy.parquet()
    rounds = ["inference-0.5", "inference-0.7", "training-5.1"]
    archives = [round_.replace("-", "_results_v") for round_ in rounds]
    served = ("--data", data(tmp_path / "data", *archives))
    arguments = ["build", "--source", "github", "--submissions", "--rounds", ",".join(rounds)]
    with mirror(*served) as settings:
        build = subprocess.Popen(
            [sys.executable, "-m", "pipeline.cli", *arguments],
            env={**bundled_copy.environment, **settings},
            cwd=Path(__file__).parents[1],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert build.stderr is not None
        told = iter(build.stderr.readline, "")
        assert any(line.startswith("inference-0.7: reading") for line in told)
        build.kill()
        build.wait()
        assert bundled_copy.parquet() == before
        assert bundled_copy("query", "select count(*) from results").code == 0
    # The rest comes over a wire with faults, and gives what the folder gave that the bundle is of.
    with mirror(*served, *WITH_FAULTS) as settings:
        done = bundled_copy(*arguments, **settings)
        assert done.code == 0, done.err
    read = [round_ for round_ in rounds if f"{round_}: reading" in done.err]
    assert read == ["inference-0.7", "training-5.1"]
    after = bundled_copy.parquet()
    assert [after[name] == before[name] for name in ("results", "runs")] == [True, True]


def test_github_alone_without_network_or_earlier_figures_fails(roundtable: Roundtable) -> None:
    done = roundtable("build", "--source", "github")
    assert done.code == 1
    assert "No round gives any result" in done.err
    assert roundtable("query", "select 1").code == 1
