"""Ties the life of this process to the engine's: lifeline on fd 0, parent death signal, watcher thread.

Invariant: when the engine is gone this process and its group are gone too, whatever user code is doing. A native call
that holds the interpreter lock stops the watcher, not the kernel's parent death signal.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from typing import Any, Callable, Optional

PR_SET_PDEATHSIG = 1
TICK_SECONDS = 0.5
BUSY_TICK_SECONDS = 0.05
HEARTBEAT_SECONDS = 5.0


def take_lifeline() -> int:
    """A private copy of fd 0; user code then finds the null device there."""
    lifeline = os.dup(0)
    os.set_inheritable(lifeline, False)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return lifeline


def arm_parent_death_signal() -> None:
    """Linux: SIGKILL when the parent ends. The parent may have ended before; that is looked at again."""
    if not sys.platform.startswith("linux"):
        return
    parent = os.getppid()
    try:
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError, ImportError):
        return
    if os.getppid() != parent:
        end_group()


def end_group() -> None:
    """Kills this process, and everything in its group when it leads one. Does not return."""
    if hasattr(os, "killpg"):
        if os.getpgrp() == os.getpid():
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(1)


def resident_bytes() -> Optional[int]:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


class Watcher(threading.Thread):
    """Ends the process with the lifeline, sends heartbeats, and reads cancels while the main thread is busy."""

    def __init__(self, lifeline: int, send_heartbeat: Callable[[], None], read_while_busy: Callable[[float], Any]) -> None:
        super().__init__(name="agentcanvas-watcher", daemon=True)
        self._lifeline = lifeline
        self._send_heartbeat = send_heartbeat
        self._read_while_busy = read_while_busy
        # Written by the main thread at the beginning and the end of every call; two plain stores cost nothing.
        self.busy = False
        self.call_number = 0

    def run(self) -> None:
        seen_call = -1
        waited = 0.0
        while True:
            stuck = self.busy and self.call_number == seen_call
            seen_call = self.call_number
            tick = BUSY_TICK_SECONDS if stuck else TICK_SECONDS
            if self._lifeline_ended(tick):
                end_group()
            if stuck:
                self._guarded(lambda: self._read_while_busy(0.0))
            waited += tick
            if waited >= HEARTBEAT_SECONDS:
                waited = 0.0
                self._guarded(self._send_heartbeat)

    def _lifeline_ended(self, timeout_seconds: float) -> bool:
        if hasattr(select, "poll"):
            waiting = select.poll()
            waiting.register(self._lifeline, select.POLLIN | select.POLLHUP)
            if not waiting.poll(int(timeout_seconds * 1000)):
                return False
            return os.read(self._lifeline, 4096) == b""
        threading.Event().wait(timeout_seconds)
        return False

    def _guarded(self, action: Callable[[], Any]) -> None:
        try:
            action()
        except OSError:
            end_group()


class BlockingLifeline(threading.Thread):
    """Where pipes cannot be polled (Windows) a thread of its own waits for the end of the lifeline."""

    def __init__(self, lifeline: int) -> None:
        super().__init__(name="agentcanvas-lifeline", daemon=True)
        self._lifeline = lifeline

    def run(self) -> None:
        while True:
            try:
                if os.read(self._lifeline, 4096) == b"":
                    break
            except OSError:
                break
        end_group()
