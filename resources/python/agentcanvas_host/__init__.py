"""Serves one AgentCanvas nodeset to the engine (docs/host-protocol.md). Standard library only, Python 3.8 to 3.13.

Started as `python -m agentcanvas_host --file FILE|--module DOTTED --class NAME`; nothing here needs installing.
"""

from .array_value import ArrayValue
from .errors import FatalError, HostError

__version__ = "1.0.0"
__all__ = ["ArrayValue", "FatalError", "HostError", "__version__"]
