"""Steps one environment, a SyncVectorEnv or an AsyncVectorEnv as fast as it goes, in windows that the benchmark asks for.

Lines in: `check STEPS FIRST_SEED`, `work MILLISECONDS`; lines out: JSON. AsyncVectorEnv runs with shared memory and
without copying its observations, its best configuration.
"""

import hashlib
import json
import sys
import time

import gymnasium
import numpy

import endless_environments  # noqa: F401 - registers the environments

KIND, ENV_ID, COUNT, ACTIONS_FILE = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]


def make():
    return gymnasium.make(ENV_ID)


def load_actions():
    """Per time step one action of the vector environment, or of the single one."""
    with open(ACTIONS_FILE, encoding="utf-8") as file:
        table = json.load(file)
    dtype = numpy.dtype(table["dtype"])
    slots = table["slots"][:COUNT]
    if KIND == "raw":
        return [action if table["discrete"] else numpy.asarray(action, dtype) for action in slots[0]]
    return [numpy.asarray([slot[step] for slot in slots], dtype) for step in range(len(slots[0]))]


class Single:
    """One environment in the form of a vector of one."""

    def __init__(self):
        self.env = make()
        self.step = self.env.step
        self.processes = []

    def reset(self, seed):
        observation, info = self.env.reset(seed=seed[0])
        return [observation], info

    def observe(self, action):
        observation, reward, _, _, _ = self.env.step(action)
        return [observation], [reward]


class Vector:
    def __init__(self):
        if KIND == "async":
            self.env = gymnasium.vector.AsyncVectorEnv([make] * COUNT, shared_memory=True, copy=False)
        else:
            self.env = gymnasium.vector.SyncVectorEnv([make] * COUNT, copy=False)
        self.step = self.env.step
        self.reset = lambda seed: self.env.reset(seed=seed)
        self.processes = getattr(self.env, "processes", [])

    def observe(self, action):
        observations, rewards, _, _, _ = self.env.step(action)
        return observations, rewards


def check(world, actions, steps, first_seed):
    count = 1 if KIND == "raw" else COUNT
    hashes = [hashlib.sha256() for _ in range(count)]
    returns = [0.0] * count
    world.reset(seed=[first_seed + slot for slot in range(count)])
    for step in range(steps):
        observations, rewards = world.observe(actions[step % len(actions)])
        for slot in range(count):
            hashes[slot].update(numpy.ascontiguousarray(observations[slot]).tobytes())
            returns[slot] += float(rewards[slot])
    return {"hashes": [each.hexdigest() for each in hashes], "returns": returns}


def work(world, actions, milliseconds):
    step, length = world.step, len(actions)
    clock, until = time.perf_counter, time.perf_counter() + milliseconds / 1000
    done = 0
    while clock() < until:
        step(actions[done % length])
        done += 1
    return {"steps": done * (1 if KIND == "raw" else COUNT)}


def main():
    world = Single() if KIND == "raw" else Vector()
    actions = load_actions()
    say({"pids": [process.pid for process in world.processes], "version": gymnasium.__version__})
    for line in sys.stdin:
        words = line.split()
        if words[0] == "check":
            say(check(world, actions, int(words[1]), int(words[2])))
        else:
            say(work(world, actions, float(words[1])))
    world.env.close()


def say(value):
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
