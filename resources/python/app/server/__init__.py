"""Parts of AgentCanvas's server side that nodesets import."""
