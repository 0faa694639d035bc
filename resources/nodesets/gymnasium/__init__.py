# /// script
# requires-python = ">=3.9"
# dependencies = ["gymnasium>=0.29", "numpy>=1.24"]
# ///
"""Any registered Gymnasium environment by id. The seed is the episode's identity, so episodes are unbounded.

Selectors: `env_id`, `env_kwargs` (a JSON object). Nodes run in the process of the environment; the variable
GYMNASIUM_PYTHON names an interpreter that has gymnasium.
"""

from __future__ import annotations

import os
from typing import Any, Dict, List

from app.components import BaseCanvasNode, BaseNodeSet, ConfigField, NodeUIConfig, PortDef
from app.components.env_panel import BaseEnvPanel, EnvPanelAction, EnvPanelField

from ._cartpole_policy import CartPolePolicy
from ._environment import Environment, EnvironmentFailure, parse_kwargs
from ._spaces import describe_space, from_action, plain_info, to_action

environment = Environment()

ENVIRONMENT_FIELDS = NodeUIConfig(
    config_fields=[
        ConfigField("env_id", "text", "Environment", default="", placeholder="Id; empty: what the panel says"),
        ConfigField("env_kwargs", "textarea", "Keyword arguments", default="", placeholder="JSON object"),
    ]
)


def _use_config(config: Dict[str, Any]) -> None:
    """A graph may name its environment; what the panel's selectors say wins."""
    env_id = config.get("env_id")
    if env_id:
        environment.choose(str(env_id), parse_kwargs(config.get("env_kwargs")), by_panel=False)


class Observe(BaseCanvasNode):
    node_type = "gymnasium__observe"
    display_name = "Gymnasium: Observe"
    description = "The current observation; changes nothing"
    category = "environment"
    icon = "Eye"
    kind = "environment"
    input_ports = [PortDef("trigger", "ANY", "Fires it again", optional=True)]
    output_ports = [
        PortDef("observation", "ANY", "Number, array, or a dict of them"),
        PortDef("info", "ANY", "What the environment says beside it"),
        PortDef("spaces", "ANY", "Observation and action space"),
    ]
    default_config = {"env_id": "", "env_kwargs": ""}
    ui_config = ENVIRONMENT_FIELDS

    def forward(self, inputs: dict, ctx: Any) -> dict:
        _use_config(self.config)
        observation = environment.observe()
        env = environment.env
        spaces = {"observation": describe_space(env.observation_space), "action": describe_space(env.action_space)}
        return {"observation": observation, "info": environment.sendable_info(), "spaces": spaces}


class Step(BaseCanvasNode):
    node_type = "gymnasium__step"
    display_name = "Gymnasium: Step"
    description = "Applies one action"
    category = "environment"
    icon = "Play"
    kind = "environment"
    input_ports = [PortDef("action", "ANY", "A number, a list or an array, as the action space says")]
    output_ports = [
        PortDef("observation", "ANY", "Number, array, or a dict of them"),
        PortDef("reward", "ANY", "Reward of this step"),
        PortDef("terminated", "BOOL", "The task ended"),
        PortDef("truncated", "BOOL", "A time limit ended it"),
        PortDef("done", "BOOL", "Terminated or truncated"),
        PortDef("info", "ANY", "What the environment says beside it"),
    ]
    default_config = {"env_id": "", "env_kwargs": ""}
    ui_config = ENVIRONMENT_FIELDS

    def forward(self, inputs: dict, ctx: Any) -> dict:
        if ctx.step == 0:
            _use_config(self.config)
        world = environment
        reward = world.step(inputs["action"])
        terminated, truncated = bool(world.terminated), bool(world.truncated)
        return {
            "observation": world.observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "done": terminated or truncated,
            "info": world.sendable_info() if world.info else {},
        }


class RandomPolicy(BaseCanvasNode):
    node_type = "gymnasium__random"
    display_name = "Gymnasium: Random"
    description = "Samples the action space, seeded by the episode's policy seed"
    category = "policy"
    icon = "Dice5"
    kind = "policy"
    input_ports = [PortDef("observation", "ANY", "Fires it")]
    output_ports = [PortDef("action", "ANY")]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        space = ctx.space
        if space is None:
            space = ctx.space = environment.env.action_space
            space.seed(ctx.seed)
        return {"action": from_action(space.sample())}


class TrainedCartPole(BaseCanvasNode):
    node_type = "gymnasium__cartpole_policy"
    display_name = "Gymnasium: CartPole policy"
    description = "A small policy for CartPole-v1 that ships with the app"
    category = "policy"
    icon = "Brain"
    kind = "policy"
    input_ports = [PortDef("observation", "ANY", "The four numbers of CartPole")]
    output_ports = [PortDef("action", "ANY"), PortDef("scores", "ANY", "Score of left and right")]
    _policy = CartPolePolicy.shipped()

    def forward(self, inputs: dict, ctx: Any) -> dict:
        action, scores = self._policy.act(inputs["observation"])
        return {"action": action, "scores": scores}


class Render(BaseCanvasNode):
    node_type = "gymnasium__render"
    display_name = "Gymnasium: Render"
    description = "A frame of the environment, for viewers"
    category = "viewer"
    icon = "Image"
    kind = "environment"
    input_ports = [PortDef("trigger", "ANY", "Fires it", optional=True)]
    output_ports = [PortDef("image", "IMAGE")]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        frame = environment.render()
        if getattr(frame, "ndim", 0) != 3:
            raise EnvironmentFailure(f"{environment.env_id} gives no frames; it draws nothing or lacks its renderer")
        return {"image": frame}


class Evaluate(BaseCanvasNode):
    node_type = "gymnasium__evaluate"
    display_name = "Gymnasium: Evaluate"
    description = "Return and length of the episode so far; success where the environment reports it"
    category = "evaluation"
    icon = "BarChart"
    kind = "environment"
    input_ports = [PortDef("trigger", "ANY", "Fires it", optional=True)]
    output_ports = [PortDef("metrics", "METRICS"), PortDef("truncated", "BOOL", "A time limit ended the episode")]

    def forward(self, inputs: dict, ctx: Any) -> dict:
        return {"metrics": environment.metrics(), "truncated": bool(environment.truncated)}


class GymnasiumPanel(BaseEnvPanel):
    name = "gymnasium"
    display_name = "Gymnasium"
    fields = [
        EnvPanelField("env_id", "text", "Environment", placeholder="CartPole-v1, ALE/Breakout-v5, module:Id-v0"),
        EnvPanelField("env_kwargs", "text", "Keyword arguments", placeholder='{"is_slippery": false}'),
        EnvPanelField("episode_index", "number", "Seed", min=0),
    ]
    actions = [
        EnvPanelAction("play", "Play", side_effect="run_start"),
        EnvPanelAction("pause", "Pause", side_effect="run_pause", enabled_when="running"),
        EnvPanelAction("stop", "Stop", side_effect="run_stop", enabled_when="running"),
    ]

    def __init__(self) -> None:
        self._kwargs_text = ""

    async def on_load(self) -> Dict[str, Any]:
        seed = environment.seed
        state: Dict[str, Any] = {
            "env_id": environment.env_id,
            "env_kwargs": self._kwargs_text,
            "episode_index": seed,
            "available": True,
            "current_episode": {"episode_id": str(seed), "scene_id": environment.env_id},
            "episode_count": None,
        }
        if environment.chosen:
            # Only then: a graph that names its environment itself also sets the budget itself.
            try:
                state["step_budget"] = environment.max_steps()
            except EnvironmentFailure as error:
                state.update(available=False, error=str(error))
        return state

    async def on_field_change(self, name: str, value: Any) -> Dict[str, Any]:
        if name == "env_id":
            environment.choose(str(value), environment.env_kwargs, by_panel=True)
        elif name == "env_kwargs":
            parsed = parse_kwargs(value)
            self._kwargs_text = value if isinstance(value, str) else str(value)
            environment.choose(environment.env_id, parsed, by_panel=True)
        elif name in ("episode_index", "episode_id"):
            environment.seed = int(value)
        else:
            raise ValueError(f"the gymnasium panel has no field '{name}'")
        return {**(await self.on_load()), "side_effect": "signal", "signal_name": "episode_reset"}

    async def on_action(self, name: str, params: Dict[str, Any]) -> Dict[str, Any]:
        if name == "play":
            environment.reset()
        return {"ok": True, "side_effect": "run_start" if name == "play" else f"run_{name}"}


class GymnasiumNodeSet(BaseNodeSet):
    name = "gymnasium"
    description = "Any registered Gymnasium environment, by id and keyword arguments"
    server_python = os.environ.get("GYMNASIUM_PYTHON")
    parallelism = "replicated"
    shares_process = True
    env_panel = GymnasiumPanel
    default_per_step_budget_sec = 10.0
    server_env = {"OMP_NUM_THREADS": "1"}

    def get_tools(self) -> List[Any]:
        return [Observe(), Step(), RandomPolicy(), TrainedCartPole(), Render(), Evaluate()]

    async def shutdown(self) -> None:
        environment.close()

    async def get_eval_metadata(self) -> Dict[str, Any]:
        metadata: Dict[str, Any] = {
            "env_name": "gymnasium",
            "splits": [],
            "episode_counts": None,
            "metrics": ["return", "length"],
            "supports_set_episode": True,
            "step_budget": None,
        }
        if environment.chosen:
            metadata["action_space"] = describe_space(environment.env.action_space)
        return metadata


__all__ = ["GymnasiumNodeSet", "describe_space", "environment", "from_action", "plain_info", "to_action"]
