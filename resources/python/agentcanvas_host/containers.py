"""State containers: those a nodeset owns (kept here, by reference) and those of the graph (asked from the engine).

Both have the same face: read(name, key), write(name, value, key), evict(key). Semantics as in the graph format:
accumulator appends, lastWrite replaces, counter adds; keyed partitions begin at the initial value.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Dict, Iterable, List, Optional, Set

SIGNALS_OF_LIFETIME: Dict[str, List[str]] = {
    "forever": [],
    "step": ["step_end"],
    "episode": ["episode_reset"],
    "run": ["run_end"],
}
EMPTY_VALUES: Dict[str, Any] = {"accumulator": [], "counter": 0, "lastWrite": None}


class OwnedState:
    """One named state: a reducer, its value, and the value of every key."""

    def __init__(self, reducer: str, config: Dict[str, Any], reset_on: Iterable[str]) -> None:
        self._reducer = reducer if reducer in EMPTY_VALUES else "lastWrite"
        self._max_size = config.get("max_size")
        initial = config.get("initial_value")
        self._initial = EMPTY_VALUES[self._reducer] if initial is None else initial
        self.reset_on = frozenset(reset_on)
        self._value = copy.deepcopy(self._initial)
        self._keyed: Dict[str, Any] = {}

    def read(self, key: Optional[str] = None) -> Any:
        if key is None:
            return self._value
        return self._keyed[key] if key in self._keyed else copy.deepcopy(self._initial)

    def write(self, data: Any, key: Optional[str] = None) -> None:
        if key is None:
            self._value = self._reduced(self._value, data)
        else:
            self._keyed[key] = self._reduced(self.read(key), data)

    def evict(self, key: str) -> None:
        self._keyed.pop(key, None)

    def clear(self) -> None:
        self._value = copy.deepcopy(self._initial)
        self._keyed.clear()

    def _reduced(self, old: Any, data: Any) -> Any:
        if self._reducer == "counter":
            return old + data
        if self._reducer == "lastWrite":
            return data
        old.append(data)
        return old[-self._max_size :] if self._max_size is not None and len(old) > self._max_size else old


class OwnedContainer:
    """A container of this nodeset; it lives in this process and may hold anything."""

    def __init__(self, container_id: str, label: str, states: Dict[str, OwnedState]) -> None:
        self.container_id = container_id
        self.label = label
        self.states = states

    def read(self, name: str, key: Optional[str] = None) -> Any:
        return self._state(name).read(key)

    def write(self, name: str, data: Any, key: Optional[str] = None) -> None:
        self._state(name).write(data, key)

    def evict(self, key: str) -> None:
        for state in self.states.values():
            state.evict(key)

    def on_signal(self, name: str, payload: Optional[Dict[str, Any]] = None) -> None:
        for state in self.states.values():
            if name in state.reset_on:
                state.clear()

    def _state(self, name: str) -> OwnedState:
        state = self.states.get(name)
        if state is None:
            known = ", ".join(self.states) or "none"
            raise KeyError(f"container '{self.container_id}' has no state '{name}' (declared: {known})")
        return state


def build_owned(definition: Any) -> OwnedContainer:
    """From a ContainerDef, or from its dict form."""
    form = definition if isinstance(definition, dict) else definition.to_dict()
    states = {}
    for name, state in (form.get("states") or {}).items():
        lifetime = state.get("lifetime") or "forever"
        signals = state.get("reset_on") or [] if lifetime == "custom" else SIGNALS_OF_LIFETIME.get(lifetime, [])
        states[name] = OwnedState(state.get("type", "lastWrite"), state.get("config") or {}, signals)
    return OwnedContainer(form["id"], form.get("label", ""), states)


class GrantedContainer:
    """A container of the graph; every access asks the engine and waits."""

    # Container id -> states this process has used with a key; AgentCanvas's evict names no state.
    _keyed_states: Dict[str, Set[str]] = {}

    def __init__(self, container_id: str, ask: Callable[[str, Dict[str, Any]], Any]) -> None:
        self.container_id = container_id
        self._ask = ask

    def _note_key(self, name: str, key: Optional[str]) -> None:
        if key is not None:
            self._keyed_states.setdefault(self.container_id, set()).add(name)

    def read(self, name: str, key: Optional[str] = None) -> Any:
        self._note_key(name, key)
        answer = self._ask("container.read", {"container": self.container_id, "state": name, "key": key})
        return answer.get("value") if isinstance(answer, dict) else None

    def write(self, name: str, data: Any, key: Optional[str] = None) -> None:
        self._note_key(name, key)
        self._ask("container.write", {"container": self.container_id, "state": name, "key": key, "value": data})

    def evict(self, key: str, name: Optional[str] = None) -> None:
        """Without a name: the key's part of every state that this process has used with a key."""
        names = [name] if name is not None else sorted(self._keyed_states.get(self.container_id, ()))
        for state in names:
            self._ask("container.evict", {"container": self.container_id, "state": state, "key": key})
