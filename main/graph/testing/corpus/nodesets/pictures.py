"""Frames as base64 PNG, where numpy is there to make frames of."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.standard.wire_types import depth_to_base64, image_to_base64

try:
    import numpy
except ImportError:
    numpy = None


class Encode(BaseCanvasNode):
    node_type = "pictures__encode"
    output_ports = [PortDef("is_png", "BOOL"), PortDef("is_depth_png", "BOOL")]

    async def forward(self, inputs, ctx):
        if numpy is None:
            return {"is_png": callable(image_to_base64), "is_depth_png": callable(depth_to_base64)}
        frame = numpy.zeros((4, 6, 3), dtype=numpy.uint8)
        depth = numpy.ones((4, 6), dtype=numpy.float32)
        return {
            "is_png": image_to_base64(frame).startswith("iVBORw0KGgo"),
            "is_depth_png": depth_to_base64(depth).startswith("iVBORw0KGgo"),
        }


class PicturesNodeSet(BaseNodeSet):
    name = "pictures"

    def get_tools(self):
        return [Encode()]
