"""PostgreSQL and an object store on this machine, for the tests of what runs on several."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from pyarrow import fs

DEPLOY = Path(__file__).parents[2] / "deploy"
PASSWORD = "pg-s3cret-word"
SECRET_KEY = "s3-s3cret-word"

VERSIONS = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[dict[str, str]]:
    """Run Debian's PostgreSQL; give the variables that lead to it."""
    pytest.importorskip("dagster_postgres", reason="the extra roundtable[cluster] is not installed")
    if not VERSIONS:
        pytest.skip("PostgreSQL is not installed")
    programs = VERSIONS[-1].parent
    # It refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="roundtable-postgres-"))
    (folder / "password").write_text(PASSWORD, encoding="utf-8")
    if user is not None:
        shutil.chown(folder, user)
        shutil.chown(folder / "password", user)
    port = free_port()

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "--pgdata", str(folder / "data"), *arguments]
        subprocess.run(
            command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120
        )

    login = ("--username", "roundtable", "--pwfile", str(folder / "password"))
    run("initdb", "--auth", "scram-sha-256", "--no-sync", *login)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
    run("pg_ctl", "start", "--wait", "--log", str(folder / "log"), "--options", options)
    try:
        yield {
            "POSTGRES_HOST": "127.0.0.1",
            "POSTGRES_PORT": str(port),
            "POSTGRES_DB": "postgres",
            "POSTGRES_USER": "roundtable",
            "POSTGRES_PASSWORD": PASSWORD,
        }
    finally:
        run("pg_ctl", "stop", "--mode", "immediate")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def object_store() -> Iterator[dict[str, str]]:
    """Run a server that speaks S3; give the variables that lead to it, and a bucket in it."""
    moto = pytest.importorskip("moto.server", reason="the group cluster is not installed")
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "roundtable")
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
        service = fs.S3FileSystem(
            scheme="http", endpoint_override=f"{host}:{port}", allow_bucket_creation=True
        )
        service.create_dir("bucket")
    try:
        yield {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "roundtable",
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        }
    finally:
        server.stop()


@pytest.fixture
def store(object_store: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Set the variables of the object store; give a table store's address of this test alone."""
    for name, value in object_store.items():
        monkeypatch.setenv(name, value)
    return f"s3://bucket/{tmp_path.name}"


@pytest.fixture
def instance(
    postgres: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dg.DagsterInstance]:
    """Give the Dagster instance that deploy/dagster.yaml describes."""
    for name, value in postgres.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ROUNDTABLE_LOGS", str(tmp_path / "logs"))
    home = tmp_path / "dagster"
    home.mkdir()
    shutil.copy(DEPLOY / "dagster.yaml", home)
    with dg.DagsterInstance.from_config(str(home)) as made:
        yield made
        made.wipe()


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
