"""What one builds without a tier: ONNX Runtime for Python behind a FastAPI endpoint with JSON, batching what waits.

Its best configuration: a batch begins as soon as the session is free and takes all that came meanwhile; uvicorn
without access log, answers without FastAPI's own encoder.
"""

import asyncio
import json
import os
import sys
import threading

import fastapi
import numpy
import onnxruntime
import uvicorn
from fastapi.responses import JSONResponse

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
app = fastapi.FastAPI()
waiting = []
arrived = asyncio.Event()


@app.post("/act")
async def act(request: fastapi.Request):
    answered = asyncio.get_running_loop().create_future()
    waiting.append((await request.json(), answered))
    arrived.set()
    return JSONResponse(await answered)


async def serve_batches():
    loop = asyncio.get_running_loop()
    while True:
        await arrived.wait()
        arrived.clear()
        batch, waiting[:] = list(waiting), []
        if not batch:
            continue
        feeds = {
            name: numpy.array([sample[name] for sample, _ in batch], dtype=numpy.float32)
            for name in ("observation", "h_in")
        }
        logits, hidden = await loop.run_in_executor(None, session.run, ["logits", "h_out"], feeds)
        for (_, answered), row, state in zip(batch, logits, hidden):
            answered.set_result({"logits": row.tolist(), "h_out": state.tolist()})


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        self.batches = asyncio.create_task(serve_batches())
        port = self.servers[0].sockets[0].getsockname()[1]
        print(json.dumps({"port": port, "version": fastapi.__version__}), flush=True)


def leave_with_input():
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=leave_with_input, daemon=True).start()
    asyncio.run(Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", access_log=False)).serve())
