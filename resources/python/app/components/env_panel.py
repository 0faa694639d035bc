"""The env panel: how an episode is chosen and an environment is reset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Dict, List, Optional

# Values of EnvPanelField.kind and EnvPanelAction.side_effect.
FieldKind = str
SideEffect = str


@dataclass
class EnvPanelField:
    """`kind`: select, number, text, slider. Options of a select may also come from `get_options`."""

    name: str
    kind: str
    label: str = ""
    options: Optional[List[Any]] = None
    min: Optional[float] = None
    max: Optional[float] = None
    step: Optional[float] = None
    placeholder: Optional[str] = None


@dataclass
class EnvPanelAction:
    """`side_effect`: run_start, run_pause, run_stop, run_step, signal, none."""

    name: str
    label: str = ""
    side_effect: str = "none"
    enabled_when: str = "always"


@dataclass
class EnvPanelInfo:
    name: str
    display_name: str
    fields: List[Dict[str, Any]]
    actions: List[Dict[str, Any]]


class BaseEnvPanel(ABC):
    name: ClassVar[str]
    display_name: ClassVar[str]
    fields: ClassVar[List[EnvPanelField]]
    actions: ClassVar[List[EnvPanelAction]]
    _context: Dict[str, Any] = {}

    def info(self) -> EnvPanelInfo:
        return EnvPanelInfo(
            name=self.name,
            display_name=self.display_name,
            fields=[asdict(entry) for entry in self.fields],
            actions=[asdict(entry) for entry in self.actions],
        )

    @abstractmethod
    async def on_load(self) -> Dict[str, Any]:
        """Current values of every field, `available`, `current_episode`, `episode_count`, `step_budget`, ..."""

    async def on_field_change(self, name: str, value: Any) -> Dict[str, Any]:
        return await self.on_load()

    async def on_action(self, name: str, params: Dict[str, Any]) -> Dict[str, Any]:
        return {"ok": True, "side_effect": "none"}

    async def get_options(self, field: str) -> List[Dict[str, Any]]:
        return []


_env_panels: Dict[str, BaseEnvPanel] = {}


def register_env_panel(panel: BaseEnvPanel) -> None:
    _env_panels[panel.name] = panel


def unregister_env_panel(name: str) -> None:
    _env_panels.pop(name, None)


def get_env_panel(name: str) -> Optional[BaseEnvPanel]:
    """A panel of this process; panels of other nodesets live elsewhere and give None."""
    return _env_panels.get(name)


def list_env_panels() -> List[BaseEnvPanel]:
    return list(_env_panels.values())
