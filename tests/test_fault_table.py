import ast
from collections.abc import Iterator
from pathlib import Path

from soak import mutations
from soak.trial import ANSWERS, HEALS, Trial
from soak.wire import KEPT_BY

ROOT = Path(__file__).parents[1]


def named() -> Iterator[str]:
    """Yield the test that each trial says it is kept by."""
    yield mutations.KEPT_BY
    yield from (f"tests/sources/test_http.py::{name}" for name in KEPT_BY.values())
    for file in (ROOT / "soak").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            is_trial = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Trial"
            if is_trial and isinstance(node, ast.Call) and isinstance(node.args[1], ast.Constant):
                yield node.args[1].value


def test_every_fault_of_the_table_is_kept_by_a_test_that_is_there() -> None:
    names = list(named())
    assert len(names) > 20
    for name in names:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), name


def test_whatever_goes_wrong_in_an_attempt_is_lost() -> None:
    trial = Trial("a fault", "a test")
    with trial.attempt("first") as attempt:
        attempt.ask(ANSWERS, [])
        attempt.ask(HEALS, ["it does not"])
    with trial.attempt("second"):
        raise OSError("gone")
    assert (trial.answer(ANSWERS), trial.answer(HEALS)) == ("1/1", "0/1")
    assert trial.tried == 2
    assert trial.lost == ["first: next build heals: it does not", "second: OSError: gone"]
