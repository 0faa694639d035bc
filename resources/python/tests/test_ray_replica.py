"""What runs on a node of a Ray cluster, without Ray: files that travel, a host that is started, watched and ended."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
import unittest
from typing import Any, Dict, List

from .host_process import NODESETS, PACKAGES

from agentcanvas_ray.replica import Replica, digest_of, moved, pack, place_files


class FilesThatTravel(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.source = os.path.join(self.folder, "here")
        os.makedirs(os.path.join(self.source, "inner", "__pycache__"))
        for name in ("a.py", "inner/b.py", "inner/__pycache__/b.pyc"):
            with open(os.path.join(self.source, name), "w", encoding="utf-8") as file:
                file.write(name)

    def described(self, path: str) -> Dict[str, Any]:
        return {"path": path, "digest": digest_of(path), "content": pack(path), "single": os.path.isfile(path)}

    def test_same_files_are_used_where_they_are(self) -> None:
        self.assertEqual(place_files([self.described(self.source)], self.folder), {})

    def test_other_or_missing_files_are_unpacked(self) -> None:
        travelling = [self.described(self.source), self.described(os.path.join(self.source, "a.py"))]
        with open(os.path.join(self.source, "a.py"), "a", encoding="utf-8") as file:
            file.write("changed")
        placed = place_files(travelling, os.path.join(self.folder, "scratch"))
        there = placed[self.source]
        self.assertEqual(sorted(os.listdir(there)), ["a.py", "inner"])
        self.assertEqual(os.listdir(os.path.join(there, "inner")), ["b.py"])
        self.assertEqual(digest_of(there), travelling[0]["digest"])
        single = placed[os.path.join(self.source, "a.py")]
        with open(single, encoding="utf-8") as file:
            self.assertEqual(file.read(), "a.py")

    def test_paths_are_moved_whole(self) -> None:
        placed = {self.source: "/there"}
        self.assertEqual(moved(os.path.join(self.source, "a.py"), placed), os.path.join("/there", "a.py"))
        self.assertEqual(moved(self.source + "2", placed), self.source + "2")


@unittest.skipIf(os.name == "nt", "process groups")
class HostOfAReplica(unittest.TestCase):
    def start(self) -> Replica:
        command = ["-m", "agentcanvas_host", "--file", os.path.join(NODESETS, "sample.py"), "--class", "SampleNodeSet"]
        env = {"PYTHONPATH": PACKAGES, "AGENTCANVAS_NONCE": "n", "AGENTCANVAS_LISTEN": "tcp:node"}
        spec = {"command": sys.executable, "args": command, "cwd": NODESETS, "env": env}
        return Replica(spec, [], "127.0.0.1")

    def until(self, replica: Replica, kind: str) -> List[Dict[str, Any]]:
        seen: List[Dict[str, Any]] = []
        due = time.monotonic() + 20
        while time.monotonic() < due:
            seen += replica.events(0.5)
            if any(event["kind"] == kind for event in seen):
                return seen
        self.fail(f"no {kind} in {seen}")

    def test_reports_its_handshake_and_its_end(self) -> None:
        replica = self.start()
        line = next(event["line"] for event in self.until(replica, "handshake") if event["kind"] == "handshake")
        self.assertRegex(json.loads(line)["listen"], r"^tcp:127\.0\.0\.1:\d+$")
        replica.kill()
        self.assertEqual([e["code"] for e in self.until(replica, "exit") if e["kind"] == "exit"], [-9])

    def test_reports_a_start_that_fails(self) -> None:
        spec = {"command": sys.executable, "args": ["-c", "print('words'); raise SystemExit(3)"], "cwd": "/", "env": {}}
        events = self.until(Replica(spec, [], "127.0.0.1"), "exit")
        self.assertIn({"kind": "log", "stream": "stdout", "line": "words"}, events)
        self.assertEqual(events[-1], {"kind": "exit", "code": 3})


if __name__ == "__main__":
    unittest.main()
