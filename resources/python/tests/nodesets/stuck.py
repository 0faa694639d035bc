"""A node that holds the interpreter lock in a native call."""

from __future__ import annotations

import ctypes
from typing import Any

from app.components import BaseCanvasNode, BaseNodeSet


class Native(BaseCanvasNode):
    node_type = "stuck__native"

    async def forward(self, inputs: dict, ctx: Any) -> dict:
        ctypes.PyDLL(None).sleep(60)
        return {}


class StuckNodeSet(BaseNodeSet):
    name = "stuck"

    def get_tools(self) -> list:
        return [Native()]
