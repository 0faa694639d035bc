"""A small policy for CartPole-v1: one hidden layer of tanh units, weights in cartpole_policy.json.

Trained by us with `python _train_cartpole.py`; plain Python, so that it is the same on every machine.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any, List, Sequence, Tuple

WEIGHTS_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cartpole_policy.json")
INPUTS = 4
HIDDEN = 4
OUTPUTS = 2
PARAMETERS = HIDDEN * (INPUTS + 1) + OUTPUTS * (HIDDEN + 1)


class CartPolePolicy:
    """`parameters`: per hidden unit its weights and bias, then per action the same."""

    def __init__(self, parameters: Sequence[float]) -> None:
        if len(parameters) != PARAMETERS:
            raise ValueError(f"the policy has {PARAMETERS} parameters, not {len(parameters)}")
        self.parameters = [float(parameter) for parameter in parameters]
        self._hidden = _rows(self.parameters[: HIDDEN * (INPUTS + 1)], INPUTS + 1)
        self._outputs = _rows(self.parameters[HIDDEN * (INPUTS + 1) :], HIDDEN + 1)

    @classmethod
    def shipped(cls) -> "CartPolePolicy":
        with open(WEIGHTS_FILE, encoding="utf-8") as file:
            return cls(json.load(file)["parameters"])

    def act(self, observation: Any) -> Tuple[int, List[float]]:
        """Action (0 left, 1 right) and the scores of both."""
        values = [float(value) for value in observation]
        hidden = [math.tanh(_weighted(row, values)) for row in self._hidden]
        scores = [_weighted(row, hidden) for row in self._outputs]
        return (1 if scores[1] > scores[0] else 0), scores


def _rows(flat: List[float], width: int) -> List[List[float]]:
    return [flat[start : start + width] for start in range(0, len(flat), width)]


def _weighted(row: List[float], values: List[float]) -> float:
    return row[-1] + sum(weight * value for weight, value in zip(row, values))
