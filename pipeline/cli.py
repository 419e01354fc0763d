"""The command line: ``roundtable build``, ``status``, ``query`` and its other commands.

Belongs here: arguments, wording and exit codes. Each command imports what it needs when it runs,
so that help and the no-change answer of ``build`` need no data library.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pipeline.errors import RoundtableError, UnusableCall
from pipeline.rounds import ROUND_KEY, known_rounds
from pipeline.settings import Settings


def main() -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 called wrongly."""
    debug = "--debug" in sys.argv
    try:
        sys.exit(commands(standalone_mode=False))
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        _fail("Stopped. The former warehouse stands.", 1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except RoundtableError as error:
        if debug:
            raise
        _fail(str(error), 2 if isinstance(error, UnusableCall) else 1)
    except Exception as error:
        if debug:
            raise
        told = str(error).partition("\n")[0]
        _fail(f"Unexpected {type(error).__name__}: {told}\nRun again with --debug to see where.", 1)


def _fail(message: str, code: int) -> None:
    lines = [_harmless(line) for line in message.strip().splitlines()]
    click.echo("Error: " + "\n".join(lines[:2]), err=True)
    sys.exit(code)


def _harmless(text: str) -> str:
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def _say(text: str) -> None:
    click.echo(_harmless(text), err=True)


def _debug_option(command: Callable[..., Any]) -> Callable[..., Any]:
    option = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
    return option(command)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="roundtable")
def commands() -> None:
    """Every published MLPerf® result in one table you can query."""


@commands.command()
@click.option(
    "--source",
    default="auto",
    metavar="auto|github|bundled|PATH",
    help="Where files come from: GitHub with bundled figures in reserve (auto, the default), "
    "GitHub alone, the bundled figures alone, or a folder with published/ and submissions/.",
)
@click.option(
    "--rounds", metavar="KEY,KEY", help="Refresh only these, such as inference-6.0; others stay."
)
@click.option("--submissions", is_flag=True, help="Also read the submission archives.")
@click.option("--record", is_flag=True, help="Keep the run in Dagster's history.")
@click.option("--strict", is_flag=True, help="Fail if a round is stale or there is a new warning.")
@click.option("--full", is_flag=True, help="Build even if nothing has changed.")
@_debug_option
def build(
    source: str, rounds: str | None, submissions: bool, record: bool, strict: bool, full: bool
) -> int:
    """Fetch what changed, normalise, run models and checks, publish."""
    from pipeline.sources.choice import choose_source
    from pipeline.warehouse.disk import full_disk_told
    from pipeline.warehouse.failure import failure_kept
    from pipeline.warehouse.journal import journalled
    from pipeline.warehouse.layout import Warehouse
    from pipeline.warehouse.scored import scored_rounds, without_table
    from pipeline.warehouse.stamp import identity

    refresh = _round_keys(rounds)
    settings = Settings.from_environment()
    warehouse = Warehouse(settings.home)
    ran = {"source": source, "rounds": sorted(refresh or ()), "submissions": submissions}
    with (
        warehouse.lock(_say),
        failure_kept(warehouse),
        journalled(warehouse, **ran),
        full_disk_told(warehouse),
    ):
        scored = scored_rounds(warehouse) if source in ("auto", "github") else frozenset()
        choice = choose_source(
            source, settings, _say, archives=lambda key: submissions or key in scored
        )
        offered = choice.source.round_keys() if choice.source else []
        archives = frozenset(offered) if submissions else without_table(choice.source, scored)
        _refuse_unknown(refresh, {*known_rounds(), *offered})
        digest = identity(source, choice.source, refresh, archives)
        if full or warehouse.stamp().get("identity") != digest:
            from pipeline.orchestration.run import run_build
            from pipeline.warehouse.build import Build, Plan

            plan = Plan(choice.source, choice.bundle, refresh, archives, digest)
            with _progress() as say:
                run_build(Build(warehouse, plan, say), record)
        else:
            _say("Nothing has changed since the last build.")
        return _conclude(warehouse.stamp(), str(warehouse.database), strict)


def _round_keys(text: str | None) -> frozenset[str] | None:
    if text is None:
        return None
    keys = [key.strip() for key in text.split(",")]
    wrong = [key for key in keys if not ROUND_KEY.fullmatch(key)]
    if wrong:
        raise UnusableCall(f"--rounds {wrong[0]!r}: no round. Write keys such as inference-6.0.")
    return frozenset(keys)


def _refuse_unknown(refresh: frozenset[str] | None, known: set[str]) -> None:
    unknown = sorted((refresh or frozenset()) - known)
    if unknown:
        raise UnusableCall(f"--rounds {unknown[0]}: no such round. See: roundtable status")


def _progress() -> Any:
    """Return a context that gives a function to tell each step with."""
    import contextlib

    if not sys.stderr.isatty():
        return contextlib.nullcontext(_say)

    @contextlib.contextmanager
    def status() -> Any:
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status("building") as shown:
            yield lambda text: shown.update(Text(_harmless(text)))

    return status()


def _conclude(stamp: dict[str, Any], database: str, strict: bool) -> int:
    """Tell what a build left; return 1 if ``--strict`` forbids it."""
    stale, warned = stamp["stale"], stamp["new_warnings"] + len(stamp["failed_checks"])
    rows = stamp["rows"]
    click.echo(
        f"{database}: {rows['results']} results of {stamp['rounds']} rounds, "
        f"{rows['rejects']} rejects, {rows['warnings']} warnings."
    )
    for reason in dict.fromkeys(stale.values()):
        _say(f"stale: {', '.join(key for key in stale if stale[key] == reason)} ({reason})")
    for text in stamp["failed_checks"]:
        _say(f"warning: {text}")
    if strict and (stale or warned):
        _say(f"--strict: {len(stale)} stale rounds, {warned} new warnings. See: roundtable status")
        return 1
    return 0


@commands.command()
@click.option("--json", "as_json", is_flag=True, help="Tell it as JSON.")
@_debug_option
def status(as_json: bool) -> None:
    """Show each round's rows and freshness, then names to review, rejects and failed checks."""
    from pipeline.export.status import status_json, status_lines
    from pipeline.warehouse.layout import Warehouse

    warehouse = Warehouse(Settings.from_environment().home)
    for line in [status_json(warehouse)] if as_json else status_lines(warehouse):
        click.echo(line)


@commands.command()
@click.argument("sql")
@click.option("--format", type=click.Choice(["table", "csv", "json", "parquet"]), default="table")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
@_debug_option
def query(sql: str, format: str, output: Path | None) -> None:
    """Ask the warehouse in SQL (DuckDB's), read-only."""
    import duckdb

    from pipeline.export import answers
    from pipeline.warehouse.layout import Warehouse
    from pipeline.warehouse.reading import damage_told, open_database

    if format == "parquet" and output is None:
        raise UnusableCall("--format parquet needs --output FILE.")
    warehouse = Warehouse(Settings.from_environment().home)
    with open_database(warehouse) as connection:
        try:
            with damage_told(warehouse):
                relation = connection.sql(sql)
                if relation is None:
                    raise UnusableCall("The statement gives no rows. Write a select.")
                answers.write(relation, format, output)
        except duckdb.Error as error:
            raise UnusableCall(_first_lines(str(error))) from error
        except OSError as error:
            raise RoundtableError(f"{output}: cannot be written ({error.strerror}).") from error


def _first_lines(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[0] + "\nSee the tables with: roundtable tables"


@commands.command()
@click.argument("a")
@click.argument("b")
@click.option("--round", "round_key", metavar="KEY", help="Such as inference-6.0.")
@click.option("--category", type=click.Choice(["datacenter", "edge"]), help="Only this one.")
@click.option("--division", type=click.Choice(["closed", "open"]), help="Of A; B's are closed.")
@click.option("--format", type=click.Choice(["table", "json", "markdown"]), default="table")
@_debug_option
def compare(
    a: str,
    b: str,
    round_key: str | None,
    category: str | None,
    division: str | None,
    format: str,
) -> None:
    """Compare two accelerators or two submitters, by default in the latest round with both.

    Part of a name is enough: mi355x, b200.
    """
    from pipeline.export import comparison, comparison_text
    from pipeline.warehouse.layout import Warehouse

    warehouse = Warehouse(Settings.from_environment().home)
    found = comparison.compare(warehouse, a, b, round_key, category, division)
    comparison_text.write_comparison(found, format, sys.stdout)


@commands.command()
@click.argument("references", metavar="KEY|ENTRY...", nargs=-1, required=True)
@click.option("--benchmark", metavar="NAME", help="Only results of this benchmark.")
@click.option("--scenario", metavar="NAME", help="Only results of this scenario.")
@click.option("--derived", is_flag=True, help="Also say that a ratio of them is a derived metric.")
@click.option("--format", type=click.Choice(["text", "markdown", "json"]), default="text")
@_debug_option
def cite(
    references: tuple[str, ...],
    benchmark: str | None,
    scenario: str | None,
    derived: bool,
    format: str,
) -> None:
    """Write the footnote that MLCommons asks for beside results that are quoted.

    A KEY is a result_key or the first digits of one, an ENTRY an entry id such as 6.0-0001: all
    its results.
    """
    from pipeline.export import citation
    from pipeline.warehouse.layout import Warehouse

    warehouse = Warehouse(Settings.from_environment().home)
    footnote = citation.cite(warehouse, references, benchmark, scenario, derived)
    written = {"text": footnote.text, "markdown": footnote.markdown, "json": footnote.json}
    click.echo(written[format](), nl=False)


@commands.command()
@click.argument("name", required=False)
@_debug_option
def tables(name: str | None) -> None:
    """List the tables, or one table's columns with meaning, unit and an example."""
    from pipeline.schema.tables import public_tables

    declared = public_tables()
    if name is None:
        width = max(map(len, declared))
        for table in declared.values():
            click.echo(f"{table.name:<{width}}  {table.meaning}")
        return
    if name not in declared:
        raise UnusableCall(f"{name}: no such table. There are: {', '.join(declared)}.")
    table = declared[name]
    click.echo(f"{table.name}: {table.meaning}\nOne row per {', '.join(table.key)}.\n")
    width = max(len(column.name) for column in table.columns)
    for column in table.columns:
        unit = f" [{column.unit}]" if column.unit else ""
        click.echo(f"  {column.name:<{width}}  {column.type:<10}  {column.meaning}{unit}")
    click.echo(f"\nExample:\n  {table.example.replace(chr(10), chr(10) + '  ')}")


@commands.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--format", type=click.Choice(["parquet", "csv"]), default="parquet")
@_debug_option
def export(folder: Path, format: str) -> None:
    """Write the published tables to a folder, with descriptions and examples."""
    from pipeline.export.folder import export_tables
    from pipeline.warehouse.layout import Warehouse

    files = export_tables(Warehouse(Settings.from_environment().home), folder, format)
    click.echo(f"{folder}: {len(files)} files")


@commands.command()
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default="report")
@click.option(
    "--picture",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the README's charts to this folder instead.",
)
@_debug_option
def report(folder: Path, picture: Path | None) -> None:
    """Write a site of charts and tables that opens from disk (to report/ if DIR is not given)."""
    from pipeline.warehouse.layout import Warehouse

    warehouse = Warehouse(Settings.from_environment().home)
    try:
        from pipeline.report.pictures import write_pictures
        from pipeline.report.site import write_site
    except ModuleNotFoundError as error:
        raise RoundtableError(
            f"The report needs {error.name}. Run: pip install 'roundtable[report]', "
            "or in the repository: make report"
        ) from error
    if picture is not None:
        for file in write_pictures(warehouse, picture):
            click.echo(file)
        return
    files = write_site(warehouse, folder)
    click.echo(f"{files[0]}: {len(files)} files")


@commands.command()
@click.argument("claim_id", required=False, metavar="[ID]")
@click.option("--all", "everything", is_flag=True, help="Tell every claim in full.")
@click.option("--format", type=click.Choice(["table", "json", "markdown"]), default="table")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Hold the claims of this file against the warehouse, instead of the package's own.",
)
@_debug_option
def audit(claim_id: str | None, everything: bool, format: str, file: Path | None) -> None:
    """Hold public claims against the results: all in a list, or one with its comparators."""
    from pipeline.export.audit import claim_lines, list_lines
    from pipeline.warehouse.layout import Warehouse
    from pipeline.warehouse.reading import open_database

    if claim_id is not None and everything:
        raise UnusableCall("Give a claim's ID or --all, not both.")
    warehouse = Warehouse(Settings.from_environment().home)
    if file is None:
        connection = open_database(warehouse)
    else:
        from pipeline.claims.reading import read_claims
        from pipeline.warehouse.audit import audit_claims

        connection = audit_claims(warehouse, read_claims([file]).frames())
    with connection:
        is_list = claim_id is None and not everything
        lines = (
            list_lines(connection, format) if is_list else claim_lines(connection, claim_id, format)
        )
        for line in lines:
            click.echo(line)


@commands.command()
@_debug_option
def discover() -> None:
    """List rounds that exist upstream and are not known yet."""
    from pipeline.sources.github import GitHub
    from pipeline.warehouse.layout import Warehouse

    settings = Settings.from_environment()
    with Warehouse(settings.home).lock(_say):  # what is fetched is kept
        github = GitHub(settings, say=lambda line: None)
        github.survey()
    new = [r for r in github.repositories() if r.round_key not in known_rounds()]
    for repository in new:
        table = repository.table or github.stale.get(repository.round_key) or "archives only"
        commit = (repository.commit or "")[:12]
        click.echo(_harmless(f"{repository.round_key}  {repository.name}  {commit}  {table}"))
    if not new:
        click.echo("Every round upstream is known.")


if __name__ == "__main__":
    main()
