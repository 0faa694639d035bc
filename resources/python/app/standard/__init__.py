"""Wire types and actions under the names nodesets import them by."""

from .actions import *  # noqa: F401,F403
from .wire_types import *  # noqa: F401,F403
