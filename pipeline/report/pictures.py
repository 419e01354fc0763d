"""The charts that the README shows, as SVG files of their own.

Belongs here: which ones they are.
"""

from pathlib import Path

from pipeline.errors import RoundtableError
from pipeline.report import charts
from pipeline.report.pages import coverage, vendor_ratios
from pipeline.report.reading import Published
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.reading import open_for_own_queries


def write_pictures(warehouse: Warehouse, folder: Path) -> list[Path]:
    """Write coverage and the first pair's ratios of the latest inference round; return the files.

    Raises:
        RoundtableError: there is no warehouse yet, it has too few results, or the folder cannot be
            written.
    """
    with open_for_own_queries(warehouse) as connection:
        published = Published(connection)
        latest = published.latest("inference")
        covered = coverage.heat_map(published, latest, "datacenter") if latest else None
        pairs = vendor_ratios.pairs(published, latest) if latest else []
        if latest is None or covered is None or not pairs:
            raise RoundtableError(
                f"{warehouse.home}: too few results for the pictures. Run: roundtable build"
            )
        drawn = {
            "coverage.svg": charts.picture(covered[1], covered[0]),
            "ratios.svg": charts.picture(*reversed(vendor_ratios.range_plot(latest, pairs[0]))),
        }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in drawn.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RoundtableError(f"{folder}: cannot be written ({error.strerror}).") from error
    return [folder / name for name in drawn]
