"""Actions by number and name, and the names of the wire types."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.standard.actions import ACTION_NAMES
from app.standard.wire_types import ANY, BOOL, CONTROL, DEPTH, DISCRETE_ACTION, IMAGE, METRICS, POSE, TEXT


class Named(BaseCanvasNode):
    node_type = "moves__named"
    input_ports = [PortDef("action", DISCRETE_ACTION)]
    output_ports = [PortDef("name", TEXT), PortDef("known", ANY), PortDef("types", ANY)]

    async def forward(self, inputs, ctx):
        names = {ANY, BOOL, CONTROL, DEPTH, DISCRETE_ACTION, IMAGE, METRICS, POSE, TEXT}
        return {"name": ACTION_NAMES[inputs["action"]], "known": len(ACTION_NAMES), "types": len(names)}


class MovesNodeSet(BaseNodeSet):
    name = "moves"

    def get_tools(self):
        return [Named()]
