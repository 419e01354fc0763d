"""``roundtable audit`` as a process of its own."""

import json
from pathlib import Path

import pytest

from pipeline.claims.reading import MADE
from pipeline.export.attribution import attribution_lines
from tests.conftest import Roundtable

MINE = """\
[[claim]]
id = "mine"
said_by = "Me | <b>"
title = "A slide"
claim = "The MI355X is at 93% of the B300"
kind = "ratio"
claimed = "93%"

[claim.subject]
round = "6.0"
submitter = "AMD"
accelerator = "AMD Instinct MI355X"
accelerators = 8
benchmark = "llama2-70b"
scenario = "Server"

[claim.comparator]
accelerator = "NVIDIA B300-SXM"
"""


def test_all_claims_are_listed_with_their_verdicts(bundled: Roundtable) -> None:
    done = bundled("audit")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    (of_b300,) = (line for line in lines if line.split() and line.split()[0] == "S22")
    assert "reproduced only against a chosen comparator" in of_b300
    assert lines[-2:] == attribution_lines()


def test_a_claim_is_told_with_every_comparator_and_its_source(bundled: Roundtable) -> None:
    done = bundled("audit", "P02")
    assert done.code == 0, done.err
    assert done.out.startswith("P02: reproduced only against a chosen comparator\n")
    assert done.out.count("8 x NVIDIA B300-SXM") == 6 + 1
    assert "https://www.amd.com/en/blogs/2026/" in done.out
    assert done.out.splitlines()[-2:] == attribution_lines()


def test_json_is_the_tables_rows_and_no_attribution(bundled: Roundtable) -> None:
    (claim,) = json.loads(bundled("audit", "P12", "--format", "json").out)
    assert claim["verdict"] == "reproduced only against a chosen comparator"
    assert len(claim["held_against"]) == claim["comparators"] == 9
    listed = json.loads(bundled("audit", "--format", "json").out)
    everything = json.loads(bundled("audit", "--all", "--format", "json").out)
    assert [row["claim_id"] for row in listed] == [row["claim_id"] for row in everything]


def test_markdown_ends_with_the_attribution(bundled: Roundtable) -> None:
    told = bundled("audit", "P24", "--format", "markdown").out
    assert told.startswith("## P24: contradicted\n")
    assert told.count("| no |") == 9
    assert [line for line in told.splitlines() if line][-2:] == attribution_lines()


def test_ones_own_claims_are_held_against_the_same_results(
    bundled: Roundtable, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE, encoding="utf-8")
    done = bundled("audit", "mine", "--file", file, "--format", "markdown")
    assert done.code == 0, done.err
    assert done.out.startswith("## mine: reproduced only against a chosen comparator\n")
    assert "Me \\| \\<b\\>" in done.out
    (own,) = json.loads(bundled("audit", "mine", "--file", file, "--format", "json").out)
    (package,) = json.loads(bundled("audit", "S22", "--format", "json").out)
    assert own["computed_value"] == package["computed_value"]
    assert own["finding"] == package["finding"]


def test_the_packages_files_give_what_the_build_gave(bundled: Roundtable) -> None:
    file = MADE / "amd.toml"
    own = json.loads(bundled("audit", "--file", file, "--all", "--format", "json").out)
    package = json.loads(bundled("audit", "--all", "--format", "json").out)
    assert own == [claim for claim in package if claim["said_by"] == "AMD"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["S99"], "S99: no such claim. Nearest is S39. See all with: roundtable audit"),
        (["S22", "--all"], "not both"),
        (["--file", "no-such-file.toml"], "no-such-file.toml"),
        (["--format", "xml"], "xml"),
    ],
)
def test_a_wrong_call_exits_with_2_and_says_why(
    bundled: Roundtable, arguments: list[str], told: str
) -> None:
    done = bundled("audit", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_a_claim_that_cannot_be_read_is_told_with_line_and_field(
    bundled: Roundtable, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE.replace("accelerators = 8", 'accelerators = "8"'))
    done = bundled("audit", "--file", file)
    assert done.code == 2
    assert "mine.toml line 13: claim mine, subject.accelerators: must be a whole" in done.err


def test_a_claim_over_everything_is_refused_before_it_takes_the_memory(
    bundled: Roundtable, tmp_path: Path
) -> None:
    everything = '{ round = "any", division = "any", category = "any", is_accuracy_copy = "any" }'
    head = MINE.partition("[claim.subject]")[0] + 'basis = "per accelerator"\n'
    file = tmp_path / "mine.toml"
    file.write_text(head + f"subject = {everything}\ncomparator = {everything}\n")
    done = bundled("audit", "--file", file)
    assert done.code == 2
    assert "select too many pairs of results" in done.err


def test_without_a_warehouse_the_next_step_is_named(roundtable: Roundtable, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE, encoding="utf-8")
    for arguments in ([], ["--file", file]):
        done = roundtable("audit", *arguments)
        assert done.code == 1
        assert "no warehouse yet. Run: roundtable build" in done.err
