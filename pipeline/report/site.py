"""Writes the site: one folder of pages, style sheets and scripts that opens from disk.

Belongs here: which pages there are, the templates' environment, and the files. Nothing is loaded
from elsewhere, and the pages forbid it.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline.errors import RoundtableError, UnusableCall
from pipeline.export.answers import printable
from pipeline.report import wording
from pipeline.report.figures import Choice
from pipeline.report.pages import (
    claims,
    coverage,
    data_quality,
    explore,
    overview,
    records,
    scale_out,
    software_gains,
    training,
    vendor_ratios,
)
from pipeline.report.reading import Published
from pipeline.warehouse.datapackage import LEGEND
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_for_own_queries

_HERE = Path(__file__).parent
_PAGES = (
    coverage,
    software_gains,
    vendor_ratios,
    scale_out,
    records,
    training,
    claims,
    data_quality,
    explore,
)


def write_site(warehouse: Warehouse, folder: Path) -> list[Path]:
    """Write the site of the current release to a folder; return its files, the first page first.

    Raises:
        RoundtableError: there is no warehouse yet, another version made it, or the folder cannot
            be written.
        UnusableCall: the folder is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise UnusableCall(f"{folder}: is a file. Give a folder to write to.")
    with open_for_own_queries(warehouse) as connection:
        texts = site_texts(Published(connection))
    try:
        return write_files(texts, folder)
    except OSError as error:
        raise RoundtableError(f"{folder}: cannot be written ({error.strerror}).") from error


def write_files(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write files by name, and the style sheets and scripts, to a folder; return all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [_written(folder / name, text) for name, text in texts.items()]
    assets = sorted((_HERE / "assets").iterdir())
    return [*files, *(Path(shutil.copyfile(asset, folder / asset.name)) for asset in assets)]


def _written(file: Path, text: str) -> Path:
    part = file.with_name(f".{file.name}.part")
    part.write_text(text, encoding="utf-8")
    return part.replace(file)


def site_texts(published: Published) -> dict[str, str]:
    """Return the text of each file that is made from the tables, by name, the first page first."""
    others = [page for module in _PAGES for page in module.pages(published)]
    pages = [*overview.pages(published, others), *others]
    menu = [page for page in pages if page.menu]
    templates = environment()
    texts = {
        page.file: templates.get_template(page.template).render(
            page=page, menu=menu, legend=LEGEND, **page.more
        )
        for page in pages
    }
    results = next(page for page in pages if page.name == "explore")
    return texts | {"results.js": explore.script(results.more["results"])}


def environment() -> Environment:
    """Return the templates' environment: everything is escaped, hidden characters are shown."""
    found = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "count": wording.count,
        "number": wording.number,
        "ratio": wording.ratio,
        "percent": wording.percent,
        "round": wording.round_name,
        "day": wording.day,
        "link": wording.linkable,
        "gap_told": coverage.gap_told,
    }
    found.tests["choice"] = lambda part: isinstance(part, Choice)
    return found


def _finalize(value: Any) -> Any:
    if value is None:
        return wording.NOT_SHOWN
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value
