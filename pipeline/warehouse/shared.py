"""Builds on several machines: a run for each round, then one that publishes what they made.

Belongs here: what such runs hand each other through the table store. They share nothing else: a
round's run works in a folder of its own, and the folder of the one that publishes may be empty.

    figures/<round>    what the round's last run made
    snapshots/<round>  the bytes that it fetched, for its next run
    derived/<round>    what it derived from the archive, for its next run
    published          the last release: database, Parquet files, stamp
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.normalise.figures import Figures
from pipeline.settings import Settings
from pipeline.sources.choice import Bundle
from pipeline.warehouse.build import Build, Plan
from pipeline.warehouse.failure import forget_failure
from pipeline.warehouse.journal import journalled
from pipeline.warehouse.layout import STAMP, Warehouse
from pipeline.warehouse.store import StoreFault, TableStore
from pipeline.warehouse.unattended import unattended_plan

PUBLISHED = "published"
KEPT = ("snapshots", "derived")
"""The folders of a warehouse from which a round's next run spares itself work."""


class RoundBuild(Build):
    """A build of one round, whose figures go to the table store."""

    def __init__(
        self, warehouse: Warehouse, plan: Plan, say: Callable[[str], None], store: TableStore
    ) -> None:
        """Take what ``Build`` does, and the store."""
        super().__init__(warehouse, plan, say)
        self._store = store

    def normalise(self, round_key: str) -> Figures:
        """Turn the round's files into figures, and hand them over with what the next run can use.

        Raises:
            StoreFault: the store cannot be written.
        """
        figures = super().normalise(round_key)
        for name in KEPT:
            if (self.warehouse.home / name).is_dir():
                self._store.put(f"{name}/{round_key}", self.warehouse.home / name)
        self._store.put(f"figures/{round_key}", self.warehouse.figures(round_key))
        return figures


class PublishBuild(Build):
    """A build of figures that other runs made, whose release goes to the table store too."""

    def __init__(
        self, warehouse: Warehouse, plan: Plan, say: Callable[[str], None], store: TableStore
    ) -> None:
        """Take what ``Build`` does, and the store."""
        super().__init__(warehouse, plan, say)
        self._store = store

    def publish(self) -> dict[str, Any]:
        """Make the tables the current release, here and in the store.

        Raises:
            StoreFault: the store cannot be written; the release stands here only.
        """
        stamp = super().publish()
        release = self.warehouse.release
        if release is not None:
            self._store.put(PUBLISHED, release)
        return stamp


@contextmanager
def round_build(
    settings: Settings,
    store: TableStore,
    round_key: str,
    changed: frozenset[str],
    say: Callable[[str], None],
) -> Iterator[Build]:
    """Give the build of one round, in a folder that is removed afterwards.

    ``changed`` is as in ``unattended_plan``.
    """
    with TemporaryDirectory(prefix="roundtable-") as folder:
        own = replace(settings, home=Path(folder))
        warehouse = Warehouse(own.home)
        take_release(store, warehouse)
        for name in KEPT:
            try:
                store.fetch(f"{name}/{round_key}", warehouse.home / name)
            except StoreFault as fault:
                say(f"{round_key}: is read anew. {fault}")
        plan = unattended_plan(warehouse, own, changed, say, only=round_key)
        yield RoundBuild(warehouse, plan, say, store)


@contextmanager
def publish_build(
    settings: Settings,
    store: TableStore,
    rounds: Iterable[str],
    failed: Mapping[str, str],
    run: str | None,
    say: Callable[[str], None],
) -> Iterator[Build]:
    """Give the build that publishes, holding the warehouse until it ends.

    It takes the figures of ``rounds`` from the store. For those of ``failed`` (round and reason)
    the last good ones serve, marked stale; all others stay as they are in the last release.
    """
    warehouse = Warehouse(settings.home)
    ran = {"source": "table store", "rounds": sorted(rounds), "run": run}
    with warehouse.lock(say), journalled(warehouse, **ran):
        take_release(store, warehouse)
        warehouse.fresh_build_folder()
        failed = {**failed, **_take_figures(store, warehouse, rounds)}
        refresh = frozenset({*rounds, *failed})
        plan = Plan(source=None, bundle=Bundle.ALWAYS, refresh=refresh, failed=failed)
        yield PublishBuild(warehouse, plan, say, store)


def current_warehouse(settings: Settings, say: Callable[[str], None]) -> Warehouse:
    """Return the warehouse, with the release of the table store where one is set.

    Raises:
        StoreFault: the store cannot be read, or what it holds is damaged.
    """
    warehouse = Warehouse(settings.home)
    if settings.store is not None:
        with warehouse.lock(say):
            take_release(TableStore(settings.store), warehouse)
    return warehouse


def take_release(store: TableStore, warehouse: Warehouse) -> None:
    """Make the store's release the warehouse's own, unless it already is or there is none.

    The caller holds the warehouse's lock, or has a folder that nobody else works in.

    Raises:
        StoreFault: the store cannot be read, or what it holds is damaged.
    """
    if warehouse.release is not None and store.holds(PUBLISHED, warehouse.release):
        return
    prepared = warehouse.home / "taken"
    shutil.rmtree(prepared, ignore_errors=True)
    if store.fetch(PUBLISHED, prepared):
        warehouse.publish(prepared, json.loads((prepared / STAMP).read_text(encoding="utf-8")))
        forget_failure(warehouse)


def _take_figures(store: TableStore, warehouse: Warehouse, rounds: Iterable[str]) -> dict[str, str]:
    """Fetch the rounds' figures; return the rounds whose figures cannot be had, with the reason."""
    missing = {}
    for key in rounds:
        try:
            if not store.fetch(f"figures/{key}", warehouse.figures(key)):
                missing[key] = "its figures are not in the table store"
        except StoreFault as fault:
            missing[key] = str(fault)
    return missing
