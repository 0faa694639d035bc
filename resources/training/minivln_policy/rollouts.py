"""Rollouts as batches of whole episodes, padded; episodes of like length share a batch."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from .arrays import read_arrays
from .encoder import FEATURE_RANGE
from .policy import START

OFF_ROUTE = 255
#: Batches are drawn from pools of this many, sorted by length, so that little is padding.
POOL = 16


class Rollouts:
    """Several data sets as one list of episodes."""

    def __init__(self, folders: list[str], hides_instruction: bool = False) -> None:
        self.sets = [read_arrays(folder) for folder in folders]
        self.hides_instruction = hides_instruction
        lengths = [arrays["length"].astype(np.int64) for arrays in self.sets]
        starts = [np.concatenate([[0], np.cumsum(length)[:-1]]) for length in lengths]
        #: one row per episode: data set, its number there, first step, length
        self.episodes = np.concatenate(
            [
                np.stack([np.full(len(length), index), np.arange(len(length)), start, length], 1)
                for index, (length, start) in enumerate(zip(lengths, starts))
            ]
        )

    def batches(self, size: int, random: np.random.Generator) -> Iterator[dict[str, Tensor]]:
        """Every episode once, in random order."""
        order = random.permutation(len(self.episodes))
        for pool in range(0, len(order), size * POOL):
            chosen = order[pool : pool + size * POOL]
            chosen = chosen[np.argsort(self.episodes[chosen, 3], kind="stable")]
            groups = [chosen[i : i + size] for i in range(0, len(chosen), size)]
            for index in random.permutation(len(groups)):
                yield self.batch(groups[index])

    def batch(self, rows: np.ndarray) -> dict[str, Tensor]:
        """Steps are padded to the longest episode: (B, T, ...); `valid` (B, T) tells real ones."""
        episodes = self.episodes[rows]
        shape = (len(episodes), int(episodes[:, 3].max()))
        first = self.sets[0]
        batch = {
            name: np.zeros((*shape, *first[name].shape[1:]), first[name].dtype)
            for name in ("features", "taken", "expert", "clause", "turned", "bearing", "distance")
        }
        valid = np.zeros(shape, bool)
        tokens = np.zeros((len(episodes), first["tokens"].shape[1]), np.int64)
        for row, (index, number, start, length) in enumerate(episodes):
            arrays = self.sets[index]
            valid[row, :length] = True
            if not self.hides_instruction:
                tokens[row] = arrays["tokens"][number]
            for name, values in batch.items():
                values[row, :length] = arrays[name][start : start + length]
        previous = np.full(shape, START, np.int64)
        previous[:, 1:] = batch["taken"][:, :-1]
        tensors = {name: torch.from_numpy(values) for name, values in batch.items()}
        return {
            **tensors,
            "columns": tensors["features"].float() * (FEATURE_RANGE / 255),
            "tokens": torch.from_numpy(tokens),
            "previous": torch.from_numpy(previous),
            "valid": torch.from_numpy(valid),
        }
