"""Errors that cross the connection: a code, a message that says what to do, the type and the trace.

Invariant: describing an exception never raises, whatever user code put into it.
"""

from __future__ import annotations

import sys
import traceback
from typing import Any, Dict, List

MAX_TRACE_LINES = 60
MAX_MESSAGE_CHARACTERS = 4000

# Texts after which a CUDA context cannot be used again, so the process has to be replaced.
FATAL_TEXTS = (
    "CUDA out of memory",
    "CUDA error",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_INTERNAL_ERROR",
    "device-side assert triggered",
)


class HostError(Exception):
    """An error with one of the product's codes (see docs/host-protocol.md, Frames)."""

    code = "remote_error"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class FatalError(HostError):
    """Raise it from a node when the process cannot go on: the engine replaces the process."""

    def __init__(self, message: str) -> None:
        super().__init__("fatal", message)


class Aborted(HostError):
    """The engine cancelled the call."""

    def __init__(self) -> None:
        super().__init__("aborted", "the call was cancelled")


def describe_error(error: BaseException) -> Dict[str, Any]:
    """The `e` member of an `err` frame for any exception, also for hostile ones."""
    message = _message_of(error)
    fatal = isinstance(error, (FatalError, MemoryError)) or any(text in message for text in FATAL_TEXTS)
    return {
        "code": "fatal" if fatal else _code_of(error),
        "message": message,
        "type": type(error).__name__,
        "trace": _trace_of(error),
        "fatal": fatal,
    }


def _code_of(error: BaseException) -> str:
    if isinstance(error, HostError):
        return error.code
    if type(error).__name__ == "CancelledError":
        return "aborted"
    if type(error).__name__ == "StopExecution":
        return "stop_execution"
    return "remote_error"


def _message_of(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as broken:  # noqa: B036 - user code may raise anything from __str__
        text = f"(its message could not be read: {type(broken).__name__})"
    if not text or isinstance(error, KeyError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= MAX_MESSAGE_CHARACTERS else text[:MAX_MESSAGE_CHARACTERS] + " ..."


def _trace_of(error: BaseException) -> List[str]:
    if isinstance(error, HostError) and error.__cause__ is None and not isinstance(error, FatalError):
        return []
    try:
        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__)).splitlines()
    except BaseException:  # noqa: B036 - a broken __repr__ or __str__ must not hide the error itself
        lines = [f"{type(error).__name__}: (its trace could not be formatted)"]
    own = __package__ or "agentcanvas_host"
    kept = _without_host_frames(lines, own)
    return kept if len(kept) <= MAX_TRACE_LINES else kept[:10] + ["  ..."] + kept[-(MAX_TRACE_LINES - 11) :]


def _without_host_frames(lines: List[str], package: str) -> List[str]:
    """Frames of the host itself say nothing to the author of a node; they are left out when others remain."""
    kept: List[str] = []
    skipping = False
    for line in lines:
        if line.startswith('  File "'):
            skipping = f"/{package}/" in line.replace("\\", "/")
        elif not line.startswith("    "):
            skipping = False
        if not skipping:
            kept.append(line)
    return kept if any(line.startswith('  File "') for line in kept) else lines


def import_failure(error: BaseException, target: str) -> HostError:
    """Names the interpreter, the missing module and the remedy."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    where = f"{sys.executable} (Python {version})"
    missing = getattr(error, "name", None) if isinstance(error, ImportError) else None
    if isinstance(error, ModuleNotFoundError) and missing and not missing.startswith("app."):
        remedy = (
            f"Install the package that provides '{missing}' for this interpreter, or point server_python of the "
            "nodeset to an interpreter that has it."
        )
    elif missing and missing.startswith("app."):
        remedy = "Nodesets may use the names listed in the documentation of the Python host."
    elif isinstance(error, SyntaxError):
        remedy = "Fix the syntax, or point server_python to an interpreter that understands it."
    else:
        remedy = "See the trace; the nodeset itself raised this while it was imported."
    reason = _message_of(error).rstrip(".")
    message = f"{target} could not be imported with {where}: {type(error).__name__}: {reason}. {remedy}"
    failure = HostError("nodeset_failed", message)
    failure.__cause__ = error
    return failure
