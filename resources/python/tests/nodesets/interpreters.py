# /// script
# requires-python = ">=3.9"
# dependencies = [
#   "numpy>=1.24",
# ]
# ///
"""Ways to state an interpreter; importing this file would fail, scanning must not."""

import os

import package_that_does_not_exist
from app.components import BaseNodeSet, conda_env_python

_HERE = os.path.dirname(os.path.abspath(__file__))
_NAME = "literal"


class LiteralNodeSet(BaseNodeSet):
    name = _NAME
    parallelism: str = "replicated"
    server_python = "/opt/python"
    env_panel = package_that_does_not_exist.Panel


class CondaNodeSet(BaseNodeSet):
    name = "conda"
    server_python = conda_env_python("ac-sim", "SCAN_TEST_PYTHON")


class VariableNodeSet(BaseNodeSet):
    name = "variable"
    server_python = os.environ.get("SCAN_TEST_UNSET") or os.path.join(_HERE, "venv", "bin", "python")


class CodeNodeSet(LiteralNodeSet):
    name = "code"
    server_python = package_that_does_not_exist.find()


class _Abstract(BaseNodeSet):
    pass
