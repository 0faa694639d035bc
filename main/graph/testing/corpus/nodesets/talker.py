"""Asks a chat model through the app; without one every answer is None."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.llm import get_llm_config
from app.llm.call import llm_complete, vlm_complete


class Say(BaseCanvasNode):
    node_type = "talker__say"
    output_ports = [PortDef("answers", "ANY"), PortDef("is_configured", "BOOL")]

    async def forward(self, inputs, ctx):
        config = get_llm_config("nobody has a profile of this name")
        text = await llm_complete(config, [{"role": "user", "content": "hello"}], system_prompt="be brief")
        seen = await vlm_complete(config, "what is this?", ["iVBORw0KGgo="], detail="low")
        return {"answers": sum(answer is not None for answer in (text, seen)), "is_configured": config is not None}


class TalkerNodeSet(BaseNodeSet):
    name = "talker"

    def get_tools(self):
        return [Say()]
