"""Base classes of nodes and nodesets, with the members AgentCanvas's have.

Invariant: `config` and the log of a node belong to the firing that runs now, also when firings of one tool interleave.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Dict, List, Optional, Tuple

from agentcanvas_host.context import current_session


@dataclass
class PortDef:
    """An input or output of a node. `wire_type` may be `LIST[T]` on inputs."""

    name: str
    wire_type: str = "ANY"
    description: str = ""
    optional: bool = False


@dataclass
class ConfigField:
    """A control on the node. `field_type`: label, slider, text, select, toggle, textarea, number, port_list."""

    name: str
    field_type: str
    label: str = ""
    default: Any = None
    min: Optional[float] = None
    max: Optional[float] = None
    step: Optional[float] = None
    options: Optional[List[Any]] = None
    placeholder: str = ""
    show_persist_toggle: bool = False
    section: str = ""
    on_card: bool = True
    unset_label: str = ""


@dataclass
class DisplayField:
    """What a node shows while it runs. `display_type`: image_viewer, log_list, metric_table."""

    name: str
    display_type: str
    label: str = ""
    data_key: str = ""
    max_visible: int = 10
    accumulate: bool = False


@dataclass
class NodeUIConfig:
    """How the node looks on the canvas."""

    color: str = ""
    layout: str = "block"
    width: str = ""
    min_height: str = ""
    rounding: str = ""
    min_width: str = ""
    max_width: str = ""
    config_fields: List[ConfigField] = field(default_factory=list)
    display_fields: List[DisplayField] = field(default_factory=list)


class BaseCanvasNode(ABC):
    """A node. `forward` takes the values of its input ports and returns those of its output ports."""

    node_type: ClassVar[str]
    display_name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    category: ClassVar[str] = "custom"
    icon: ClassVar[str] = ""
    kind: ClassVar[str] = "block"
    input_ports: ClassVar[List[PortDef]] = []
    output_ports: ClassVar[List[PortDef]] = []
    children: ClassVar[Any] = None
    config_schema: ClassVar[Dict[str, Any]] = {}
    default_config: ClassVar[Dict[str, Any]] = {}
    ui_config: ClassVar[NodeUIConfig] = NodeUIConfig()
    # Opt in to one call for the samples of all workers; `batch_dim` names the input port that carries the sample.
    batched: ClassVar[bool] = False
    batch_dim: ClassVar[str] = ""

    # Used until an instance has its own, so that subclasses need not call super().__init__().
    _own_config: Dict[str, Any] = {}
    _own_log: Optional[List[Dict[str, Any]]] = None
    node_id: str = ""

    def __init__(self) -> None:
        self._own_config = {}
        self.node_id = ""
        self._own_log = []

    @property
    def config(self) -> Dict[str, Any]:
        session = current_session.get()
        return self._own_config if session is None or session.tool is not self else session.config

    @config.setter
    def config(self, config: Dict[str, Any]) -> None:
        self._own_config = config

    @property
    def _log_buffer(self) -> List[Dict[str, Any]]:
        session = current_session.get()
        if session is not None and session.tool is self:
            return session.log
        if self._own_log is None:
            self._own_log = []
        return self._own_log

    @_log_buffer.setter
    def _log_buffer(self, entries: List[Dict[str, Any]]) -> None:
        self._own_log = entries

    def _self_log(self, key: str, value: Any) -> None:
        """One entry of the log of this firing."""
        self._log_buffer.append({"key": key, "value": value})

    def log(self) -> List[Dict[str, Any]]:
        """Entries of the last firing; override to filter or add."""
        return self._log_buffer

    @abstractmethod
    async def forward(self, inputs: Dict[str, Any], ctx: Any) -> Dict[str, Any]:
        """Values of the output ports. A plain `def` is accepted too and costs least."""

    @classmethod
    def _resolve_ports(cls, config: Dict[str, Any]) -> Tuple[List[PortDef], List[PortDef]]:
        return (cls.input_ports, cls.output_ports)

    async def initialize(self) -> None:
        """Once, before the first firing."""

    async def shutdown(self) -> None:
        """Once, before the process ends."""


@dataclass
class FireSpec:
    """One child firing. `capture_outputs` lists the outputs to keep; None keeps all."""

    node_type: str
    inputs: Dict[str, Any] = field(default_factory=dict)
    config: Dict[str, Any] = field(default_factory=dict)
    label: str = ""
    capture_outputs: Optional[List[str]] = None


@dataclass
class FireList:
    """Returned by `forward` instead of outputs: the children fire in order, then their results are collapsed.

    `aggregator` is a recipe ({"kind": "passthrough_last" | "passthrough_index" | "merge_all" | "rename", ...});
    without one the node's own `aggregate` is called. `spawner_outputs` are outputs of the node itself.
    """

    specs: List[FireSpec] = field(default_factory=list)
    spawner_outputs: Dict[str, Any] = field(default_factory=dict)
    aggregator: Dict[str, Any] = field(default_factory=dict)


class DynamicFireListNode(BaseCanvasNode):
    """A node whose `forward` returns a FireList."""

    @abstractmethod
    async def forward(self, inputs: Dict[str, Any], ctx: Any) -> FireList:  # type: ignore[override]
        """The children to fire."""

    def aggregate(self, child_results: List[Dict[str, Any]]) -> Dict[str, Any]:
        """Collapses the children's outputs, in firing order, into this node's outputs."""
        raise NotImplementedError(
            f"{type(self).__name__} returned a FireList without an aggregator and does not define aggregate(); "
            "define it, or set FireList.aggregator, for example {'kind': 'merge_all'}"
        )


def conda_env_python(env_name: str, env_var: str) -> Optional[str]:
    """Interpreter of a conda environment: the variable when set, else `<conda root>/envs/<name>` when it exists."""
    stated = os.environ.get(env_var)
    if stated:
        return stated
    roots = [os.environ.get("CONDA_ROOT"), os.environ.get("MAMBA_ROOT_PREFIX"), _conda_root_of(sys.prefix)]
    executable = os.environ.get("CONDA_EXE")
    if executable:
        roots.append(os.path.dirname(os.path.dirname(executable)))
    for root in filter(None, roots):
        for relative in (("bin", "python"), ("python.exe",)):
            candidate = os.path.join(str(root), "envs", env_name, *relative)
            if os.path.exists(candidate):
                return candidate
    return None


def _conda_root_of(prefix: str) -> str:
    parent = os.path.dirname(prefix)
    return os.path.dirname(parent) if os.path.basename(parent) == "envs" else prefix


class BaseNodeSet(ABC):
    """A group of nodes with one lifecycle."""

    name: ClassVar[str]
    description: ClassVar[str] = ""
    server_python: ClassVar[Optional[str]] = None
    # A container image; then the processes run in Docker unless Settings or the run say otherwise.
    server_image: ClassVar[Optional[str]] = None
    # `local`, `docker` or `ray`.
    server_spawner: ClassVar[Optional[str]] = None
    server_gpu: ClassVar[Any] = None
    server_mounts: ClassVar[Optional[List[str]]] = None
    server_user: ClassVar[Optional[str]] = None
    server_cpus: ClassVar[Optional[float]] = None
    server_resources: ClassVar[Optional[Dict[str, float]]] = None
    # On a cluster: `spread` over the nodes, or `pack`.
    server_placement: ClassVar[Optional[str]] = None
    # `replicated`: one process per worker; `shared`: one for all.
    parallelism: ClassVar[str] = "shared"
    env_panel: ClassVar[Optional[type]] = None
    default_per_step_budget_sec: ClassVar[float] = 30.0
    startup_timeout: ClassVar[float] = 1800
    replay_parser: ClassVar[Optional[str]] = None

    @abstractmethod
    def get_tools(self) -> List[Any]:
        """One instance of every node."""

    def get_containers(self) -> List[Any]:
        """State containers this nodeset owns; they live in its process."""
        return []

    async def initialize(self, **kwargs: Any) -> None:
        """Slow work: loading data or weights."""

    async def shutdown(self) -> None:
        """Releases what initialize took."""

    async def get_eval_metadata(self) -> Dict[str, Any]:
        """env_name, splits, episode_counts, metrics, supports_set_episode, step_budget; empty when it is no environment."""
        return {}
