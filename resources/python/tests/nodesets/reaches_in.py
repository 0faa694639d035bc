"""A nodeset that reaches into AgentCanvas's backend."""

from app.agent_loop.graph_executor import GraphExecutor  # noqa: F401
