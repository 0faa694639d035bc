"""A small engine: starts a host as the app does, speaks the protocol with it, and answers its questions."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, List, Optional

PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NODESETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nodesets")
sys.path.insert(0, PACKAGES)

from agentcanvas_host.frames import FrameReader, build_frame, send_frame  # noqa: E402
from agentcanvas_host.values import Decoder, Encoder  # noqa: E402

NONCE = "00112233445566778899aabbccddeeff"
MARKER = "test-boot.1.2.abcdef"


class RemoteError(Exception):
    def __init__(self, error: Dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.error = error
        self.code = error["code"]


class HostProcess:
    """`with HostProcess(file, class_name) as host: host.call(...)`."""

    def __init__(
        self,
        file: str,
        class_name: str,
        listen: str = "unix",
        environment: Optional[Dict[str, str]] = None,
        python: str = sys.executable,
        slots: int = 1,
    ) -> None:
        self.folder = tempfile.mkdtemp(prefix="ach")
        path = file if os.path.isabs(file) else os.path.join(NODESETS, file)
        address = f"unix:{self.folder}/s" if listen == "unix" else "tcp:127.0.0.1"
        command = [python, "-m", "agentcanvas_host", "--file", path, "--class", class_name]
        command += ["--slots", str(slots)] if slots > 1 else []
        handshake, handshake_end = os.pipe()
        self._output = open(os.path.join(self.folder, "output"), "w+b")
        variables = {
            **os.environ,
            "PYTHONPATH": PACKAGES,
            "AGENTCANVAS_OWNER": MARKER,
            "AGENTCANVAS_NONCE": NONCE,
            "AGENTCANVAS_LISTEN": address,
            **(environment or {}),
        }
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" 3>&{handshake_end}', "sh", *command],
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            pass_fds=(handshake_end,),
            env=variables,
            start_new_session=True,
            cwd=self.folder,
        )
        os.close(handshake_end)
        with os.fdopen(handshake, "rb") as pipe:
            line = pipe.readline()
        if not line:
            raise AssertionError(f"no handshake; the host said: {self.output()}")
        self.handshake: Dict[str, Any] = json.loads(line)
        self._connect()

    def _connect(self) -> None:
        kind, _, rest = self.handshake["listen"].partition(":")
        if kind == "unix":
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.connect(rest)
        else:
            host, _, port = rest.rpartition(":")
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(30)
        self._reader = FrameReader(self.socket)
        self._encoder = Encoder()
        self._decoder = Decoder()
        self._next_id = 0
        self.notes: List[Dict[str, Any]] = []
        self.short_answers = 0
        self.answers: Dict[int, Dict[str, Any]] = {}
        self.serve: Callable[[str, Any, int], Any] = lambda method, params, call_id: {}

    def proof(self, text: str) -> str:
        return hmac.new(NONCE.encode(), text.encode(), hashlib.sha256).hexdigest()

    def send(self, method: str, params: Any = None, slot: Optional[int] = None) -> int:
        self._next_id += 1
        text = self._encoder.to_json({} if params is None else params)
        chosen = "" if slot is None else f',"s":{slot}'
        header = f'{{"t":"call","id":{self._next_id}{chosen},"m":"{method}","p":{text}}}'
        send_frame(self.socket, build_frame(header, self._encoder.segments))
        return self._next_id

    def send_plain(self, message: Dict[str, Any]) -> None:
        send_frame(self.socket, build_frame(json.dumps(message), []))

    def cancel(self, call_id: int) -> None:
        self.send_plain({"t": "cancel", "id": call_id})

    def use_shared_memory(self) -> Dict[str, Any]:
        hello = self.call("hello", {"features": ["shm"]})
        folder = hello.get("shm_dir")

        def read_slot(slot: int, size: int) -> bytearray:
            with open(os.path.join(folder, str(slot)), "rb") as file:
                data = bytearray(file.read(size))
            self.send_plain({"t": "note", "m": "ack", "p": {"slot": slot}})
            return data

        self._decoder.read_slot = read_slot
        return hello

    def read(self) -> Optional[Dict[str, Any]]:
        """The next message; questions of the host are answered on the way."""
        frame = self._reader.read()
        if frame is None:
            return None
        message = self._decoder.from_json(*frame)
        if isinstance(message, list):
            self.short_answers += 1
            message = {"t": "ok", "id": message[0], "r": {"outputs": message[1]}}
        if message["t"] == "note":
            self.notes.append(message)
        elif message["t"] == "call":
            self._answer(message)
        else:
            self.answers[message["id"]] = message
        return message

    def _answer(self, message: Dict[str, Any]) -> None:
        try:
            text = self._encoder.to_json(self.serve(message["m"], message["p"], message["c"]))
            header = f'{{"t":"ok","id":{message["id"]},"r":{text}}}'
            send_frame(self.socket, build_frame(header, self._encoder.segments))
        except RemoteError as error:
            self.send_plain({"t": "err", "id": message["id"], "e": error.error})

    def wait(self, call_id: int) -> Any:
        while call_id not in self.answers:
            if self.read() is None:
                raise ConnectionError(f"the host is gone; it said: {self.output()}")
        message = self.answers.pop(call_id)
        if message["t"] == "err":
            raise RemoteError(message["e"])
        return message["r"]

    def call(self, method: str, params: Any = None) -> Any:
        return self.wait(self.send(method, params))

    def forward(self, node_type: str, inputs: Any = None, execution: str = "x1", node: str = "n1", **more: Any) -> Any:
        return self.wait(self.send_forward(node_type, inputs, execution, node, **more))

    def send_forward(
        self, node_type: str, inputs: Any = None, execution: str = "x1", node: str = "n1", **more: Any
    ) -> int:
        params = {"type": node_type, "node": node, "exec": execution, "step": 0, "seed": 7, "inputs": inputs or {}}
        params.update({"config": {}, "grants": []} if more.pop("first", True) else {})
        params.update(more)
        return self.send("node.forward", params)

    def fire_again(self, handle: int, inputs: Any = None, step: int = 1, seed: int = 7) -> Any:
        return self.wait(self.send_again(handle, inputs, step, seed))

    def send_again(self, handle: int, inputs: Any = None, step: int = 1, seed: int = 7) -> int:
        self._next_id += 1
        text = self._encoder.to_json(inputs or {})
        header = f"[{self._next_id},{handle},{step},{seed},{text}]"
        send_frame(self.socket, build_frame(header, self._encoder.segments))
        return self._next_id

    def output(self) -> str:
        self._output.flush()
        with open(os.path.join(self.folder, "output"), "rb") as file:
            return file.read().decode("utf-8", "replace")

    def close(self) -> None:
        self.socket.close()
        self.process.kill()
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        self._output.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "HostProcess":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
