"""Versions of what is installed, read from folder names: importing package metadata would cost more than the host."""

from __future__ import annotations

import os
import sys
from typing import Dict


def installed_packages() -> Dict[str, str]:
    """Distribution name -> version, as this interpreter would import them."""
    found: Dict[str, str] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            stem, extension = os.path.splitext(name)
            if extension not in (".dist-info", ".egg-info") or "-" not in stem:
                continue
            package, version = stem.split("-")[:2]
            found.setdefault(package.replace("_", "-").lower(), version)
    return found
