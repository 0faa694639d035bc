"""Counts in a container, for tests of spawners."""

import os
import time

from app.components import BaseCanvasNode, BaseNodeSet, PortDef


class Count(BaseCanvasNode):
    node_type = "crate__count"
    display_name = "Count"
    input_ports = [PortDef("word", "TEXT")]
    output_ports = [PortDef("count", "ANY"), PortDef("pid", "ANY"), PortDef("given", "ANY")]

    def forward(self, inputs, ctx):
        if inputs["word"] == "die":
            os._exit(7)
        if inputs["word"] == "hang":
            time.sleep(600)
        return {"count": len(inputs["word"]), "pid": os.getpid(), "given": os.environ.get("CRATE_GREETING")}


class CrateNodeSet(BaseNodeSet):
    name = "crate"
    description = "Counts"
    parallelism = "replicated"
    server_image = "registry.invalid/crate:1"
    server_gpu = 1
    server_mounts = ["/srv/data:/data:ro"]
    server_user = "1000:1000"
    server_cpus = 2
    server_env = {"CRATE_GREETING": "hello, crate"}

    def get_tools(self):
        return [Count()]
