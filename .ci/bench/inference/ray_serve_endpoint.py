"""Ray Serve with its own batching before ONNX Runtime, on a local Ray of this process, over HTTP with JSON."""

import json
import logging
import os
import socket
import sys

import numpy
import ray
from ray import serve


@serve.deployment(max_ongoing_requests=64, ray_actor_options={"num_cpus": 1})
class Policy:
    def __init__(self, file):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])

    @serve.batch(max_batch_size=16, batch_wait_timeout_s=0.002)
    async def _act(self, samples):
        feeds = {
            name: numpy.array([sample[name] for sample in samples], dtype=numpy.float32)
            for name in ("observation", "h_in")
        }
        logits, hidden = self._session.run(["logits", "h_out"], feeds)
        return [{"logits": row.tolist(), "h_out": state.tolist()} for row, state in zip(logits, hidden)]

    async def __call__(self, request):
        return await self._act(await request.json())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    port = free_port()
    out = os.dup(1)
    os.dup2(2, 1)
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100 * 2**20,
        logging_level=logging.ERROR,
        log_to_driver=False,
    )
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(Policy.bind(sys.argv[1]), route_prefix="/act", logging_config={"log_level": "ERROR"})
    os.write(out, (json.dumps({"port": port, "version": ray.__version__}) + "\n").encode())
    try:
        sys.stdin.read()
    finally:
        serve.shutdown()
        ray.shutdown()
