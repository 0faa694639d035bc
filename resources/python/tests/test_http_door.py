"""The HTTP door: AgentCanvas's routes, JSON and MessagePack, refusals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
import urllib.error
import urllib.request
from typing import Any, Optional, Tuple

from .host_process import NODESETS, PACKAGES

from agentcanvas_host.array_value import ArrayValue
from agentcanvas_host.msgpack import pack, unpack


class HttpDoorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        command = [sys.executable, "-m", "agentcanvas_host", "--file", os.path.join(NODESETS, "sample.py")]
        cls.process = subprocess.Popen(
            [*command, "--class", "SampleNodeSet", "--http", "0", "--token", "secret"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": PACKAGES},
        )
        assert cls.process.stdout is not None
        while True:
            line = cls.process.stdout.readline()
            if line.startswith(b"{"):
                break
        cls.address = json.loads(line)["listening"]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.process.kill()
        cls.process.wait()
        cls.process.stdout.close()

    def request(self, path: str, body: Optional[bytes] = None, kind: str = "application/json", **headers: str) -> Tuple[int, Any]:
        stated = {"Authorization": "Bearer secret", "Content-Type": kind, **headers}
        request = urllib.request.Request(self.address + path, body, stated)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=20) as answer:
                data = answer.read()
                return answer.status, unpack(data) if kind.endswith("msgpack") else json.loads(data)
        except urllib.error.HTTPError as error:
            data = error.read()
            return error.code, unpack(data) if kind.endswith("msgpack") and error.code >= 500 else data

    def test_health_manifest_and_calls_in_json(self) -> None:
        self.assertEqual(self.request("/health")[1]["status"], "ok")
        manifest = self.request("/manifest")[1]
        self.assertEqual(manifest["functions"][0]["name"], "sample__echo")
        body = json.dumps({"inputs": {"value": {"a": [1, None]}}, "config": {"k": 1}}).encode()
        self.assertEqual(self.request("/call/sample__echo", body)[1]["outputs"], {"value": {"a": [1, None]}, "type": "dict"})
        self.assertEqual(self.request("/call/sample__wait", b'{"inputs": {"seconds": 0.01}}')[1]["outputs"], {"config": {}})

    def test_calls_in_messagepack_carry_arrays(self) -> None:
        array = ArrayValue.from_list("float32", [[1.0, 2.0], [3.0, 4.0]])
        status, answer = self.request("/call/sample__echo", pack({"inputs": {"value": array}}), "application/msgpack")
        self.assertEqual(status, 200)
        value = answer["outputs"]["value"]
        self.assertEqual(value.tolist(), [[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(str(value.dtype), "float32")

    def test_errors_and_unknown_functions(self) -> None:
        status, body = self.request("/call/sample__trouble", b'{"inputs": {"kind": "raise"}}')
        self.assertEqual(status, 500)
        self.assertEqual(json.loads(body)["detail"], "no luck")
        self.assertEqual(self.request("/call/nothing", b"{}")[0], 404)
        self.assertEqual(self.request("/call/sample__echo", b"{not json")[0], 400)
        self.assertEqual(self.request("/call/sample__echo", b"\xc1", "application/msgpack")[0], 400)

    def test_the_panel_by_its_routes(self) -> None:
        self.assertEqual(self.request("/env-panel/info")[1]["fields"][0]["name"], "split")
        state = self.request("/env-panel/field/episode_index", b'{"value": 1}')[1]
        self.assertEqual((state["episode_index"], state["current_episode"]["episode_id"]), (1, "1"))
        self.assertEqual(self.request("/env-panel/state")[1]["episode_index"], 1)
        self.assertEqual(self.request("/env-panel/options/split")[1][0]["value"], "train")
        self.assertEqual(self.request("/env-panel/action/play", b'{"params": {}}')[1]["side_effect"], "run_start")

    def test_says_what_it_evaluates(self) -> None:
        status, metadata = self.request("/eval-metadata")
        self.assertEqual(status, 200)
        self.assertEqual(metadata["env_name"], "sample")

    def test_wrong_tokens_names_and_web_pages_are_refused(self) -> None:
        self.assertEqual(self.request("/health", Authorization="Bearer wrong")[0], 401)
        self.assertEqual(self.request("/health", Host="evil.example")[0], 403)
        self.assertEqual(self.request("/health", Origin="http://evil.example")[0], 403)
        self.assertEqual(self.request("/health", **{"Sec-Fetch-Site": "cross-site"})[0], 403)


class MessagePackTest(unittest.TestCase):
    def test_every_size_class_survives(self) -> None:
        integers = [sign * (1 << bits) + delta for bits in range(63) for delta in (-1, 0, 1) for sign in (1, -1)]
        values = [None, True, False, 0.5, -0.0, float("inf"), 2**64 - 1, -(2**63), *integers]
        values += ["x" * size for size in (0, 31, 32, 255, 256, 70_000)]
        values += [b"x" * size for size in (0, 255, 256, 70_000)]
        values += [[1] * size for size in (15, 16, 70_000)]
        values += [{str(key): key for key in range(size)} for size in (15, 16, 70_000)]
        self.assertEqual(unpack(pack(values)), values)
        self.assertEqual(unpack(pack({1: "int key", "é\ud800": [b""]})), {1: "int key", "é\ud800": [b""]})

    def test_cut_off_bytes_are_a_value_error(self) -> None:
        whole = pack({"a": [1.5, "text", b"bytes", {"b": 2**40}]})
        for size in range(len(whole)):
            with self.assertRaises(ValueError):
                unpack(whole[:size])

    def test_agrees_with_the_reference_library(self) -> None:
        try:
            import msgpack
        except ImportError:
            raise unittest.SkipTest("msgpack is not installed") from None
        value = {"a": [1, -1, 300, -70000, 2**40, 0.1, "é", b"z", None, True], "b": {"c": "d" * 300}}
        self.assertEqual(msgpack.unpackb(pack(value)), value)
        self.assertEqual(unpack(msgpack.packb(value)), value)


if __name__ == "__main__":
    unittest.main()
