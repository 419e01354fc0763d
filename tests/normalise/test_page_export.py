import codecs
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import FileFault
from pipeline.normalise.page_export import SCHEMA, read_page_export

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "published"

PIVOT = """\
,,,,,,,,,,,Benchmark  /  Model MLC  /  Scenario  /  Units,,
,,,,,,,,,,,Inference,,
,,,,,,,,,,,llama-99,,resnet
,,,,,,,,,,,Offline,Server,Offline
Public ID,Organization,Availability,System Name (click + for details),# of Nodes,Accelerator,\
# of Accelerators,Accelerator,Processor,Division/Power,,Tokens/s,Tokens/s,Samples/s
9.9-0001,Acme,available,Anvil (72x TNT),18,Acme TNT,4,Acme TNT,Coyote 1,Closed ,\
# of Accelerators,4,4,
,,,,,,,,,,# of Nodes,18,18,
,,,,,,,,,,Avg. Result at System Name,"27,803.90",17.10,
9.9-0002,Beep,preview,Road Runner,1,N/A,0,N/A,Coyote 2,Closed ,Avg. Result at System Name,,,0.88
,,,,,,,,,,# of Nodes,,,1
,,,,,,,,,,# of Accelerators,,,0
"""

# Another round exports other lead columns, in another order.
PIVOT_REORDERED = """\
,,,,,,,,,,,Benchmark  /  Model MLC  /  Scenario  /  Units,
,,,,,,,,,,,Inference,
,,,,,,,,,,,resnet,
,,,,,,,,,,,Offline,Server
Organization,Public ID,Code,Processor,System Name (click + for details),Accelerator,\
# of Accelerators,Availability,Division/Power,# of Nodes,,Samples/s,Queries/s
Beep,9.9-0002,https://x.test,Coyote 2,Road Runner,N/A,0,preview,Closed ,1,# of Nodes,1,1
,,,,,,,,,,Avg. Result at System Name,0.88,0.5
"""

LIST = """\
Public ID|Organization|Availability|System Name (click + for details)|\
Processor (click + for details)|# of  Processors |Accelerator (click + for details)|\
Accelerators per node|Model MLC|Scenario|Units|Division/Power|# of Nodes|\
Accelerator (click + for details)|Total Accelerators |Avg. Result at System Name|# of  Processors
v9.9-0001|Acme|available|Anvil|Coyote 1|2|TNT (x87)|8|vlm|Offline|Samples/s|Closed |11|TNT (x87)|\
87|1016375|2
v9.9-0002|Beep|preview|Road  Runner|Coyote 2|1||0|text to video|SingleStream|Latency (s)|Closed |\
1||0|27.38|1
""".replace("|", "\t")


def pivot(text: str = PIVOT) -> bytes:
    return text.replace("\n", "\r\n").encode()


def utf16(text: str = LIST) -> bytes:
    return codecs.BOM_UTF16_LE + text.encode("utf-16-le") + b"\n"


def fault(content: bytes) -> str:
    with pytest.raises(FileFault) as raised:
        read_page_export(content, "page.csv")
    assert raised.value.file == "page.csv"
    return raised.value.problem


def test_a_pivot_export_gives_one_row_per_cell() -> None:
    rows = read_page_export(pivot(), "page.csv").rows(named=True)
    keys = ("entry_id", "benchmark_as_published", "scenario", "value_as_published", "source_row")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("9.9-0001", "llama-99", "Offline", "27,803.90", 8),
        ("9.9-0001", "llama-99", "Server", "17.10", 8),
        ("9.9-0002", "resnet", "Offline", "0.88", 9),
    ]


def test_a_pivot_row_carries_its_system_and_no_total() -> None:
    assert read_page_export(pivot(), "page.csv").row(0, named=True) == {
        "entry_id": "9.9-0001",
        "submitter_as_published": "Acme",
        "availability": "available",
        "division": "Closed",
        "system_name": "Anvil (72x TNT)",
        "processor": "Coyote 1",
        "accelerator_as_published": "Acme TNT",
        "nodes": "18",
        "accelerators_per_node": "4",
        "accelerators": None,
        "benchmark_as_published": "llama-99",
        "scenario": "Offline",
        "value_as_published": "27,803.90",
        "unit_as_published": "Tokens/s",
        "source_row": 8,
    }


def test_pivot_columns_are_found_by_name_wherever_they_stand() -> None:
    rows = read_page_export(pivot(PIVOT_REORDERED), "page.csv").rows(named=True)
    assert [(row["scenario"], row["value_as_published"]) for row in rows] == [
        ("Offline", "0.88"),
        ("Server", "0.5"),
    ]
    assert rows[1]["benchmark_as_published"] == "resnet"
    assert (rows[0]["entry_id"], rows[0]["nodes"]) == ("9.9-0002", "1")
    assert rows[0]["accelerators_per_node"] == "0"


def test_a_list_export_gives_one_row_per_record_in_spite_of_its_half_code_unit() -> None:
    content = utf16()
    assert len(content) % 2
    frame = read_page_export(content, "page.csv")
    assert frame.row(0, named=True) == {
        "entry_id": "v9.9-0001",
        "submitter_as_published": "Acme",
        "availability": "available",
        "division": "Closed",
        "system_name": "Anvil",
        "processor": "Coyote 1",
        "accelerator_as_published": "TNT (x87)",
        "nodes": "11",
        "accelerators_per_node": "8",
        "accelerators": "87",
        "benchmark_as_published": "vlm",
        "scenario": "Offline",
        "value_as_published": "1016375",
        "unit_as_published": "Samples/s",
        "source_row": 2,
    }
    assert frame["source_row"].to_list() == [2, 3]


def test_a_blank_cell_is_null_and_a_blank_inside_a_name_stays() -> None:
    row = read_page_export(utf16(), "page.csv").row(1, named=True)
    assert row["accelerator_as_published"] is None
    assert row["system_name"] == "Road  Runner"


def test_a_list_record_without_a_value_is_not_dropped_in_silence() -> None:
    frame = read_page_export(utf16(LIST.replace("1016375", "")), "page.csv")
    assert frame["value_as_published"].to_list() == [None, "27.38"]


def test_both_shapes_give_the_same_columns() -> None:
    assert read_page_export(pivot(), "a").schema == SCHEMA
    assert read_page_export(utf16(), "b").schema == SCHEMA


def test_the_shape_comes_from_the_bytes_and_not_from_the_name() -> None:
    as_utf8 = read_page_export(LIST.encode(), "inference-5.1.results-page-export.csv")
    assert as_utf8.equals(read_page_export(utf16(), "other.tsv"))


def test_undecodable_bytes_are_a_file_fault() -> None:
    assert "not utf-8-sig text" in fault(pivot() + b"\xff\xfe\n")
    assert "not utf-16 text" in fault(utf16()[:-1] + b"\x00\xd8a\x00")


def test_an_empty_file_is_a_file_fault() -> None:
    assert "empty" in fault(b"")
    assert "empty" in fault(codecs.BOM_UTF16_LE)


def test_unknown_headers_are_a_file_fault() -> None:
    assert "headers" in fault(b"<html>\n<p>rate limit, sorry</p>\n</html>\n")


def test_a_missing_column_is_named() -> None:
    assert fault(utf16(LIST.replace("Units", "Unit"))).endswith("no column Units")
    assert fault(pivot(PIVOT.replace("Public ID", "ID"))).endswith("no column Public ID")


def test_headers_without_results_are_a_file_fault() -> None:
    assert "no results" in fault(utf16(LIST.partition("\n")[0] + "\n"))
    assert "no results" in fault(pivot(PIVOT.partition("9.9-0001")[0]))


@pytest.mark.parametrize("kept", [0.98, 0.9, 0.8])
def test_a_cut_file_is_a_file_fault(kept: float) -> None:
    for content in (pivot(), utf16()):
        fault(content[: int(len(content) * kept)])


def test_a_system_without_its_result_row_is_a_file_fault() -> None:
    cut_between_rows = PIVOT.partition(",,,,,,,,,,# of Nodes,18")[0]
    assert fault(pivot(cut_between_rows)).endswith("no row 'Avg. Result at System Name'")


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published data are not at hand")
@pytest.mark.parametrize(("round_", "cells"), [("5.0", 859), ("5.1", 554), ("6.0", 493)])
def test_no_cell_of_a_published_round_is_lost(round_: str, cells: int) -> None:
    file = PUBLISHED / f"inference-{round_}.results-page-export.csv"
    frame = read_page_export(file.read_bytes(), file.name)
    assert frame.height == cells
    needed = ["entry_id", "submitter_as_published", "system_name", "nodes", "unit_as_published"]
    assert frame.select(needed).null_count().row(0) == (0,) * len(needed)
    assert (frame["value_as_published"].str.replace_all(",", "").cast(pl.Float64) > 0).all()


def test_two_systems_are_not_taken_for_one_where_an_id_is_missing() -> None:
    """The second one's value would stand as the first one's."""
    problem = "the system at record 6 has a row twice, or lacks the next one's id"
    assert problem in fault(pivot(PIVOT.replace("9.9-0002", "")))
