"""The second door: the routes of AgentCanvas's servers over HTTP, JSON and MessagePack, on 127.0.0.1 by default.

User code runs on the main thread, in its event loop; connections have threads of their own. A request that names
another host or comes from a web page is refused, so that no page can steer a simulator.
"""

from __future__ import annotations

import asyncio
import hmac
import itertools
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Optional, Tuple
from urllib.parse import unquote, urlsplit

from app.server.serialization import deserialize_value, serialize_value

from .coroutines import EventLoop, is_coroutine
from .errors import HostError, describe_error
from .msgpack import pack, unpack
from .nodeset_loader import import_nodeset
from .nodeset_service import NodesetService

MSGPACK = "application/msgpack"
MAX_BODY_BYTES = 1 << 30
LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
EXECUTION = "http"


def serve_http(options: Any) -> None:
    """Until interrupted. Prints one line with the address when it is ready."""
    event_loop = EventLoop()

    def refuse(method: str, params: Dict[str, Any], call_id: int) -> Any:
        raise HostError("unsupported", f"{method}: there is no engine behind the HTTP door")

    service = NodesetService(
        lambda: import_nodeset(options.file, options.module, options.class_name), event_loop, refuse
    )
    service.manifest()
    door = HttpDoor(service, event_loop)
    event_loop.run(door.as_coroutine(service.initialize()))
    server = ThreadingHTTPServer((options.host, options.http), _handler_class(door, options.token, options.host))
    server.daemon_threads = True
    host, port = server.server_address[:2]
    print(json.dumps({"listening": f"http://{host}:{port}", "nodeset": service.nodeset().name}), flush=True)
    threading.Thread(target=server.serve_forever, name="agentcanvas-http", daemon=True).start()
    loop = event_loop.get()
    try:
        loop.run_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.shutdown()
        loop.run_until_complete(door.as_coroutine(service.shutdown()))


class HttpDoor:
    """Requests as calls of the service; answers are (status, body)."""

    def __init__(self, service: NodesetService, event_loop: EventLoop) -> None:
        self._service = service
        self._event_loop = event_loop
        self._numbers = itertools.count(1)
        manifest = service.manifest()
        self._manifest = manifest
        self._nodes = {node["node_type"]: node for node in manifest["nodes"]}

    async def as_coroutine(self, value: Any) -> Any:
        return await value if is_coroutine(value) else value

    def run(self, start: Callable[[], Any]) -> Any:
        """Result of `start` on the main thread, from a connection's thread."""

        async def started() -> Any:
            return await self.as_coroutine(start())

        return asyncio.run_coroutine_threadsafe(started(), self._event_loop.get()).result()

    def get(self, path: str) -> Tuple[int, Any]:
        if path == "/health":
            return 200, {"status": "ok", "name": self._manifest["name"], "version": "1.0"}
        if path == "/manifest":
            return 200, self._manifest_form()
        if path == "/eval-metadata":
            return 200, self.run(lambda: self._service.serve("eval_metadata", {}, 0))
        if path == "/env-panel/info":
            return 200, self._panel("panel.info", {})
        if path == "/env-panel/state":
            return 200, _flat(self._panel("panel.load", {}))
        if path.startswith("/env-panel/options/"):
            return 200, self._panel("panel.options", {"name": path.rpartition("/")[2]})["options"]
        return 404, {"detail": f"no route {path}"}

    def post(self, path: str, body: Dict[str, Any], packed: bool) -> Tuple[int, Any]:
        kind, _, name = path[1:].partition("/")
        if kind == "call" and name:
            return self._call(name, body, packed)
        if kind == "env-panel":
            which, _, target = name.partition("/")
            if which == "field" and target:
                return 200, _flat(self._panel("panel.field", {"name": target, "value": body.get("value")}))
            if which == "action" and target:
                state = self._panel("panel.action", {"name": target, "values": body.get("params") or {}})
                return 200, {"ok": not state.get("error"), "side_effect": "none", **_flat(state)}
        return 404, {"detail": f"no route {path}"}

    def _panel(self, method: str, params: Dict[str, Any]) -> Any:
        return self.run(lambda: self._service.serve(method, params, 0))

    def _call(self, node_type: str, body: Dict[str, Any], packed: bool) -> Tuple[int, Any]:
        node = self._nodes.get(node_type)
        if node is None:
            return 404, {"detail": f"Unknown function: {node_type}"}
        stated = body.get("inputs", body)
        inputs = {}
        for port in node["input_ports"]:
            if port["name"] in stated:
                value = stated[port["name"]]
                inputs[port["name"]] = value if packed else deserialize_value(value, port["wire_type"])
        execution = (body.get("_exec") or {}).get("execution_id") or EXECUTION
        params = {"type": node_type, "node": node_type, "exec": execution, "inputs": inputs}
        params.update(config=body.get("config") or {}, grants=[])
        answer = self.run(lambda: self._service.serve("node.forward", params, next(self._numbers)))
        if "fire_list" in answer:
            return 200, {"__firelist__": answer}
        outputs = {}
        for port in node["output_ports"]:
            if port["name"] in answer["outputs"]:
                value = answer["outputs"][port["name"]]
                outputs[port["name"]] = value if packed else serialize_value(value, port["wire_type"])
        return 200, {"outputs": outputs}

    def _manifest_form(self) -> Dict[str, Any]:
        functions = [
            {
                "name": node["node_type"],
                "description": node["description"],
                "input_ports": node["input_ports"],
                "output_ports": node["output_ports"],
                "config_schema": node["config_schema"],
                "ui_config": node["ui_config"],
            }
            for node in self._manifest["nodes"]
        ]
        return {**self._manifest, "version": "1.0", "functions": functions}


def _flat(state: Dict[str, Any]) -> Dict[str, Any]:
    """Panel state as AgentCanvas's routes give it: the fields' values at the top."""
    return {**state, **state.get("values", {})}


def _handler_class(door: HttpDoor, token: str, host: str) -> Any:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "agentcanvas_host"

        def do_GET(self) -> None:
            self._answer(lambda body, packed: door.get(unquote(urlsplit(self.path).path)))

        def do_POST(self) -> None:
            self._answer(lambda body, packed: door.post(unquote(urlsplit(self.path).path), body, packed))

        def _answer(self, act: Callable[[Dict[str, Any], bool], Tuple[int, Any]]) -> None:
            packed = MSGPACK in (self.headers.get("Content-Type") or "")
            refusal = self._refusal()
            if refusal is not None:
                self.close_connection = True
                self._send(refusal, {"detail": "refused"}, False)
                return
            try:
                body = self._body(packed)
            except ValueError as error:
                self._send(400, {"detail": str(error)}, packed)
                return
            try:
                status, answer = act(body, packed)
            except Exception as error:
                described = describe_error(error)
                status, answer = 500, {"detail": described["message"], "error": described}
            self._send(status, answer, packed)

        def _refusal(self) -> Optional[int]:
            """A web page can reach this port too; it cannot hide its origin or its host's name."""
            name = (self.headers.get("Host") or "").rsplit(":", 1)[0]
            if host in ("127.0.0.1", "localhost", "::1") and name not in LOCAL_NAMES:
                return 403
            if self.headers.get("Origin") or (self.headers.get("Sec-Fetch-Site") or "none") != "none":
                return 403
            stated = (self.headers.get("Authorization") or "").encode("utf-8", "replace")
            if token and not hmac.compare_digest(stated, f"Bearer {token}".encode()):
                return 401
            return None

        def _body(self, packed: bool) -> Dict[str, Any]:
            size = int(self.headers.get("Content-Length") or 0)
            if size > MAX_BODY_BYTES:
                raise ValueError("the body is too large")
            data = self.rfile.read(size)
            body = {} if not data else unpack(data) if packed else json.loads(data)
            if not isinstance(body, dict):
                raise ValueError("the body must be an object")
            return body

        def _send(self, status: int, answer: Any, packed: bool) -> None:
            data = pack(answer) if packed else json.dumps(answer).encode("utf-8")
            self.send_response(status)
            self.send_header("Content-Type", MSGPACK if packed else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            if args and str(args[1:2]) not in ("('200',)",):
                print("http: " + format % args, file=sys.stderr)

    return Handler
