"""Reaches for something of AgentCanvas's server that no host has."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.server.scheduler import JobScheduler


class Plan(BaseCanvasNode):
    node_type = "reaches__plan"
    output_ports = [PortDef("job", "ANY")]

    async def forward(self, inputs, ctx):
        return {"job": JobScheduler()}


class ReachesNodeSet(BaseNodeSet):
    name = "reaches"

    def get_tools(self):
        return [Plan()]
