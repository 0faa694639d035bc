"""Imports the nodeset's class, from a file or by its dotted name.

Invariant: user code is imported here and nowhere else, after the nonce has left the environment. A failure names the
interpreter, the missing module and the remedy.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import types
from typing import Any, Optional, Set

from .errors import HostError, import_failure


def import_nodeset(file: Optional[str], module: Optional[str], class_name: str, slot: int = 0) -> Any:
    """Each slot gets modules of its own of the nodeset; what they import from elsewhere is shared."""
    target = file or module or ""
    try:
        loaded = _import_file(os.path.abspath(file), slot) if file else _import_dotted(str(module))
    except BaseException as error:  # noqa: B036 - a nodeset may raise anything, SystemExit too
        if isinstance(error, KeyboardInterrupt):
            raise
        raise import_failure(error, target) from error
    found = getattr(loaded, class_name, None)
    if found is None:
        names = ", ".join(name for name, value in vars(loaded).items() if isinstance(value, type)) or "none"
        raise HostError("nodeset_failed", f"{target} has no class '{class_name}' (classes: {names})")
    return found


# Dotted names that a slot has imported; slots come in any order.
_imported: Set[str] = set()


def _import_dotted(name: str) -> types.ModuleType:
    if name in _imported:
        # A nodeset that is a package brings its modules along. Whoever holds the former ones keeps them.
        for known in [known for known in sys.modules if known == name or known.startswith(name + ".")]:
            del sys.modules[known]
    _imported.add(name)
    return importlib.import_module(name)


def _import_file(path: str, slot: int) -> types.ModuleType:
    if not os.path.isfile(path):
        raise FileNotFoundError(f"{path} does not exist")
    dotted = _workspace_name(path)
    if dotted is not None:
        return _import_dotted(dotted)
    return _import_standing_alone(path, slot)


def _workspace_name(path: str) -> Optional[str]:
    """AgentCanvas names its nodesets `workspace.nodesets.<...>` and they import each other by that name."""
    parts = path.replace("\\", "/").split("/")
    if parts[-1] == "__init__.py":
        parts = parts[:-1]
    else:
        parts[-1] = os.path.splitext(parts[-1])[0]
    for index in range(len(parts) - 2, 0, -1):
        names = parts[index:]
        if parts[index : index + 2] == ["workspace", "nodesets"] and all(name.isidentifier() for name in names):
            root = "/".join(parts[:index]) or "/"
            if root not in sys.path:
                sys.path.append(root)
            return ".".join(names)
    return None


def _import_standing_alone(path: str, slot: int) -> types.ModuleType:
    """As a module of a package made for its folder, so that `from ._sibling import x` works in single files too."""
    folder, file_name = os.path.split(path)
    is_package = file_name == "__init__.py"
    own_name = os.path.basename(folder) if is_package else os.path.splitext(file_name)[0]
    parent_folder = os.path.dirname(folder) if is_package else folder
    parent_name = "agentcanvas_nodesets_" + hashlib.sha256(parent_folder.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    if parent_name not in sys.modules:
        parent = types.ModuleType(parent_name)
        parent.__path__ = [parent_folder]  # type: ignore[attr-defined]
        sys.modules[parent_name] = parent
    safe_name = "".join(character if character.isalnum() else "_" for character in own_name)
    name = f"{parent_name}.{safe_name}" if slot == 0 else f"{parent_name}.{safe_name}_slot{slot}"
    spec = importlib.util.spec_from_file_location(
        name, path, submodule_search_locations=[folder] if is_package else None
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if not is_package and folder not in sys.path:
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module
