"""What a reader meets: pages opened from disk in Chromium."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import Roundtable
from tests.report.sites import SHOWN, Site

Scheme = Literal["light", "dark"]

TYPICAL = (
    "index",
    "coverage",
    "software-gains",
    "vendor-ratios",
    "scale-out",
    "records",
    "training",
    "claims",
    "data-quality",
    "explore",
)


@contextmanager
def opened(browser: Browser, **context: Any) -> Iterator[tuple[Page, list[str]]]:
    """Give a page, and the list of what goes wrong on it."""
    with browser.new_context(**context) as made:
        page = made.new_page()
        faults: list[str] = []
        page.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        yield page, faults


def overflow(page: Page) -> int:
    width: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return width


def test_every_page_fits_a_phone_and_loads_without_a_fault_or_a_request(
    browser: Browser, site: Site
) -> None:
    with opened(browser, viewport={"width": 375, "height": 700}) as (page, faults):
        foreign: list[str] = []
        page.on("request", lambda r: None if r.url.startswith("file:") else foreign.append(r.url))
        assert set(TYPICAL) <= set(site.pages)
        wide = []
        for name in site.pages:
            page.goto(site.address(name))
            wide += [name] if overflow(page) > 0 else []
        assert (faults, foreign, wide) == ([], [], [])


@pytest.mark.parametrize(
    ("scheme", "names", "rules"),
    [
        ("light", TYPICAL, None),
        ("dark", ("index", "coverage", "vendor-ratios", "explore"), ["color-contrast"]),
    ],
    ids=["light", "dark"],
)
def test_axe_finds_no_serious_fault(
    browser: Browser,
    site: Site,
    axe: str,
    scheme: Scheme,
    names: tuple[str, ...],
    rules: list[str] | None,
) -> None:
    with opened(browser, color_scheme=scheme, bypass_csp=True) as (page, _):
        found = {}
        for name in names:
            page.goto(site.address(name))
            page.evaluate(axe)
            found[name] = page.evaluate(
                """(rules) => axe
                  .run({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) })
                  .then((done) => done.violations
                    .filter((one) => ["serious", "critical"].includes(one.impact))
                    .map((one) => [one.id, one.nodes.length, one.nodes[0].html]))""",
                rules,
            )
        assert found == {name: [] for name in names}


def test_hostile_names_stand_as_text_on_every_page(browser: Browser, hostile_site: Site) -> None:
    with opened(browser) as (page, faults):
        shown = {}
        for name in hostile_site.pages:
            page.goto(hostile_site.address(name))
            shown[name] = SHOWN in (page.locator("body").text_content() or "")
            links = page.evaluate("[...document.links].map((link) => link.protocol + link.host)")
            assert set(links) <= {"file:"}, name
        page.goto(hostile_site.address("explore"))
        assert page.evaluate("quoted('=1+1')") == "'=1+1"
        expect(page.locator("tbody")).to_contain_text(SHOWN)
        assert faults == []
        assert [name for name, is_there in shown.items() if not is_there] == ["claims"]


def test_a_gap_tells_who_covers_it_by_mouse_and_by_keyboard(browser: Browser, site: Site) -> None:
    with opened(browser) as (page, _):
        page.goto(site.address("coverage"))
        cell = page.get_by_role("button", name="gap 2 rounds: AMD, DeepSeek-R1").first
        told = page.locator("[popover]:popover-open")
        cell.click()
        expect(told).to_contain_text("Covered by: NVIDIA")
        page.keyboard.press("Escape")
        expect(told).to_have_count(0)
        cell.focus()
        page.keyboard.press("Enter")
        expect(told).to_contain_text("AMD has no closed result on DeepSeek-R1")
        expect(told).to_contain_text("Open for 2 rounds")


def test_a_mark_tells_its_numbers_under_the_pointer(browser: Browser, site: Site) -> None:
    with opened(browser) as (page, _):
        page.goto(site.address("scale-out"))
        mark = page.locator("[data-tip]").first
        mark.hover(force=True)
        expect(page.get_by_role("tooltip")).to_have_text(mark.get_attribute("data-tip") or "none")


def test_the_match_level_switches_the_figure_without_scripts(browser: Browser, site: Site) -> None:
    with opened(browser, java_script_enabled=False) as (page, _):
        page.goto(site.address("software-gains"))
        page.get_by_label("best of round").first.check()
        expect(page.locator("#gains-inference-best-of-round")).to_be_visible()
        expect(page.locator("#gains-inference-same-system")).to_be_hidden()


def test_without_scripts_explore_shows_the_latest_rounds(browser: Browser, site: Site) -> None:
    with opened(browser, java_script_enabled=False) as (page, _):
        page.goto(site.address("explore"))
        expect(page.locator("form")).to_be_hidden()
        expect(page.locator("tbody tr").first).to_contain_text("Inference 6.0")
        assert page.locator("tbody tr").count() > 500


def test_filters_narrow_sorts_order_and_a_result_can_be_cited(browser: Browser, site: Site) -> None:
    with opened(browser) as (page, faults):
        page.goto(site.address("explore"))
        page.get_by_label("Round").select_option("Inference 6.0")
        page.get_by_label("Benchmark").select_option("GPT-OSS 120B")
        page.get_by_label("Submitter").select_option("AMD")
        expect(page.get_by_role("status")).to_have_text("4 of 20,070 results")
        page.get_by_role("button", name="Value").click()
        page.get_by_role("button", name="Value").click()
        first = page.locator("tbody tr").first
        expect(first).to_contain_text("1,031,070")
        copied = page.evaluate("csv()").splitlines()
        assert len(copied) == 5
        assert "1031070" in copied[1]
        first.get_by_role("button", name="cite").click()
        citation = page.get_by_role("textbox").input_value()
        assert citation.startswith("MLPerf® v6.0 Inference Closed GPT-OSS 120B Offline: AMD, ")
        page.keyboard.press("Escape")
        link = first.get_by_role("link", name="source").get_attribute("href") or ""
        assert link.startswith("https://raw.githubusercontent.com/mlcommons/inference_results_v6.0")
        assert faults == []


def test_a_result_is_cited_as_the_command_line_does(
    browser: Browser, site: Site, bundled: Roundtable
) -> None:
    query = (
        "select any_value(result_key order by result_key) as key from results "
        "group by suite, source_kind, accelerator is null, entry_id is null, scenario is null"
    )
    keys = [row["key"] for row in json.loads(bundled("query", query, "--format", "json").out)]
    assert len(keys) > 5
    with opened(browser) as (page, _):
        page.goto(site.address("explore"))
        for key in keys:
            cited = page.evaluate(
                "(key) => citation(column.result_key.cells.indexOf("
                "column.result_key.names.indexOf(key)))",
                key,
            )
            assert cited == bundled("cite", key).out


def test_a_filter_answers_within_a_tenth_of_a_second_on_30_000_rows(
    browser: Browser, large_site: Site
) -> None:
    with opened(browser) as (page, _):
        page.goto(large_site.address("explore"))
        expect(page.get_by_role("status")).to_have_text("All 30,000 results")
        times = page.evaluate(
            """() => [...document.querySelectorAll("select")].flatMap((select) =>
              [1, 0].map((at) => {
                const before = performance.now();
                select.selectedIndex = at;
                select.dispatchEvent(new Event("change", { bubbles: true }));
                document.body.getBoundingClientRect();
                return performance.now() - before;
              }))"""
        )
        assert median(times) < 100, times
