"""A node that looks at the panel and the services of its own process."""

from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.components.env_panel import BaseEnvPanel, EnvPanelAction, EnvPanelField, get_env_panel
from app.state import get_services


class Ask(BaseCanvasNode):
    node_type = "panelist__ask"
    output_ports = [PortDef("level", "ANY"), PortDef("is_live", "BOOL")]

    async def forward(self, inputs, ctx):
        panel = get_env_panel("panelist")
        live = get_services().workspace_component_registry.get_nodeset("panelist")
        return {"level": panel.level, "is_live": isinstance(live, PanelistNodeSet)}


class LevelPanel(BaseEnvPanel):
    name = "panelist"
    display_name = "Panelist"
    fields = [EnvPanelField("level", "slider", "Level", min=0, max=9, step=1), EnvPanelField("episode_index", "number")]
    actions = [EnvPanelAction("play", "Play", side_effect="run_start")]
    level = 0
    episode = 0

    async def on_load(self):
        return {"level": self.level, "episode_index": self.episode, "episode_count": 1}

    async def on_field_change(self, name, value):
        if name == "level":
            self.level = int(value)
        return await self.on_load()

    async def on_action(self, name, params):
        return {"ok": True, "side_effect": "run_start"}


class PanelistNodeSet(BaseNodeSet):
    name = "panelist"
    parallelism = "replicated"
    env_panel = LevelPanel

    def get_tools(self):
        return [Ask()]

    async def get_eval_metadata(self):
        return {"env_name": "panelist", "splits": [], "episode_counts": None, "metrics": ["level"]}
