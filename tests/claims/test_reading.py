import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.claims.facts import FACTS
from pipeline.claims.fields import ClaimFault
from pipeline.claims.kinds import KINDS
from pipeline.claims.reading import MADE, Claims, package_claims, read_claims
from pipeline.errors import UnusableCall
from tests.anything import changed_text

README = MADE.parent / "README.md"

CLAIM = """\
[[claim]]
id = "c"
said_by = "Press"
title = "Title"
claim = "A is at 93% of B"
kind = "ratio"
claimed = "93%"
subject = { round = "6.0", submitter = "Acme" }
comparator = { accelerator = "B1" }
"""


def read(folder: Path, text: str) -> Claims:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return read_claims([file])


def conditions(claims: Claims, side: str) -> dict[tuple[str, str], list[str]]:
    return {
        (line["fact"], line["operator"]): line["texts"]
        for line in claims.conditions
        if line["side"] == side
    }


def test_the_packages_claims_can_be_read_and_have_a_source() -> None:
    claims = package_claims()
    assert [line["position"] for line in claims.made] == list(range(1, len(claims.made) + 1))
    assert {line["kind"] for line in claims.statements} == set(KINDS)
    assert all(frame.height for frame in claims.frames().values())


def test_the_readmes_examples_can_be_read_and_show_every_kind(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    claims = read(tmp_path, "\n".join(re.findall(r"```toml\n(.*?)```", text, re.S)))
    assert {line["kind"] for line in claims.statements} == set(KINDS)
    assert all(f"| `{kind}` |" in text for kind in KINDS)
    assert all(f"`{fact}`" in text for fact in FACTS)


def test_a_selection_means_closed_datacenter_results_that_are_no_copies(tmp_path: Path) -> None:
    assert conditions(read(tmp_path, CLAIM), "comparator") == {
        ("suite", "is"): ["inference"],
        ("division", "is"): ["closed"],
        ("category", "is"): ["datacenter"],
        ("is_accuracy_copy", "is"): ["false"],
        ("round", "is"): ["6.0"],
        ("accelerator", "is"): ["B1"],
    }


def test_a_selection_says_otherwise_fact_by_fact(tmp_path: Path) -> None:
    stated = """{ round = { at_least = "5.0", below = "6.0" }, division = "any", category = "edge",
        nodes = { above = 1 }, submitter = { not = ["Acme", "Rival"] }, is_accuracy_copy = true }"""
    text = CLAIM.replace('{ round = "6.0", submitter = "Acme" }', " ".join(stated.split()))
    assert conditions(read(tmp_path, text), "subject") == {
        ("suite", "is"): ["inference"],
        ("category", "is"): ["edge"],
        ("is_accuracy_copy", "is"): ["true"],
        ("round", "at_least"): ["5.0"],
        ("round", "below"): ["6.0"],
        ("nodes", "above"): ["1"],
        ("submitter", "not"): ["Acme", "Rival"],
    }


def test_training_has_neither_categories_nor_copies(tmp_path: Path) -> None:
    text = CLAIM.replace('round = "6.0"', 'suite = "training", round = "5.1"')
    assert conditions(read(tmp_path, text), "subject") == {
        ("suite", "is"): ["training"],
        ("division", "is"): ["closed"],
        ("round", "is"): ["5.1"],
        ("submitter", "is"): ["Acme"],
    }


ALWAYS = ["accuracy_target", "benchmark", "category", "scenario", "suite", "unit"]


@pytest.mark.parametrize(
    ("subject", "comparator", "further", "held"),
    [
        ("", "", "", ["accelerators", "nodes", "round"]),
        ("accelerators = 32", "accelerators = 8", "", ["nodes", "round"]),
        ("nodes = 2", 'round = "5.1"', "", ["accelerators", "nodes"]),
        ("", "", 'basis = "per accelerator"', ["round"]),
        ("", "", 'same = ["submitter"]', ["accelerators", "nodes", "round", "submitter"]),
    ],
)
def test_the_sides_of_a_ratio_agree_unless_both_state_a_fact(
    tmp_path: Path, subject: str, comparator: str, further: str, held: list[str]
) -> None:
    text = CLAIM.replace('submitter = "Acme"', f'submitter = "Acme"{subject and ", "}{subject}')
    text = text.replace('"B1"', f'"B1"{comparator and ", "}{comparator}')
    (statement,) = read(tmp_path, text + further).statements
    assert statement["held"] == sorted([*ALWAYS, *held])


def test_a_reading_takes_what_it_does_not_state_from_its_claim(tmp_path: Path) -> None:
    readings = 'readings = [{}, { claimed = "95%", subject = { submitter = "any" } }]'
    claims = read(tmp_path, CLAIM + readings)
    assert [line["claimed_value"] for line in claims.statements] == [0.93, 0.95]
    assert claims.made[0]["combined"] == "readings"
    assert claims.made[0]["claimed"] == "93%; 95%"
    named = [
        (line["statement"], line["texts"])
        for line in claims.conditions
        if line["side"] == "subject" and line["fact"] in ("submitter", "round")
    ]
    assert named == [(1, ["6.0"]), (1, ["Acme"]), (2, ["6.0"])]


def test_an_interval_can_be_given_where_the_wording_is_vague(tmp_path: Path) -> None:
    text = CLAIM.replace('claimed = "93%"', 'claimed = "similar"\nfrom = 0.9\nbelow = 1.1')
    (statement,) = read(tmp_path, text).statements
    bounds = [statement[f"claimed_{name}"] for name in ("value", "above", "from", "below")]
    assert bounds == [1.0, None, 0.9, 1.1]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('id = "c"', 'id = "a b"', "line 2: claim number 1, id: must be up to 40"),
        ('title = "Title"', "", "line 1: claim c, title: is missing"),
        ('title = "Title"', "title = 3", "line 4: claim c, title: must be a text"),
        ('title = "Title"', 'titel = "x"', "line 4: claim c, titel: no such field. There are: "),
        ('title = "Title"', 'title = "a\\u001b[31m"', "line 4: claim c, title: must be one line"),
        ('title = "Title"', f'title = "{"x" * 1001}"', "title: must have 1 to 1000 characters"),
        ("said_by", 'url = "javascript:x"\nsaid_by', "line 3: claim c, url: must begin with http"),
        ("said_by", 'published = "May"\nsaid_by', "line 3: claim c, published: must be a date"),
        ('"ratio"', '"ratios"', "line 6: claim c, kind: must be one of value, ratio, "),
        ('"93%"', '"about 93%"', "line 7: claim c, claimed: must be a value such as"),
        ('"93%"', '"93%"\nbelow = nan', "line 8: claim c, below: must be a number below"),
        ('"93%"', '"93%"\nfrom = 2\nbelow = 1', "line 9: claim c, below: must be above `from`"),
        ('"93%"', '"93%"\nmeant_of = "all"', "line 8: claim c, meant_of: must be one of any"),
        ('"93%"', '"93%"\nof = "nodes"', "line 8: claim c, of: has no meaning for the kind"),
        ('"93%"', '"93%"\nsame = ["product"]', "line 8: claim c, same: 'product' is none of"),
        ('{ accelerator = "B1" }', '"B1"', "line 9: claim c, comparator: must be a table"),
        ("comparator =", "# comparator =", "claim c, comparator: is missing; the kind 'ratio'"),
        ('round = "6.0"', 'rounds = "6.0"', "line 8: claim c, subject.rounds: no such field"),
        ('round = "6.0", ', "", "line 8: claim c, subject.round: is missing"),
        ('round = "6.0"', 'round = "six"', "subject.round: must be a version"),
        ('round = "6.0"', "round = 6.0", "subject.round: must be a version"),
        ('submitter = "Acme"', "nodes = true", "subject.nodes: must be a whole number"),
        ('submitter = "Acme"', "nodes = 1.5", "subject.nodes: must be a whole number"),
        ('submitter = "Acme"', 'division = "clsoed"', "subject.division: must be one of closed"),
        ('submitter = "Acme"', "submitter = []", "subject.submitter: must name 1 to 100 values"),
        ('submitter = "Acme"', "submitter = {}", "subject.submitter: is empty; say one of not"),
        ('"Acme"', "{ above = 1 }", "subject.submitter.above: submitter is no number"),
        ('"Acme"', '{ nto = "A" }', "subject.submitter.nto: no such field. There are: not, "),
        ("submitter", "entry_id", "subject.entry_id: an entry id only narrows a selection"),
        ("kind", 'parts = "x"\nkind', "line 6: claim c, parts: must be a list of 2 to 10"),
        ("kind", "parts = [{}, {}]\nreadings = []\nkind", "readings: a claim has either parts or"),
        ("kind", "parts = [{}, { x = 1 }]\nkind", "line 6: claim c, parts 2.x: no such field"),
    ],
)
def test_what_cannot_be_read_is_told_with_line_claim_and_field(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in CLAIM
    with pytest.raises(ClaimFault) as error:
        read(tmp_path, CLAIM.replace(old, new, 1))
    assert str(error.value).startswith("mine.toml line ")
    assert told in str(error.value)


def test_a_line_is_that_of_the_right_claim_and_table(tmp_path: Path) -> None:
    first = CLAIM + 'note = """\n[[claim]]\nround = 3\n"""\n'
    second = CLAIM.replace('"c"', '"d"').replace('subject = { round = "6.0",', "subject = {")
    with pytest.raises(ClaimFault, match="printable"):
        read(tmp_path, first + second)
    tables = CLAIM.partition("subject")[0] + '[claim.subject]\nround = "6.0"\nnodes = "8"\n'
    with pytest.raises(ClaimFault, match="line 19: claim d, subject.nodes: must be a whole"):
        read(tmp_path, CLAIM + tables.replace('"c"', '"d"') + "[claim.comparator]\n")


def test_an_id_is_taken_once(tmp_path: Path) -> None:
    with pytest.raises(ClaimFault, match="line 11: claim c, id: is taken by another claim"):
        read(tmp_path, CLAIM + CLAIM)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[claim]\n", "is no TOML: .*line 1"),
        ("", "holds no claim"),
        ("claim = 1", "holds no claim"),
        ("claim = [1]", "holds no claim"),
        ("[other]\n", "holds 'other'; only"),
        ("[[claim]]\n" * 201, "holds more than 200 claims"),
        ("a = " + "[" * 100_000, "is no TOML"),
        ("a = " + "1" * 5000, "is no TOML"),
        ("#" * 1_000_001, "is larger than 1,000,000 bytes"),
    ],
)
def test_what_is_no_claims_file_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UnusableCall, match=told):
        read(tmp_path, text)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(b"a = '\xff'")
    with pytest.raises(UnusableCall, match=r"mine.toml: is not UTF-8 \(byte 5\)"):
        read_claims([file])
    with pytest.raises(UnusableCall, match="cannot be read"):
        read_claims([tmp_path / "none.toml"])


values = st.recursive(
    st.sampled_from(["6.0", "any", "none", "all", "93%", "AMD", "true", "[", "\n"])
    | st.integers(-2, 10)
    | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from([*FACTS, "not", "above"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.sampled_from(CLAIM.splitlines()[1:]), st.sampled_from([*KINDS, "x"]), values)
def test_any_value_of_any_field_is_read_or_told(
    tmp_path_factory: pytest.TempPathFactory, line: str, kind: str, value: object
) -> None:
    field = line.partition(" = ")[0]
    text = CLAIM.replace(line, f"{field} = {_toml(value)}").replace('"ratio"', f'"{kind}"')
    try:
        read(tmp_path_factory.mktemp("any"), text).frames()
    except UnusableCall as error:
        assert str(error).startswith("mine.toml")


def _toml(value: object) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{name} = {_toml(each)}" for name, each in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else '"' + value.replace("\n", "\\n") + '"'


MADE_TEXTS = [file.read_text(encoding="utf-8") for file in sorted(MADE.glob("*.toml"))]


@given(
    st.sampled_from(MADE_TEXTS)
    .flatmap(changed_text)
    .map(lambda text: text.encode("utf-8", "replace"))
    | st.binary()
)
def test_a_claims_file_of_any_content_is_read_or_told(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.mktemp("any") / "mine.toml"
    file.write_bytes(content)
    try:
        read_claims([file]).frames()
    except UnusableCall as error:
        assert str(error).startswith("mine.toml")
