"""A nodeset in AgentCanvas's style that exercises the host."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any, ClassVar

from app.components import (
    BaseCanvasNode,
    BaseNodeSet,
    ConfigField,
    DisplayField,
    DynamicFireListNode,
    FireList,
    FireSpec,
    NodeUIConfig,
    PortDef,
)
from app.components.env_panel import BaseEnvPanel, EnvPanelAction, EnvPanelField, get_env_panel
from app.graph_def import ContainerDef, StateDef
from app.llm import get_llm_config, llm_complete
from app.server.batched_inference import OUTPUTS_KEY, SAMPLES_KEY

LOADED_IN = (os.environ.get("AGENTCANVAS_NONCE"), os.fstat(0).st_rdev, os.getcwd())


class Echo(BaseCanvasNode):
    node_type = "sample__echo"
    display_name = "Echo"
    input_ports = [PortDef("value", "ANY", "Anything", optional=True)]
    output_ports = [PortDef("value", "ANY"), PortDef("type", "TEXT")]
    default_config = {"scale": 2}
    ui_config: ClassVar[NodeUIConfig] = NodeUIConfig(
        color="cyan",
        config_fields=[
            ConfigField("scale", "slider", "Scale", default=2, min=0, max=10, step=1),
            ConfigField("mode", "select", options=[{"value": 1, "label": "one"}, "two"]),
        ],
        display_fields=[DisplayField("view", "image_viewer", data_key="value")],
    )

    async def forward(self, inputs: dict, ctx: Any) -> dict:
        value = inputs.get("value")
        return {"value": value, "type": type(value).__name__}


class About(BaseCanvasNode):
    node_type = "sample__about"
    output_ports = [PortDef("about", "ANY")]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        ctx.count = (ctx.count or 0) + 1
        self._self_log("count", ctx.count)
        ctx.emit_signal("looked")
        return {
            "about": {
                "count": ctx.count,
                "unset": ctx.never_set,
                "step": ctx.step,
                "seed": ctx.seed,
                "config": self.config,
                "node": self.node_id,
                "loaded_in": list(LOADED_IN),
                "lifeline": os.stat("/dev/null").st_rdev,
                "pid": os.getpid(),
            }
        }


class Wait(BaseCanvasNode):
    node_type = "sample__wait"
    input_ports = [PortDef("seconds", "ANY")]
    output_ports = [PortDef("config", "ANY")]

    async def forward(self, inputs: dict, ctx: Any) -> dict:
        before = self.config
        await asyncio.wait_for(asyncio.sleep(inputs["seconds"]), 30)
        self._self_log("node", ctx.node_id)
        assert before is self.config, "config belongs to the firing"
        return {"config": self.config}


class Busy(BaseCanvasNode):
    """Holds the main thread; looks at ctx.cancelled now and then."""

    node_type = "sample__busy"
    output_ports = [PortDef("cancelled", "BOOL")]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        end = time.monotonic() + inputs.get("seconds", 10)
        while time.monotonic() < end and not ctx.cancelled:
            time.sleep(0.02)
        return {"cancelled": ctx.cancelled}


class Memory(BaseCanvasNode):
    node_type = "sample__memory"
    output_ports = [PortDef("values", "ANY")]

    async def forward(self, inputs: dict, ctx: Any) -> dict:
        own = ctx.containers["sample"]
        own.write("count", 1)
        own.write("items", ctx.step, key="k")
        values = {"count": own.read("count"), "items": own.read("items", key="k"), "none": own.read("items", key="z")}
        if "shared" in ctx.containers:
            shared = ctx.containers["shared"]
            shared.write("plan", {"step": ctx.step}, key="a")
            values["shared"] = shared.read("plan", key="a")
            values["in_thread"] = await asyncio.get_running_loop().run_in_executor(None, shared.read, "plan")
        return {"values": values}


class Ask(BaseCanvasNode):
    node_type = "sample__ask"
    output_ports = [PortDef("text", "TEXT")]

    async def forward(self, inputs: dict, ctx: Any) -> dict:
        return {"text": await llm_complete(get_llm_config(), [{"role": "user", "content": inputs["text"]}], "be brief")}


class Policy(BaseCanvasNode):
    node_type = "sample__policy"
    input_ports = [PortDef("x", "ANY")]
    output_ports = [PortDef("y", "ANY")]
    batched = True
    batch_dim = "x"

    async def forward(self, inputs: dict, ctx: Any) -> dict:
        samples = inputs[SAMPLES_KEY]
        if samples[0]["x"] == "short":
            return {OUTPUTS_KEY: []}
        return {OUTPUTS_KEY: [{"y": sample["x"] * self.config.get("scale", 1)} for sample in samples]}


class Spawner(DynamicFireListNode):
    node_type = "sample__spawner"
    output_ports = [PortDef("total", "ANY")]

    async def forward(self, inputs: dict, ctx: Any) -> FireList:
        specs = [FireSpec("sample__echo", {"value": n}, label=f"child {n}", capture_outputs=["value"]) for n in (1, 2)]
        if inputs.get("plain"):
            return FireList([FireSpec("sample__echo", {"value": 5})], aggregator={"kind": "merge_all"})
        if inputs.get("rename"):
            recipe = {"kind": "rename", "from": "value", "to": "total", "inner": {"kind": "passthrough_index", "index": 0}}
            return FireList(specs, spawner_outputs={"plan": "p"}, aggregator=recipe)
        return FireList(specs)

    def aggregate(self, child_results: list) -> dict:
        return {"total": sum(result["value"] for result in child_results), "keys": [list(r) for r in child_results]}


class Trouble(BaseCanvasNode):
    node_type = "sample__trouble"
    input_ports = [PortDef("kind", "TEXT")]
    output_ports = [PortDef("value", "ANY")]

    async def forward(self, inputs: dict, ctx: Any) -> Any:
        kind = inputs["kind"]
        if kind == "raise":
            raise ValueError("no luck")
        if kind == "garbage":
            return 42
        if kind == "unsendable":
            return {"value": object()}
        if kind == "undeclared":
            return {"value": 1, "secret": object()}
        if kind == "exit":
            raise SystemExit(3)
        if kind == "pipe":
            raise BrokenPipeError(32, "a pipe of the environment")
        if kind == "cuda":
            raise RuntimeError("CUDA out of memory. Tried to allocate")
        if kind == "hostile":
            raise HostileError()
        return None


class HostileError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


class SamplePanel(BaseEnvPanel):
    name = "sample"
    display_name = "Sample"
    fields = [EnvPanelField("split", "select", "Split"), EnvPanelField("episode_index", "number", "Episode", min=0)]
    actions = [EnvPanelAction("play", "Play", side_effect="run_start"), EnvPanelAction("reset", "Reset")]

    def __init__(self) -> None:
        self.values = {"split": "train", "episode_index": 0}

    async def on_load(self) -> dict:
        await asyncio.sleep(0)
        index = self.values["episode_index"]
        episode = {"instr_id": index, "scan": "house", "instruction": "go"}
        return {**self.values, "current_episode": episode, "episode_count": 3, "step_budget": 9, "splits": ["train"]}

    async def on_field_change(self, name: str, value: Any) -> dict:
        self.values[name] = value
        state = await self.on_load()
        return {**state, "side_effect": "signal", "signal_name": "episode_reset"}

    async def on_action(self, name: str, params: dict) -> dict:
        if name == "play":
            return {"ok": True, "side_effect": "run_start"}
        if name == "reset":
            return {"ok": True, "side_effect": "signal", "signal_name": "episode_reset"}
        return {"ok": False, "side_effect": "none", "error": f"unknown action {name}"}

    async def get_options(self, field: str) -> list:
        return [{"value": "train", "label": "train"}] if field == "split" else []


class SampleNodeSet(BaseNodeSet):
    name = "sample"
    description = "For tests"
    parallelism = "replicated"
    env_panel = SamplePanel
    default_per_step_budget_sec = 2.0

    def get_tools(self) -> list:
        return [Echo(), About(), Wait(), Busy(), Memory(), Ask(), Policy(), Spawner(), Trouble()]

    def get_containers(self) -> list:
        states = {"count": StateDef("counter", lifetime="episode"), "items": StateDef("accumulator")}
        return [ContainerDef("sample", "Sample", states=states)]

    async def initialize(self, **kwargs: Any) -> None:
        await asyncio.sleep(0)
        assert get_env_panel("sample") is not None
        print("initialised", flush=True)

    async def shutdown(self) -> None:
        print("shut down", flush=True)

    async def get_eval_metadata(self) -> dict:
        return {"env_name": "sample", "splits": ["train"], "episode_counts": {"train": 3}, "metrics": ["success"]}
