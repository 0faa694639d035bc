"""A batched node: all samples in one call, answers in the same order."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.server.batched_inference import OUTPUTS_KEY, SAMPLES_KEY


class Double(BaseCanvasNode):
    node_type = "gather__double"
    batched = True
    batch_dim = "value"
    input_ports = [PortDef("value", "ANY")]
    output_ports = [PortDef("value", "ANY")]

    async def forward(self, inputs, ctx):
        return {OUTPUTS_KEY: [{"value": 2 * sample["value"]} for sample in inputs[SAMPLES_KEY]]}


class GatherNodeSet(BaseNodeSet):
    name = "gather"

    def get_tools(self):
        return [Double()]
