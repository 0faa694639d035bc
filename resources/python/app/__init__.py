"""The import names nodesets of AgentCanvas use, so that they load unchanged. Our own implementation of each.

A name that is not here gives an ImportError that says so; nothing is silently absent.
"""

from __future__ import annotations

import importlib.abc
import sys
from typing import Any


class _AbsentModules(importlib.abc.MetaPathFinder):
    """Asked last: what reaches it is a module of AgentCanvas that this host does not provide."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname.startswith("app."):
            raise ModuleNotFoundError(
                f"No module named '{fullname}': this nodeset uses a part of AgentCanvas's backend that nodeset hosts "
                "do not provide. Its nodes must not reach into the backend.",
                name=fullname,
            )
        return None


sys.meta_path.append(_AbsentModules())
