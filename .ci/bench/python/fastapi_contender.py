"""The design of the seeds, in small: one FastAPI server per environment, `POST /call/{fn}`, JSON with arrays in base64.

Its best configuration: uvicorn without access log, uvloop and httptools where they are installed, answers without
FastAPI's own encoder.
"""

import base64
import json
import os
import sys
import threading

import fastapi
import gymnasium
import numpy
import uvicorn
from fastapi.responses import JSONResponse
from pydantic import BaseModel

import endless_environments  # noqa: F401 - registers the environments

environment = gymnasium.make(sys.argv[1])
app = fastapi.FastAPI()


class Call(BaseModel):
    inputs: dict


def encode(value):
    if isinstance(value, numpy.ndarray):
        data = base64.b64encode(numpy.ascontiguousarray(value)).decode("ascii")
        return {"__ndarray__": data, "dtype": str(value.dtype), "shape": list(value.shape)}
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, dict):
        return {name: encode(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    return value


def decode(value):
    if isinstance(value, dict) and "__ndarray__" in value:
        data = base64.b64decode(value["__ndarray__"])
        return numpy.frombuffer(data, dtype=value["dtype"]).reshape(value["shape"])
    return value


@app.post("/call/{name}")
async def call(name: str, body: Call):
    if name == "reset":
        observation, info = environment.reset(seed=body.inputs["seed"])
        return JSONResponse({"observation": encode(observation), "info": encode(info)})
    observation, reward, terminated, truncated, info = environment.step(decode(body.inputs["action"]))
    return JSONResponse(
        {
            "observation": encode(observation),
            "reward": float(reward),
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "info": encode(info),
        }
    )


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(json.dumps({"port": port, "version": fastapi.__version__}), flush=True)


def leave_with_input():
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=leave_with_input, daemon=True).start()
    Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", access_log=False)).run()
