"""Definitions of state containers, as nodesets declare those they own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List


@dataclass
class StateDef:
    """`type`: accumulator, lastWrite, counter. `lifetime`: forever, step, episode, run, custom (then `reset_on`)."""

    type: str
    value_type: str = "ANY"
    config: Dict[str, Any] = field(default_factory=dict)
    lifetime: str = "forever"
    reset_on: List[str] = field(default_factory=list)

    def to_dict(self) -> Dict[str, Any]:
        form: Dict[str, Any] = {"type": self.type, "value_type": self.value_type}
        if self.config:
            form["config"] = self.config
        if self.lifetime != "forever":
            form["lifetime"] = self.lifetime
        if self.reset_on:
            form["reset_on"] = list(self.reset_on)
        return form

    @classmethod
    def from_dict(cls, form: Dict[str, Any]) -> "StateDef":
        return cls(
            type=form.get("type", "lastWrite"),
            value_type=form.get("value_type", "ANY"),
            config=form.get("config", {}),
            lifetime=form.get("lifetime", "forever"),
            reset_on=list(form.get("reset_on", [])),
        )


@dataclass
class ContainerDef:
    id: str
    label: str = ""
    position: Dict[str, float] = field(default_factory=lambda: {"x": 0.0, "y": 0.0})
    states: Dict[str, StateDef] = field(default_factory=dict)

    def to_dict(self) -> Dict[str, Any]:
        states = {name: state if isinstance(state, dict) else state.to_dict() for name, state in self.states.items()}
        return {"id": self.id, "label": self.label, "position": self.position, "states": states}

    @classmethod
    def from_dict(cls, form: Dict[str, Any]) -> "ContainerDef":
        states = {
            name: StateDef.from_dict(state) if isinstance(state, dict) else state
            for name, state in form.get("states", {}).items()
        }
        position = form.get("position", {"x": 0.0, "y": 0.0})
        return cls(id=form["id"], label=form.get("label", ""), position=position, states=states)
