"""Room-to-Room (Anderson et al. 2018) on the Matterport navigation graphs, in the standard library.

The data is the user's own: selector `data_dir`, else the variable R2R_DATA_DIR. An episode is one instruction of one
path; its id is `<path_id>_<number>`.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import Any, Dict, List, Optional

from app.components import BaseCanvasNode, BaseNodeSet, ConfigField, NodeUIConfig, PortDef
from app.components.env_panel import BaseEnvPanel, EnvPanelAction, EnvPanelField

from ._agents import RandomAgent, shortest_action
from ._episode_state import Environment, in_words
from ._map import by_place, empty_map, extended, map_in_words
from ._metrics import RULER, score as _episode_score
from ._path_view import draw_path
from ._world import DataError, Dataset

STEP_BUDGET = 120
environment = Environment()

OBSERVATION_PORTS = [
    PortDef("observation", "ANY", "Viewpoint, heading, candidate edges, instruction"),
    PortDef("text", "TEXT", "The observation in words, for language models"),
    PortDef("pose", "POSE", "Position in metres, z up"),
]


def _observed() -> Dict[str, Any]:
    observation = environment.observation()
    return {"observation": observation, "text": in_words(observation), "pose": environment.pose()}


class Observe(BaseCanvasNode):
    node_type = "r2r__observe"
    display_name = "R2R: Observe"
    description = "Where the agent is and which ways it can go; changes nothing"
    category = "environment"
    icon = "Eye"
    kind = "environment"
    input_ports = [PortDef("trigger", "ANY", "Fires it again", optional=True)]
    output_ports = [PortDef("instruction", "TEXT", "The episode's instruction"), *OBSERVATION_PORTS]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        return {"instruction": environment.episode.instruction, **_observed()}


class Step(BaseCanvasNode):
    node_type = "r2r__step"
    display_name = "R2R: Step"
    description = "Applies an action: stop, forward, left, right, up, down, or the id of a neighbouring viewpoint"
    category = "environment"
    icon = "Play"
    kind = "environment"
    input_ports = [PortDef("action", "DISCRETE_ACTION", "A name, its number (0 to 5), or a viewpoint id")]
    output_ports = [*OBSERVATION_PORTS, PortDef("done", "BOOL", "The agent has stopped")]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        environment.act(inputs.get("action"))
        return {**_observed(), "done": environment.done}


class Shortest(BaseCanvasNode):
    node_type = "r2r__shortest"
    display_name = "R2R: Shortest path"
    description = "The teacher: follows the shortest path to the goal, as the published code does"
    category = "policy"
    icon = "Route"
    kind = "policy"
    input_ports = [PortDef("observation", "ANY", "Fires it")]
    output_ports = [PortDef("action", "DISCRETE_ACTION")]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        goal = environment.episode.goal
        if goal is None:
            raise DataError(f"split {environment.split} has no goals; the shortest-path agent needs one")
        return {"action": shortest_action(environment.simulator, goal)}


class RandomWalk(BaseCanvasNode):
    node_type = "r2r__random"
    display_name = "R2R: Random"
    description = "The paper's random agent: 0 to 11 right turns, then five moves forward"
    category = "policy"
    icon = "Dice5"
    kind = "policy"
    input_ports = [PortDef("observation", "ANY", "Fires it")]
    output_ports = [PortDef("action", "DISCRETE_ACTION")]
    default_config = {"turns_file": ""}
    ui_config = NodeUIConfig(
        config_fields=[
            ConfigField(
                "turns_file",
                "text",
                "Recorded turns",
                default="",
                placeholder="JSON (or .json.gz) with initial right turns by instruction id; empty: from the seed",
            )
        ]
    )

    def forward(self, inputs: dict, ctx: Any) -> dict:
        if ctx.agent is None:
            ctx.agent = RandomAgent(ctx.seed, _recorded_turns(self.config.get("turns_file") or ""))
        return {"action": ctx.agent.act(environment.simulator)}


_turns: Dict[str, Dict[str, Any]] = {}


def _recorded_turns(path: str) -> Optional[int]:
    """Of the current episode; None without a file."""
    if not path:
        return None
    if path not in _turns:
        opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
        with opened as file:
            content = json.load(file)
        _turns[path] = content.get("results", content)
    recorded = _turns[path].get(environment.episode.instruction_id)
    if recorded is None:
        raise DataError(f"{path} has no turns for instruction {environment.episode.instruction_id}")
    return int(recorded["initial_right_turns"] if isinstance(recorded, dict) else recorded)


class Choose(BaseCanvasNode):
    node_type = "r2r__choose"
    display_name = "R2R: Choice from text"
    description = "Turns a language model's answer (a number of the list, or 'stop') into an action"
    category = "policy"
    icon = "ListChecks"
    kind = "policy"
    input_ports = [PortDef("text", "TEXT", "The answer"), PortDef("observation", "ANY", "The observation it answers")]
    output_ports = [PortDef("action", "DISCRETE_ACTION"), PortDef("understood", "BOOL")]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        answer = str(inputs.get("text") or "")
        candidates = {entry["number"]: entry["viewpoint"] for entry in inputs["observation"]["candidates"]}
        numbers = [int(number) for number in re.findall(r"\d+", answer)]
        # Models reason first and decide last.
        chosen = next((number for number in reversed(numbers) if number == 0 or number in candidates), None)
        if chosen is None:
            return {"action": "stop", "understood": "stop" in answer.lower()}
        return {"action": candidates.get(chosen, "stop"), "understood": True}


class GrowingMap(BaseCanvasNode):
    node_type = "r2r__map"
    display_name = "R2R: Growing map"
    description = "Adds what is seen to a map of numbered places, kept in a container, and tells it in words"
    category = "policy"
    icon = "Waypoints"
    kind = "policy"
    input_ports = [PortDef("observation", "ANY", "What is seen now")]
    output_ports = [
        PortDef("text", "TEXT", "Trajectory, map and choices, for language models"),
        PortDef("observation", "ANY", "With the ways numbered as the places they lead to"),
    ]
    default_config = {"container": "topological_map"}
    ui_config = NodeUIConfig(
        config_fields=[ConfigField("container", "text", "Container with a state 'map'", default="topological_map")]
    )

    def forward(self, inputs: dict, ctx: Any) -> dict:
        name = self.config.get("container") or "topological_map"
        if name not in ctx.containers:
            raise ValueError(f"grant this node the container '{name}' (with a state 'map'), or name another one")
        kept = ctx.containers[name].read("map")
        grown = extended(kept or empty_map(), inputs["observation"])
        ctx.containers[name].write("map", grown)
        self._self_log("places", len(grown["places"]))
        return {"text": map_in_words(grown, inputs["observation"]), "observation": by_place(grown, inputs["observation"])}


class Evaluate(BaseCanvasNode):
    node_type = "r2r__evaluate"
    display_name = "R2R: Evaluate"
    description = "Metrics of the episode so far, with both rulers for SPL"
    category = "evaluation"
    icon = "BarChart"
    kind = "environment"
    input_ports = [PortDef("trigger", "ANY", "Fires it", optional=True)]
    output_ports = [
        PortDef("metrics", "METRICS"),
        PortDef("ruler", "TEXT", "What SPL is measured by"),
        PortDef("trajectory", "ANY", "Per entry: viewpoint, heading index, elevation index"),
    ]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        self._self_log("ruler", RULER)
        trajectory = [list(entry) for entry in environment.simulator.trajectory]
        return {"metrics": environment.metrics(), "ruler": RULER, "trajectory": trajectory}


class PathView(BaseCanvasNode):
    node_type = "r2r__path_view"
    display_name = "R2R: Path from above"
    description = "The building's graph with the annotated path (green) and the agent's (blue)"
    category = "viewer"
    icon = "Map"
    kind = "environment"
    input_ports = [PortDef("trigger", "ANY", "Fires it", optional=True)]
    output_ports = [PortDef("image", "IMAGE")]
    default_config = {"size": 384}
    ui_config = NodeUIConfig(config_fields=[ConfigField("size", "number", "Pixels", default=384, min=96, max=2048)])

    def forward(self, inputs: dict, ctx: Any) -> dict:
        simulator = environment.simulator
        path = [viewpoint for viewpoint, _, _ in simulator.trajectory]
        size = min(2048, max(96, int(self.config.get("size") or 384)))
        return {"image": draw_path(simulator.scan, environment.episode.path, path, size)}


class R2RPanel(BaseEnvPanel):
    name = "r2r"
    display_name = "Room-to-Room"
    fields = [
        EnvPanelField("data_dir", "text", "Data folder", placeholder="Folder with connectivity/ and R2R_<split>.json"),
        EnvPanelField("split", "select", "Split"),
        EnvPanelField("episode_index", "number", "Episode", min=0),
    ]
    actions = [
        EnvPanelAction("play", "Play", side_effect="run_start"),
        EnvPanelAction("pause", "Pause", side_effect="run_pause", enabled_when="running"),
        EnvPanelAction("stop", "Stop", side_effect="run_stop", enabled_when="running"),
    ]

    async def on_load(self) -> Dict[str, Any]:
        state: Dict[str, Any] = {
            "data_dir": environment.data_dir,
            "split": environment.split,
            "episode_index": environment.episode_index,
        }
        try:
            episodes = environment.dataset.episodes(environment.split)
            episode = environment.episode
        except (DataError, OSError) as error:
            return {**state, "available": False, "error": str(error)}
        current = {
            "episode_id": episode.instruction_id,
            "scene_id": episode.scan_id,
            "instruction": episode.instruction,
        }
        return {**state, "available": True, "current_episode": current, "episode_count": len(episodes), "step_budget": STEP_BUDGET}

    async def on_field_change(self, name: str, value: Any) -> Dict[str, Any]:
        if name == "data_dir":
            environment.choose_data(str(value))
        elif name == "split":
            environment.choose_split(str(value))
        elif name == "episode_index":
            environment.choose_episode(int(value))
        elif name == "episode_id":
            environment.choose_episode(_index_of(str(value)))
        else:
            raise ValueError(f"the r2r panel has no field '{name}'")
        return {**(await self.on_load()), "side_effect": "signal", "signal_name": "episode_reset"}

    async def on_action(self, name: str, params: Dict[str, Any]) -> Dict[str, Any]:
        if name == "play":
            environment.reset()
        return {"ok": True, "side_effect": "run_start" if name == "play" else f"run_{name}"}

    async def get_options(self, field: str) -> List[Dict[str, Any]]:
        if field != "split":
            return []
        return [{"value": split, "label": split} for split in environment.dataset.splits()]


def _index_of(instruction_id: str) -> int:
    for index, episode in enumerate(environment.dataset.episodes(environment.split)):
        if episode.instruction_id == instruction_id:
            return index
    raise DataError(f"split {environment.split} has no instruction '{instruction_id}'")


class R2RNodeSet(BaseNodeSet):
    name = "r2r"
    description = "Room-to-Room navigation on Matterport graphs, with your own data folder"
    parallelism = "replicated"
    shares_process = True
    env_panel = R2RPanel
    default_per_step_budget_sec = 5.0
    expected_ram_mb = 150

    def get_tools(self) -> List[Any]:
        return [Observe(), Step(), Shortest(), RandomWalk(), Choose(), GrowingMap(), Evaluate(), PathView()]

    async def get_eval_metadata(self) -> Dict[str, Any]:
        try:
            counts = {split: len(environment.dataset.episodes(split)) for split in environment.dataset.splits()}
        except (DataError, OSError):
            counts = {}
        return {
            "env_name": "r2r",
            "splits": list(counts) or ["train", "val_seen", "val_unseen", "test"],
            "episode_counts": counts or None,
            "metrics": [
                "success",
                "spl",
                "oracle_success",
                "navigation_error",
                "path_length",
                "ndtw",
                "sdtw",
                "cls",
                {"name": "spl_by_reference", "kind": "mean", "higher_is_better": True, "worst": 0},
                {"name": "actions", "kind": "count"},
            ],
            "supports_set_episode": True,
            "step_budget": STEP_BUDGET,
            "action_space": {"type": "discrete", "names": ["stop", "forward", "left", "right", "up", "down"]},
        }

__all__ = ["Dataset", "R2RNodeSet", "RandomAgent", "shortest_action"]
