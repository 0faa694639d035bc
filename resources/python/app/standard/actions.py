"""The discrete actions of vision-and-language navigation."""

from __future__ import annotations

from typing import Dict

ACTION_STOP = 0
ACTION_FORWARD = 1
ACTION_TURN_LEFT = 2
ACTION_TURN_RIGHT = 3

ACTION_NAMES: Dict[int, str] = {
    ACTION_STOP: "STOP",
    ACTION_FORWARD: "FORWARD",
    ACTION_TURN_LEFT: "TURN_LEFT",
    ACTION_TURN_RIGHT: "TURN_RIGHT",
}
ACTION_FROM_NAME: Dict[str, int] = {name: number for number, name in ACTION_NAMES.items()}

# The first word found decides; nothing found means forward, as in AgentCanvas.
_WORDS = (
    ("STOP", ACTION_STOP),
    ("LEFT", ACTION_TURN_LEFT),
    ("RIGHT", ACTION_TURN_RIGHT),
    ("FORWARD", ACTION_FORWARD),
)


def parse_action_from_text(text: str) -> int:
    upper = text.upper()
    return next((action for word, action in _WORDS if word in upper), ACTION_FORWARD)
