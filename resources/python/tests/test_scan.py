"""Scanning finds nodesets without importing them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from typing import Any, Dict

from .host_process import NODESETS, PACKAGES

SCAN = os.path.join(PACKAGES, "agentcanvas_host", "scan.py")


def scan(*paths: str, **environment: str) -> Dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-I", SCAN, *paths], stdout=subprocess.PIPE, env={**os.environ, **environment}, check=True
    )
    result: Dict[str, Any] = json.loads(done.stdout)
    return result


class ScanTest(unittest.TestCase):
    def test_finds_classes_names_interpreters_and_dependencies_without_importing(self) -> None:
        found = {nodeset["name"]: nodeset for nodeset in scan(os.path.join(NODESETS, "interpreters.py"))["nodesets"]}
        self.assertEqual(set(found), {"literal", "conda", "variable", "code"})
        literal = found["literal"]
        self.assertEqual((literal["class_name"], literal["parallelism"], literal["has_env_panel"]), ("LiteralNodeSet", "replicated", True))
        self.assertEqual(literal["server_python"], {"kind": "value", "value": "/opt/python"})
        self.assertEqual(found["conda"]["server_python"], {"kind": "conda", "environment": "ac-sim", "variable": "SCAN_TEST_PYTHON"})
        self.assertEqual(found["variable"]["server_python"]["value"], os.path.join(NODESETS, "venv", "bin", "python"))
        self.assertEqual(found["code"]["server_python"]["kind"], "expression")
        self.assertIn("package_that_does_not_exist", literal["imports"])
        self.assertEqual(literal["script"], 'requires-python = ">=3.9"\ndependencies = [\n  "numpy>=1.24",\n]\n')

    def test_a_variable_that_names_the_interpreter_wins_over_the_conda_environment(self) -> None:
        found = scan(os.path.join(NODESETS, "interpreters.py"), SCAN_TEST_PYTHON="/my/python")["nodesets"]
        conda = next(nodeset for nodeset in found if nodeset["name"] == "conda")
        self.assertEqual(conda["server_python"], {"kind": "value", "value": "/my/python"})

    def test_the_engines_program_writes_the_same_to_the_handshake_pipe(self) -> None:
        program = os.path.join(PACKAGES, "find_nodesets.py")
        command = ["/bin/sh", "-c", 'exec "$@" 3>&1 1>/dev/null', "sh", sys.executable, "-I", program, NODESETS]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        self.assertEqual(json.loads(done.stdout)["nodesets"], scan(NODESETS)["nodesets"])

    def test_packages_count_once_and_broken_files_are_problems_of_their_own(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "sub", "env_x")
            os.makedirs(package)
            source = "from app.components import BaseNodeSet\nclass X(BaseNodeSet):\n    name = '{}'\n"
            for path, text in (
                (os.path.join(package, "__init__.py"), source.format("env_x")),
                (os.path.join(package, "inner.py"), source.format("hidden")),
                (os.path.join(folder, "loose.py"), source.format("löse")),
                (os.path.join(folder, "_private.py"), source.format("private")),
                (os.path.join(folder, "broken.py"), "class X(BaseNodeSet:\n"),
                (os.path.join(folder, "null.py"), "x = '\0'"),
            ):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            result = scan(folder)
            self.assertEqual(sorted(nodeset["name"] for nodeset in result["nodesets"]), ["env_x", "löse"])
            self.assertEqual([os.path.basename(problem["file"]) for problem in result["problems"]], ["broken.py", "null.py"])


if __name__ == "__main__":
    unittest.main()
