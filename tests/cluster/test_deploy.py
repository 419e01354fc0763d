import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from tests.cluster.conftest import DEPLOY

PROGRAMS = Path(sys.executable).parent


def commands() -> dict[str, list[str]]:
    """Return the commands of the image and of the services that are made of it."""
    described: dict[str, dict[str, Any]] = yaml.safe_load(
        (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    )["services"]
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in dockerfile.splitlines() if line.strip().startswith("CMD [")]
    found = {f"image {n}": yaml.safe_load(line.strip()[4:]) for n, line in enumerate(lines)}
    for name in ("webserver", "daemon"):
        found[name] = described[name]["command"]
    found["daemon's health"] = described["daemon"]["healthcheck"]["test"][1:]
    return found


def test_compose_is_what_its_specification_allows() -> None:
    checker = PROGRAMS / "check-jsonschema"
    if not checker.is_file():
        pytest.skip("the group cluster is not installed")
    done = subprocess.run(
        [checker, "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", commands())
def test_every_command_is_one_that_dagster_takes(name: str) -> None:
    """``--help`` comes last: what stands before it is read, and nothing is started."""
    program, *arguments = commands()[name]
    done = subprocess.run(
        [PROGRAMS / program, *arguments, "--help"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, shlex.join(commands()[name]) + done.stderr
    assert "Usage" in done.stdout


def test_the_instance_keeps_everything_in_postgresql(instance: dg.DagsterInstance) -> None:
    for storage in (instance.run_storage, instance.event_log_storage, instance.schedule_storage):
        assert type(storage).__module__.startswith("dagster_postgres.")
    assert not instance.telemetry_enabled
