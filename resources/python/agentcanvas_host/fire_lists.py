"""Fire lists of AgentCanvas in the wire form, and the collapse of their results.

A plain recipe is applied by the engine. Everything beyond it (renamed or filtered results, outputs of the spawner
itself, an aggregate method) is collapsed here, in `node.aggregate`, with AgentCanvas's meaning.
"""

from __future__ import annotations

from typing import Any, Dict, List

PLAIN_RECIPES = ("passthrough_last", "passthrough_index", "merge_all")


def fire_list_form(fire_list: Any) -> Dict[str, Any]:
    recipe = dict(fire_list.aggregator or {})
    plain = (
        recipe.get("kind") in PLAIN_RECIPES
        and not fire_list.spawner_outputs
        and all(spec.capture_outputs is None for spec in fire_list.specs)
        and len(fire_list.specs) > 0
    )
    named: Dict[str, Any] = {"name": recipe["kind"] if plain else "own"}
    if plain and "index" in recipe:
        named["index"] = recipe["index"]
    children = [
        {
            "node_type": spec.node_type,
            "inputs": spec.inputs,
            "config": spec.config,
            "label": spec.label,
            "capture_outputs": True,
        }
        for spec in fire_list.specs
    ]
    return {"fire_list": children, "recipe": named}


def aggregate_results(tool: Any, fire_list: Any, results: List[Any]) -> Dict[str, Any]:
    kept = []
    for spec, result in zip(fire_list.specs, results):
        wanted = spec.capture_outputs
        kept.append(result if wanted is None else {name: result[name] for name in wanted if name in result})
    recipe = fire_list.aggregator
    collapsed = _apply(recipe, kept) if recipe else tool.aggregate(kept)
    if not isinstance(collapsed, dict):
        raise TypeError(f"{type(tool).__name__}.aggregate returned {type(collapsed).__name__}; return a dict of outputs")
    return {**fire_list.spawner_outputs, **collapsed}


def _apply(recipe: Dict[str, Any], results: List[Dict[str, Any]]) -> Dict[str, Any]:
    kind = recipe.get("kind")
    if kind == "passthrough_last":
        return dict(results[-1]) if results else {}
    if kind == "passthrough_index":
        index = int(recipe.get("index", 0))
        return dict(results[index]) if -len(results) <= index < len(results) else {}
    if kind == "merge_all":
        return {name: value for result in results for name, value in result.items()}
    if kind == "rename":
        inner = _apply(recipe.get("inner") or {"kind": "passthrough_last"}, results)
        if recipe.get("from") in inner:
            inner[recipe["to"]] = inner.pop(recipe["from"])
        return inner
    raise ValueError(f"unknown aggregator {kind!r}; known: {', '.join(PLAIN_RECIPES)}, rename")
