"""Trains the image encoder on labelled views of the training apartments.

    python -m minivln_policy.train_encoder --views DIR --out encoder.pt
"""

import argparse
import time

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .arrays import read_arrays
from .encoder import COLOURS, ROOMS, SHAPES, ImageEncoder, ViewHead

BATCH = 128
HEAD_ONLY = 200


def log_distance(decimetres: Tensor) -> Tensor:
    """Natural logarithm of the distance in metres."""
    return (decimetres.float().clamp(min=1) / 10).log()


def masked_error(prediction: Tensor, target: Tensor, visible: Tensor) -> Tensor:
    error = F.smooth_l1_loss(prediction, target, reduction="none", beta=0.2)
    return (error * visible).sum() / visible.sum().clamp(min=1)


def loss_of(outputs: dict[str, Tensor], labels: dict[str, Tensor]) -> dict[str, Tensor]:
    walls = (labels["walls"].int()[..., None] >> torch.arange(ROOMS)) & 1
    doors, landmarks = labels["doors"] > 0, labels["landmarks"] > 0
    pieces = landmarks.unflatten(-1, (SHAPES, COLOURS))
    return {
        "walls": F.binary_cross_entropy_with_logits(outputs["walls"], walls.float()),
        "doors": 3 * F.binary_cross_entropy_with_logits(outputs["doors"], doors.float()),
        "landmarks": 24 * F.binary_cross_entropy_with_logits(outputs["landmarks"], landmarks.float()),
        "landmark_colours": 2 * F.binary_cross_entropy_with_logits(
            outputs["landmark_colours"], pieces.any(-2).float()
        ),
        "landmark_shapes": 4 * F.binary_cross_entropy_with_logits(
            outputs["landmark_shapes"], pieces.any(-1).float()
        ),
        "door_distance": masked_error(outputs["door_distance"], log_distance(labels["doors"]), doors),
        "landmark_distance": masked_error(
            outputs["landmark_distance"], log_distance(labels["landmarks"]), landmarks
        ),
        "space": F.smooth_l1_loss(outputs["space"][..., 0], log_distance(labels["space"]), beta=0.2),
        "portalColour": 2 * F.cross_entropy(
            outputs["portalColour"].flatten(0, 1), labels["portalColour"].long().flatten()
        ),
        "portalRoom": 2 * F.cross_entropy(
            outputs["portalRoom"].flatten(0, 1), labels["portalRoom"].long().flatten()
        ),
    }


def scores_of(outputs: dict[str, Tensor], labels: dict[str, Tensor]) -> dict[str, float]:
    """F1 of doors and pieces, accuracy where a column looks through a door."""

    def f1(logits: Tensor, truth: Tensor) -> float:
        hits = ((logits > 0) & truth).sum()
        return float(2 * hits / ((logits > 0).sum() + truth.sum()))

    through = labels["portalColour"] < COLOURS
    colour = outputs["portalColour"].argmax(-1) == labels["portalColour"]
    room = outputs["portalRoom"].argmax(-1) == labels["portalRoom"]
    return {
        "door_f1": f1(outputs["doors"], labels["doors"] > 0),
        "landmark_f1": f1(outputs["landmarks"], labels["landmarks"] > 0),
        "portal_colour": float(colour[through].float().mean()),
        "portal_room": float(room[through].float().mean()),
    }


def batch_of(arrays: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, Tensor]:
    return {
        name: torch.from_numpy(np.asarray(array[rows]).astype(np.int32) if name == "walls" else array[rows])
        for name, array in arrays.items()
    }


def train(args: argparse.Namespace) -> None:
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    random = np.random.default_rng(args.seed)
    arrays = read_arrays(args.views)
    count = len(arrays["rgb"])
    held_out = np.arange(count - 2048, count)  # views of apartments not trained on
    model = nn.Sequential(ImageEncoder(), ViewHead()).to(memory_format=torch.channels_last)
    if args.start:
        model[0].load_state_dict(torch.load(args.start))
    steps = args.steps or args.epochs * ((count - 2048) // BATCH)
    optimiser = torch.optim.AdamW(model.parameters(), lr=args.rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, args.rate, steps, pct_start=args.warm_up)
    began = time.time()
    order = np.empty(0, np.int64)
    for step in range(steps):
        # A loaded encoder comes without its head: that is fitted first.
        model[0].requires_grad_(not args.start or step >= HEAD_ONLY)
        if len(order) < BATCH:
            order = random.permutation(count - 2048)
        batch, order = batch_of(arrays, np.sort(order[:BATCH])), order[BATCH:]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            outputs = model(batch["rgb"])
        losses = loss_of({name: value.float() for name, value in outputs.items()}, batch)
        optimiser.zero_grad()
        sum(losses.values()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimiser.step()
        schedule.step()
        is_last = step == steps - 1 or step + 1 == args.stop_after
        if step % 250 == 249 or is_last:
            test = batch_of(arrays, held_out)
            model.eval()
            with torch.no_grad():
                outputs = model(test["rgb"])
            model.train()
            report = {name: round(float(value), 4) for name, value in loss_of(outputs, test).items()}
            scores = {name: round(value, 3) for name, value in scores_of(outputs, test).items()}
            print(f"{step + 1}/{steps} {time.time() - began:.0f}s {report} {scores}", flush=True)
            torch.save(model[0].state_dict(), args.out)
        if is_last:
            return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--views", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--start", help="weights to go on from")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, help="instead of whole epochs")
    parser.add_argument("--stop-after", type=int, help="steps, fewer than the schedule is made for")
    parser.add_argument("--rate", type=float, default=4e-3)
    parser.add_argument("--warm-up", type=float, default=0.1, help="share of the steps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    train(parser.parse_args())
