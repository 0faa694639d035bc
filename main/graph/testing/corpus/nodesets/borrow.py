"""A nodeset beside kit, in a process of its own."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef


class Read(BaseCanvasNode):
    node_type = "borrow__read"
    input_ports = [PortDef("trigger", "ANY", optional=True)]
    output_ports = [PortDef("value", "ANY")]

    async def forward(self, inputs, ctx):
        return {"value": ctx.containers["mem"].read("s")}


class BorrowNodeSet(BaseNodeSet):
    name = "borrow"

    def get_tools(self):
        return [Read()]
