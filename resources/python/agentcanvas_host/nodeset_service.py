"""Hot path (`forward`). The methods of the host protocol over one nodeset in this process.

A method gives its result, or a coroutine when user code really waits; whoever calls decides how to run that. What
belongs to an execution is kept until `execution.end` and not a moment longer.
"""

from __future__ import annotations

import platform
from typing import Any, Callable, Dict, List, Optional, Tuple

from .containers import OwnedContainer, build_owned
from .context import Ask, NodeContext, NodeSession, current_session, log_pairs
from .coroutines import EventLoop, finishes_at_once, is_coroutine
from .errors import HostError
from .fire_lists import aggregate_results, fire_list_form
from .manifest import build_manifest, node_type_of
from .packages import installed_packages
from .panel import PanelMethods, make_panel

SAMPLES = "_samples"
OUTPUTS = "_outputs"
Params = Dict[str, Any]


class NodesetService:
    def __init__(
        self, load_class: Callable[[], Any], loop: EventLoop, ask: Ask, sessions: Optional[Dict[int, NodeSession]] = None
    ) -> None:
        """`sessions`: those of this process that the engine gave a handle."""
        self.slot = 0
        self._load_class = load_class
        self._sessions = {} if sessions is None else sessions
        self._loop = loop
        self._ask = ask
        self._nodeset: Any = None
        self._panel: Optional[PanelMethods] = None
        self._tools: Dict[str, Any] = {}
        self._owned: Dict[str, OwnedContainer] = {}
        # Execution, then node id and type: the children of a fire list may carry the id of their spawner.
        self._executions: Dict[str, Dict[Tuple[str, str], NodeSession]] = {}
        self._steps: Dict[str, int] = {}
        self._prepared: List[Any] = []
        self._current: Optional[NodeSession] = None
        self._waiting: Dict[int, NodeSession] = {}
        self._methods: Dict[str, Callable[[Params], Any]] = {
            "hello": lambda params: self.hello(),
            "manifest": lambda params: self.manifest(),
            "initialize": lambda params: self.initialize(),
            "eval_metadata": lambda params: self.eval_metadata(),
            "panel.info": lambda params: self._env_panel().info(),
            "panel.load": lambda params: self._env_panel().load(),
            "panel.field": lambda params: self._env_panel().change_field(params["name"], params.get("value")),
            "panel.action": lambda params: self._env_panel().act(params["name"], params.get("values") or {}),
            "panel.options": lambda params: self._env_panel().options(params["name"]),
            "node.batch": self._batch,
            "node.aggregate": self._aggregate,
            "execution.end": self._end_execution,
            "shutdown": lambda params: self.shutdown(),
        }

    def serve(self, method: str, params: Params, call_id: int) -> Any:
        """The result of one call, or a coroutine that will give it."""
        if method == "node.forward":
            return self._forward(params, call_id)
        handler = self._methods.get(method)
        if handler is None:
            raise HostError("unsupported", f"this host has no method '{method}'")
        return handler(params)

    def cancel(self, call_id: int) -> None:
        session = self._waiting.get(call_id) or self._current
        if session is not None and session.call_id == call_id:
            session.context.cancelled = True

    def current_session(self) -> Optional[NodeSession]:
        """The session of the firing that began last."""
        return self._current

    # Loading

    def nodeset(self) -> Any:
        if self._nodeset is None:
            kind = self._load_class()
            self._nodeset = kind()
            self._tools = {node_type_of(tool): tool for tool in self._nodeset.get_tools()}
            containers = getattr(self._nodeset, "get_containers", list)() or []
            self._owned = {container.container_id: container for container in map(build_owned, containers)}
            panel = make_panel(kind)
            self._panel = None if panel is None else PanelMethods(panel, self._after, self._signal_owned)
            _announce(self._nodeset, panel)
        return self._nodeset

    def _env_panel(self) -> PanelMethods:
        nodeset = self.nodeset()
        if self._panel is None:
            raise HostError("unsupported", f"nodeset '{nodeset.name}' has no env panel")
        return self._panel

    def hello(self) -> Any:
        return {
            "features": [],
            "language": "python",
            "version": platform.python_version(),
            "packages": installed_packages(),
        }

    def manifest(self) -> Any:
        nodeset = self.nodeset()
        containers = getattr(nodeset, "get_containers", list)() or []
        return build_manifest(nodeset, list(self._tools.values()), containers)

    def initialize(self) -> Any:
        return self._after(self.nodeset().initialize(), lambda _: {})

    def eval_metadata(self) -> Any:
        describe = getattr(self.nodeset(), "get_eval_metadata", None)
        return None if describe is None else self._after(describe(), lambda metadata: dict(metadata) if metadata else None)

    def shutdown(self) -> Any:
        if self._nodeset is None:
            return {}

        async def stop() -> Any:
            for tool in self._prepared:
                await _settled(tool.shutdown())
            await _settled(self._nodeset.shutdown())
            return {}

        return stop()

    # Firing

    def _forward(self, params: Params, call_id: int) -> Any:
        nodes = self._executions.get(params["exec"])
        session = nodes.get((params["node"], params["type"])) if nodes is not None else None
        if session is None or "config" in params:
            session = self._open_session(params, session)
        return self.fire(session, call_id, params.get("step", 0), params.get("seed", 0), params.get("inputs") or {})

    def fire(self, session: NodeSession, call_id: int, step: int, seed: int, inputs: Dict[str, Any]) -> Any:
        """As `serve`, of a node whose session is open."""
        tool = session.tool
        context = session.context
        context.step = step
        context.seed = seed
        context.cancelled = False
        session.call_id = call_id
        if session.log:
            session.log = []
        if self._owned:
            self._note_step(context.execution_id, step)
        tool.config = session.config
        tool.node_id = context.node_id
        tool._log_buffer = session.log
        if session.batched:
            inputs = {SAMPLES: [inputs]}
        self._current = session
        result = session.forward(inputs, context)
        if type(result) is dict or not is_coroutine(result):
            return self._fired(session, result)
        if finishes_at_once(result):
            return self._fired(session, self._loop.run_at_once(result))
        self._waiting[call_id] = session
        return self._fire_later(session, result, call_id)

    async def _fire_later(self, session: NodeSession, coroutine: Any, call_id: int) -> Any:
        current_session.set(session)
        try:
            return self._fired(session, await coroutine)
        finally:
            self._waiting.pop(call_id, None)

    def _fired(self, session: NodeSession, result: Any) -> Any:
        if type(result) is not dict:
            result = self._unusual_result(session, result)
        elif session.batched and OUTPUTS in result:
            result = {"outputs": _outputs_of(session.tool, result, 1)[0]}
        else:
            result = {"outputs": result}
        entries = session.log
        if not entries and session.own_log is not None:
            entries = session.own_log()
        if entries:
            result["log"] = log_pairs(entries)
        if session.context._signals:
            result["signals"] = signals = session.context.take_signals()
            self._signal_owned(signals)
        return result

    def _unusual_result(self, session: NodeSession, result: Any) -> Any:
        if result is None:
            return {"outputs": {}}
        if isinstance(result, dict):
            return {"outputs": dict(result)}
        if type(result).__name__ == "FireList":
            session.fire_list = result
            return fire_list_form(result)
        kind = type(session.tool).__name__
        raise TypeError(f"{kind}.forward returned {type(result).__name__}; return a dict with one member per output port")

    def _open_session(self, params: Params, known: Optional[NodeSession]) -> NodeSession:
        session = known
        if session is None:
            if "config" not in params:
                raise HostError(
                    "protocol_error",
                    f"node '{params['node']}' was called without its config in an execution this host does not know",
                )
            tool = self._tool(params["type"])
            self._prepare(tool)
            session = NodeSession(tool, NodeContext(params["exec"], params["node"], {}), self._ask)
            self._executions.setdefault(params["exec"], {})[params["node"], params["type"]] = session
        handle = params.get("handle")
        if handle is not None and handle != session.handle:
            self._sessions.pop(session.handle, None)
            self._sessions[handle] = session
            session.handle, session.service = handle, self
        session.config = params.get("config") or {}
        session.grant(params.get("grants") or [], self._owned)
        return session

    def _prepare(self, tool: Any) -> None:
        """A tool's own `initialize` runs once, before its first firing."""
        if any(tool is prepared for prepared in self._prepared):
            return
        self._prepared.append(tool)
        prepare = getattr(tool, "initialize", None)
        started = prepare() if prepare is not None else None
        if is_coroutine(started):
            if not finishes_at_once(started):
                raise HostError(
                    "unsupported",
                    f"{type(tool).__name__}.initialize waits; do slow work in the nodeset's initialize",
                )
            self._loop.run_at_once(started)

    def _tool(self, node_type: str) -> Any:
        self.nodeset()
        tool = self._tools.get(node_type)
        if tool is None:
            known = ", ".join(self._tools)
            raise HostError("unknown_node_type", f"this nodeset has no node '{node_type}' (it has {known})")
        return tool

    def declared_outputs(self, node_type: str) -> List[str]:
        """Names of the output ports; empty for a node that this nodeset does not have."""
        tool = self._tools.get(node_type)
        return [port.name for port in getattr(tool, "output_ports", None) or ()]

    def _batch(self, params: Params) -> Any:
        tool = self._tool(params["type"])
        samples = params["samples"]
        self._prepare(tool)
        tool.config = params.get("config") or {}
        context = NodeContext("", "", dict(self._owned))
        result = tool.forward({SAMPLES: samples}, context)
        return self._after(result, lambda outputs: {"outputs": _outputs_of(tool, outputs, len(samples))})

    def _aggregate(self, params: Params) -> Any:
        session = self._executions.get(params["exec"], {}).get((params["node"], params["type"]))
        if session is None or session.fire_list is None:
            raise HostError("protocol_error", "node.aggregate was called for a node that returned no fire list")
        fire_list, session.fire_list = session.fire_list, None
        return {"outputs": aggregate_results(session.tool, fire_list, params["results"])}

    # Executions and signals

    def _end_execution(self, params: Params) -> Any:
        nodes = self._executions.pop(params["exec"], None)
        self._steps.pop(params["exec"], None)
        if nodes is not None:
            for session in nodes.values():
                self._sessions.pop(session.handle, None)
            self._signal_owned(["run_end"])
            ended = getattr(self._nodeset, "execution_end", None)
            if ended is not None:
                return self._after(ended(params["exec"]), lambda _: {})
        return {}

    def _note_step(self, execution_id: str, step: int) -> None:
        if self._steps.get(execution_id, step) != step:
            self._signal_owned(["step_end"])
        self._steps[execution_id] = step

    def _signal_owned(self, names: List[str]) -> None:
        for container in self._owned.values():
            for name in names:
                container.on_signal(name)

    # Waiting

    def _after(self, value: Any, use: Callable[[Any], Any]) -> Any:
        """`use` at once where user code does not wait, else a coroutine."""
        if not is_coroutine(value):
            return use(value)
        if finishes_at_once(value):
            return use(self._loop.run_at_once(value))
        return _use_later(value, use)


async def _use_later(value: Any, use: Callable[[Any], Any]) -> Any:
    used = use(await value)
    return await used if is_coroutine(used) else used


async def _settled(value: Any) -> Any:
    return await value if is_coroutine(value) else value


def _outputs_of(tool: Any, result: Any, expected: int) -> List[Any]:
    outputs = result.get(OUTPUTS) if isinstance(result, dict) else None
    if not isinstance(outputs, (list, tuple)) or len(outputs) != expected:
        got = f"{len(outputs)}" if isinstance(outputs, (list, tuple)) else type(result).__name__
        raise ValueError(
            f"batched node {type(tool).__name__} got {expected} samples and returned {got}; "
            f"return {{'{OUTPUTS}': [one dict per sample, in order]}}"
        )
    return list(outputs)


def _announce(nodeset: Any, panel: Any) -> None:
    """Makes the nodeset reachable under the names AgentCanvas uses (`get_env_panel`, `get_services`)."""
    from app.components.env_panel import register_env_panel
    from app.state import get_services

    get_services().workspace_component_registry._live_nodesets[nodeset.name] = nodeset
    if panel is not None:
        register_env_panel(panel)
