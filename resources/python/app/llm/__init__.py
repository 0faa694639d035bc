"""Chat models, answered by the engine's own providers: keys never reach a nodeset."""

from .call import (
    LLMConfig,
    get_llm_config,
    get_llm_config_direct,
    llm_complete,
    llm_complete_n,
    vlm_complete,
    vlm_complete_n,
)

__all__ = [
    "LLMConfig",
    "get_llm_config",
    "get_llm_config_direct",
    "llm_complete",
    "llm_complete_n",
    "vlm_complete",
    "vlm_complete_n",
]
