"""The gymnasium nodeset: spaces, seeds, published random returns, the shipped policy. Needs gymnasium and numpy."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import statistics
import sys
import unittest
from typing import Any, List, Tuple

from .host_process import PACKAGES, HostProcess

REPOSITORY = os.path.dirname(os.path.dirname(PACKAGES))
NODESET = os.path.join(REPOSITORY, "resources", "nodesets", "gymnasium", "__init__.py")
SHARED = os.path.join(os.path.dirname(REPOSITORY), "shared", "data", "gym_vectors")
INSTALLED = importlib.util.find_spec("gymnasium") is not None and importlib.util.find_spec("numpy") is not None


def has(package: str) -> bool:
    return INSTALLED and importlib.util.find_spec(package) is not None


@unittest.skipUnless(INSTALLED, "gymnasium or numpy is not installed")
class NodesTest(unittest.TestCase):
    def setUp(self) -> None:
        from agentcanvas_host.nodeset_loader import import_nodeset

        self.module = sys.modules[import_nodeset(NODESET, None, "GymnasiumNodeSet").__module__]
        self.world = self.module.environment
        self.world.close()
        self.world.__init__()

    def random_episodes(self, env_id: str, count: int, **arguments: Any) -> List[Tuple[float, float]]:
        world = self.world
        world.choose(env_id, arguments, by_panel=True)
        results = []
        for seed in range(count):
            world.seed = seed
            world.reset()
            space = world.env.action_space
            space.seed(1_000_000 + seed)
            while not (world.terminated or world.truncated):
                world.step(self.module.from_action(space.sample()))
            metrics = world.metrics()
            results.append((metrics["return"], metrics["length"]))
        return results

    def assert_close(self, returns: List[float], expected: float, expected_error: float) -> None:
        error = statistics.stdev(returns) / math.sqrt(len(returns))
        self.assertLessEqual(abs(statistics.mean(returns) - expected), 4 * math.hypot(error, expected_error))

    def test_random_returns_agree_with_published_and_exact_values(self) -> None:
        self.assert_close([value for value, _ in self.random_episodes("CartPole-v1", 400)], 22.20, 0.36)
        self.assert_close([value for value, _ in self.random_episodes("FrozenLake-v1", 3000)], 0.013940, 0.0)
        taxi = "Taxi-v4" if self.registered("Taxi-v4") else "Taxi-v3"
        self.assert_close([value for value, _ in self.random_episodes(taxi, 200)], -771.09, 0.0)

    def registered(self, env_id: str) -> bool:
        import gymnasium

        return env_id in gymnasium.registry

    @unittest.skipUnless(has("mujoco") and has("imageio") and has("packaging"), "mujoco is not installed")
    def test_random_returns_of_halfcheetah(self) -> None:
        results = self.random_episodes("HalfCheetah-v5", 6)
        self.assertEqual({length for _, length in results}, {1000.0})
        self.assert_close([value for value, _ in results], -278.5, 13)

    @unittest.skipUnless(has("ale_py"), "ale-py is not installed")
    def test_atari_observations_are_images(self) -> None:
        self.world.choose("ALE/Breakout-v5", {"repeat_action_probability": 0.0}, by_panel=True)
        observation = self.world.observe()
        self.assertEqual((observation.shape, str(observation.dtype)), ((210, 160, 3), "uint8"))
        self.world.step(1)
        self.assertEqual(self.world.render().shape, (210, 160, 3))

    @unittest.skipUnless(os.path.isdir(SHARED), "the recorded transitions are not here")
    def test_recorded_transitions_are_reproduced(self) -> None:
        names = ["CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1"]
        for name in names + (["HalfCheetah-v5", "Walker2d-v5"] if has("mujoco") and has("imageio") and has("packaging") else []):
            with open(os.path.join(SHARED, f"{name}.json"), encoding="utf-8") as file:
                recorded = json.load(file)
            self.world.choose(name, {}, by_panel=True)
            for episode in recorded["episodes"]:
                with self.subTest(name, seed=episode["reset_seed"]):
                    self.replay(episode)

    def replay(self, episode: Any) -> None:
        import numpy

        self.world.seed = episode["reset_seed"]
        self.world.reset()
        numpy.testing.assert_allclose(self.world.observation, episode["initial_obs"], atol=1e-6)
        for action, step in zip(episode["actions"], episode["steps"]):
            self.assertAlmostEqual(self.world.step(action), step["reward"], places=6)
            numpy.testing.assert_allclose(self.world.observation, step["obs"], rtol=1e-5, atol=1e-6)
            self.assertEqual(bool(self.world.terminated), step["terminated"])

    def test_actions_and_spaces_of_every_kind(self) -> None:
        import gymnasium
        import numpy

        spaces = gymnasium.spaces
        to_action, describe = self.module.to_action, self.module.describe_space
        self.assertEqual(to_action(spaces.Discrete(3), numpy.array(2)), 2)
        box = to_action(spaces.Box(-1, 1, (2,)), [0.5, -0.5])
        self.assertEqual((box.dtype, box.tolist()), (numpy.float32, [0.5, -0.5]))
        with self.assertRaises(ValueError):
            to_action(spaces.Box(-1, 1, (2,)), [0.5])
        mixed = spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Tuple([spaces.MultiDiscrete([2, 2])])})
        action = to_action(mixed, {"a": 1, "b": [[0, 1]]})
        self.assertEqual((action["a"], action["b"][0].tolist()), (1, [0, 1]))
        self.assertEqual(describe(mixed)["spaces"]["a"], {"type": "discrete", "n": 2, "start": 0})

    def test_infos_lose_only_what_cannot_be_sent(self) -> None:
        import numpy

        info = {"x": numpy.float32(1.5), "bad": object(), "deep": {"y": [1, lambda: 0], "z": numpy.arange(2)}}
        plain = self.module.plain_info(info)
        self.assertEqual((plain["x"], list(plain), plain["deep"]["y"]), (1.5, ["x", "deep"], [1]))

    def test_success_is_measured_only_where_the_environment_reports_it(self) -> None:
        self.world.choose("CartPole-v1", {}, by_panel=True)
        self.world.reset()
        self.assertNotIn("success", self.world.metrics())
        self.world._note_success({"is_success": True})
        self.world._note_success({"is_success": False})
        self.assertEqual(self.world.metrics()["success"], 1.0)

    def test_the_panels_choice_wins_over_the_graphs(self) -> None:
        self.world.choose("Acrobot-v1", {}, by_panel=False)
        self.assertEqual(self.world.env_id, "Acrobot-v1")
        self.world.choose("MountainCar-v0", {}, by_panel=True)
        self.world.choose("Acrobot-v1", {}, by_panel=False)
        self.assertEqual(self.world.env_id, "MountainCar-v0")


@unittest.skipUnless(INSTALLED, "gymnasium or numpy is not installed")
class HostedTest(unittest.TestCase):
    def test_equal_seeds_give_equal_episodes_through_the_host(self) -> None:
        with HostProcess(NODESET, "GymnasiumNodeSet") as host:
            returns = []
            for execution in ("a", "b", "c"):
                seed = 5 if execution != "c" else 6
                host.call("panel.field", {"name": "episode_index", "value": seed})
                state = host.call("panel.action", {"name": "play", "values": {}})
                self.assertEqual((state["current_episode"]["episode_id"], state["episode_count"]), (str(seed), None))
                host.forward("gymnasium__observe", execution=execution, node="o")
                for step in range(500):
                    action = host.forward("gymnasium__random", execution=execution, node="p", seed=seed, step=step)
                    inputs = {"action": action["outputs"]["action"]}
                    made = host.forward("gymnasium__step", inputs, execution=execution, node="s", step=step)["outputs"]
                    if made["done"]:
                        break
                metrics = host.forward("gymnasium__evaluate", execution=execution, node="e")["outputs"]["metrics"]
                returns.append((metrics["return"], metrics["length"], made["observation"].tolist()))
            self.assertEqual(returns[0], returns[1])
            self.assertNotEqual(returns[0], returns[2])

    def test_the_shipped_policy_balances_the_pole(self) -> None:
        with HostProcess(NODESET, "GymnasiumNodeSet") as host:
            host.call("panel.field", {"name": "env_id", "value": "CartPole-v1"})
            self.assertEqual(host.call("panel.load")["step_budget"], 500)
            host.call("panel.field", {"name": "episode_index", "value": 3})
            host.call("panel.action", {"name": "play", "values": {}})
            observation = host.forward("gymnasium__observe", node="o")["outputs"]["observation"]
            for step in range(500):
                chosen = host.forward("gymnasium__cartpole_policy", {"observation": observation}, node="p", step=step)
                made = host.forward("gymnasium__step", {"action": chosen["outputs"]["action"]}, node="s", step=step)
                observation = made["outputs"]["observation"]
            metrics = host.forward("gymnasium__evaluate", node="e")["outputs"]["metrics"]
            self.assertEqual(metrics, {"return": 500, "length": 500})

    def test_an_unknown_environment_says_so(self) -> None:
        with HostProcess(NODESET, "GymnasiumNodeSet") as host:
            state = host.call("panel.field", {"name": "env_id", "value": "NoSuchEnv-v3"})
            self.assertFalse(state["available"])
            self.assertIn("NoSuchEnv", state["error"])


if __name__ == "__main__":
    unittest.main()
