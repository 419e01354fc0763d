"""Whatever comes in: a file fault, or figures that account for every row, and nothing else."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import FileFault
from pipeline.normalise.names import (
    describe_accelerator,
    describe_benchmark,
    describe_submitter,
    plain,
    weight_data_types,
)
from pipeline.rounds import known_rounds
from tests.anything import NAMES, VALUES
from tests.normalise.published_rows import (
    CHECKER,
    OFFICIAL,
    checker_row,
    figures_of,
    official_row,
    source_file,
)
from tests.normalise.test_round import PIVOT, export


@st.composite
def rows(draw: st.DrawFn, form: dict[str, Any], base: Any) -> list[object]:
    """Return rows of a form: fields retyped, dropped and added, rows repeated or no rows at all."""
    table: list[object] = []
    for number in range(draw(st.integers(0, 4))):
        row = dict(base(Platform=f"P{draw(st.integers(0, 2))}"), version="v9.9")
        for column in draw(st.lists(st.sampled_from(sorted(form)), max_size=3)):
            row[column] = draw(VALUES)
        if number:
            row.pop(draw(st.sampled_from([*sorted(form), "none"])), None)
        table.append(row)
    table += draw(st.lists(VALUES | st.just(table[-1] if table else 0), max_size=2))
    return table


@given(rows(OFFICIAL, official_row), st.booleans())
def test_an_official_table_of_any_rows_is_accounted_for(table: list[object], cut: bool) -> None:
    content = json.dumps(table).encode()
    _read(content[: len(content) // 2 if cut else None])


@given(rows(CHECKER, checker_row))
def test_a_checker_table_of_any_rows_is_accounted_for(table: list[object]) -> None:
    _read(json.dumps({f"{number}": row for number, row in enumerate(table)}).encode())


@given(st.binary() | VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_file_fault_or_accounted_for(content: bytes) -> None:
    _read(content)
    _read(content, "page.csv")


@given(
    st.sampled_from([PIVOT, export({}, {"nodes": "2"})[2:-1].decode("utf-16-le")]),
    st.data(),
)
def test_a_page_with_any_cell_is_a_file_fault_or_accounted_for(text: str, data: Any) -> None:
    delimiter = "\t" if "\t" in text else ","
    lines = [line.split(delimiter) for line in text.splitlines()]
    line = data.draw(st.sampled_from(lines))
    line[data.draw(st.integers(0, len(line) - 1))] = data.draw(NAMES)
    changed = "\n".join(delimiter.join(line) for line in lines)
    _read(changed.encode("utf-8", "surrogatepass"), "page.csv")


@given(NAMES)
def test_names_of_any_text_can_be_described(text: str) -> None:
    assert isinstance(describe_submitter(text).submitter, str)
    assert isinstance(describe_benchmark(known_rounds()["inference-6.0"], text).benchmark, str)
    described = describe_accelerator(text)
    assert described.is_known or described.accelerator
    assert plain(plain(text)) == plain(text)
    assert weight_data_types(weight_data_types(text)) == weight_data_types(text)


def _read(content: bytes, name: str = "summary_results.json") -> None:
    try:
        figures = figures_of(source_file(content, name, "inference-9.9"))
    except FileFault as fault:
        assert fault.next_step
        return
    key = ["source_row", "field", "model_used", "scenario"]
    assert not figures.rejects.select(key).is_duplicated().any()
    assert not figures.warnings.select("source_row", "field", "problem").is_duplicated().any()
    assert (figures.results["value"] > 0).all()
    assert figures.results["value"].is_finite().all()
