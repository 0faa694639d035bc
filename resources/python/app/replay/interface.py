"""What a nodeset's replay parser is made of. The app replays from its own recordings and does not call parsers;
the names are here so that nodesets which define one load."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Dict, List, Optional


@dataclass
class ReplayStep:
    step_index: int
    frame_url: str
    info: Dict[str, Any] = field(default_factory=dict)
    render_params: Optional[Dict[str, Any]] = None

    def to_dict(self) -> Dict[str, Any]:
        return asdict(self)


@dataclass
class ReplayEpisode:
    episode_index: int
    episode_id: str
    instruction: str
    step_count: int
    steps: List[ReplayStep] = field(default_factory=list)
    metrics: Dict[str, Any] = field(default_factory=dict)
    supports_smooth: bool = False
    scene_id: str = ""

    def to_dict(self) -> Dict[str, Any]:
        return asdict(self)


class BaseReplayParser(ABC):
    nodeset_name: ClassVar[str]

    @abstractmethod
    def parse(self, episode_log_path: Any) -> ReplayEpisode:
        """One episode from its log.jsonl."""

    def supports_smooth_mode(self) -> bool:
        return False

    async def get_smooth_frame(self, episode_log_path: Any, step_index: int, t: float) -> bytes:
        raise NotImplementedError(f"{type(self).__name__} does not support smooth mode")

    async def shutdown(self) -> None:
        return None
