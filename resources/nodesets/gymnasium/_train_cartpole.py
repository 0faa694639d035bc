"""Trains the shipped CartPole policy by the cross-entropy method and writes cartpole_policy.json.

Seeds 100000 and up are for training; the score is taken on seeds 0 to 499, which training never saw.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, List

import gymnasium
import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _cartpole_policy import PARAMETERS, WEIGHTS_FILE, CartPolePolicy  # noqa: E402

POPULATION = 48
ELITE = 8
GENERATIONS = 24
EPISODES_PER_MEMBER = 3
TEST_EPISODES = 500


def episode_return(env: Any, policy: CartPolePolicy, seed: int) -> float:
    observation, _ = env.reset(seed=seed)
    total = 0.0
    while True:
        observation, reward, terminated, truncated, _ = env.step(policy.act(observation)[0])
        total += float(reward)
        if terminated or truncated:
            return total


def train(env: Any) -> List[float]:
    random = numpy.random.default_rng(0)
    mean, deviation = numpy.zeros(PARAMETERS), numpy.ones(PARAMETERS)
    for generation in range(GENERATIONS):
        members = mean + deviation * random.standard_normal((POPULATION, PARAMETERS))
        seeds = random.integers(100_000, 2**31, EPISODES_PER_MEMBER)
        returns = [
            numpy.mean([episode_return(env, CartPolePolicy(member), int(seed)) for seed in seeds]) for member in members
        ]
        best = members[numpy.argsort(returns)[-ELITE:]]
        mean = best.mean(axis=0)
        deviation = best.std(axis=0) + 0.3 / (generation + 1)
        print(f"generation {generation}: best {max(returns):.0f}, mean {numpy.mean(returns):.1f}", flush=True)
    return [round(float(value), 4) for value in mean]


def main() -> None:
    env = gymnasium.make("CartPole-v1")
    parameters = train(env)
    policy = CartPolePolicy(parameters)
    returns = [episode_return(env, policy, seed) for seed in range(TEST_EPISODES)]
    content = {
        "environment": "CartPole-v1",
        "architecture": "4-4-2, tanh",
        "method": "cross-entropy method",
        "score": {"episodes": f"seeds 0 to {TEST_EPISODES - 1}", "mean_return": float(numpy.mean(returns)), "min": min(returns)},
        "parameters": parameters,
    }
    with open(WEIGHTS_FILE, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
    print(content["score"])


if __name__ == "__main__":
    main()
