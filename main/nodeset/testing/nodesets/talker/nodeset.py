"""A shared nodeset in Python: one server process for all workers."""

import os
import signal

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.server.batched_inference import OUTPUTS_KEY, SAMPLES_KEY


class StopExecution(Exception):
    """Ends the run as a normal end, by its name."""


class Say(BaseCanvasNode):
    node_type = "talker__say"
    display_name = "Say"
    input_ports = [PortDef("word", "TEXT", "")]
    output_ports = [PortDef("pid", "ANY", "")]
    default_config = {"loud": False}

    async def forward(self, inputs, ctx):
        word = inputs["word"]
        if word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "stop":
            raise StopExecution("said enough")
        if word == "leave":
            os._exit(4)
        return {"pid": os.getpid(), "word": word, "loud": self.config.get("loud")}


class Shout(BaseCanvasNode):
    node_type = "talker__shout"
    batched = True
    batch_dim = "word"
    input_ports = [PortDef("word", "TEXT", "")]
    output_ports = [PortDef("loud", "TEXT", "")]

    async def forward(self, inputs, ctx):
        samples = inputs[SAMPLES_KEY]
        results = [{"loud": sample["word"].upper(), "of": len(samples), "pid": os.getpid()} for sample in samples]
        return {OUTPUTS_KEY: results}


class TalkerNodeSet(BaseNodeSet):
    name = "talker"
    description = "Talks"
    parallelism = "shared"
    server_env = {"TALKER": "yes"}

    def get_tools(self):
        return [Say(), Shout()]
