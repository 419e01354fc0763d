"""What stands in the files of the site."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.report.wording import linkable, number, times
from tests.conftest import Roundtable
from tests.report.sites import Site

DOCS = Path(__file__).parents[2] / "docs"


def test_every_figure_states_a_finding_and_carries_its_numbers_and_its_footnote(
    site: Site,
) -> None:
    figures = [
        (name, figure)
        for name in site.pages
        for figure in re.findall(r"<figure.*?</figure>", _text(site, name), re.S)
    ]
    assert len(figures) > 100
    for name, figure in figures:
        finding = re.search(r'class="finding">([^<]+)<', figure)
        assert finding and re.search(r"\d", finding[1]), name
        has_numbers = re.search(r"<tbody>\s*<tr>", figure) or finding[1].startswith("0 ")
        assert has_numbers, (name, finding[1])
        footnote = re.search(r'class="footnote">([^<]+)<', figure)
        assert footnote, (name, finding[1])
        is_of_results = name not in ("data-quality",)
        assert ("MLPerf®" in footnote[1]) == is_of_results, (name, finding[1])


def test_derived_figures_say_so_and_the_legend_stands_on_every_page(site: Site) -> None:
    for name in site.pages:
        text = _text(site, name)
        assert "derived metrics, not verified by MLCommons Association" in text, name
        assert "All rights reserved. Unauthorized use strictly prohibited. See" in text, name


def test_the_trademark_carries_its_sign_wherever_the_report_says_it(site: Site) -> None:
    quoted = re.compile(r"<cite>.*?</cite>|The MLPerf name and logo", re.S)
    for name in site.pages:
        text = quoted.sub("", _text(site, name))
        assert re.findall(r"MLPerf(?!®)", text) == [], name


def test_pages_load_nothing_from_elsewhere_and_forbid_it(site: Site) -> None:
    for name in site.pages:
        text = _text(site, name)
        assert "default-src 'none'; style-src 'self'; script-src 'self'" in text
        loaded = re.findall(r'<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"', text)
        assert loaded and all((site.folder / file).is_file() for file in loaded), name
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=", text), name


def test_the_first_page_with_all_it_needs_is_under_a_megabyte(site: Site) -> None:
    files = ("index.html", "colours.css", "style.css", "report.js")
    assert sum((site.folder / file).stat().st_size for file in files) < 1_000_000


def test_the_readmes_pictures_are_those_of_the_bundled_figures(
    bundled: Roundtable, tmp_path: Path
) -> None:
    done = bundled("report", "--picture", tmp_path)
    assert done.code == 0, done.err
    for file in ("coverage.svg", "ratios.svg"):
        assert (tmp_path / file).read_text("utf-8") == (DOCS / file).read_text("utf-8"), (
            "run: make picture"
        )


def test_without_its_packages_the_report_says_in_a_line_what_to_install() -> None:
    script = (
        "import sys\nsys.modules['altair'] = None\n"
        "from pipeline.cli import main\nsys.argv = ['roundtable', 'report']\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Error: The report needs altair. Run: pip install 'roundtable[report]', "
        "or in the repository: make report"
    ]


@pytest.mark.parametrize(
    ("address", "is_link"),
    [
        ("https://github.com/mlcommons/x", True),
        ("https://raw.githubusercontent.com/mlcommons/x", True),
        ("https://docs.mlcommons.org/x", True),
        ("http://github.com/mlcommons/x", False),
        ("https://github.com.evil.example/x", False),
        ("https://github.com@evil.example/x", False),
        ("https://evilmlcommons.org/", False),
        ("javascript:alert(1)//github.com", False),
        ("https://github.com/\u202ex", False),
        ("https://[github.com/", False),
        (None, False),
    ],
)
def test_only_addresses_of_github_and_mlcommons_become_links(
    address: str | None, is_link: bool
) -> None:
    assert linkable(address) == (address if is_link else None)


def test_numbers_keep_what_tells_them_apart() -> None:
    assert [number(value) for value in (1042110.0, 82136.1, 0.4034041, None)] == [
        "1,042,110",
        "82,136.1",
        "0.403404",
        "–",
    ]
    assert [times(value) for value in (2.804, 1.0031, 0.789, 13.6)] == [
        "2.80×",
        "1.003×",
        "0.79×",
        "14×",
    ]


def _text(site: Site, name: str) -> str:
    return (site.folder / f"{name}.html").read_text(encoding="utf-8")
