"""What ``roundtable export`` leaves: tables, descriptions that validate, examples that run."""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import frictionless
import mlcroissant
import pytest
import yaml

from pipeline.schema.tables import public_tables
from tests.conftest import Roundtable

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=["parquet", "csv"])
def exported(
    request: pytest.FixtureRequest, bundled: Roundtable, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Give an exported folder in each format; only to be read."""
    folder = tmp_path_factory.mktemp("exported") / request.param
    done = bundled("export", folder, "--format", request.param)
    assert done.code == 0, done.err
    return folder


def test_the_croissant_description_is_valid_and_reads_the_results(exported: Path) -> None:
    described = mlcroissant.Dataset(jsonld=exported / "croissant.json")
    issues = described.metadata.issues
    assert (sorted(issues.errors), sorted(issues.warnings)) == ([], [])
    sets = {record_set.uuid: record_set for record_set in described.metadata.record_sets}
    assert sets.keys() == public_tables().keys()
    record = next(iter(described.records("rounds")))
    assert record["rounds/suite"] in ("inference", b"inference")


def test_the_data_package_is_valid_and_the_csv_files_hold_what_it_says(exported: Path) -> None:
    descriptor = json.loads((exported / "datapackage.json").read_text(encoding="utf-8"))
    assert list(frictionless.Package.metadata_validate(descriptor)) == []
    if (exported / "results.csv").exists():
        report = frictionless.validate(str(exported / "datapackage.json"))
        assert report.flatten(["name", "rowNumber", "fieldName", "note"]) == []


def test_the_examples_run_in_the_folder_and_answer(exported: Path) -> None:
    for name in ("with_polars.py", "with_pandas.py"):
        done = subprocess.run(
            [sys.executable, f"examples/{name}"],
            cwd=exported,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "6.0" in done.stdout
    sql = (exported / "examples" / "queries.sql").read_text(encoding="utf-8")
    with duckdb.connect() as connection:
        connection.execute("set file_search_path = $1", [str(exported)])
        for statement in connection.extract_statements(sql):
            assert connection.sql(statement.query).fetchall(), statement.query


def test_the_readme_tells_every_table_with_its_rows(exported: Path) -> None:
    readme = (exported / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` | " in readme for name in public_tables())
    assert "| `results` | 20,070 |" in readme
    assert "$" not in readme
    assert "All rights reserved. Unauthorized use strictly prohibited." in readme


def test_the_citation_names_this_version(exported: Path) -> None:
    text = (exported / "CITATION.cff").read_text(encoding="utf-8")
    assert text == (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    citation = yaml.safe_load(text)
    assert {"cff-version", "message", "title", "authors", "version"} <= citation.keys()
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{citation["version"]}"' in project
