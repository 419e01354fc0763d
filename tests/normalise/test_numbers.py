import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.normalise.numbers import count, number
from tests.anything import NAMES, NUMBERS, WORDS


def read(expression: pl.Expr, text: str | None) -> float | None:
    value: float | None = pl.DataFrame({"text": [text]}, schema={"text": pl.String}).select(
        expression
    )[0, 0]
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("6862.3", 6862.3),
        (" 6862.3\n", 6862.3),
        ("6,862.3", 6862.3),
        ("1,016,375", 1016375.0),
        ("1e3", 1000.0),
        ("0.000001", 0.000001),
    ],
)
def test_a_number_that_can_be_meant_in_one_way_only_is_read(text: str, value: float) -> None:
    assert read(number("text"), text) == value


@pytest.mark.parametrize(
    "text",
    ["6,86", "6,862", "0,123.4", "6.862,3", "1,23,456.7", "12,34.5", "1 234", "1_000", "0x1F"]
    + ["NaN", "inf", "-Infinity", "1e400", "5 tokens/s", "true", "", "\u0661", None],
)
def test_any_other_text_is_no_number(text: str | None) -> None:
    assert read(number("text"), text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("8", 8), ("8.0", 8), (" 8 ", 8), ("0", 0)]
    + [(text, None) for text in ("(6,2)", "N/A", "", "8.5", "-8", "1e12", "2 (big); 4 (LITTLE)")],
)
def test_a_count_is_a_whole_number_or_not_known(text: str, value: int | None) -> None:
    assert read(count("text"), text) == value


@given(st.lists(NAMES | WORDS | NUMBERS.map(str), max_size=5))
def test_any_text_is_a_finite_number_or_none_and_a_count_is_never_negative(
    texts: list[str],
) -> None:
    written = [text.encode("utf-8", "replace").decode() for text in texts]
    told = pl.DataFrame({"text": written}, schema={"text": pl.String}).select(
        number=number("text"), count=count("text")
    )
    assert told["number"].drop_nulls().is_finite().all()
    assert (told["count"].drop_nulls() >= 0).all()
