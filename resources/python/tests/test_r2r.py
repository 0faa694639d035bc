"""Room-to-Room against its published results; needs the data folder (R2R_TEST_DATA, else ../shared/data/r2r)."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import tempfile
import unittest
from typing import Any, Callable, Dict, Iterator, List, Tuple

from .host_process import PACKAGES, HostProcess

from agentcanvas_host.nodeset_loader import import_nodeset

REPOSITORY = os.path.dirname(os.path.dirname(PACKAGES))
NODESET = os.path.join(REPOSITORY, "resources", "nodesets", "r2r", "__init__.py")
SHARED = os.path.join(os.path.dirname(REPOSITORY), "shared")
DATA = os.environ.get("R2R_TEST_DATA") or os.path.join(SHARED, "data", "r2r")
TURNS = os.path.join(DATA, "peer", "val_seen_random_agent_official.json.gz")
VECTORS = os.path.join(SHARED, "vectors", "navigation")

r2r = __import__("sys").modules[import_nodeset(NODESET, None, "R2RNodeSet").__module__]
growing_map = __import__("sys").modules[r2r.map_in_words.__module__]


def play(split: str, agent_of: Callable[[Any], Callable[[Any], str]]) -> Iterator[Tuple[Any, Any, Dict[str, float]]]:
    environment = r2r.environment
    environment.choose_data(DATA)
    environment.choose_split(split)
    for index in range(len(environment.dataset.episodes(split))):
        environment.choose_episode(index)
        act = agent_of(environment.episode)
        while not environment.done:
            environment.act(act(environment.simulator))
        yield environment.episode, environment.simulator, environment.metrics()


def means(results: List[Dict[str, float]]) -> Dict[str, float]:
    return {name: sum(result[name] for result in results) / len(results) for name in results[0]}


def _seen(viewpoint: str, *ways: str) -> Dict[str, Any]:
    candidates = [{"number": at, "viewpoint": way, "words": f"way to {way}"} for at, way in enumerate(ways, 1)]
    return {"instruction": "Go to c.", "viewpoint": viewpoint, "candidates": candidates}


class GrowingMapTest(unittest.TestCase):
    """The map of r2r_mapgpt, without any data."""

    def test_grows_by_what_each_observation_adds_and_numbers_places_for_good(self) -> None:
        first = growing_map.extended(growing_map.empty_map(), _seen("a", "b", "c"))
        self.assertEqual(first["places"], ["a", "b", "c"])
        second = growing_map.extended(first, _seen("c", "d", "a"))
        self.assertEqual(second["places"], ["a", "b", "c", "d"])
        self.assertEqual(second["trajectory"], ["a", "c"])
        self.assertEqual(sorted(second["seen"]), ["b", "d"])
        self.assertEqual(first["places"], ["a", "b", "c"], "the earlier map stays as it was")
        back = growing_map.extended(second, _seen("a", "c", "b"))
        self.assertEqual((back["places"], back["trajectory"]), (second["places"], ["a", "c", "a"]))

    def test_turning_does_not_leave_a_place(self) -> None:
        state = growing_map.extended(growing_map.empty_map(), _seen("a", "b"))
        self.assertEqual(growing_map.extended(state, _seen("a", "b"))["trajectory"], ["a"])

    def test_ways_carry_the_numbers_of_the_places_they_lead_to(self) -> None:
        state = growing_map.extended(growing_map.empty_map(), _seen("a", "b", "c"))
        state = growing_map.extended(state, _seen("c", "d", "a"))
        ways = growing_map.by_place(state, _seen("c", "d", "a"))["candidates"]
        self.assertEqual([(way["number"], way["viewpoint"]) for way in ways], [(1, "a"), (4, "d")])

    def test_says_everything_a_model_needs(self) -> None:
        state = growing_map.extended(growing_map.empty_map(), _seen("a", "b", "c"))
        state = growing_map.extended(state, _seen("c", "d", "a"))
        words = growing_map.map_in_words(state, _seen("c", "d", "a")).splitlines()
        self.assertEqual(words[:2], ["Instruction: Go to c.", "Trajectory: Place 1 -> Place 3"])
        for line in (
            "Place 1 is connected with Places 2, 3",
            "Place 3 is connected with Places 1, 4",
            "Place 2: way to b, from where it was seen",
            "0: stop here",
            "1: to Place 1, way to a (visited)",
            "4: to Place 4, way to d",
        ):
            self.assertIn(line, words)


@unittest.skipUnless(os.path.isdir(DATA), "the Room-to-Room data is not here")
class PublishedResultsTest(unittest.TestCase):
    def test_shortest_reproduces_both_validation_splits(self) -> None:
        for split, count, length in (("val_seen", 1020, 10.1854), ("val_unseen", 2349, 9.4797)):
            with self.subTest(split):
                shortest = play(split, lambda episode: lambda simulator: r2r.shortest_action(simulator, episode.goal))
                results = [metrics for _, _, metrics in shortest]
                mean = means(results)
                self.assertEqual(len(results), count)
                self.assertAlmostEqual(mean["path_length"], length, delta=0.0001)
                self.assertEqual(mean["navigation_error"], 0.0)
                for name in ("success", "oracle_success", "spl"):
                    self.assertEqual(mean[name], 1.0)

    def test_random_with_the_recorded_turns_walks_the_recorded_trajectories(self) -> None:
        with gzip.open(TURNS, "rt", encoding="utf-8") as file:
            recorded = json.load(file)["results"]

        def agent(episode: Any) -> Callable[[Any], str]:
            return r2r.RandomAgent(0, recorded[episode.instruction_id]["initial_right_turns"]).act

        results = []
        for episode, simulator, metrics in play("val_seen", agent):
            walked = [[viewpoint, heading] for viewpoint, heading, _ in simulator.trajectory]
            self.assertEqual(walked, recorded[episode.instruction_id]["trajectory"], episode.instruction_id)
            results.append(metrics)
        mean = means(results)
        expected = {"path_length": 9.61463, "navigation_error": 9.49384}
        expected.update(success=0.162745, oracle_success=0.210784, spl=0.149118)
        for name, value in expected.items():
            self.assertAlmostEqual(mean[name], value, delta=6e-6, msg=name)

    def test_random_with_any_seed_lies_within_four_deviations(self) -> None:
        expected = {
            "val_seen": ((9.618, 0.052), (9.565, 0.131), (0.1488, 0.0082), (0.2029, 0.0092), (0.1376, 0.0076)),
            "val_unseen": ((9.797, 0.035), (9.288, 0.087), (0.1590, 0.0054), (0.2134, 0.0058), (0.1395, 0.0048)),
        }
        names = ("path_length", "navigation_error", "success", "oracle_success", "spl")
        seeds = random.Random(4)
        for split, values in expected.items():
            walks = play(split, lambda episode: r2r.RandomAgent(seeds.getrandbits(32)).act)
            mean = means([metrics for _, _, metrics in walks])
            for name, (value, deviation) in zip(names, values):
                with self.subTest(split=split, metric=name):
                    self.assertAlmostEqual(mean[name], value, delta=4 * deviation)


@unittest.skipUnless(os.path.isdir(DATA) and os.path.isdir(VECTORS), "the reference vectors are not here")
class ReferenceVectorsTest(unittest.TestCase):
    def vectors(self, name: str) -> List[Dict[str, Any]]:
        with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
            return json.load(file)["vectors"]

    def test_metrics_equal_those_of_three_published_evaluators(self) -> None:
        r2r.environment.choose_data(DATA)
        scored = {vector["instr_id"] + vector["kind"]: vector for vector in self.vectors("dtw_cls_vectors_val_unseen.json")}
        by_reference = {v["instr_id"] + v["kind"]: v for v in self.vectors("navgpt_duet_vectors_val_unseen.json")}
        checked = 0
        for vector in self.vectors("r2r_eval_vectors_val_unseen.json"):
            key = vector["instr_id"] + vector["kind"]
            if key not in scored:
                continue
            checked += 1
            scan = r2r.environment.dataset.scan(vector["scan"])
            path = [entry[0] for entry in vector["trajectory"]]
            mine = r2r._episode_score(scan, path, scored[key]["reference"])
            official, dtw = vector["expected"], scored[key]["expected"]
            pairs = {
                "path_length": official["trajectory_length"],
                "navigation_error": official["nav_error"],
                "success": official["success"],
                "oracle_success": official["oracle_success"],
                "spl": official["spl"],
                "ndtw": dtw["ndtw"],
                "sdtw": dtw["sdtw"],
                "cls": dtw["cls"],
            }
            if key in by_reference:
                pairs["spl_by_reference"] = by_reference[key]["expected"]["spl"]
            for name, value in pairs.items():
                self.assertAlmostEqual(mine[name], value, places=9, msg=f"{key} {name}")
        self.assertGreaterEqual(checked, 20)


@unittest.skipUnless(os.path.isdir(DATA), "the Room-to-Room data is not here")
class HostedTest(unittest.TestCase):
    def test_an_episode_through_the_host_by_panel_and_nodes(self) -> None:
        with HostProcess(NODESET, "R2RNodeSet") as host:
            unset = host.call("panel.load")
            self.assertFalse(unset["available"])
            self.assertIn("R2R_DATA_DIR", unset["error"])
            host.call("panel.field", {"name": "data_dir", "value": DATA})
            host.call("panel.field", {"name": "split", "value": "val_seen"})
            state = host.call("panel.field", {"name": "episode_index", "value": 7})
            self.assertEqual((state["episode_count"], state["values"]["episode_index"]), (1020, 7))
            host.call("panel.action", {"name": "play", "values": {}})
            observed = host.forward("r2r__observe")["outputs"]
            self.assertIn(observed["instruction"], observed["text"])
            self.assertEqual(observed["observation"]["candidates"][0]["number"], 1)
            done = False
            for step in range(100):
                action = host.forward("r2r__shortest", {"observation": 1}, node="a", step=step)["outputs"]["action"]
                done = host.forward("r2r__step", {"action": action}, node="s", step=step)["outputs"]["done"]
                if done:
                    break
            self.assertTrue(done)
            metrics = host.forward("r2r__evaluate", node="e")["outputs"]["metrics"]
            self.assertEqual((metrics["success"], metrics["spl"]), (1, 1))
            image = host.forward("r2r__path_view", node="v", config={"size": 128})["outputs"]["image"]
            self.assertEqual(tuple(image.shape), (128, 128, 3))
            self.assertEqual(host.call("eval_metadata")["episode_counts"]["val_unseen"], 2349)

    def test_both_layouts_and_a_folder_without_data(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(r2r.DataError):
                r2r.Dataset(folder)
            shutil.copytree(os.path.join(DATA, "episodes"), os.path.join(folder, "tasks", "R2R", "data"))
            os.symlink(os.path.join(DATA, "connectivity"), os.path.join(folder, "connectivity"))
            self.assertEqual(r2r.Dataset(folder).splits(), ["train", "val_seen", "val_unseen", "test"])

    def test_answers_of_language_models_become_actions(self) -> None:
        choose = r2r.Choose()
        observation = {"candidates": [{"number": 1, "viewpoint": "a"}, {"number": 2, "viewpoint": "b"}]}
        for text, action, understood in (
            ("I go to 1. Answer: 2", "b", True),
            ("0", "stop", True),
            ("stop here", "stop", True),
            ("47 metres", "stop", False),
        ):
            answer = choose.forward({"text": text, "observation": observation}, None)
            self.assertEqual((answer["action"], answer["understood"]), (action, understood), text)


if __name__ == "__main__":
    unittest.main()
