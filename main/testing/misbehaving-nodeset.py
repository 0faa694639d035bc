"""An environment whose split says what goes wrong in episode 1, most of it in the second step; the others are well-behaved."""

import ctypes
import os
import signal
import subprocess
import sys
import time

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.components.env_panel import BaseEnvPanel, EnvPanelAction, EnvPanelField

SPLITS = [
    "prints_a_gigabyte",
    "invalid_utf8",
    "prints_from_c",
    "forks",
    "ignores_sigterm",
    "segfaults",
    "raises_in_reset",
    "returns_garbage",
]


class World:
    split = SPLITS[0]
    index = 0
    step = 0


def print_a_gigabyte():
    lines = memoryview((b"x" * 999 + b"\n") * 1000)
    for _ in range(1000):
        left = lines
        while left:
            left = left[os.write(1, left) :]


def misbehave():
    print("last words of", World.split, file=sys.stderr, flush=True)
    if World.split == "invalid_utf8":
        os.write(1, b"\xff\xfe broken \xc3( text\n\xf0\x9f\n")
    elif World.split == "prints_from_c":
        os.write(1, b"written to descriptor 1\n" * 1000)
        libc = ctypes.CDLL(None)
        libc.puts(b"written by C")
        libc.fflush(None)
    elif World.split == "forks":
        for _ in range(2):
            if os.fork() == 0:
                os.setsid()
                time.sleep(600)
                os._exit(0)
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        time.sleep(0.3)
    elif World.split == "ignores_sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    elif World.split == "segfaults":
        ctypes.string_at(0)
    elif World.split == "returns_garbage":
        return 42
    os.write(1, ("last words of %s\n" % World.split).encode())
    return None


class Step(BaseCanvasNode):
    node_type = "misbehaving__step"
    input_ports = [PortDef("count", "ANY", "")]
    output_ports = [PortDef("count", "ANY", ""), PortDef("done", "BOOL", "")]

    def forward(self, inputs, ctx):
        World.step += 1
        if World.index == 1 and World.step == 2:
            garbage = misbehave()
            if garbage is not None:
                return garbage
        return {"count": World.step, "done": World.step >= 3}


class Start(BaseCanvasNode):
    node_type = "misbehaving__start"
    output_ports = [PortDef("count", "ANY", "")]

    def forward(self, inputs, ctx):
        return {"count": 0}


class Score(BaseCanvasNode):
    node_type = "misbehaving__score"
    input_ports = [PortDef("trigger", "ANY", "")]
    output_ports = [PortDef("metrics", "METRICS", "")]

    def forward(self, inputs, ctx):
        return {"metrics": {"success": 1}}


class Panel(BaseEnvPanel):
    name = "misbehaving"
    fields = [EnvPanelField("split", "select", "Split"), EnvPanelField("episode_index", "number", "Episode")]
    actions = [EnvPanelAction("play", "Play", side_effect="run_start")]

    async def on_load(self):
        episode = {"episode_id": "%s-%d" % (World.split, World.index), "scene_id": "", "instruction": ""}
        values = {"split": World.split, "episode_index": World.index}
        return dict(values, current_episode=episode, episode_count=2, step_budget=10)

    async def on_field_change(self, name, value):
        setattr(World, "split" if name == "split" else "index", value if name == "split" else int(value))
        return await self.on_load()

    async def on_action(self, name, params):
        World.step = 0
        if World.split == "prints_a_gigabyte" and World.index == 1:
            print_a_gigabyte()
        if World.split == "raises_in_reset" and World.index == 1:
            print("last words of", World.split, file=sys.stderr, flush=True)
            raise RuntimeError("the scene cannot be loaded")
        return {"ok": True, "side_effect": "run_start"}

    async def get_options(self, field):
        return SPLITS if field == "split" else []


class MisbehavingNodeSet(BaseNodeSet):
    name = "misbehaving"
    parallelism = "replicated"
    env_panel = Panel
    server_env = {"AC_TEST_MARK": "@MARK@"}
    deadlines_sec = {"step": 5, "reset": 60}

    def get_tools(self):
        return [Start(), Step(), Score()]

    def get_eval_metadata(self):
        counts = {split: 2 for split in SPLITS}
        return {"env_name": "misbehaving", "splits": SPLITS, "episode_counts": counts, "metrics": ["success"]}
