"""Hot path. The one environment of this process: made by id and keyword arguments, reset by seed, stepped, measured.

The seed is the episode's identity: episode 7 is `reset(seed=7)`. After the end of an episode nothing changes any more.
"""

from __future__ import annotations

import importlib
import json
from typing import Any, Dict, List, Optional

import gymnasium

from ._spaces import plain_info, to_action

DEFAULT_ENV_ID = "CartPole-v1"
# Packages that register their environments when imported; ids of others are written `module:Id-v0`.
REGISTERED_BY = {"ALE/": "ale_py", "MiniGrid-": "minigrid", "BabyAI-": "minigrid"}


class EnvironmentFailure(Exception):
    """The environment could not be made; the message says what is missing."""


class Environment:
    def __init__(self) -> None:
        self.env_id = DEFAULT_ENV_ID
        self.env_kwargs: Dict[str, Any] = {}
        # Chosen in the panel, so that what a node's config says no longer counts.
        self.chosen = False
        self.seed = 0
        self.observation: Any = None
        self.info: Dict[str, Any] = {}
        self.total_reward = 0.0
        self.length = 0
        self.terminated = False
        self.truncated = False
        self.success: Optional[float] = None
        self._env: Any = None
        self._made_from: Any = None
        self._action_space: Any = None
        self._running = False

    @property
    def env(self) -> Any:
        wanted = (self.env_id, json.dumps(self.env_kwargs, sort_keys=True))
        if self._env is None or self._made_from != wanted:
            self.close()
            self._env = make_environment(self.env_id, self.env_kwargs)
            self._action_space = self._env.action_space
            self._made_from = wanted
        return self._env

    def choose(self, env_id: str, env_kwargs: Dict[str, Any], by_panel: bool) -> None:
        """A node's config chooses only while the panel has not."""
        if self.chosen and not by_panel:
            return
        self.chosen = self.chosen or by_panel
        if (env_id, env_kwargs) != (self.env_id, self.env_kwargs):
            self.env_id, self.env_kwargs = env_id, env_kwargs
            self._running = False

    def reset(self) -> None:
        self.observation, self.info = self.env.reset(seed=self.seed)
        self.total_reward = 0.0
        self.length = 0
        self.terminated = self.truncated = False
        self.success = None
        self._running = True

    def observe(self) -> Any:
        if not self._running:
            self.reset()
        return self.observation

    def step(self, action: Any) -> float:
        """The reward of the step; 0 after the end."""
        if not self._running:
            self.reset()
        if self.terminated or self.truncated:
            return 0.0
        made = self._env.step(to_action(self._action_space, action))
        self.observation, reward, self.terminated, self.truncated, self.info = made
        reward = float(reward)
        self.total_reward += reward
        self.length += 1
        if self.info:
            self._note_success(self.info)
        return reward

    def _note_success(self, info: Dict[str, Any]) -> None:
        for name in ("success", "is_success"):
            if name in info:
                self.success = max(self.success or 0.0, float(bool(info[name])))

    def metrics(self) -> Dict[str, float]:
        measured = {"return": self.total_reward, "length": float(self.length)}
        if self.success is not None:
            measured["success"] = self.success
        return measured

    def sendable_info(self) -> Any:
        return plain_info(self.info)

    def render(self) -> Any:
        """RGB frame (H, W, 3), or None when the environment draws nothing."""
        self.observe()
        frame = self._env.render()
        return frame[-1] if isinstance(frame, list) and frame else frame

    def max_steps(self) -> Optional[int]:
        spec = getattr(self.env, "spec", None)
        limit = getattr(spec, "max_episode_steps", None)
        return int(limit) if limit else None

    def close(self) -> None:
        if self._env is not None:
            self._env.close()
        self._env = None
        self._running = False


def make_environment(env_id: str, env_kwargs: Dict[str, Any]) -> Any:
    _import_registrar(env_id)
    # Frames cost nothing until somebody asks for one.
    attempts: List[Dict[str, Any]] = [env_kwargs]
    if "render_mode" not in env_kwargs and _draws(env_id):
        attempts.insert(0, {**env_kwargs, "render_mode": "rgb_array"})
    problem: Optional[BaseException] = None
    for arguments in attempts:
        try:
            return gymnasium.make(env_id, **arguments)
        except Exception as error:
            problem = problem or error
    raise EnvironmentFailure(
        f"{env_id} with {json.dumps(env_kwargs)} could not be made: {type(problem).__name__}: {problem}"
    ) from problem


def _draws(env_id: str) -> bool:
    """Whether the environment says that it can give frames."""
    try:
        entry = gymnasium.spec(env_id).entry_point
        if isinstance(entry, str):
            module, _, name = entry.partition(":")
            entry = getattr(importlib.import_module(module), name)
        return "rgb_array" in (getattr(entry, "metadata", None) or {}).get("render_modes", [])
    except Exception:
        return False


def _import_registrar(env_id: str) -> None:
    for prefix, package in REGISTERED_BY.items():
        if not env_id.startswith(prefix):
            continue
        try:
            module = importlib.import_module(package)
        except ImportError as error:
            raise EnvironmentFailure(f"{env_id} needs the package {package}; install it for this interpreter") from error
        register = getattr(gymnasium, "register_envs", None)
        if register is not None:
            register(module)


def parse_kwargs(text: Any) -> Dict[str, Any]:
    """Keyword arguments from JSON text; an object is taken as it is."""
    if isinstance(text, dict):
        return text
    stripped = str(text or "").strip()
    if not stripped:
        return {}
    try:
        parsed = json.loads(stripped)
    except ValueError as error:
        raise ValueError(f"env_kwargs is no JSON object: {error}; write for example {{\"is_slippery\": false}}") from error
    if not isinstance(parsed, dict):
        raise ValueError('env_kwargs must be a JSON object, for example {"is_slippery": false}')
    return parsed
