"""A nodeset that brings a replay parser of its own."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.replay.interface import BaseReplayParser, ReplayEpisode, ReplayStep


class Parser(BaseReplayParser):
    nodeset_name = "replayed"

    def parse(self, episode_log_path):
        step = ReplayStep(step_index=0, frame_url="/frame/0")
        return ReplayEpisode(0, "e0", "go", 1, [step], {"success": 1.0})


class Parse(BaseCanvasNode):
    node_type = "replayed__parse"
    output_ports = [PortDef("steps", "ANY")]

    async def forward(self, inputs, ctx):
        return {"steps": len(Parser().parse("log.jsonl").to_dict()["steps"])}


class ReplayedNodeSet(BaseNodeSet):
    name = "replayed"
    replay_parser = "Parser"

    def get_tools(self):
        return [Parse()]
