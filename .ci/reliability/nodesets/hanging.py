"""An environment that hangs where and how HANG_PHASE and HANG_STATE say, once: the file HANG_FLAG remembers it."""

import asyncio
import ctypes
import json
import os
import signal
import subprocess
import time

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.components.env_panel import BaseEnvPanel, EnvPanelAction, EnvPanelField


class World:
    index = 0
    step = 0


def once(suffix):
    """True in the first process that asks, with its pid and that of what it left in the file."""
    try:
        descriptor = os.open(os.environ["HANG_FLAG"] + suffix, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except (FileExistsError, KeyError):
        return False
    pids = [os.getpid()]
    kind = os.environ.get("HANG_GRANDCHILD", "")
    if kind and not suffix:
        pids.append(subprocess.Popen(["sleep", "600"], start_new_session=kind == "setsid").pid)
    os.write(descriptor, json.dumps({"pids": pids, "at": time.time()}).encode())
    os.close(descriptor)
    return True


async def hang(phase):
    if os.environ.get("HANG_PHASE") != phase or not once(""):
        return
    state = os.environ["HANG_STATE"]
    if state == "idle":
        await asyncio.sleep(600)
    elif state == "busy":
        while True:
            pass
    elif state == "native":
        ctypes.PyDLL(None).sleep(600)
    elif state == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)


class Start(BaseCanvasNode):
    node_type = "hanging__start"
    output_ports = [PortDef("count", "ANY", "")]

    def forward(self, inputs, ctx):
        return {"count": 0}


class Step(BaseCanvasNode):
    node_type = "hanging__step"
    input_ports = [PortDef("count", "ANY", "")]
    output_ports = [PortDef("count", "ANY", ""), PortDef("done", "BOOL", "")]

    async def forward(self, inputs, ctx):
        World.step += 1
        if World.index == 1 and World.step == 2:
            if os.environ.get("HANG_PHASE") == "restart" and once("-died"):
                os._exit(7)
            await hang("step")
        return {"count": World.step, "done": World.step >= 3}


class Score(BaseCanvasNode):
    node_type = "hanging__score"
    input_ports = [PortDef("trigger", "ANY", "")]
    output_ports = [PortDef("metrics", "METRICS", "")]

    def forward(self, inputs, ctx):
        return {"metrics": {"success": World.index % 2}}


class Panel(BaseEnvPanel):
    name = "hanging"
    fields = [EnvPanelField("episode_index", "number", "Episode")]
    actions = [EnvPanelAction("play", "Play", side_effect="run_start")]

    async def on_load(self):
        episode = {"episode_id": "e%d" % World.index, "scene_id": "", "instruction": ""}
        values = {"episode_index": World.index}
        return dict(values, current_episode=episode, episode_count=100, step_budget=10)

    async def on_field_change(self, name, value):
        World.index = int(value)
        return await self.on_load()

    async def on_action(self, name, params):
        World.step = 0
        if World.index == 1:
            await hang("reset")
        return {"ok": True, "side_effect": "run_start"}

    async def get_options(self, field):
        return []


class HangingNodeSet(BaseNodeSet):
    name = "hanging"
    parallelism = "replicated"
    env_panel = Panel
    startup_timeout = 4

    async def initialize(self, **kwargs):
        await hang("start")
        if os.environ.get("HANG_PHASE") == "restart" and os.path.exists(os.environ["HANG_FLAG"] + "-died"):
            os.environ["HANG_PHASE"] = "start"
            await hang("start")

    async def shutdown(self):
        await hang("close")

    def get_tools(self):
        return [Start(), Step(), Score()]

    def get_eval_metadata(self):
        return {"env_name": "hanging", "metrics": ["success"]}
