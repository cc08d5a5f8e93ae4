"""Which model a name such as `openai:gpt-5` means: its provider, its address, its key.

Owns the list of providers and their environment variables. Looks at names and the environment only; a provider's
library is imported when the model is first used, by the builders at the end of this file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sayso.errors import MissingExtra, ModelError
from sayso.model.base import ChatModel
from sayso.model.provider import ProviderModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model

__all__ = ["connect"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a builder needs to know."""

    scheme: str
    name: str
    base_url: str | None
    api_key: str | None
    profile: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    """keys, urls: environment variables, the first that is set counts. extra: ours, and a module that it brings."""

    build: Callable[[_Asked], Model]
    keys: tuple[str, ...]
    urls: tuple[str, ...] = ()
    needs_key: bool = True
    extra: tuple[str, str] | None = None


def connect(
    spec: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    profile: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> ChatModel:
    """The model that `spec` names. Nothing is sent before it is first used.

    spec: `openai:NAME` (OpenAI's Responses API; at any other address, the Chat Completions API that DashScope,
        DeepSeek, vLLM, LM Studio and others speak), `openai-chat:NAME` and `openai-responses:NAME` (one of the two,
        wherever), `anthropic:NAME`, `google-gla:NAME`, `ollama:NAME`, `local:FILE.gguf` (see `sayso.model.local`),
        and any other `PROVIDER:NAME` that pydantic-ai knows, such as `deepseek:` or `openrouter:`.
    base_url, api_key: default to the provider's own environment variables, such as OPENAI_BASE_URL and
        OPENAI_API_KEY. A server on this machine needs no key.
    profile: entries of pydantic-ai's model profile, over its own, such as
        {"openai_supports_strict_tool_definition": True}.
    settings: pydantic-ai's model settings, such as {"max_tokens": 8000, "thinking": "high", "timeout": 120}.

    Raises ValueError for a name that nobody knows, MissingExtra for a package that is not installed, ModelError
    `authentication` for a missing key.
    """
    scheme, colon, name = spec.partition(":")
    if not colon or not name:
        raise ValueError(f"model {spec!r}: write PROVIDER:NAME, such as openai:gpt-5 or local:FILE.gguf")
    if scheme == "local":
        return _local(name, profile, settings)
    provider = _PROVIDERS.get(scheme)
    if provider is None:
        return _other(spec, base_url, api_key, profile, settings)
    if provider.extra is not None and not _is_installed(provider.extra[1]):
        raise MissingExtra(f"A {scheme}: model", provider.extra[0])
    base_url = base_url or _first(provider.urls)
    api_key = api_key or _first(provider.keys)
    if api_key is None and provider.needs_key and not _is_loopback(base_url):
        raise ModelError(
            f"No key for {spec}: set {' or '.join(provider.keys)}, or pass api_key=.", kind="authentication"
        )
    asked = _Asked(scheme=scheme, name=name, base_url=base_url, api_key=api_key, profile=profile or {})
    return ProviderModel(name, lambda: provider.build(asked), settings)


def _first(variables: tuple[str, ...]) -> str | None:
    return next((value for v in variables if (value := os.environ.get(v))), None)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


def _is_loopback(url: str | None) -> bool:
    return url is not None and urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")


def _local(name: str, profile: Mapping[str, Any] | None, settings: Mapping[str, Any] | None) -> ChatModel:
    from sayso.model.local import weights

    served = weights(name)

    def build() -> Model:
        address, key = served.serve()
        return _chat(_Asked(scheme="local", name=served.name, base_url=address, api_key=key, profile=profile or {}))

    return ProviderModel(served.name, build, settings)


def _other(
    spec: str,
    base_url: str | None,
    api_key: str | None,
    profile: Mapping[str, Any] | None,
    settings: Mapping[str, Any] | None,
) -> ChatModel:
    """A provider that only pydantic-ai knows. It reads its own environment variables, at the first use."""
    if base_url or profile:
        raise ValueError(
            f"model {spec!r}: base_url= and profile= work with {', '.join(_PROVIDERS)}; for another server that "
            "speaks OpenAI's API write openai:NAME with base_url="
        )
    from pydantic_ai.providers import infer_provider_class

    scheme, _, name = spec.partition(":")
    try:
        infer_provider_class(scheme)
    except ImportError as error:
        raise ValueError(f"model {spec!r}: {error}") from None
    except ValueError:
        raise ValueError(f"model {spec!r}: nobody knows {scheme!r}; use {', '.join(_PROVIDERS)} or local") from None
    return ProviderModel(name, lambda: _inferred(spec, api_key), settings)


# -- builders; each runs in a thread, and imports what it needs ----------------------------------

# A stream of chat completions that stops without a finish reason was cut off. Without this, pydantic-ai calls it done.
_WHOLE: Final[Any] = {"openai_chat_streaming_requires_finish_reason": True}

# "OpenAI-compatible" servers are known to refuse `strict`, `max_completion_tokens` and a second system message.
_GENERIC: Final = {
    **_WHOLE,
    "openai_supports_strict_tool_definition": False,
    "openai_chat_supports_max_completion_tokens": False,
    "openai_chat_supports_multiple_system_messages": False,
}


def _is_openai(url: str | None) -> bool:
    host = urlsplit(url).hostname if url else "api.openai.com"
    return host is not None and (host == "openai.com" or host.endswith(".openai.com"))


def _openai(asked: _Asked) -> Model:
    return _responses(asked) if _is_openai(asked.base_url) else _chat(asked)


def _responses(asked: _Asked) -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=asked.base_url, api_key=asked.api_key or "none")
    return OpenAIResponsesModel(asked.name, provider=provider, profile=_profile({}, asked))


def _chat(asked: _Asked) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if asked.base_url is None or _is_openai(asked.base_url):
        return OpenAIChatModel(
            asked.name,
            provider=OpenAIProvider(base_url=asked.base_url, api_key=asked.api_key),
            profile=_profile(_WHOLE, asked),
        )
    # The name marks what came from here in the history: one server's signatures do not go to another.
    host = urlsplit(asked.base_url).hostname or asked.scheme
    provider = OpenAICompatibleProvider(host, base_url=asked.base_url, api_key=asked.api_key)
    return OpenAIChatModel(asked.name, provider=provider, profile=_profile(_GENERIC, asked))


def _ollama(asked: _Asked) -> Model:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    # The address that Ollama listens on by default.
    provider = OllamaProvider(base_url=asked.base_url or "http://127.0.0.1:11434/v1", api_key=asked.api_key)
    return OllamaModel(asked.name, provider=provider, profile=_profile(_GENERIC, asked))


def _anthropic(asked: _Asked) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=asked.api_key or "none", base_url=asked.base_url)
    return AnthropicModel(asked.name, provider=provider, profile=_profile({}, asked))


def _google(asked: _Asked) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=asked.api_key or "none", base_url=asked.base_url)
    return GoogleModel(asked.name, provider=provider, profile=_profile({}, asked))


def _inferred(spec: str, api_key: str | None) -> Model:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers import Provider, infer_provider_class

    def make(scheme: str) -> Provider[Any]:
        made: Any = infer_provider_class(scheme)
        provider: Provider[Any] = made(api_key=api_key) if api_key else made()
        return provider

    try:
        model = infer_model(spec, make)
    except UserError as error:
        raise ModelError(f"{spec}: {error}", kind="authentication") from None
    if isinstance(model, OpenAIChatModel) and model.provider is not None:
        return type(model)(model.model_name, provider=model.provider, profile=_WHOLE)
    return model


def _profile(ours: Mapping[str, Any], asked: _Asked) -> Any:
    """Entries that pydantic-ai lays over its own profile of the model; the caller's win."""
    return {**ours, **asked.profile} or None


_OPENAI_KEY, _OPENAI_URL = ("OPENAI_API_KEY",), ("OPENAI_BASE_URL",)
_GOOGLE: Final = _Provider(build=_google, keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"), extra=("google", "google.genai"))
_PROVIDERS: Final[Mapping[str, _Provider]] = {
    "openai": _Provider(build=_openai, keys=_OPENAI_KEY, urls=_OPENAI_URL),
    "openai-chat": _Provider(build=_chat, keys=_OPENAI_KEY, urls=_OPENAI_URL),
    "openai-responses": _Provider(build=_responses, keys=_OPENAI_KEY, urls=_OPENAI_URL),
    "anthropic": _Provider(build=_anthropic, keys=("ANTHROPIC_API_KEY",), urls=("ANTHROPIC_BASE_URL",)),
    "google-gla": _GOOGLE,
    "google": _GOOGLE,
    "ollama": _Provider(build=_ollama, keys=("OLLAMA_API_KEY",), urls=("OLLAMA_BASE_URL",), needs_key=False),
}
