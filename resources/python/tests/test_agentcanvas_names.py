"""The import names of AgentCanvas are there, mean what they should, and what is not there says so."""

from __future__ import annotations

import asyncio
import importlib
import os
import tempfile
import unittest
from typing import Any, Dict
from unittest import mock

from .host_process import PACKAGES  # noqa: F401 - puts the packages on the path

from agentcanvas_host import engine_access
from agentcanvas_host.array_value import ArrayValue

NAMES: Dict[str, str] = {
    "app.components": "BaseCanvasNode BaseNodeSet PortDef ConfigField DisplayField NodeUIConfig conda_env_python",
    "app.components.bases": "FireSpec FireList DynamicFireListNode BaseCanvasNode BaseNodeSet PortDef",
    "app.components.env_panel": "BaseEnvPanel EnvPanelField EnvPanelAction EnvPanelInfo get_env_panel",
    "app.graph_def": "ContainerDef StateDef",
    "app.server.serialization": "serialize_value deserialize_value",
    "app.server.batched_inference": "SAMPLES_KEY OUTPUTS_KEY",
    "app.standard.actions": "ACTION_NAMES",
    "app.standard.wire_types": "IMAGE DEPTH POSE DISCRETE_ACTION CONTROL TEXT BOOL METRICS ANY ACTION image_to_base64 depth_to_base64",
    "app.standard": "ACTION_NAMES IMAGE image_to_base64",
    "app.state": "get_services",
    "app.llm": "get_llm_config llm_complete vlm_complete",
    "app.llm.call": "get_llm_config llm_complete vlm_complete",
    "app.replay.interface": "BaseReplayParser ReplayEpisode ReplayStep",
}


class NamesTest(unittest.TestCase):
    def test_every_listed_name_can_be_imported(self) -> None:
        for module, names in NAMES.items():
            loaded = importlib.import_module(module)
            for name in names.split():
                self.assertTrue(hasattr(loaded, name), f"{module}.{name}")

    def test_unknown_modules_and_names_give_import_errors_that_name_them(self) -> None:
        with self.assertRaisesRegex(ImportError, "app.agent_loop"):
            importlib.import_module("app.agent_loop.loop_runner")
        with self.assertRaisesRegex(ImportError, "NoSuchThing"):
            exec("from app.components import NoSuchThing", {})

    def test_conda_interpreters_are_found_by_variable_and_by_root(self) -> None:
        from app.components import conda_env_python

        with tempfile.TemporaryDirectory() as root:
            python = os.path.join(root, "envs", "sim", "bin", "python")
            os.makedirs(os.path.dirname(python))
            with open(python, "w"):
                pass
            with mock.patch.dict(os.environ, {"CONDA_ROOT": root}):
                self.assertEqual(conda_env_python("sim", "SIM_PYTHON"), python)
                self.assertIsNone(conda_env_python("other", "SIM_PYTHON"))
            with mock.patch.dict(os.environ, {"SIM_PYTHON": "/x/python"}):
                self.assertEqual(conda_env_python("sim", "SIM_PYTHON"), "/x/python")

    def test_values_survive_the_json_transport(self) -> None:
        from app.server.serialization import deserialize_value, serialize_value

        array = ArrayValue.from_list("float32", [[1.0, 2.5]])
        sent = serialize_value({"depth": array, "n": [1, (2, 3)]}, "ANY")
        self.assertEqual(sent["depth"]["dtype"], "float32")
        restored = deserialize_value(sent, "ANY")
        self.assertEqual((restored["depth"].tolist(), restored["n"]), ([[1.0, 2.5]], [1, [2, 3]]))
        image = serialize_value(ArrayValue("uint8", (1, 1, 3), b"\1\2\3"), "IMAGE")
        self.assertTrue(image.startswith("iVBOR"))

    def test_actions_are_read_from_text(self) -> None:
        from app.standard.actions import parse_action_from_text

        cases = {"I will turn left": 2, "STOP": 0, "go forward": 1, "Right!": 3, "hm": 1}
        for text, action in cases.items():
            self.assertEqual(parse_action_from_text(text), action, text)

    def test_nodes_that_forget_to_call_the_base_constructor_still_log_and_have_a_config(self) -> None:
        from app.components import BaseCanvasNode

        class Forgetful(BaseCanvasNode):
            node_type = "x__y"

            def __init__(self) -> None:
                self.mine = 1

            async def forward(self, inputs: dict, ctx: Any) -> dict:
                return {}

        node, other = Forgetful(), Forgetful()
        node._self_log("k", 1)
        self.assertEqual((node.config, node.log(), other.log()), ({}, [{"key": "k", "value": 1}], []))

    def test_chat_calls_send_only_what_was_set_and_fail_softly(self) -> None:
        from app.llm import get_llm_config, llm_complete, llm_complete_n, vlm_complete

        asked = []

        async def answer(method: str, params: Dict[str, Any]) -> Dict[str, Any]:
            asked.append((method, params))
            return {"text": f"answer {len(asked)}"}

        config = get_llm_config("fast")
        assert config is not None
        with mock.patch.object(engine_access, "ask_and_wait", answer):
            text = asyncio.run(llm_complete(config, [{"role": "user", "content": "a"}], temperature=0.0))
            several = asyncio.run(llm_complete_n(config, [], 2))
            asyncio.run(vlm_complete(config, "look", ["QUJD"], image_labels=["left"], detail="high"))
        self.assertEqual((text, several), ("answer 1", ["answer 2", "answer 3"]))
        self.assertEqual(asked[0], ("llm.chat", {"messages": [{"role": "user", "content": "a"}], "profile": "fast", "temperature": 0.0}))
        parts = asked[3][1]["messages"][0]["content"]
        self.assertEqual([part["type"] for part in parts], ["text", "text", "image_url"])
        self.assertEqual(parts[2]["image_url"], {"url": "data:image/png;base64,QUJD", "detail": "high"})
        with self.assertLogs("agentcanvas.llm", "ERROR"):
            self.assertIsNone(asyncio.run(llm_complete(config, [])))


if __name__ == "__main__":
    unittest.main()
