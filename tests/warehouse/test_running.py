from pathlib import Path

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pipeline.warehouse.models import Model, ModelFault, TableName, models
from pipeline.warehouse.running import over, run, run_in_slices, view
from tests.conftest import Roundtable

T = TableName


def test_a_folder_named_like_a_pattern_is_read_literally(tmp_path: Path) -> None:
    odd, plain = tmp_path / "[ab]*", tmp_path / "a"
    for value, folder in enumerate((odd, plain)):
        folder.mkdir()
        pl.DataFrame({"v": [value]}).write_parquet(folder / "t.parquet")
    with duckdb.connect() as connection:
        view(connection, T("main", "t"), odd / "t.parquet")
        assert connection.execute("from main.t").fetchall() == [(0,)]


def test_a_model_gives_the_same_bytes_each_time(tmp_path: Path) -> None:
    pl.DataFrame({"v": [3, 1, 2], "k": ["c", "a", "b"]}).write_parquet(tmp_path / "in.parquet")
    sql = "select k, sum(v) as v from main.t group by all order by all"
    model = Model(T("main", "m"), "marts", "", sql, frozenset({T("main", "t")}))
    for name in ("1", "2"):
        run(model, {T("main", "t"): tmp_path / "in.parquet"}, tmp_path / name)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_model_that_fails_names_itself(tmp_path: Path) -> None:
    model = Model(T("main", "m"), "marts", "", "select nothing from main.t", frozenset())
    with pytest.raises(ModelFault, match=r"main\.m"):
        run(model, {}, tmp_path / "out")


@pytest.mark.parametrize("name", [model.table.name for model in models().values() if model.slices])
def test_a_model_gives_the_same_rows_in_slices(
    bundled: Roundtable, tmp_path: Path, name: str
) -> None:
    model = models()[T("main", name)]
    folder = bundled.home / "build" / "tables"
    tables = {table: folder / f"{table}.parquet" for table in model.reads}
    run(model, tables, tmp_path / "whole")
    run(model, tables, tmp_path / "sliced", slice_rows=3000)
    assert_frame_equal(pl.read_parquet(tmp_path / "sliced"), pl.read_parquet(tmp_path / "whole"))
    with over(tables) as connection:
        assert len(list(run_in_slices(connection, model, tables, tmp_path, slice_rows=3000))) > 1


def test_rows_that_no_slice_would_find_are_not_lost(tmp_path: Path) -> None:
    pl.DataFrame({"suite": ["a", "b", None]}).write_parquet(tmp_path / "in.parquet")
    table = T("main", "t")
    sql = "select suite from main.t order by suite"
    model = Model(T("main", "m"), "marts", "", sql, frozenset({table}), ("suite",))
    run(model, {table: tmp_path / "in.parquet"}, tmp_path / "out", slice_rows=1)
    assert pl.read_parquet(tmp_path / "out")["suite"].to_list() == ["a", "b", None]
