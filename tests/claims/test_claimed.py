import pytest

from pipeline.claims.claimed import Interval, interval


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("93%", Interval(0.93, at_least=0.925, below=0.935)),
        ("2.77x", Interval(2.77, at_least=2.765, below=2.775)),
        ("2.7 ×", Interval(2.7, at_least=2.65, below=2.75)),
        ("250,634", Interval(250634, at_least=250633.5, below=250634.5)),
        ("24", Interval(24, at_least=23.5, below=24.5)),
        ("0", Interval(0, at_least=-0.5, below=0.5)),
        ("~100%", Interval(1, at_least=0.995, below=1.005)),
        ("+3.83%", Interval(1.0383, at_least=1.03825, below=1.03835)),
        ("-5%", Interval(0.95, at_least=0.945, below=0.955)),
        (">1,000,000", Interval(1e6, above=1e6)),
        (">=20", Interval(20, at_least=20)),
        ("<3", Interval(3, below=3)),
    ],
)
def test_a_stated_value_stands_for_all_that_round_to_it(text: str, expected: Interval) -> None:
    assert interval(text) == expected


def test_a_change_is_the_difference_itself() -> None:
    assert interval("+30%", is_change=True) == Interval(0.3, at_least=0.295, below=0.305)


@pytest.mark.parametrize(
    "text", ["", "matching", "1.8x faster", "1,00", "nan", "1e5", "93%%", "١٢"]
)
def test_other_wordings_are_not_guessed(text: str) -> None:
    assert interval(text) is None
