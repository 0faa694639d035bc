"""What a nodeset in a host can reach of AgentCanvas's services: the nodesets of its own process."""

from __future__ import annotations

from typing import Any, Dict, Optional


class HostedComponents:
    """The registry's face as nodesets use it."""

    def __init__(self) -> None:
        self._live_nodesets: Dict[str, Any] = {}

    def get_nodeset(self, name: str) -> Optional[Any]:
        return self._live_nodesets.get(name)

    def get_server_url(self, name: str) -> Optional[str]:
        """Hosts do not listen on URLs."""
        return None

    def get_container_home_url(self, container_id: str) -> Optional[str]:
        return None


class HostServices:
    def __init__(self) -> None:
        self.workspace_component_registry = HostedComponents()
        self.job_scheduler = None


_services = HostServices()


def get_services() -> HostServices:
    return _services
