"""Command line of the host. Order matters: lifeline, nonce and handshake come before any user code.

Engine mode when AGENTCANVAS_LISTEN is set; HTTP mode with --http.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
from typing import Any, Dict, List, Optional

EXIT_DEADLINE_SECONDS = 3.0
MAX_SLOTS = 256


def main(arguments: Optional[List[str]] = None) -> None:
    options = _parse(arguments)
    _tidy_import_path(bool(options.module))
    if options.http is not None:
        from .http_door import serve_http

        _log_to_stderr()
        serve_http(options)
        return
    address = os.environ.get("AGENTCANVAS_LISTEN")
    if not address:
        raise SystemExit("AGENTCANVAS_LISTEN is not set: the app starts this host. To serve it yourself use --http PORT.")
    _serve_engine(options, address)


def _parse(arguments: Optional[List[str]]) -> Any:
    parser = argparse.ArgumentParser(prog="agentcanvas_host", description="Serves one nodeset.")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--file", help="the nodeset's Python file")
    source.add_argument("--module", help="the nodeset's dotted module name")
    parser.add_argument("--class", dest="class_name", required=True, help="name of the nodeset class")
    parser.add_argument("--instance", default="", help="name#k, for logs only")
    parser.add_argument(
        "--slots", type=_slot_count, default=1, help="environments this process serves, each with its own import"
    )
    parser.add_argument("--http", type=int, metavar="PORT", help="serve HTTP on this port instead (0: any free one)")
    parser.add_argument("--host", default="127.0.0.1", help="address for --http")
    parser.add_argument("--token", default=os.environ.get("AGENTCANVAS_TOKEN", ""), help="bearer token for --http")
    return parser.parse_args(arguments)


def _slot_count(text: str) -> int:
    count = int(text)
    if not 1 <= count <= MAX_SLOTS:
        raise argparse.ArgumentTypeError(f"a process serves 1 to {MAX_SLOTS} environments")
    return count


def _tidy_import_path(needs_working_folder: bool) -> None:
    """`python -m` puts the working folder first; a folder `app` in it must not hide the one beside this package."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    working = os.getcwd()
    if sys.path and sys.path[0] in ("", working):
        del sys.path[0]
    sys.path[:] = [own] + [entry for entry in sys.path if entry != own]
    if needs_working_folder:
        sys.path.append(working)


def _serve_engine(options: Any, address: str) -> None:
    from . import handshake, process_guard

    nonce = handshake.take_nonce()
    file = handshake.take_handshake_file()
    lifeline = process_guard.take_lifeline()
    process_guard.arm_parent_death_signal()
    server, actual = handshake.listen(address)
    handshake.announce(nonce, actual, file)
    sock = handshake.accept(server, actual)

    from .connection import Connection
    from .context import NodeSession
    from .coroutines import EventLoop
    from .errors import HostError
    from .frames import ProtocolError
    from .nodeset_loader import import_nodeset
    from .nodeset_service import NodesetService
    from .server import Server
    from .slots import ServedSlots

    _log_to_stderr()
    connection = Connection(sock)
    connection.on_end = process_guard.end_group
    if actual.startswith("tcp:"):
        first = connection.next_call()
        if first is None or first["m"] != "auth" or not handshake.proves_engine(nonce, actual, first.get("p")):
            raise SystemExit("the connection did not prove that it comes from the engine")
        connection.answer(first["id"], {})
    loop = EventLoop()
    sessions: Dict[int, NodeSession] = {}

    def make_service(slot: int) -> NodesetService:
        return NodesetService(
            lambda: import_nodeset(options.file, options.module, options.class_name, slot), loop, connection.ask, sessions
        )

    slots = ServedSlots(make_service, options.slots) if options.slots > 1 else None
    service = make_service(0) if slots is None else None
    host = Server(connection, service, loop, os.environ.get("AGENTCANVAS_OWNER", ""), slots, sessions)
    host.watcher = _watch(process_guard, lifeline, connection)
    _offer_engine(connection, service if slots is None else slots, loop)
    try:
        host.serve()
    except (OSError, ProtocolError) as error:
        print(f"agentcanvas_host: the connection ended: {error}", file=sys.stderr, flush=True)
    _leave(connection, stopped=host._stopped, end_group=process_guard.end_group)


def _watch(process_guard: Any, lifeline: int, connection: Any) -> Any:
    def heartbeat() -> None:
        connection.note("heartbeat", {"rss": process_guard.resident_bytes()})

    def read_while_busy(timeout_seconds: float) -> None:
        connection.flush()
        connection.pump(timeout_seconds)

    watcher = process_guard.Watcher(lifeline, heartbeat, read_while_busy)
    if os.name == "nt":
        process_guard.BlockingLifeline(lifeline).start()
    watcher.start()
    return watcher


def _offer_engine(connection: Any, service: Any, loop: Any) -> None:
    """Lets the `app.llm` functions reach the engine's chat providers."""
    from . import engine_access

    engine_access.connect(connection, service, loop)


def _leave(connection: Any, stopped: bool, end_group: Any) -> None:
    connection.close()
    if not stopped:
        end_group()
    # User code may have left threads or exit handlers that never end.
    timer = threading.Timer(EXIT_DEADLINE_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
    logging.shutdown()
    sys.exit(0)


def _log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
