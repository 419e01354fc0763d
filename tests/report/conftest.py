import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from pipeline.report.pages import explore
from pipeline.report.reading import Published
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_database
from tests.conftest import Roundtable
from tests.report.sites import Site, shared_site

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, bundled: Roundtable) -> Site:
    """Give the site of the bundled figures; only to be read."""
    return shared_site(tmp_path_factory, "site", bundled.home)


@pytest.fixture(scope="session")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Give a site of a few results whose names mean harm; only to be read."""
    return shared_site(tmp_path_factory, "hostile", None)


@pytest.fixture
def large_site(tmp_path: Path, site: Site, bundled: Roundtable) -> Site:
    """Give the page of all results over 30,000 of them: the bundled ones, some of them twice."""
    folder = tmp_path / "large"
    shutil.copytree(site.folder, folder)
    with open_database(Warehouse(bundled.home)) as connection:
        rows = explore.pages(Published(connection))[0].more["results"]
    (folder / "results.js").write_text(explore.script((rows * 2)[:30_000]), encoding="utf-8")
    return Site(folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give the system's Chromium, without a window."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no Chromium here; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """Give the script of axe-core, which finds what keeps people from using a page."""
    script = TESTS / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        pytest.skip("axe-core is not installed; run: npm install --prefix tests")
    return script.read_text(encoding="utf-8")
