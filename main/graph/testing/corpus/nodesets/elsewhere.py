"""In an environment of its own where that exists, else where everybody is."""

import os

from app.components import BaseCanvasNode, BaseNodeSet, PortDef, conda_env_python


class Where(BaseCanvasNode):
    node_type = "elsewhere__where"
    output_ports = [PortDef("is_set", "BOOL")]

    async def forward(self, inputs, ctx):
        return {"is_set": os.environ.get("ELSEWHERE_MODE") == "plain"}


class ElsewhereNodeSet(BaseNodeSet):
    name = "elsewhere"
    server_python = conda_env_python("no-such-environment", "ELSEWHERE_PYTHON")
    server_env = {"ELSEWHERE_MODE": "plain"}

    def get_tools(self):
        return [Where()]
