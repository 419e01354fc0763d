import io
from pathlib import Path

import duckdb
import polars as pl
import pytest

from pipeline.export import answers


def relation(sql: str) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().sql(sql)


def test_text_that_a_spreadsheet_would_run_is_quoted_in_csv() -> None:
    out = io.StringIO()
    sql = "select * from (values ('=cmd()', -1.5, ['a', 'b']), ('plain', 2, null)) as t(a, b, c)"
    answers.write_csv(relation(sql), out)
    assert out.getvalue() == "a,b,c\n'=cmd(),-1.5,a|b\nplain,2.0,\n"


@pytest.mark.parametrize("lead", ["=", "+", "-", "@", "\t", "\r"])
def test_no_way_to_start_a_formula_is_left(lead: str) -> None:
    out = io.StringIO()
    answers.write_csv(duckdb.connect().sql("select $1 as a", params=[lead + "1+1"]), out)
    cell = out.getvalue().partition("\n")[2].strip('"\n')
    assert cell.startswith("'")


def test_a_terminal_gets_no_control_or_direction_characters() -> None:
    out = io.StringIO()
    answers.write_table(relation("select 'a' || chr(27) || '[2J' || chr(8238) as x"), out)
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in out.getvalue()
    assert "a\\u001b[2J\\u202e" in out.getvalue()


def test_hidden_characters_are_written_out_and_letters_of_any_script_are_not() -> None:
    assert answers.printable("a\u202eb\u200f\n\x1b") == "a\\u202eb\\u200f\\u000a\\u001b"
    assert answers.printable("Größe 漢字 ×") == "Größe 漢字 ×"


def test_markup_in_a_name_is_shown_as_it_is() -> None:
    out = io.StringIO()
    answers.write_table(relation("select '[bold]x[/bold]' as x"), out)
    assert "[bold]x[/bold]" in out.getvalue()


def test_a_long_value_is_not_cut_in_a_table() -> None:
    out = io.StringIO()
    answers.write_table(relation("select repeat('x', 500) as a, 1042110.25 as b"), out)
    assert "x" * 500 in out.getvalue()
    assert "1042110.25" in out.getvalue()


def test_missing_stays_null_in_json_and_infinity_is_no_number() -> None:
    out = io.StringIO()
    answers.write_json(
        relation("select null as a, 'inf'::double as b, date '2026-04-01' as c"), out
    )
    assert out.getvalue() == '[{"a": null, "b": null, "c": "2026-04-01"}]\n'


def test_parquet_keeps_types_and_lists(tmp_path: Path) -> None:
    answers.write_parquet(relation("select 1::bigint as a, ['x'] as b"), tmp_path / "x.parquet")
    assert pl.read_parquet(tmp_path / "x.parquet").to_dicts() == [{"a": 1, "b": ["x"]}]
