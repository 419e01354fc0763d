import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from pipeline.cli import commands
from pipeline.export.attribution import attribution_lines
from pipeline.schema.tables import public_tables
from pipeline.warehouse.layout import Warehouse
from tests.conftest import Roundtable

README = Path(__file__).parents[1] / "README.md"


def test_help_imports_no_data_library() -> None:
    script = (
        "import sys\nfrom pipeline.cli import commands\n"
        "try:\n commands(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'dagster', 'polars', 'duckdb', 'pyarrow', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_command_has_help_and_stands_in_the_readme() -> None:
    readme = README.read_text(encoding="utf-8")
    for name, command in commands.commands.items():
        assert command.help, name
        assert f"roundtable {name}" in readme, name


def test_every_table_stands_in_the_readme() -> None:
    readme = README.read_text(encoding="utf-8")
    assert [name for name in public_tables() if f"`{name}`" not in readme] == []


def test_the_readmes_answers_are_what_the_commands_say(bundled: Roundtable) -> None:
    """The attribution that ends every table is left out there."""
    blocks = re.findall(
        r'```console\n\$ roundtable (query ".*?"|[^"\n]*)\n(.*?)```',
        README.read_text("utf-8"),
        re.S,
    )
    assert {command.split()[0] for command, _ in blocks} == {"query", "cite", "audit"}
    for command, answer in blocks:
        told = bundled(*shlex.split(command))
        left_out = [] if command.startswith("cite") else attribution_lines()
        lines = [line.rstrip() for line in told.out.splitlines() if line.strip()]
        assert [line for line in lines if line not in left_out] == [
            line.rstrip() for line in answer.splitlines() if line.strip()
        ], told.err


def test_every_tables_example_runs(bundled: Roundtable) -> None:
    runner = CliRunner(env={"ROUNDTABLE_HOME": str(bundled.home)})
    for table in public_tables().values():
        done = runner.invoke(commands, ["query", table.example, "--format", "json"])
        assert done.exit_code == 0, (table.name, done.output)
        is_empty_here = table.name in ("rejects", "changes")
        assert json.loads(done.stdout) or is_empty_here, table.name


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["build", "--source", "no-such-folder"], "no such folder"),
        (["build", "--rounds", "6.0"], "Write keys such as inference-6.0"),
        (["build", "--source", "bundled", "--rounds", "inference-9.9"], "no such round"),
        (["query", "selec 1"], "Parser Error"),
        (["query", "select nothing from results"], "nothing"),
        (["query", "select 1", "--format", "parquet"], "--output"),
        (["query", "select 1", "--format", "xml"], "xml"),
        (["tables", "nosuch"], "There are: accelerators"),
        (["cite", "6.0-0200"], "Nearest: 6.0-0100, "),
        (["cite", "6.0-0002", "--benchmark", "bert"], "It has: gpt-oss-120b Offline, "),
        (["cite", "0d09a1"], "begin so: 0d09a10bf09ee1a3, 0d09a18c5a7ade57"),
        (["cite", "0d09a"], "at least 6 of its 16 hexadecimal digits"),
        (["cite", "0d09a10bf09ee1a4"], "Nearest: 0d09a10bf09ee1a3, "),
        (["compare", "h100", "b200"], "NVIDIA H100-NVL, NVIDIA H100-PCIe, NVIDIA H100-SXM"),
        (["compare", "mi356x", "b200"], "AMD Instinct MI355X"),
        (["compare", "dell", "b200"], "only two of a kind can be compared"),
        (["compare", "b200", "B200-SXM"], "are the same accelerator"),
        (["compare", "b200", "mi355x", "--round", "inference-4.1"], "with both: inference-6.0, "),
        (["compare", "b200", "mi355x", "--round", "5.1:6.0"], "inside one round"),
        (["nosuch"], "nosuch"),
    ],
)
def test_a_wrong_call_exits_with_2_and_says_why(
    bundled: Roundtable, arguments: list[str], told: str
) -> None:
    done = bundled(*arguments)
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["query", "select 1"],
        ["export", "out"],
        ["report", "out"],
        ["cite", "6.0-0001"],
        ["compare", "mi355x", "b200"],
    ],
)
def test_without_a_warehouse_the_next_step_is_named(
    roundtable: Roundtable, command: list[str]
) -> None:
    done = roundtable(*command)
    assert done.code == 1
    assert "no warehouse yet. Run: roundtable build" in done.err


@pytest.mark.parametrize(
    "statement",
    [
        "create table x as select 1",
        "copy results to 'stolen.csv'",
        "select * from read_csv('/etc/passwd')",
    ],
)
def test_a_query_cannot_write_nor_leave_the_database(bundled: Roundtable, statement: str) -> None:
    before = bundled.parquet()["results"]
    done = bundled("query", statement)
    assert done.code == 2, done.out
    assert bundled.parquet()["results"] == before
    assert bundled("query", "select count(*) as n from results", "--format", "csv").code == 0


def test_query_writes_each_format_to_a_file(bundled: Roundtable, tmp_path: Path) -> None:
    for format in ("table", "csv", "json", "parquet"):
        file = tmp_path / f"out.{format}"
        query = "select result_key, value from results order by all limit 3"
        assert bundled("query", query, "--format", format, "--output", file).code == 0
        assert file.stat().st_size > 0
    assert pl.read_parquet(tmp_path / "out.parquet").height == 3
    assert len(json.loads((tmp_path / "out.json").read_text())) == 3


def test_only_what_people_read_ends_with_the_attribution(bundled: Roundtable) -> None:
    asked = {"query": ["select 1 as one"], "compare": ["mi355x", "b200"]}
    for command, arguments in asked.items():
        table = bundled(command, *arguments).out
        assert table.splitlines()[-2:] == attribution_lines()
        for format in {"query": ["csv", "json"], "compare": ["json"]}[command]:
            assert "trademark" not in bundled(command, *arguments, "--format", format).out


def test_tables_tells_each_column_with_its_meaning(bundled: Roundtable) -> None:
    listed = bundled("tables").out
    assert all(name in listed for name in public_tables())
    told = bundled("tables", "results").out
    assert all(column.meaning in told for column in public_tables()["results"].columns)


def test_meanings_stand_in_the_database_too(bundled: Roundtable) -> None:
    query = (
        "select table_name, column_name, comment from duckdb_columns() "
        "where schema_name = 'main' and not internal"
    )
    told = json.loads(bundled("query", query, "--format", "json").out)
    for line in told:
        table = public_tables()[line["table_name"]]
        assert line["comment"] in [column.comment for column in table.columns], line
    assert len(told) == sum(len(table.columns) for table in public_tables().values())


def test_export_writes_each_table_and_describes_it(bundled: Roundtable, tmp_path: Path) -> None:
    for format in ("parquet", "csv"):
        folder = tmp_path / format
        assert bundled("export", folder, "--format", format).code == 0
        package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
        paths = {resource["path"] for resource in package["resources"]}
        assert paths == {f"{name}.{format}" for name in public_tables()}
        assert all((folder / path).is_file() for path in paths)
        told = (folder / "ATTRIBUTION.txt").read_text(encoding="utf-8")
        assert told.splitlines() == attribution_lines()


def test_status_tells_rounds_and_what_needs_a_look(bundled: Roundtable) -> None:
    told = bundled("status").out
    assert re.search(r"inference-6\.0 +520  bundled .* fresh", told)
    unmapped = told.partition("names not in the vocabulary: ")[2].partition("rejects: ")[0]
    assert all("(F" in line for line in unmapped.splitlines()[1:])
    assert "no run_1 in the scenario's folder" in told
    assert "failed checks: none" in told


def test_status_tells_the_same_to_machines(bundled: Roundtable) -> None:
    told = json.loads(bundled("status", "--json").out)
    by_key = {line["round_key"]: line for line in told["rounds"]}
    assert by_key["inference-6.0"]["results"] == 520
    assert {line["kind"] for line in told["differences"]} > {"rounding", "rotated ids"}
    assert told["failed_checks"] == []


def test_status_sums_up_in_five_lines_how_the_sources_differ(bundled: Roundtable) -> None:
    told = bundled("status").out
    summary = told.partition("differences between sources: ")[2].partition("failed checks")[0]
    total, *pairs, right = summary.splitlines()
    assert re.fullmatch(r"[1-9]\d*, all explained", total)
    assert [pair.split(":")[0].strip() for pair in pairs] == [
        "published table against results page",
        "published table against submission logs",
        "results page against submission logs",
    ]
    assert sum(map(int, re.findall(r" (\d+)(?:,|$)", "\n".join(pairs), re.M))) == int(
        total.split(",")[0]
    )
    assert "rotated ids" in pairs[0]
    assert "published table" in right


def test_discover_waits_for_a_build_since_it_keeps_what_it_fetches(roundtable: Roundtable) -> None:
    with Warehouse(roundtable.home).lock(print):
        discover = subprocess.Popen(
            [sys.executable, "-m", "pipeline.cli", "discover"],
            env=roundtable.environment,
            cwd=README.parent,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert discover.stderr is not None
        assert "waiting for it to end" in discover.stderr.readline()
        assert discover.poll() is None
    assert "no connection" in discover.communicate(timeout=60)[1]
    assert discover.returncode == 1
