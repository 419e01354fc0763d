import codecs

import polars as pl
import pytest

from pipeline.errors import FileFault
from pipeline.normalise.figures import Figures
from tests.normalise.published_rows import (
    checker_row,
    checker_table,
    figures_of,
    official_row,
    official_table,
    reasons,
    source_file,
    warned,
)

COLUMNS = (
    "Public ID|Organization|Availability|System Name|Processor|Accelerator|Accelerators per node|"
    "Model MLC|Scenario|Units|Division/Power|# of Nodes|Total Accelerators|"
    "Avg. Result at System Name"
)
CELL = {
    "id": "v6.0-0001",
    "organisation": "AMD",
    "availability": "available",
    "system": "MI355X Cluster",
    "processor": "AMD EPYC 9575F",
    "accelerator": "AMD Instinct MI355X 288GB HBM3e (x87)",
    "per node": "8",
    "model": "llama2-70b-99",
    "scenario": "Offline",
    "unit": "Tokens/s",
    "division": "Closed ",
    "nodes": "11",
    "total": "87",
    "value": "1016375",
}


def export(*changes: dict[str, str]) -> bytes:
    """Return a results-page export as of round 6.0, with a line per change of CELL."""
    lines = [COLUMNS, *("|".join((CELL | change).values()) for change in changes)]
    text = "\r\n".join(lines).replace("|", "\t")
    return codecs.BOM_UTF16_LE + f"{text}\r\n".encode("utf-16-le") + b"\n"


def page(*changes: dict[str, str], round_key: str = "inference-6.0") -> Figures:
    return figures_of(source_file(export(*changes), "page.csv", round_key))


def test_a_page_is_a_rounds_only_source_where_it_has_no_table() -> None:
    (result,) = page({}).results.rows(named=True)
    expected = {
        "entry_id": "6.0-0001",
        "division": "closed",
        "category": "datacenter",
        "submitter_directory": "AMD",
        "platform": "MI355X Cluster",
        "model_used": "llama2-70b-99",
        "benchmark": "llama2-70b",
        "accelerators_as_published": 87,
        "accelerators": 87,
        "nodes": 11,
        "value": 1016375.0,
        "unit": "tokens/s",
        "is_inferred": False,
        "source_kind": "results page",
    }
    assert {field: result[field] for field in expected} == expected


def test_a_page_beside_a_table_gives_cells_and_no_results() -> None:
    table = source_file(official_table(official_row()))
    figures = figures_of(source_file(export({}), "page.csv"), table)
    assert figures.results["value"].to_list() == [100.5]
    assert figures.page_cells.select("entry_id", "value").rows() == [("6.0-0001", 1016375.0)]
    assert figures.sources.select("kind", "results", "comparisons").rows() == [
        ("published table", 1, 0),
        ("results page", 0, 1),
    ]


def test_two_entries_of_one_name_show_their_average_and_give_no_result() -> None:
    figures = page({}, {"id": "v6.0-0002"}, {"system": "Another"})
    assert figures.results["platform"].to_list() == ["Another"]
    assert [row for row, _, _ in reasons(figures)] == [2, 3]


@pytest.mark.parametrize(
    ("round_", "cell", "unit"),
    [
        ("6.0", {"id": "v6.0-0007", "model": "llama3.1-8b", "unit": "Tokens/s"}, "samples/s"),
        ("6.0", {"id": "v6.0-0008", "model": "llama3.1-8b", "unit": "Tokens/s"}, "tokens/s"),
        ("6.0", {"id": "v6.0-0007", "model": "gpt-oss-120b", "unit": "Tokens/s"}, "tokens/s"),
        ("5.1", {"model": "llama3.1-8b-datacenter", "unit": "Samples/s"}, "tokens/s"),
        ("5.1", {"model": "deepseek-r1", "unit": "Queries/s"}, "tokens/s"),
        ("5.0", {"model": "llama3.1-405b", "unit": "Samples/s"}, "tokens/s"),
        ("5.1", {"model": "llama3.1-405b", "unit": "Samples/s"}, "samples/s"),
        ("6.0", {"model": "whisper", "unit": "Samples/s"}, "tokens/s"),
    ],
)
def test_a_page_has_label_faults_of_its_own(round_: str, cell: dict[str, str], unit: str) -> None:
    figures = page(cell, round_key=f"inference-{round_}")
    assert figures.results["unit"].to_list() == [unit]


def test_cells_held_against_a_table_keep_what_their_label_means() -> None:
    table = source_file(official_table(official_row()))
    cell = {"id": "v6.0-0007", "model": "llama3.1-8b"}
    figures = figures_of(table, source_file(export(cell), "page.csv"))
    assert figures.page_cells["unit"].to_list() == ["tokens/s"]


def test_a_cell_without_a_number_is_rejected_beside_a_table_and_alone() -> None:
    table = source_file(official_table(official_row()))
    cells = export({}, {"value": "n/a", "scenario": "Server"}, {"unit": "Frobs/s", "nodes": "1"})
    beside = figures_of(table, source_file(cells, "page.csv"))
    assert beside.page_cells.height == 1
    assert [row for row, _, _ in reasons(beside)] == [3, 4]
    alone = figures_of(source_file(cells, "page.csv"))
    assert [(row, field) for row, field, _ in reasons(alone)] == [(3, "value"), (4, "unit")]


def test_a_page_that_cannot_be_read_does_no_harm_to_the_table() -> None:
    table = source_file(official_table(official_row()))
    figures = figures_of(table, source_file(b"<html>", "page.csv"))
    assert figures.results.height == 1
    ((row, _, why),) = reasons(figures)
    assert row == 0
    assert "headers" in why


def test_a_page_that_cannot_be_read_is_a_file_fault_where_there_is_nothing_else() -> None:
    with pytest.raises(FileFault):
        figures_of(source_file(b"<html>", "page.csv"))


PIVOT = """\
,,,,,,,,,,Benchmark / Model MLC / Scenario / Units,,
,,,,,,,,,,Inference,,
,,,,,,,,,,gpt-8,gpt-9,gpt-9
,,,,,,,,,,Offline,Offline,Server
Public ID,Organization,Availability,System Name,# of Nodes,Accelerator,# of Accelerators,\
Processor,Division/Power,,Tokens/s,Tokens/s,Tokens/s
9.9-0001,Acme,available,Anvil,1,Acme TNT,4,Coyote,Closed,Avg. Result at System Name,1.50,2.50,3.50
"""


def test_what_is_odd_of_several_cells_in_one_row_is_told_once_with_all_names() -> None:
    figures = figures_of(source_file(PIVOT.encode(), "page.csv", "inference-9.9"))
    assert figures.results["value"].to_list() == [1.5, 2.5, 3.5]
    assert warned(figures) == [
        (6, field, f"{field} not in the vocabulary")
        for field in ("accelerator", "benchmark", "submitter")
    ]
    benchmarks = figures.warnings.filter(pl.col("field") == "benchmark")
    assert benchmarks["value_as_published"].to_list() == ["gpt-8; gpt-9"]


def test_a_page_row_with_two_results_for_one_model_and_scenario_is_a_file_fault() -> None:
    content = PIVOT.replace("Offline,Offline,Server", "Offline,Server,Server").encode()
    with pytest.raises(FileFault, match="record 6 has two results for one model and scenario"):
        figures_of(source_file(content, "page.csv", "inference-9.9"))


@pytest.mark.parametrize("swapped", [False, True])
def test_the_official_table_serves_before_the_checkers_whatever_the_order(swapped: bool) -> None:
    files = [
        source_file(
            official_table(official_row(), version="v9.9"),
            "x.summary_results.json",
            "inference-9.9",
        ),
        source_file(
            checker_table(checker_row(), version="v9.9"), "x.summary.json", "inference-9.9"
        ),
    ]
    figures = figures_of(*(reversed(files) if swapped else files))
    assert figures.results["submitter"].to_list() == ["AMD"]
    assert figures.rejects.select("file", "source_row", "reason").rows() == [
        ("x.summary.json", 0, "not used: x.summary_results.json serves")
    ]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_whole_table_serves_before_a_part_of_the_round(swapped: bool) -> None:
    files = [
        source_file(
            checker_table(checker_row(), version="v9.9"), "x-first1.summary.json", "inference-9.9"
        ),
        source_file(
            checker_table(checker_row(), checker_row(Platform="P"), version="v9.9"),
            "x.summary.json",
            "inference-9.9",
        ),
    ]
    figures = figures_of(*(reversed(files) if swapped else files))
    assert figures.results.height == 2
    assert [file for file, used in figures.sources.select("file", "results").rows() if used] == [
        "x.summary.json"
    ]


def test_of_two_pages_only_the_whole_one_serves() -> None:
    part, whole = export({"value": "5"}), export({}, {"scenario": "Server"})
    files = [source_file(part, "x-first1.page.csv"), source_file(whole, "x.page.csv")]
    assert figures_of(*files).results.height == 2
    beside = figures_of(*files, source_file(official_table(official_row())))
    assert beside.page_cells["source_sha256"].unique().to_list() == [files[1].sha256]
    assert beside.rejects["reason"].to_list() == ["not used: x.page.csv serves"]
