"""Writes a trained agent as ONNX with a dynamic batch axis.

    python -m minivln_policy.export --encoder encoder.pt [--policy policy.pt] [--features] --out agent.onnx
"""

import argparse
import warnings

import numpy as np
import onnx
import onnxruntime
import torch

from .encoder import ImageEncoder
from .policy import HIDDEN, START, TOKENS, VOCABULARY, Agent, Policy


def example(batch: int) -> dict[str, torch.Tensor]:
    return {
        "rgb": torch.randint(0, 256, (batch, 48, 64, 3), dtype=torch.uint8),
        "tokens": torch.randint(0, VOCABULARY, (batch, TOKENS)),
        "prev_action": torch.randint(0, START + 1, (batch,)),
        "hidden_in": torch.randn(batch, HIDDEN),
    }


def export(agent: Agent, out: str) -> None:
    outputs = ["logits", "hidden_out"] + (["features"] if agent.gives_features else [])
    inputs = example(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            agent.eval(),
            tuple(inputs.values()),
            out,
            input_names=list(inputs),
            output_names=outputs,
            dynamic_axes={name: {0: "batch"} for name in [*inputs, *outputs]},
            opset_version=17,
            dynamo=False,
        )
    onnx.checker.check_model(out)
    compare(agent, out)


def compare(agent: Agent, out: str) -> None:
    """The exported model must agree with torch at batch sizes it was not traced with."""
    session = onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"])
    for batch in (1, 8):
        inputs = example(batch)
        with torch.no_grad():
            expected = agent(**inputs)[:2]
        found = session.run(None, {name: value.numpy() for name, value in inputs.items()})
        for want, got in zip(expected, found):
            np.testing.assert_allclose(want.numpy(), got, atol=1e-3)


def load_agent(encoder: str, policy: str | None, gives_features: bool) -> Agent:
    image_encoder, behaviour = ImageEncoder(), Policy()
    image_encoder.load_state_dict(torch.load(encoder))
    if policy:
        behaviour.load_state_dict(torch.load(policy))
    return Agent(image_encoder, behaviour, gives_features)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--policy", help="without it the policy is untrained: good enough to store features")
    parser.add_argument("--features", action="store_true", help="also give the image columns")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    export(load_agent(args.encoder, args.policy, args.features), args.out)
