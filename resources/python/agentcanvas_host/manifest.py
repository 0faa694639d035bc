"""What a nodeset says about itself, in the wire form of main/contract/nodeset.ts (snake_case).

Invariant: nothing here runs a node; descriptions that do not fit are made to fit or left out, never guessed.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List

FIELD_KINDS = ("label", "slider", "text", "select", "toggle", "textarea", "number", "port_list")


def build_manifest(nodeset: Any, tools: List[Any], containers: List[Any]) -> Dict[str, Any]:
    kind = type(nodeset)
    manifest: Dict[str, Any] = {
        "name": nodeset.name,
        "description": getattr(nodeset, "description", "") or "",
        "language": "python",
        "parallelism": "replicated" if getattr(nodeset, "parallelism", "shared") == "replicated" else "shared",
        "nodes": [node_manifest(tool) for tool in tools],
        "containers": [entry if isinstance(entry, dict) else entry.to_dict() for entry in containers],
        "has_env_panel": getattr(kind, "env_panel", None) is not None,
    }
    for name, target in (
        ("default_per_step_budget_sec", "default_per_step_budget_sec"),
        ("startup_timeout", "startup_timeout_sec"),
        ("expected_ram_mb", "expected_ram_mb"),
        ("expected_vram_mb", "expected_vram_mb"),
        ("deadlines_sec", "deadlines_sec"),
        ("shares_process", "shares_process"),
    ):
        value = getattr(nodeset, name, None)
        if value is not None:
            manifest[target] = value
    return manifest


def node_type_of(tool: Any) -> str:
    return getattr(tool, "node_type", "") or getattr(tool, "name", "") or type(tool).__name__


def node_manifest(tool: Any) -> Dict[str, Any]:
    node_type = node_type_of(tool)
    inputs = [_port(port) for port in getattr(tool, "input_ports", None) or ()]
    batched = bool(getattr(tool, "batched", False))
    batch_dim = getattr(tool, "batch_dim", "") or None
    return {
        "node_type": node_type,
        "display_name": getattr(tool, "display_name", "") or node_type,
        "description": getattr(tool, "description", "") or "",
        "category": getattr(tool, "category", "") or "",
        "icon": getattr(tool, "icon", "") or "",
        "kind": getattr(tool, "kind", "") or "",
        "input_ports": inputs,
        "output_ports": [_port(port) for port in getattr(tool, "output_ports", None) or ()],
        "config_schema": getattr(tool, "config_schema", None) or {},
        "default_config": getattr(tool, "default_config", None) or {},
        "ui_config": _ui(getattr(tool, "ui_config", None)),
        "batched": batched,
        "batch_dim": batch_dim,
    }


def _port(port: Any) -> Dict[str, Any]:
    form = as_dict(port)
    return {
        "name": form["name"],
        "wire_type": form.get("wire_type") or "ANY",
        "description": form.get("description") or "",
        "optional": bool(form.get("optional", False)),
    }


def _ui(ui: Any) -> Dict[str, Any]:
    form = as_dict(ui) if ui is not None else {}
    rest = {key: value for key, value in form.items() if key not in ("config_fields", "display_fields")}
    rest["config_fields"] = [_config_field(field) for field in form.get("config_fields") or ()]
    rest["display_fields"] = [_display_field(field) for field in form.get("display_fields") or ()]
    return rest


def _config_field(field: Any) -> Dict[str, Any]:
    form = as_dict(field)
    kind = form.pop("field_type", None) or form.get("kind") or "text"
    form["kind"] = kind if kind in FIELD_KINDS else "text"
    form["label"] = form.get("label") or ""
    for name in ("min", "max", "step"):
        if not isinstance(form.get(name), (int, float)) or isinstance(form.get(name), bool):
            form.pop(name, None)
    options = form.pop("options", None)
    if options is not None:
        form["options"] = [_option(option) for option in options]
    return form


def _option(option: Any) -> Any:
    if isinstance(option, str):
        return option
    if isinstance(option, dict):
        value = option.get("value")
        return {**option, "value": value, "label": str(option.get("label", value))}
    return {"value": option, "label": str(option)}


def _display_field(field: Any) -> Dict[str, Any]:
    form = as_dict(field)
    form["kind"] = str(form.pop("display_type", None) or form.get("kind") or "text")
    form["port"] = str(form.get("port") or form.get("data_key") or form.get("name") or "")
    form["label"] = form.get("label") or ""
    return form


def as_dict(form: Any) -> Dict[str, Any]:
    if isinstance(form, dict):
        return dict(form)
    if dataclasses.is_dataclass(form) and not isinstance(form, type):
        return dataclasses.asdict(form)
    return {name: value for name, value in vars(form).items() if not name.startswith("_")}
