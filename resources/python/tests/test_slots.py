"""Several environments in one process: own modules and names, calls in order, failures of their own."""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest

from .host_process import HostProcess, RemoteError

NODESET = '''
import asyncio
from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.components.env_panel import BaseEnvPanel, EnvPanelField, get_env_panel

count = 0


class Count(BaseCanvasNode):
    node_type = "tally__count"
    output_ports = [PortDef("count", "ANY", "")]

    def forward(self, inputs, ctx):
        global count
        count += 1
        self._self_log("count", count)
        return {"count": count, "panel": get_env_panel("tally").label}


class Wait(BaseCanvasNode):
    node_type = "tally__wait"
    output_ports = [PortDef("count", "ANY", "")]

    async def forward(self, inputs, ctx):
        await asyncio.sleep(0.2)
        return {"count": count, "panel": get_env_panel("tally").label}


class Panel(BaseEnvPanel):
    name = "tally"
    fields = [EnvPanelField("label", "text")]
    actions = []
    label = ""

    async def on_load(self):
        return {"label": self.label}

    async def on_field_change(self, name, value):
        self.label = value
        return await self.on_load()


class Tally(BaseNodeSet):
    name = "tally"
    parallelism = "replicated"
    shares_process = True
    env_panel = Panel

    def get_tools(self):
        return [Count(), Wait()]

    async def shutdown(self):
        print("ended", count, flush=True)
'''


class SlotsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="slots")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def host(self, *parts: str) -> HostProcess:
        path = os.path.join(self.folder, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(NODESET)
        return HostProcess(path, "Tally", slots=3)

    def count(self, host: HostProcess, slot: int) -> dict:
        config = {"config": {}, "grants": []}
        params = {"type": "tally__count", "node": "n", "exec": f"x{slot}", "step": 0, "seed": 0, "inputs": {}, **config}
        return host.wait(host.send("node.forward", params, slot))

    def start(self, host: HostProcess, slots: tuple) -> None:
        for slot in slots:
            for method in ("hello", "manifest", "initialize"):
                host.wait(host.send(method, {}, slot))

    def test_each_slot_has_its_own_module_whatever_the_order(self) -> None:
        for parts in (("tally.py",), ("workspace", "nodesets", "tally.py"), ("tally", "__init__.py")):
            with self.subTest(parts), self.host(*parts) as host:
                self.start(host, (2, 0, 1))
                counts = [self.count(host, slot)["outputs"]["count"] for slot in (0, 0, 1, 2, 2, 2, 0)]
                self.assertEqual(counts, [1, 2, 1, 1, 2, 3, 3])

    def test_names_and_logs_are_those_of_the_slot(self) -> None:
        with self.host("tally.py") as host:
            self.start(host, (0, 1, 2))
            for slot in (0, 1, 2):
                host.wait(host.send("panel.field", {"name": "label", "value": f"label {slot}"}, slot))
            for slot in (2, 0, 1, 0):
                answer = self.count(host, slot)
                self.assertEqual(answer["outputs"]["panel"], f"label {slot}")
                self.assertEqual(answer["log"], [["count", answer["outputs"]["count"]]])

    def test_a_call_that_waits_is_announced_and_others_are_served_meanwhile(self) -> None:
        with self.host("tally.py") as host:
            self.start(host, (0, 1))
            waiting = {"type": "tally__wait", "node": "w", "exec": "x", "step": 0, "seed": 0, "config": {}}
            first = host.send("node.forward", waiting, 0)
            self.count(host, 1)
            self.assertNotIn(first, host.answers)
            self.assertIn({"t": "note", "m": "waits", "p": {"id": first}}, host.notes)
            self.assertEqual(host.wait(first)["outputs"]["count"], 0)

    def test_names_are_those_of_the_slot_also_after_waiting(self) -> None:
        with self.host("tally.py") as host:
            self.start(host, (0, 1))
            for slot in (0, 1):
                host.wait(host.send("panel.field", {"name": "label", "value": f"label {slot}"}, slot))
            waiting = {"type": "tally__wait", "node": "w", "step": 0, "seed": 0, "config": {}}
            calls = [host.send("node.forward", {**waiting, "exec": f"w{slot}"}, slot) for slot in (0, 1)]
            self.count(host, 1)
            for slot, call in enumerate(calls):
                self.assertEqual(host.wait(call)["outputs"]["panel"], f"label {slot}")

    def test_every_slot_is_told_of_the_shared_memory(self) -> None:
        with self.host("tally.py") as host:
            told = [host.wait(host.send("hello", {"features": ["shm"]}, slot)).get("shm_dir") for slot in (0, 1, 2)]
            self.assertEqual(told, [told[0]] * 3)

    def test_a_node_fires_again_in_the_slot_that_has_its_handle(self) -> None:
        with self.host("tally.py") as host:
            self.start(host, (0, 1))
            for slot in (0, 1):
                params = {"type": "tally__count", "node": "n", "exec": f"x{slot}", "inputs": {}, "config": {}}
                host.wait(host.send("node.forward", {**params, "handle": 10 + slot}, slot))
            counts = [host.fire_again(handle)["outputs"]["count"] for handle in (10, 10, 11, 10)]
            self.assertEqual(counts, [2, 3, 2, 4])

    def test_a_slot_that_does_not_exist_is_refused_and_the_others_go_on(self) -> None:
        with self.host("tally.py") as host:
            self.start(host, (0,))
            for slot in (3, -1):
                with self.assertRaises(RemoteError) as caught:
                    host.wait(host.send("manifest", {}, slot))
                self.assertEqual(caught.exception.code, "protocol_error")
            self.assertEqual(self.count(host, 0)["outputs"]["count"], 1)

    def test_shutdown_ends_every_slot(self) -> None:
        with self.host("tally.py") as host:
            self.start(host, (0, 1))
            self.count(host, 1)
            self.assertEqual(host.wait(host.send("shutdown", {})), {})
            self.assertEqual(host.process.wait(10), 0)
            ended = [line for line in host.output().splitlines() if line.startswith("ended")]
            self.assertEqual(sorted(ended), ["ended 0", "ended 1"])


if __name__ == "__main__":
    unittest.main()
