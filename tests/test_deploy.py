import re
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[1]
DEPLOY = REPOSITORY / "deploy"
DAGSTER = {"code", "webserver", "daemon"}


def text(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def services() -> dict[str, dict[str, Any]]:
    described: dict[str, dict[str, Any]] = yaml.safe_load(text("compose.yaml"))["services"]
    return described


def environment_named_in(name: str) -> set[str]:
    """Return the variables that a Dagster file takes from the environment."""
    return set(re.findall(r"\{env: (\w+)\}", text(name)))


def test_every_file_that_the_image_and_the_services_name_is_there() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", text("Dockerfile"), re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    assert len(names) >= 8
    assert all((REPOSITORY / name).exists() for name in names)
    sent = set(re.findall(r"^!(.+)$", text("Dockerfile.dockerignore"), re.MULTILINE))
    assert set(names) == sent
    build = services()["code"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")


def test_every_variable_has_a_line_in_the_example_and_no_password_a_default() -> None:
    asked = dict(re.findall(r"\$\{(\w+)(:[?-])", text("compose.yaml")))
    told = dict(re.findall(r"^(\w+)=(.*)$", text(".env.example"), re.MULTILINE))
    assert asked.keys() == told.keys()
    assert not any(told.values())
    needed = {name for name, mark in asked.items() if mark == ":?"}
    assert needed == {"POSTGRES_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


def test_each_service_of_dagster_has_what_the_instance_and_the_workspace_ask_for() -> None:
    asked = environment_named_in("dagster.yaml") | environment_named_in("workspace.yaml")
    for name in DAGSTER:
        assert asked <= services()[name]["environment"].keys(), name


def test_only_the_code_holds_the_keys_of_the_store_and_only_this_host_sees_a_port() -> None:
    holding = {
        name
        for name, service in services().items()
        if "AWS_SECRET_ACCESS_KEY" in service["environment"]
    }
    assert holding == {"code"}
    ports = [port for service in services().values() for port in service.get("ports", ())]
    assert ports == ["127.0.0.1:3000:3000"]


def test_every_service_that_stays_is_looked_at_and_started_again() -> None:
    for name, service in services().items():
        if name != "bucket":
            assert service["restart"] == "unless-stopped", name
            assert "healthcheck" in service or name == "code", name
    assert "HEALTHCHECK" in text("Dockerfile")
