"""One replica on whatever node Ray chose: runs the nodeset's host as a process of its own and reports on it.

Shipped to the node by value, so it imports the standard library alone. The host's lifeline is a pipe held here: it ends
when this actor does, however that comes about.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import deque
from typing import Any, Deque, Dict, List, Optional

MAX_QUEUED_LINES = 5000
SKIPPED = ("__pycache__", ".git", "node_modules", "site-packages")
MAX_BUNDLE_BYTES = 64 << 20


def folder_files(root: str) -> List[str]:
    """Relative paths of what belongs to a nodeset or package, in a fixed order."""
    if os.path.isfile(root):
        return [""]
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.endswith("venv"))
        for name in sorted(files):
            if not name.endswith(".pyc"):
                found.append(os.path.relpath(os.path.join(folder, name), root))
    return sorted(found)


def digest_of(root: str) -> str:
    """Of names and contents; the same on every machine."""
    total = hashlib.sha256()
    for relative in folder_files(root):
        total.update(relative.replace(os.sep, "/").encode("utf-8") + b"\0")
        with open(os.path.join(root, relative) if relative else root, "rb") as file:
            total.update(hashlib.sha256(file.read()).digest())
    return total.hexdigest()


def pack(root: str) -> bytes:
    buffer = io.BytesIO()
    size = 0
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for relative in folder_files(root):
            path = os.path.join(root, relative) if relative else root
            size += os.path.getsize(path)
            if size > MAX_BUNDLE_BYTES:
                raise ValueError(f"{root} holds more than {MAX_BUNDLE_BYTES >> 20} MB; keep data out of the nodeset's folder")
            archive.write(path, relative or os.path.basename(root))
    return buffer.getvalue()


def place_files(files: List[Dict[str, Any]], scratch: str) -> Dict[str, str]:
    """Where each file or folder of the engine's machine is on this node: itself, or a copy."""
    placed = {}
    for each in files:
        path = each["path"]
        if os.path.exists(path) and digest_of(path) == each["digest"]:
            continue
        home = os.path.join(scratch, each["digest"][:16])
        with zipfile.ZipFile(io.BytesIO(each["content"])) as archive:
            archive.extractall(home)
        placed[path] = os.path.join(home, os.path.basename(path)) if each["single"] else home
    return placed


def moved(text: str, placed: Dict[str, str]) -> str:
    for path, there in placed.items():
        if text == path or text.startswith(path + os.sep):
            return there + text[len(path) :]
    return text


def _node_address() -> str:
    import ray

    address = ray.util.get_node_ip_address()
    return f"[{address}]" if ":" in address else address


class Replica:
    """The actor. `events` waits in one of its threads while `kill` is answered in another."""

    def __init__(self, spec: Dict[str, Any], files: List[Any], address: Optional[str]) -> None:
        self._spec = spec
        self._events: Deque[Dict[str, Any]] = deque()
        self._dropped = 0
        self._changed = threading.Condition()
        self._process: Optional[Any] = None
        self._scratch = tempfile.mkdtemp(prefix="agentcanvas-")
        # Nothing listens where only this machine needs to reach it; on a cluster, where the others reach this node.
        self._address = address or _node_address()
        self._files = files
        # The parent-death signal of the host is bound to the thread that starts it: it lives as long as the host.
        threading.Thread(target=self._run, daemon=True).start()

    def node(self) -> Dict[str, Any]:
        return {"pid": os.getpid(), "address": self._address}

    def events(self, seconds: float) -> List[Dict[str, Any]]:
        """What happened since the last call; waits for something to happen."""
        with self._changed:
            if not self._events:
                self._changed.wait(seconds)
            found = list(self._events)
            self._events.clear()
            if self._dropped:
                found.append({"kind": "log", "stream": "stderr", "line": f"[{self._dropped} lines dropped]"})
                self._dropped = 0
        return found

    def kill(self, graceful: bool = False) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        try:
            os.killpg(process.pid, signal.SIGTERM if graceful else signal.SIGKILL)
        except (OSError, AttributeError):
            process.kill()

    def _report(self, event: Dict[str, Any]) -> None:
        with self._changed:
            if event["kind"] == "log" and len(self._events) > MAX_QUEUED_LINES:
                self._dropped += 1
            else:
                self._events.append(event)
            self._changed.notify_all()

    def _run(self) -> None:
        try:
            code = self._serve()
        except BaseException as error:  # noqa: B036 - whatever it is, the engine is told
            self._report({"kind": "log", "stream": "stderr", "line": f"{type(error).__name__}: {error}"})
            code = 127
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._report({"kind": "exit", "code": code})

    def _serve(self) -> int:
        spec = self._spec
        placed = place_files(self._files, self._scratch)
        env = {**os.environ, **spec["env"]}
        env["PYTHONPATH"] = os.pathsep.join(moved(part, placed) for part in env.get("PYTHONPATH", "").split(os.pathsep))
        env["AGENTCANVAS_LISTEN"] = f"tcp:{self._address}"
        handshake = os.path.join(self._scratch, "handshake")
        env["AGENTCANVAS_HANDSHAKE"] = handshake
        for name in [name for name in env if name.startswith("RAY_")]:
            del env[name]
        command = spec["command"] if os.path.exists(spec["command"]) else sys.executable
        process = subprocess.Popen(
            [command, *(moved(part, placed) for part in spec["args"])],
            cwd=moved(spec["cwd"], placed),
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._process = process
        readers = [self._read(process.stdout, "stdout"), self._read(process.stderr, "stderr")]
        threading.Thread(target=self._await_handshake, args=(handshake,), daemon=True).start()
        code = process.wait()
        process.stdin.close()
        for reader in readers:
            reader.join(0.5)
        return code

    def _await_handshake(self, file: str) -> None:
        while self._process.poll() is None:
            if os.path.exists(file):
                with open(file, encoding="utf-8") as handshake:
                    self._report({"kind": "handshake", "line": handshake.read().strip()})
                return
            time.sleep(0.02)

    def _read(self, pipe: Any, stream: str) -> threading.Thread:
        def lines() -> None:
            for line in iter(lambda: pipe.readline(16384), b""):
                self._report({"kind": "log", "stream": stream, "line": line.decode("utf-8", "replace").rstrip("\r\n")})

        reader = threading.Thread(target=lines, daemon=True)
        reader.start()
        return reader
