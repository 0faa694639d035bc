"""The env panel as the engine sees it: fields, actions, and one form of state whatever the nodeset returns.

AgentCanvas panels return flat dicts ({split, episode_index, current_episode, ...}); the wire form keeps the values of
the declared fields under `values` and everything else beside them.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List

from .manifest import as_dict

# Applies a function to a value at once, or to what an awaitable gives later.
After = Callable[[Any, Callable[[Any], Any]], Any]
FIELD_KINDS = ("select", "number", "text", "slider")
SIDE_EFFECTS = ("run_start", "run_pause", "run_stop", "run_step", "signal", "none")


def make_panel(nodeset_class: Any) -> Any:
    panel_class = getattr(nodeset_class, "env_panel", None)
    if panel_class is None:
        return None
    panel = panel_class()
    panel._context = {"mode": "local", "server_url": None, "nodeset_name": nodeset_class.name}
    return panel


class PanelMethods:
    """The `panel.*` methods of the host protocol over one panel. `signal_owned` tells the nodeset's own containers."""

    def __init__(self, panel: Any, after: After, signal_owned: Callable[[List[str]], None]) -> None:
        self.panel = panel
        self._after = after
        self._signal_owned = signal_owned

    def info(self) -> Dict[str, Any]:
        return panel_info(self.panel)

    def load(self) -> Any:
        return self._after(self.panel.on_load(), lambda state: panel_state(self.panel, state))

    def change_field(self, name: str, value: Any) -> Any:
        def changed(state: Any) -> Any:
            if isinstance(state, dict):
                self._signal_owned(signals_of(state))
            return panel_state(self.panel, state)

        return self._after(self.panel.on_field_change(name, value), changed)

    def act(self, name: str, values: Dict[str, Any]) -> Any:
        def acted(result: Any) -> Any:
            signals = signals_of(result) if isinstance(result, dict) else []
            if name in ("play", "reset") and "episode_reset" not in signals:
                signals = [*signals, "episode_reset"]
            self._signal_owned(signals)
            return self._after(self.panel.on_load(), lambda state: action_state(self.panel, result, state))

        return self._after(self.panel.on_action(name, values), acted)

    def options(self, name: str) -> Any:
        declared = {as_dict(field)["name"]: as_dict(field).get("options") for field in self.panel.fields}

        def offered(options: Any) -> Any:
            return {"options": list(options) if options else list(declared.get(name) or [])}

        return self._after(self.panel.get_options(name), offered)


def panel_info(panel: Any) -> Dict[str, Any]:
    return {
        "name": getattr(panel, "name", ""),
        "display_name": getattr(panel, "display_name", ""),
        "fields": [_field(field) for field in getattr(panel, "fields", None) or ()],
        "actions": [_action(action) for action in getattr(panel, "actions", None) or ()],
    }


def _field(field: Any) -> Dict[str, Any]:
    form = {name: value for name, value in as_dict(field).items() if value is not None}
    form["kind"] = form.get("kind") if form.get("kind") in FIELD_KINDS else "text"
    form["label"] = form.get("label") or form["name"]
    return form


def _action(action: Any) -> Dict[str, Any]:
    form = {name: value for name, value in as_dict(action).items() if value is not None}
    form["label"] = form.get("label") or form["name"]
    effect = form.get("side_effect")
    form["side_effect"] = effect if effect in SIDE_EFFECTS else "none"
    return form


def panel_state(panel: Any, raw: Any) -> Dict[str, Any]:
    """`raw` is what on_load or on_field_change returned."""
    if not isinstance(raw, dict):
        raise TypeError(f"{type(panel).__name__} returned {type(raw).__name__}; a panel's state is a dict")
    state = dict(raw)
    declared = [as_dict(field)["name"] for field in getattr(panel, "fields", None) or ()]
    values = dict(state.pop("values", None) or {})
    for name in declared:
        if name in state:
            values[name] = state.pop(name)
    available = state.pop("available", True)
    state.update(
        available=bool(available),
        message=_text(state.get("message")),
        error=_text(state.get("error")),
        values={name: values[name] for name in [*declared, *values] if name in values},
        current_episode=_episode(state.get("current_episode")),
        episode_count=_whole(state.get("episode_count")),
        step_budget=_whole(state.get("step_budget")),
    )
    signals = signals_of(raw)
    if signals:
        state["signals"] = signals
    return state


def action_state(panel: Any, result: Any, raw: Any) -> Dict[str, Any]:
    """State after an action: what on_load says then, with the action's own outcome laid over it."""
    state = panel_state(panel, raw)
    outcome = result if isinstance(result, dict) else {}
    if outcome.get("ok") is False or outcome.get("error"):
        state["error"] = _text(outcome.get("error") or outcome.get("message") or "the action was refused")
    elif outcome.get("message"):
        state["message"] = _text(outcome["message"])
    if outcome.get("side_effect") in SIDE_EFFECTS:
        state["side_effect"] = outcome["side_effect"]
    signals = signals_of(outcome) + [name for name in state.pop("signals", []) if name not in signals_of(outcome)]
    state["signals"] = signals
    return state


def signals_of(outcome: Dict[str, Any]) -> List[str]:
    if outcome.get("side_effect") == "signal" and outcome.get("signal_name"):
        return [str(outcome["signal_name"])]
    return [str(name) for name in outcome.get("signals") or ()]


def _episode(episode: Any) -> Any:
    if not isinstance(episode, dict) or not episode:
        return None
    form = dict(episode)
    form["episode_id"] = _text(form.get("episode_id", form.get("instr_id")))
    form["scene_id"] = _text(form.get("scene_id", form.get("scan")))
    form["instruction"] = _text(form.get("instruction"))
    return form


def _text(value: Any) -> Any:
    return None if value is None or value == "" else str(value)


def _whole(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        return None
