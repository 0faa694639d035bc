"""Replay parsers of AgentCanvas."""
