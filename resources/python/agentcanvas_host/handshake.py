"""Binds, tells the engine where on fd 3, accepts its one connection and stops listening.

Invariant: the nonce is out of the environment before anything else happens, and no second connection is accepted.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
from typing import Any, Tuple

PROTOCOL_VERSION = 1
HANDSHAKE_FD = 3


def take_nonce() -> str:
    return os.environ.pop("AGENTCANVAS_NONCE", "")


def proof_of(nonce: str, text: str) -> str:
    return hmac.new(nonce.encode("ascii"), text.encode("utf-8"), hashlib.sha256).hexdigest()


def listen(address: str) -> Tuple[Any, str]:
    """`unix:<path>`, `tcp:<host>` or, where a spawner publishes it, `tcp:<host>:<port>`; gives the listening socket
    and the address it really has."""
    kind, _, rest = address.partition(":")
    if kind == "unix":
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(rest)
        actual = address
    elif kind == "tcp":
        shown, port = _host_and_port(rest)
        host = shown.strip("[]")
        server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        server.bind((host, port))
        actual = f"tcp:{shown}:{server.getsockname()[1]}"
    else:
        raise SystemExit(f"AGENTCANVAS_LISTEN is '{address}'; expected unix:<path> or tcp:<host>")
    server.listen(1)
    return server, actual


def _host_and_port(text: str) -> Tuple[str, int]:
    """Host as it was written (IPv6 in brackets) and port; 0 for one the system picks."""
    host, separator, port = text.rpartition(":")
    if separator and port.isdigit() and (host.startswith("[") or ":" not in host):
        return host or "127.0.0.1", int(port)
    return text or "127.0.0.1", 0


def take_handshake_file() -> str:
    """Where fd 3 does not lead to the engine a spawner names a file instead; empty otherwise."""
    return os.environ.pop("AGENTCANVAS_HANDSHAKE", "")


def announce(nonce: str, address: str, file: str = "") -> None:
    pid = os.getpid()
    line = {
        "protocol": PROTOCOL_VERSION,
        "pid": pid,
        "listen": address,
        "proof": proof_of(nonce, f"{PROTOCOL_VERSION}:{pid}:{address}"),
    }
    data = (json.dumps(line) + "\n").encode("utf-8")
    if file:
        _write_whole(file, data)
        return
    while data:
        data = data[os.write(HANDSHAKE_FD, data) :]
    os.close(HANDSHAKE_FD)


def _write_whole(file: str, data: bytes) -> None:
    """Whoever waits for the file never sees half of it."""
    with open(file + ".part", "wb") as part:
        part.write(data)
    os.replace(file + ".part", file)


def accept(server: Any, address: str) -> Any:
    sock, _ = server.accept()
    server.close()
    if address.startswith("unix:"):
        try:
            os.unlink(address[5:])
        except OSError:
            pass
    else:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setblocking(True)
    sock.set_inheritable(False)
    return sock


def proves_engine(nonce: str, address: str, params: Any) -> bool:
    """Whether the first call of a TCP connection carries the engine's proof."""
    stated = params.get("proof") if isinstance(params, dict) else None
    return isinstance(stated, str) and hmac.compare_digest(stated, proof_of(nonce, f"engine:{address}"))
