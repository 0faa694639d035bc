"""An environment for shared processes: its split says what the second step of episode 3 does, every time it is tried."""

import ctypes
import os
import signal
import time

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.components.env_panel import BaseEnvPanel, EnvPanelAction, EnvPanelField, get_env_panel

SPLITS = ["well", "segfaults", "hangs", "hangs_with_lock"]
EPISODES = 24


class World:
    split = SPLITS[0]
    index = 0
    step = 0
    total = 0


def misbehave():
    if World.split == "segfaults":
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(600)
    elif World.split == "hangs":
        time.sleep(600)
    elif World.split == "hangs_with_lock":
        # Called with the interpreter lock held: no other thread of this process runs any more.
        ctypes.PyDLL(None).sleep(600)


class Step(BaseCanvasNode):
    node_type = "crowded__step"
    input_ports = [PortDef("count", "ANY", "")]
    output_ports = [PortDef("count", "ANY", ""), PortDef("done", "BOOL", "")]

    def forward(self, inputs, ctx):
        World.step += 1
        World.total += World.index * World.step
        time.sleep(0.01)
        if World.index == 3 and World.step == 2:
            misbehave()
        return {"count": World.step, "done": World.step >= 10}


class Start(BaseCanvasNode):
    node_type = "crowded__start"
    output_ports = [PortDef("count", "ANY", "")]

    def forward(self, inputs, ctx):
        return {"count": 0}


class Score(BaseCanvasNode):
    node_type = "crowded__score"
    input_ports = [PortDef("trigger", "ANY", "")]
    output_ports = [PortDef("metrics", "METRICS", "")]

    def forward(self, inputs, ctx):
        own = get_env_panel("crowded").index()
        return {"metrics": {"score": World.total, "own_panel": float(own == World.index)}}


class Panel(BaseEnvPanel):
    name = "crowded"
    fields = [EnvPanelField("split", "select", "Split"), EnvPanelField("episode_index", "number", "Episode")]
    actions = [EnvPanelAction("play", "Play", side_effect="run_start")]

    def index(self):
        return World.index

    async def on_load(self):
        episode = {"episode_id": "%s-%d" % (World.split, World.index), "scene_id": "", "instruction": ""}
        values = {"split": World.split, "episode_index": World.index}
        return dict(values, current_episode=episode, episode_count=EPISODES, step_budget=20)

    async def on_field_change(self, name, value):
        setattr(World, "split" if name == "split" else "index", value if name == "split" else int(value))
        return await self.on_load()

    async def on_action(self, name, params):
        World.step = World.total = 0
        return {"ok": True, "side_effect": "run_start"}

    async def get_options(self, field):
        return SPLITS if field == "split" else []


class CrowdedNodeSet(BaseNodeSet):
    name = "crowded"
    parallelism = "replicated"
    shares_process = True
    env_panel = Panel
    server_env = {"AC_TEST_MARK": "@MARK@"}
    deadlines_sec = {"step": 1.5, "reset": 20}

    def get_tools(self):
        return [Start(), Step(), Score()]

    def get_eval_metadata(self):
        counts = {split: EPISODES for split in SPLITS}
        return {"env_name": "crowded", "splits": SPLITS, "episode_counts": counts, "metrics": ["score", "own_panel"]}
