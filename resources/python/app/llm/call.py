"""Chat completion through the engine (`llm.chat` of the host protocol). Messages have the OpenAI form.

As in AgentCanvas a failed call gives None (or an empty list) and a line in the log; AGENTCANVAS_STRICT_ERRORS=1
makes it raise.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from agentcanvas_host import engine_access

log = logging.getLogger("agentcanvas.llm")


@dataclass
class LLMConfig:
    """Names a chat profile of the app. `api_key` and `base_url` stay empty: the engine holds them."""

    api_key: str = ""
    base_url: str = ""
    model: str = ""
    api_type: str = "engine"
    litellm_prefix: str = ""
    provider: str = ""
    profile: str = ""


def get_llm_config(profile_name: str = "") -> Optional[LLMConfig]:
    """The named chat profile, or the app's default one."""
    return LLMConfig(profile=profile_name)


def get_llm_config_direct(provider: str, model: str) -> Optional[LLMConfig]:
    return LLMConfig(provider=provider, model=model) if provider and model else None


async def llm_complete(
    config: LLMConfig,
    messages: List[Dict[str, Any]],
    system_prompt: str = "",
    max_tokens: Optional[int] = None,
    temperature: Optional[float] = None,
    stop: Optional[List[str]] = None,
) -> Optional[str]:
    """The answer's text, or None when the call failed."""
    texts = await _chat(config, messages, system_prompt, max_tokens=max_tokens, temperature=temperature, stop=stop)
    return texts[0] if texts else None


async def llm_complete_n(
    config: LLMConfig,
    messages: List[Dict[str, Any]],
    n: int,
    system_prompt: str = "",
    max_tokens: Optional[int] = None,
    temperature: Optional[float] = None,
    stop: Optional[List[str]] = None,
) -> List[str]:
    """Up to `n` answers."""
    return await _chat(config, messages, system_prompt, n=n, max_tokens=max_tokens, temperature=temperature, stop=stop)


async def vlm_complete(
    config: LLMConfig,
    prompt: str,
    images: List[str],
    *,
    image_labels: Optional[List[str]] = None,
    system_prompt: str = "",
    max_tokens: Optional[int] = None,
    temperature: Optional[float] = None,
    detail: str = "low",
    prior_messages: Optional[List[Dict[str, Any]]] = None,
    stop: Optional[List[str]] = None,
    mime: str = "image/png",
) -> Optional[str]:
    """As llm_complete, with images as base64 texts (no `data:` prefix)."""
    messages = [*(prior_messages or []), _with_images(prompt, images, image_labels, detail, mime)]
    texts = await _chat(config, messages, system_prompt, max_tokens=max_tokens, temperature=temperature, stop=stop)
    return texts[0] if texts else None


async def vlm_complete_n(
    config: LLMConfig,
    prompt: str,
    images: List[str],
    n: int,
    *,
    image_labels: Optional[List[str]] = None,
    system_prompt: str = "",
    max_tokens: Optional[int] = None,
    temperature: Optional[float] = None,
    detail: str = "low",
    prior_messages: Optional[List[Dict[str, Any]]] = None,
    stop: Optional[List[str]] = None,
    mime: str = "image/png",
) -> List[str]:
    messages = [*(prior_messages or []), _with_images(prompt, images, image_labels, detail, mime)]
    return await _chat(config, messages, system_prompt, n=n, max_tokens=max_tokens, temperature=temperature, stop=stop)


def _with_images(
    prompt: str, images: List[str], labels: Optional[List[str]], detail: str, mime: str
) -> Dict[str, Any]:
    if not images:
        return {"role": "user", "content": prompt}
    content: List[Dict[str, Any]] = [{"type": "text", "text": prompt}]
    for index, image in enumerate(images):
        if labels and index < len(labels) and labels[index]:
            content.append({"type": "text", "text": labels[index]})
        url = f"data:{mime};base64,{image}"
        content.append({"type": "image_url", "image_url": {"url": url, "detail": detail}})
    return {"role": "user", "content": content}


async def _chat(
    config: LLMConfig, messages: List[Dict[str, Any]], system_prompt: str, n: int = 1, **sampling: Any
) -> List[str]:
    """Only what was set is sent, so that the provider's own defaults apply to the rest."""
    system = [{"role": "system", "content": system_prompt}] if system_prompt else []
    request: Dict[str, Any] = {"messages": [*system, *messages]}
    stated = {"profile": config.profile, "provider": config.provider, "model": config.model, **sampling}
    request.update({name: value for name, value in stated.items() if value not in (None, "", [])})
    texts: List[str] = []
    try:
        for _ in range(max(1, n)):
            answer = await engine_access.ask_and_wait("llm.chat", request)
            text = answer.get("text") if isinstance(answer, dict) else None
            if text:
                texts.append(text)
    except Exception as error:
        log.error("chat call failed: %s: %s", type(error).__name__, error)
        if os.environ.get("AGENTCANVAS_STRICT_ERRORS", "").lower() in ("1", "true", "yes", "on"):
            raise
    return texts
