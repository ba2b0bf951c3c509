"""A chat model behind any OpenAI-compatible endpoint: OpenAI, Ollama, LM Studio, vLLM."""

from __future__ import annotations

from typing import Any, Protocol

from cogvault.errors import ModelError

_PATH = "/chat/completions"


def chat_address(url: str) -> str:
    """Where to post chat completions.

    >>> chat_address("http://localhost:11434/v1/")
    'http://localhost:11434/v1/chat/completions'
    """
    return url.rstrip("/").removesuffix(_PATH) + _PATH


class JsonPoster(Protocol):
    """Posts JSON to one address: the key, time limits and attempts are its business.

    ``embedders.http_client.JsonClient`` is one.
    """

    def post(self, payload: dict[str, Any]) -> Any:
        """Send a document and return the answer's. Raises ``ModelUnavailable`` or ``ModelError``."""


class ChatModel:
    """Asks one model one question at a time. Safe to use from several threads.

    Args:
        model: the model's name there.
        url: base of the API, for example ``http://localhost:11434/v1``; names the model in caches.
        client: posts to ``chat_address(url)``.
    """

    def __init__(self, model: str, url: str, client: JsonPoster) -> None:
        self.model = model
        self.name = f"{model}@{chat_address(url)}"
        self._client = client

    def ask(self, system: str, user: str, max_tokens: int) -> str:
        """The model's answer at temperature 0, without blanks around it.

        Raises:
            ModelUnavailable: it could not be reached, is overloaded, refused, or took too long.
            ModelError: it answered nonsense, nothing, or only a part.
        """
        return _text(
            self._client.post(
                {
                    "model": self.model,
                    "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
                    "temperature": 0,
                    "max_tokens": max_tokens,
                    "stream": False,
                }
            )
        )


def _text(answer: Any) -> str:
    """The text in a chat completion."""
    try:
        choice = answer["choices"][0]
        text = choice["message"]["content"]
        finish = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ModelError("the answer is no chat completion", hint="is this an OpenAI-compatible endpoint?") from error
    if finish == "length":
        raise ModelError("the answer was cut off at the token limit")
    if not isinstance(text, str) or not text.strip():
        raise ModelError("the answer is empty")
    return text.strip()
