"""Reading and writing the Parquet files that stages exchange.

Belongs here: files of frames and of figures, written so that no half-written file is ever seen.
"""

import io
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from pipeline.normalise.figures import Figures, figure_schemas
from pipeline.warehouse.layout import PART


def write_frame(frame: pl.DataFrame, file: Path) -> None:
    """Write a frame to a Parquet file that appears only when it is complete."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}{PART}")
    packed = io.BytesIO()  # written by Python, since Polars does not always say why it cannot write
    frame.write_parquet(packed, compression="zstd")
    part.write_bytes(packed.getbuffer())
    part.replace(file)


def write_figures(figures: Figures, folder: Path) -> None:
    """Write each frame of the figures to ``<folder>/<name>.parquet``."""
    for name, frame in figures.frames().items():
        write_frame(frame, folder / f"{name}.parquet")


def read_figures(folder: Path, round_key: str | None = None) -> Figures:
    """Read figures, all or those of one round; a missing file is an empty frame.

    The folder is one that ``write_figures`` made, a bundle, or the Parquet of a release: there
    ``reconciliation`` is what was found then.
    """
    found: Mapping[str, Path] = {name: folder / f"{name}.parquet" for name in figure_schemas()}
    frames = {
        name: pl.read_parquet(file, glob=False) for name, file in found.items() if file.exists()
    }
    if round_key is not None:
        frames = {name: frame.filter(round_key=round_key) for name, frame in frames.items()}
    return Figures.of(**frames)
