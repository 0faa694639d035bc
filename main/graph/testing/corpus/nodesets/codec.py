"""Values through AgentCanvas's serialization and back."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.server.serialization import deserialize_value, serialize_value


class RoundTrip(BaseCanvasNode):
    node_type = "codec__round_trip"
    output_ports = [PortDef("same", "BOOL"), PortDef("count", "ANY")]

    async def forward(self, inputs, ctx):
        values = [1, 1.5, "text", None, True, [1, 2], {"a": {"b": [3]}}]
        back = [deserialize_value(serialize_value(value, "ANY"), "ANY") for value in values]
        return {"same": back == values, "count": len(back)}


class CodecNodeSet(BaseNodeSet):
    name = "codec"

    def get_tools(self):
        return [RoundTrip()]
