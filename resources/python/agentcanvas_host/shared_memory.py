"""Arrays of 256 KiB and more ride four files in the memory file system (docs/host-protocol.md, Shared memory).

Invariant: a slot is written only after its last content was acknowledged. Without room the array travels as an
ordinary segment, so nothing here ever fails a call.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
import sys
from typing import Any, List, Optional

SLOT_COUNT = 4
MEMORY_FOLDER = "/dev/shm"
GROWTH_BYTES = 1 << 20
TURN_BYTES = 8


class SlotFiles:
    """The producer's side: owns the folder and its slots."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._files = [os.open(os.path.join(folder, str(slot)), os.O_RDWR | os.O_CREAT, 0o600) for slot in range(SLOT_COUNT)]
        self._maps: List[Optional[mmap.mmap]] = [None] * SLOT_COUNT
        self._free = list(range(SLOT_COUNT))
        self._full = False

    @classmethod
    def create(cls, owner: str) -> Optional["SlotFiles"]:
        """A folder named after the owner marker, or None where the system has no such memory."""
        if not sys.platform.startswith("linux") or not os.path.isdir(MEMORY_FOLDER):
            return None
        remove_abandoned()
        marker = re.sub(r"[^A-Za-z0-9._-]", "_", owner) or "unowned"
        folder = os.path.join(MEMORY_FOLDER, f"agentcanvas-{marker}-{os.getpid()}")
        try:
            os.mkdir(folder, 0o700)
            return cls(folder)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            return None

    def open_turn(self) -> mmap.mmap:
        """Eight bytes in which the number of the running call stands; the engine reads them when nobody answers."""
        file = os.open(os.path.join(self.folder, "turn"), os.O_RDWR | os.O_CREAT, 0o600)
        os.posix_fallocate(file, 0, TURN_BYTES)
        turn = mmap.mmap(file, TURN_BYTES)
        os.close(file)
        return turn

    def write(self, data: Any) -> Optional[int]:
        """Puts flat bytes into a free slot; None when every slot is in use or memory is short."""
        if not self._free or self._full:
            return None
        view = memoryview(data).cast("B")
        slot = self._free.pop()
        target = self._maps[slot]
        if target is None or len(target) < len(view):
            target = self._grow(slot, len(view))
            if target is None:
                self._free.append(slot)
                return None
        target[: len(view)] = view
        return slot

    def release(self, slot: int) -> None:
        """The reader has copied or read the slot."""
        if 0 <= slot < SLOT_COUNT and slot not in self._free:
            self._free.append(slot)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _grow(self, slot: int, size: int) -> Optional[mmap.mmap]:
        size += -size % GROWTH_BYTES
        try:
            # Memory is reserved now: without it a later write into the mapping would end the process (SIGBUS).
            os.posix_fallocate(self._files[slot], 0, size)
            grown = mmap.mmap(self._files[slot], size)
        except OSError:
            self._full = True
            return None
        old = self._maps[slot]
        if old is not None:
            old.close()
        self._maps[slot] = grown
        return grown


# The owner marker names boot, pid namespace, pid, start ticks and a random part; the host's own pid comes last.
_FOLDER_NAME = re.compile(r"agentcanvas-ac1-[0-9a-f]+-(?P<namespace>\d+)-.*-(?P<pid>\d+)$")


def remove_abandoned() -> None:
    """Removes the folders of hosts that were killed; those of other pid namespaces cannot be judged and stay."""
    try:
        namespace = re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))
        names = os.listdir(MEMORY_FOLDER)
    except OSError:
        return
    for name in names:
        match = _FOLDER_NAME.match(name)
        if match is not None and match["namespace"] == namespace and not _is_alive(int(match["pid"])):
            shutil.rmtree(os.path.join(MEMORY_FOLDER, name), ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
