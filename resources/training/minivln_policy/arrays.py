"""Reads the data sets that the simulator programs of this folder write (see array-folder.ts)."""

import json
from pathlib import Path

import numpy as np


def read_arrays(folder: str | Path) -> dict[str, np.ndarray]:
    """Memory-maps every array of a data set; each has one row per view, step or episode."""
    folder = Path(folder)
    layouts = json.loads((folder / "manifest.json").read_text())["arrays"]
    return {
        name: np.memmap(folder / f"{name}.bin", layout["dtype"], "r").reshape(-1, *layout["shape"])
        for name, layout in layouts.items()
    }
