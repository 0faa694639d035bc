"""Driver between the engine and a Ray cluster: starts and kills replicas, passes on their logs and their ends.

Speaks the host protocol with the engine (its own handshake, proof and lifeline), with methods of its own: `open`,
`start`, `signal`. Ends with the engine, and Ray ends its actors with it.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from typing import Any, Dict, Optional

PENDING_NOTE_SECONDS = 10.0
EVENTS_SECONDS = 20.0


class Cluster:
    """What of Ray the driver uses."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._ray: Any = None
        self._replica_class: Any = None
        self._is_local = True
        self._actors: Dict[str, Any] = {}
        self._content: Dict[str, Any] = {}
        self._lock = threading.Lock()

    def open(self, params: Dict[str, Any]) -> Dict[str, Any]:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError as error:
            raise RuntimeError(
                f"{sys.executable} cannot import ray ({error}); install it there: {sys.executable} -m pip install ray, "
                "or name another interpreter in Settings, Spawners"
            ) from error
        from . import replica

        # Nodes do not have this package: what runs there travels with the call.
        ray.cloudpickle.register_pickle_by_value(replica)
        address = params.get("address") or ""
        quiet = {"log_to_driver": False, "logging_level": "warning"}
        self._is_local = not address
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init(
                num_cpus=params.get("cpus") or os.cpu_count(),
                object_store_memory=int(params["object_store_bytes"]),
                include_dashboard=False,
                _node_ip_address="127.0.0.1",
                **quiet,
            )
        self._ray = ray
        self._replica_class = ray.remote(replica.Replica)
        nodes = [node for node in ray.nodes() if node.get("Alive")]
        return {"version": ray.__version__, "nodes": len(nodes), "resources": plain(ray.cluster_resources())}

    def start(self, params: Dict[str, Any]) -> Dict[str, Any]:
        """Answers at once; the handshake, logs and the end come as notes with the replica's id."""
        needs = params["needs"]
        files = [self._file(path) for path in params["files"]]
        options: Dict[str, Any] = {
            # A local Ray has the machine the engine's own limits already know.
            "num_cpus": first_of(needs.get("cpus"), 0 if self._is_local else 1),
            "num_gpus": first_of(needs.get("gpu"), 0),
            "resources": needs.get("resources") or None,
            "max_restarts": 0,
            "max_concurrency": 4,
            "scheduling_strategy": "DEFAULT" if needs.get("placement") == "pack" else "SPREAD",
        }
        spec = {name: params[name] for name in ("command", "args", "cwd", "env")}
        address = "127.0.0.1" if self._is_local else None
        replica_id = params["id"]
        actor = self._replica_class.options(**options).remote(spec, files, address)
        with self._lock:
            self._actors[replica_id] = actor
        threading.Thread(target=self._follow, args=(replica_id, actor, options), daemon=True).start()
        return {}

    def signal(self, params: Dict[str, Any]) -> Dict[str, Any]:
        with self._lock:
            actor = self._actors.get(params["id"])
        if actor is None:
            return {}
        # The process alone: its end is reported, and then the actor is ended.
        actor.kill.remote(bool(params.get("graceful")))
        return {}

    def close(self) -> None:
        if self._ray is not None and self._ray.is_initialized():
            self._ray.shutdown()

    def _file(self, path: str) -> Dict[str, Any]:
        from . import replica

        digest = replica.digest_of(path)
        if digest not in self._content:
            self._content[digest] = replica.pack(path)
        return {"path": path, "digest": digest, "content": self._content[digest], "single": os.path.isfile(path)}

    def _follow(self, replica_id: str, actor: Any, options: Dict[str, Any]) -> None:
        end = {"code": None, "reason": "its actor ended"}
        try:
            self._await_placement(replica_id, actor, options)
            exit_code = None
            while exit_code is None:
                for event in self._ray.get(actor.events.remote(EVENTS_SECONDS)):
                    if event["kind"] == "exit":
                        exit_code = event["code"]
                    else:
                        self._note(event["kind"], {"id": replica_id, **event})
            end = {"code": exit_code, "reason": ""}
        except BaseException as error:  # noqa: B036 - a node that died, a cluster that is gone
            end["reason"] = " ".join(str(error).split())[:500] or type(error).__name__
        with self._lock:
            self._actors.pop(replica_id, None)
        self._note("exit", {"id": replica_id, **end})
        try:
            self._ray.kill(actor)
        except BaseException:  # noqa: B036 - it is gone already
            pass

    def _await_placement(self, replica_id: str, actor: Any, options: Dict[str, Any]) -> None:
        placed = actor.node.remote()
        waited = 0.0
        while not self._ray.wait([placed], timeout=PENDING_NOTE_SECONDS)[0]:
            waited += PENDING_NOTE_SECONDS
            wanted = {name: options[name] for name in ("num_cpus", "num_gpus", "resources") if options[name]}
            free = plain(self._ray.available_resources())
            line = f"waiting {waited:.0f} s for a place in the cluster: wants {wanted}, free are {free}"
            self._note("log", {"id": replica_id, "stream": "stderr", "line": line})
        node = self._ray.get(placed)
        self._note("placed", {"id": replica_id, **node})

    def _note(self, kind: str, params: Dict[str, Any]) -> None:
        try:
            self._connection.note("replica", {**params, "kind": kind})
        except OSError:
            pass


def plain(resources: Dict[str, Any]) -> Dict[str, float]:
    """Without the names of nodes."""
    return {name: round(float(amount), 2) for name, amount in resources.items() if not name.startswith("node:")}


def first_of(stated: Optional[float], default: float) -> float:
    return default if stated is None else stated


def main() -> None:
    options = argparse.ArgumentParser(prog="agentcanvas_ray")
    options.parse_args()
    address = os.environ.get("AGENTCANVAS_LISTEN")
    if not address:
        raise SystemExit("AGENTCANVAS_LISTEN is not set: the app starts this driver.")
    from agentcanvas_host import handshake, process_guard

    nonce = handshake.take_nonce()
    lifeline = process_guard.take_lifeline()
    process_guard.arm_parent_death_signal()
    server, actual = handshake.listen(address)
    handshake.announce(nonce, actual)
    sock = handshake.accept(server, actual)

    from agentcanvas_host.connection import Connection

    connection = Connection(sock)
    connection.on_end = process_guard.end_group
    if actual.startswith("tcp:"):
        first = connection.next_call()
        if first is None or first["m"] != "auth" or not handshake.proves_engine(nonce, actual, first.get("p")):
            raise SystemExit("the connection did not prove that it comes from the engine")
        connection.answer(first["id"], {})
    cluster = Cluster(connection)

    def heartbeat() -> None:
        connection.note("heartbeat", {"rss": process_guard.resident_bytes()})

    process_guard.Watcher(lifeline, heartbeat, connection.pump).start()
    _serve(connection, cluster)
    cluster.close()


def _serve(connection: Any, cluster: Cluster) -> None:
    while True:
        call = connection.next_call()
        if call is None:
            return
        method = call["m"]
        if method == "shutdown":
            connection.answer(call["id"], {})
            return
        handler = {"open": cluster.open, "start": cluster.start, "signal": cluster.signal}.get(method)
        try:
            if handler is None:
                raise ValueError(f"the driver has no method {method}")
            connection.answer(call["id"], handler(call.get("p") or {}))
        except OSError:
            return
        except BaseException as error:  # noqa: B036 - the engine is told whatever it is
            connection.answer_error(call["id"], error)

