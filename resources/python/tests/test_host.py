"""The host as the engine sees it: handshake, methods, errors, concurrency, life and death."""

from __future__ import annotations

import os
import signal
import socket
import time
import unittest
from typing import Any, Dict

from .host_process import HostProcess, RemoteError

SAMPLE = ("sample.py", "SampleNodeSet")


class HandshakeTest(unittest.TestCase):
    def test_proves_that_it_knows_the_nonce_and_keeps_it_from_user_code(self) -> None:
        with HostProcess(*SAMPLE) as host:
            line = host.handshake
            self.assertEqual(line["proof"], host.proof(f"1:{line['pid']}:{line['listen']}"))
            self.assertEqual(line["pid"], host.process.pid)
            about = host.forward("sample__about")["outputs"]["about"]
            nonce, standard_input, _ = about["loaded_in"]
            self.assertIsNone(nonce)
            self.assertEqual(standard_input, about["lifeline"])

    def test_a_tcp_connection_must_prove_that_it_is_the_engine(self) -> None:
        with HostProcess(*SAMPLE, listen="tcp") as host:
            host.call("auth", {"proof": host.proof("engine:" + host.handshake["listen"])})
            self.assertEqual(host.call("manifest")["name"], "sample")
        with HostProcess(*SAMPLE, listen="tcp") as host:
            with self.assertRaises((ConnectionError, OSError)):
                host.call("auth", {"proof": "0" * 64})
            self.assertNotEqual(host.process.wait(10), 0)

    def test_the_socket_takes_one_connection_only(self) -> None:
        with HostProcess(*SAMPLE) as host:
            host.call("hello", {"features": []})
            path = host.handshake["listen"].partition(":")[2]
            with socket.socket(socket.AF_UNIX) as second, self.assertRaises(OSError):
                second.connect(path)


class MethodsTest(unittest.TestCase):
    host: HostProcess

    @classmethod
    def setUpClass(cls) -> None:
        cls.host = HostProcess(*SAMPLE)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.host.close()

    def test_hello_tells_language_version_and_packages(self) -> None:
        hello = self.host.call("hello", {"features": []})
        self.assertEqual(hello["language"], "python")
        self.assertIsInstance(hello["packages"], dict)
        self.assertNotIn("shm_dir", hello)

    def test_the_manifest_describes_nodes_ports_config_and_containers(self) -> None:
        manifest = self.host.call("manifest")
        self.assertEqual((manifest["parallelism"], manifest["has_env_panel"]), ("replicated", True))
        self.assertEqual(manifest["default_per_step_budget_sec"], 2.0)
        self.assertEqual(manifest["containers"][0]["states"]["count"], {"type": "counter", "value_type": "ANY", "lifetime": "episode"})
        echo = manifest["nodes"][0]
        self.assertEqual(echo["input_ports"][0], {"name": "value", "wire_type": "ANY", "description": "Anything", "optional": True})
        scale, mode = echo["ui_config"]["config_fields"]
        self.assertEqual((scale["kind"], scale["min"], scale["max"]), ("slider", 0, 10))
        self.assertNotIn("min", mode)
        self.assertEqual(mode["options"], [{"value": 1, "label": "one"}, "two"])
        self.assertEqual(echo["ui_config"]["display_fields"][0]["port"], "value")
        policy = next(node for node in manifest["nodes"] if node["node_type"] == "sample__policy")
        self.assertEqual((policy["batched"], policy["batch_dim"]), (True, "x"))

    def test_initialize_waits_and_metadata_is_read(self) -> None:
        self.assertEqual(self.host.call("initialize"), {})
        metadata = self.host.call("eval_metadata")
        self.assertEqual((metadata["metrics"], metadata["episode_counts"]), (["success"], {"train": 3}))

    def test_the_panel_keeps_its_values_and_accepts_other_names_for_ids(self) -> None:
        host = self.host
        info = host.call("panel.info")
        self.assertEqual([field["name"] for field in info["fields"]], ["split", "episode_index"])
        self.assertEqual(info["actions"][0]["side_effect"], "run_start")
        state = host.call("panel.field", {"name": "episode_index", "value": 2})
        self.assertEqual(state["values"], {"split": "train", "episode_index": 2})
        self.assertEqual((state["current_episode"]["episode_id"], state["current_episode"]["scene_id"]), ("2", "house"))
        self.assertEqual((state["episode_count"], state["step_budget"], state["signals"]), (3, 9, ["episode_reset"]))
        self.assertEqual(host.call("panel.action", {"name": "play", "values": {}})["side_effect"], "run_start")
        self.assertEqual(host.call("panel.action", {"name": "reset", "values": {}})["signals"], ["episode_reset"])
        refused = host.call("panel.action", {"name": "jump", "values": {}})
        self.assertEqual(refused["error"], "unknown action jump")
        self.assertEqual(host.call("panel.options", {"name": "split"})["options"], [{"value": "train", "label": "train"}])

    def test_context_config_log_and_signals_belong_to_execution_and_node(self) -> None:
        host = self.host
        first = host.forward("sample__about", execution="a", node="n", config={"k": 1}, step=4)
        self.assertEqual(first["log"], [["count", 1]])
        self.assertEqual(first["signals"], ["looked"])
        about = first["outputs"]["about"]
        self.assertEqual((about["step"], about["seed"], about["config"], about["node"], about["unset"]), (4, 7, {"k": 1}, "n", None))
        again = host.forward("sample__about", execution="a", node="n", first=False)["outputs"]["about"]
        self.assertEqual((again["count"], again["config"]), (2, {"k": 1}))
        other = host.forward("sample__about", execution="b", node="n")["outputs"]["about"]
        self.assertEqual((other["count"], other["config"]), (1, {}))
        host.call("execution.end", {"exec": "a"})
        with self.assertRaises(RemoteError) as refused:
            host.forward("sample__about", execution="a", node="n", first=False)
        self.assertEqual(refused.exception.code, "protocol_error")

    def test_batched_nodes_take_one_call_for_all_samples_and_also_single_firings(self) -> None:
        host = self.host
        answer = host.call("node.batch", {"type": "sample__policy", "samples": [{"x": 1}, {"x": 2}], "config": {"scale": 3}})
        self.assertEqual(answer["outputs"], [{"y": 3}, {"y": 6}])
        self.assertEqual(host.forward("sample__policy", {"x": 4})["outputs"], {"y": 4})
        with self.assertRaises(RemoteError) as refused:
            host.call("node.batch", {"type": "sample__policy", "samples": [{"x": "short"}], "config": {}})
        self.assertIn("1 samples and returned 0", str(refused.exception))

    def test_fire_lists_are_described_and_collapsed(self) -> None:
        host = self.host
        plain = host.forward("sample__spawner", {"plain": True})
        self.assertEqual(plain["recipe"], {"name": "merge_all"})
        self.assertEqual(plain["fire_list"][0]["inputs"], {"value": 5})
        own = host.forward("sample__spawner", {})
        self.assertEqual(own["recipe"], {"name": "own"})
        results = [{"value": 10, "type": "int"}, {"value": 5, "type": "int"}]
        collapse = {"type": "sample__spawner", "node": "n1", "exec": "x1", "results": results}
        self.assertEqual(host.call("node.aggregate", collapse)["outputs"], {"total": 15, "keys": [["value"], ["value"]]})
        host.forward("sample__spawner", {"rename": True})
        self.assertEqual(host.call("node.aggregate", collapse)["outputs"], {"plan": "p", "total": 10})

    def test_errors_carry_type_message_and_the_authors_frames(self) -> None:
        cases: Dict[str, Any] = {
            "raise": ("ValueError", "no luck", False),
            "garbage": ("TypeError", "returned int", False),
            "unsendable": ("TypeError", "builtins.object cannot be sent", False),
            "exit": ("SystemExit", "3", False),
            "pipe": ("BrokenPipeError", "a pipe of the environment", False),
            "cuda": ("RuntimeError", "CUDA out of memory", True),
            "hostile": ("HostileError", "could not be read", False),
        }
        for kind, (name, message, fatal) in cases.items():
            with self.subTest(kind), self.assertRaises(RemoteError) as caught:
                self.host.forward("sample__trouble", {"kind": kind})
            error = caught.exception.error
            self.assertEqual((error["type"], error["fatal"]), (name, fatal))
            self.assertIn(message, error["message"])
            if kind == "raise":
                self.assertTrue(any("sample.py" in line for line in error["trace"]))
                self.assertFalse(any("nodeset_service.py" in line for line in error["trace"]))
        self.assertEqual(self.host.forward("sample__trouble", {"kind": "none"})["outputs"], {})
        self.assertEqual(self.host.forward("sample__trouble", {"kind": "undeclared"})["outputs"], {"value": 1})

    def test_unknown_methods_and_nodes_are_refused_by_name(self) -> None:
        with self.assertRaises(RemoteError) as method:
            self.host.call("no.such")
        self.assertEqual(method.exception.code, "unsupported")
        with self.assertRaises(RemoteError) as node:
            self.host.forward("sample__nothing")
        self.assertEqual(node.exception.code, "unknown_node_type")


class ConcurrencyTest(unittest.TestCase):
    def test_nodes_that_wait_do_not_hold_up_others_and_keep_their_own_config_and_log(self) -> None:
        with HostProcess(*SAMPLE) as host:
            host.call("initialize")
            begun = time.monotonic()
            waiting = [
                host.send_forward("sample__wait", {"seconds": 0.4}, f"e{n}", f"n{n}", config={"n": n}) for n in range(8)
            ]
            self.assertEqual(host.forward("sample__echo", {"value": 1})["outputs"]["value"], 1)
            self.assertLess(time.monotonic() - begun, 0.4)
            for number, call_id in enumerate(waiting):
                answer = host.wait(call_id)
                self.assertEqual(answer["outputs"], {"config": {"n": number}})
                self.assertEqual(answer["log"], [["node", f"n{number}"]])
            self.assertLess(time.monotonic() - begun, 2.0)

    def test_a_cancelled_call_is_answered_whether_it_waits_is_queued_or_holds_the_main_thread(self) -> None:
        with HostProcess(*SAMPLE) as host:
            waiting = host.send_forward("sample__wait", {"seconds": 20})
            time.sleep(0.2)
            host.cancel(waiting)
            with self.assertRaises(RemoteError) as cancelled:
                host.wait(waiting)
            self.assertEqual(cancelled.exception.code, "aborted")
            busy = host.send_forward("sample__busy", {"seconds": 10}, node="n2")
            queued = host.send_forward("sample__echo", {"value": 1}, node="n3")
            host.cancel(queued)
            host.cancel(busy)
            begun = time.monotonic()
            self.assertEqual(host.wait(busy)["outputs"], {"cancelled": True})
            self.assertLess(time.monotonic() - begun, 3.0)
            with self.assertRaises(RemoteError) as second:
                host.wait(queued)
            self.assertEqual(second.exception.code, "aborted")
            self.assertEqual(host.forward("sample__echo", {"value": 2})["outputs"]["value"], 2)

    def test_containers_of_the_graph_and_chat_models_are_asked_from_the_engine(self) -> None:
        with HostProcess(*SAMPLE) as host:
            asked = []

            def serve(method: str, params: Any, call_id: int) -> Any:
                asked.append((method, params.get("container"), params.get("key"), call_id))
                if method == "llm.chat":
                    return {"text": params["messages"][0]["content"] + "/" + params["messages"][1]["content"]}
                return {"value": {"step": 9}} if method == "container.read" else {}

            host.serve = serve
            call_id = host.send_forward("sample__memory", {}, config={}, grants=["shared"], step=1)
            values = host.wait(call_id)["outputs"]["values"]
            self.assertEqual(values, {"count": 1, "items": [1], "none": [], "shared": {"step": 9}, "in_thread": {"step": 9}})
            self.assertEqual(asked[0], ("container.write", "shared", "a", call_id))
            self.assertEqual(asked[2], ("container.read", "shared", None, call_id))
            self.assertEqual(host.forward("sample__ask", {"text": "hi"}, node="n2")["outputs"]["text"], "be brief/hi")

    def test_owned_containers_reset_with_the_episode(self) -> None:
        with HostProcess(*SAMPLE) as host:
            self.assertEqual(host.forward("sample__memory")["outputs"]["values"]["count"], 1)
            self.assertEqual(host.forward("sample__memory", step=1)["outputs"]["values"]["count"], 2)
            host.call("panel.action", {"name": "play", "values": {}})
            values = host.forward("sample__memory", step=2)["outputs"]["values"]
            self.assertEqual((values["count"], values["items"]), (1, [0, 1, 2]))


class LifeTest(unittest.TestCase):
    def _gone_within(self, host: HostProcess, seconds: float) -> None:
        self.assertIsNotNone(host.process.wait(seconds))

    def test_shutdown_is_answered_and_then_it_exits_with_0(self) -> None:
        with HostProcess(*SAMPLE) as host:
            host.call("initialize")
            self.assertEqual(host.call("shutdown"), {})
            self.assertEqual(host.process.wait(10), 0)
            self.assertIn("initialised", host.output())
            self.assertIn("shut down", host.output())

    def test_it_ends_with_its_lifeline_idle_and_busy(self) -> None:
        for busy in (False, True):
            with self.subTest(busy=busy), HostProcess(*SAMPLE) as host:
                host.call("manifest")
                if busy:
                    host.send_forward("sample__busy", {"seconds": 60})
                    time.sleep(0.1)
                assert host.process.stdin is not None
                host.process.stdin.close()
                self._gone_within(host, 2)

    def test_it_ends_with_its_connection_idle_and_busy(self) -> None:
        for busy in (False, True):
            with self.subTest(busy=busy), HostProcess(*SAMPLE) as host:
                host.call("manifest")
                if busy:
                    host.send_forward("sample__busy", {"seconds": 60})
                    time.sleep(0.1)
                host.socket.close()
                self._gone_within(host, 3)

    def test_garbage_on_the_connection_ends_it(self) -> None:
        with HostProcess(*SAMPLE) as host:
            host.call("manifest")
            host.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
            self._gone_within(host, 3)

    @unittest.skipUnless(os.path.isdir("/proc"), "needs a parent death signal")
    def test_it_dies_with_its_parent_in_a_native_call_that_holds_the_interpreter_lock(self) -> None:
        import subprocess
        import sys

        program = (
            "import sys, time; from tests.host_process import HostProcess\n"
            "host = HostProcess('stuck.py', 'StuckNodeSet'); host.call('manifest')\n"
            "host.send_forward('stuck__native'); time.sleep(0.5)\n"
            "print(host.process.pid, flush=True); time.sleep(60)\n"
        )
        from .host_process import PACKAGES

        parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=PACKAGES)
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
        parent.stdout.close()
        deadline = time.monotonic() + 2
        while _alive(child) and time.monotonic() < deadline:
            time.sleep(0.02)
        alive = _alive(child)
        if alive:
            os.kill(child, signal.SIGKILL)
        self.assertFalse(alive)

    def test_a_nodeset_that_cannot_be_imported_names_interpreter_module_and_remedy(self) -> None:
        with HostProcess("missing.py", "MissingNodeSet") as host:
            with self.assertRaises(RemoteError) as failed:
                host.call("manifest")
            error = failed.exception.error
            self.assertEqual(error["code"], "nodeset_failed")
            for part in ("no_such_simulator", "python", "server_python"):
                self.assertIn(part, error["message"])
        with HostProcess("reaches_in.py", "ReachesInNodeSet") as host:
            with self.assertRaises(RemoteError) as failed:
                host.call("manifest")
            self.assertIn("app.agent_loop", failed.exception.error["message"])


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
