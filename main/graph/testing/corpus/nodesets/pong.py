"""An environment with a panel: the ball is at the episode's number; catching it is a success."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.components.env_panel import BaseEnvPanel, EnvPanelAction, EnvPanelField, EnvPanelInfo

COUNTS = {"easy": 4, "hard": 2}


class Table:
    split = "easy"
    episode = 0
    ball = 0
    steps = 0


table = Table()


class Look(BaseCanvasNode):
    node_type = "pong__look"
    output_ports = [PortDef("ball", "ANY")]

    async def forward(self, inputs, ctx):
        return {"ball": table.ball}


class Move(BaseCanvasNode):
    node_type = "pong__move"
    input_ports = [PortDef("ball", "ANY")]
    output_ports = [PortDef("ball", "ANY"), PortDef("done", "BOOL"), PortDef("metrics", "METRICS")]

    async def forward(self, inputs, ctx):
        table.steps += 1
        table.ball = inputs["ball"] - 1
        done = table.ball <= 0
        metrics = {"success": 1.0 if done else 0.0, "steps_taken": table.steps}
        return {"ball": table.ball, "done": done, "metrics": metrics}


class PongPanel(BaseEnvPanel):
    name = "pong"
    display_name = "Pong"
    fields = [
        EnvPanelField("split", "select", "Split", options=list(COUNTS)),
        EnvPanelField("episode_index", "number", "Episode", min=0),
    ]
    actions = [EnvPanelAction("play", "Play", side_effect="run_start")]

    async def on_load(self):
        assert isinstance(self.info(), EnvPanelInfo)
        return {
            "split": table.split,
            "episode_index": table.episode,
            "available": True,
            "episode_count": COUNTS[table.split],
            "step_budget": 3,
            # The older spellings of episode_id and scene_id.
            "current_episode": {"instr_id": f"{table.split}_{table.episode}", "scan": "table"},
        }

    async def on_field_change(self, name, value):
        if name == "split":
            table.split, table.episode = value, 0
        else:
            table.episode = int(value)
        return {**await self.on_load(), "side_effect": "signal", "signal_name": "episode_reset"}

    async def on_action(self, name, params):
        table.ball, table.steps = table.episode + 1, 0
        return {"ok": True, "side_effect": "run_start"}

    async def get_options(self, field):
        return list(COUNTS) if field == "split" else []


class PongNodeSet(BaseNodeSet):
    name = "pong"
    description = "Catch the ball"
    parallelism = "replicated"
    env_panel = PongPanel

    def get_tools(self):
        return [Look(), Move()]

    async def get_eval_metadata(self):
        return {
            "env_name": "pong",
            "splits": list(COUNTS),
            "episode_counts": COUNTS,
            "metrics": ["success", "steps_taken"],
            "supports_set_episode": True,
            "step_budget": 3,
        }
