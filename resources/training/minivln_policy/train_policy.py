"""Imitates the expert on rollouts (behaviour cloning and DAgger alike), the image encoder being fixed.

    python -m minivln_policy.train_policy --data DIR... [--start policy.pt] --epochs 6 --out policy.pt
"""

import argparse
import math
import time

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .policy import HIDDEN, SENTENCES, Policy
from .rollouts import OFF_ROUTE, Rollouts

#: A step where the expert does something else than it would have done a step before counts this much more (inflection
#: weighting). Compared with what was done instead, students that hesitate would be taught to turn to and fro.
INFLECTION = 3.0
#: Off the route the expert walks back, which the instruction says nothing about.
LOST = 0.3


def losses_of(result: dict[str, Tensor], batch: dict[str, Tensor]) -> dict[str, Tensor]:
    expert, valid = batch["expert"].long(), batch["valid"].float()
    on_route = valid * (batch["clause"] != OFF_ROUTE)
    changes = F.pad(expert[:, 1:] != expert[:, :-1], (1, 0), value=True)
    weight = torch.where(changes, INFLECTION, 1.0)
    weight = weight * torch.where(batch["clause"] != OFF_ROUTE, 1.0, LOST) * valid

    def mean(values: Tensor, mask: Tensor) -> Tensor:
        return (values * mask).sum() / mask.sum().clamp(min=1)

    action = F.cross_entropy(result["logits"].flatten(0, 1), expert.flatten(), reduction="none")
    clause = batch["clause"].long().clamp(max=SENTENCES - 1)
    pointer = F.cross_entropy(result["pointer"].flatten(0, 1), clause.flatten(), reduction="none")
    angle = batch["turned"].float() * (math.pi / 12)
    bearing = batch["bearing"].float() * (math.pi / 180)
    distance = (batch["distance"].float().clamp(min=1) / 10).log()
    turned = torch.stack([angle.sin(), angle.cos()], -1)
    target = torch.stack([bearing.sin(), bearing.cos(), distance], -1)
    return {
        "action": mean(action.view_as(valid), weight),
        "pointer": 0.3 * mean(pointer.view_as(valid), on_route),
        "turned": 0.3 * mean((result["turned"] - turned).square().sum(-1), on_route),
        "target": 0.3 * mean((result["target"] - target).square().sum(-1), on_route),
    }


def rights_of(result: dict[str, Tensor], batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Share of steps with the expert's action, and with the right clause."""
    valid = batch["valid"]
    action = (result["logits"].argmax(-1) == batch["expert"])[valid].float().mean()
    on_route = valid & (batch["clause"] != OFF_ROUTE)
    clause = (result["pointer"].argmax(-1) == batch["clause"])[on_route].float().mean()
    return {"action_right": action, "clause_right": clause}


def train(args: argparse.Namespace) -> None:
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    random = np.random.default_rng(args.seed)
    data = Rollouts(args.data, args.no_instruction)
    policy = Policy()
    if args.start:
        policy.load_state_dict(torch.load(args.start))
    optimiser = torch.optim.AdamW(policy.parameters(), lr=args.rate, weight_decay=args.weight_decay)
    steps = args.epochs * math.ceil(len(data.episodes) / args.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, args.rate, steps + 1, pct_start=0.1, final_div_factor=100
    )
    began, sums, count = time.time(), {}, 0
    print(f"{len(data.episodes)} episodes, {int(data.episodes[:, 3].sum())} steps", flush=True)
    for epoch in range(args.epochs):
        for batch in data.batches(args.batch, random):
            hidden = torch.zeros(len(batch["tokens"]), HIDDEN)
            columns = F.dropout(batch["columns"], args.dropout)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.bfloat16):
                result = policy(columns, batch["tokens"], batch["previous"], hidden)
            result = {name: value.float() for name, value in result.items()}
            losses = losses_of(result, batch)
            optimiser.zero_grad()
            sum(losses.values()).backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            count += 1
            for name, value in {**losses, **rights_of(result, batch)}.items():
                sums[name] = sums.get(name, 0.0) + value.item()
            if count % 40 == 0:
                report = " ".join(f"{name} {value / 40:.4f}" for name, value in sums.items())
                print(f"epoch {epoch + 1} {count}/{steps} {time.time() - began:.0f}s {report}", flush=True)
                sums = {}
    torch.save(policy.state_dict(), args.out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--start", help="weights to go on from")
    parser.add_argument("--out", required=True)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--weight-decay", type=float, default=1e-3)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--no-instruction", action="store_true", help="the ablation: empty instructions")
    parser.add_argument("--bfloat16", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    train(parser.parse_args())
