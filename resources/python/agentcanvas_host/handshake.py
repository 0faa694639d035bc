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
    """`unix:<path>` or `tcp:<host>`; gives the listening socket and the address it really has."""
    kind, _, rest = address.partition(":")
    if kind == "unix":
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(rest)
        actual = address
    elif kind == "tcp":
        host = rest.strip("[]") or "127.0.0.1"
        server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        server.bind((host, 0))
        actual = f"tcp:{rest or host}:{server.getsockname()[1]}"
    else:
        raise SystemExit(f"AGENTCANVAS_LISTEN is '{address}'; expected unix:<path> or tcp:<host>")
    server.listen(1)
    return server, actual


def announce(nonce: str, address: str) -> None:
    pid = os.getpid()
    line = {
        "protocol": PROTOCOL_VERSION,
        "pid": pid,
        "listen": address,
        "proof": proof_of(nonce, f"{PROTOCOL_VERSION}:{pid}:{address}"),
    }
    data = (json.dumps(line) + "\n").encode("utf-8")
    while data:
        data = data[os.write(HANDSHAKE_FD, data) :]
    os.close(HANDSHAKE_FD)


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
