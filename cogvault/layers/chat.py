"""A chat model behind any OpenAI-compatible endpoint: OpenAI, Ollama, LM Studio, vLLM."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import IO
from urllib.parse import urlsplit, urlunsplit

from cogvault.errors import ConfigError, ModelError, ModelUnavailable

# A summary is a few kilobytes; a reply above this is none.
MAX_REPLY_BYTES = 1 << 20
_PATH = "/chat/completions"
_READ_BYTES = 1 << 16
_TRY_AGAIN = frozenset({408, 429, 500, 502, 503, 504})


class ChatModel:
    """Asks one model one question at a time. Safe to use from several threads.

    Args:
        url: base of the API, for example ``http://localhost:11434/v1``.
        model: the model's name there.
        key_variable: environment variable that holds the key to send as bearer token; unset = none is sent.
        timeout_seconds: for connecting, for every wait for bytes, and for the whole reply.
        retries: further attempts after a refused connection, a busy or a failing server. A model that was too slow
            once is not asked again.
        backoff_seconds: pause before the first further attempt; doubles with each.
        sleep: how to pause.
        clock: seconds that never go back.

    Raises:
        ConfigError: the URL is none of HTTP, or holds a password.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key_variable: str = "OPENAI_API_KEY",
        timeout_seconds: float = 120.0,
        retries: int = 2,
        backoff_seconds: float = 1.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise ConfigError("a password in the address of a chat API", key="url", hint=f"put it into {key_variable}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"not the address of a chat API: {url!r}", key="url", hint="for example http://localhost:11434/v1"
            )
        path = parts.path.rstrip("/")
        self.model = model
        self.url = urlunsplit(parts._replace(path=path if path.endswith(_PATH) else path + _PATH, fragment=""))
        self._key = os.environ.get(key_variable)
        self._timeout_seconds = timeout_seconds
        self._retries = retries
        self._backoff_seconds = backoff_seconds
        self._sleep = sleep
        self._clock = clock
        # A redirect would carry the key and the card's text to a place nobody named.
        self._opener = urllib.request.build_opener(_NoRedirect)

    def ask(self, system: str, user: str, max_tokens: int) -> str:
        """The model's answer at temperature 0, without blanks around it.

        Raises:
            ModelUnavailable: it could not be reached, is overloaded, refused, or took too long.
            ModelError: it answered nonsense, nothing, or only a part.
        """
        body = json.dumps(
            {
                "model": self.model,
                "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
                "temperature": 0,
                "max_tokens": max_tokens,
                "stream": False,
            }
        ).encode()
        attempt = 0
        while True:
            try:
                return _answer(self._post(body))
            except _Passing as error:
                if attempt >= self._retries:
                    raise ModelUnavailable(str(error), hint=f"is {self.url} up?") from error
            self._sleep(self._backoff_seconds * 2**attempt)
            attempt += 1

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")
        deadline = self._clock() + self._timeout_seconds
        try:
            with self._opener.open(request, timeout=self._timeout_seconds) as response:
                return self._read(response, deadline)
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _TRY_AGAIN:
                    raise _Passing(f"the server answered {error.code}") from error
                raise ModelUnavailable(f"the server refused with {error.code}", hint=_hint(error.code)) from error
        except TimeoutError as error:
            raise self._too_slow() from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._too_slow() from error
            raise _Passing(f"no connection: {error.reason}") from error
        except (http.client.HTTPException, OSError) as error:
            raise _Passing(f"the connection broke: {type(error).__name__}") from error

    def _read(self, response: http.client.HTTPResponse, deadline: float) -> bytes:
        """The reply's bytes, all of them or none."""
        pieces: list[bytes] = []
        size = 0
        while piece := response.read1(_READ_BYTES):
            size += len(piece)
            if size > MAX_REPLY_BYTES:
                raise ModelError(f"the reply is larger than {MAX_REPLY_BYTES} bytes")
            if self._clock() > deadline:
                raise self._too_slow()
            pieces.append(piece)
        promised = response.getheader("Content-Length")
        if promised is not None and promised.isdecimal() and size < int(promised):
            raise http.client.IncompleteRead(b"", int(promised) - size)
        return b"".join(pieces)

    def _too_slow(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"no answer within {self._timeout_seconds:g} s", hint="raise timeout_seconds or take a smaller model"
        )


class _Passing(Exception):
    """A failure that may be gone at the next attempt."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        return None


def _answer(data: bytes) -> str:
    """The text in a chat completion."""
    try:
        choice = json.loads(data)["choices"][0]
        text = choice["message"]["content"]
        finish = choice.get("finish_reason")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError("the reply is no chat completion", hint="is this an OpenAI-compatible endpoint?") from error
    if finish == "length":
        raise ModelError("the answer was cut off at the token limit")
    if not isinstance(text, str) or not text.strip():
        raise ModelError("the answer is empty")
    return text.strip()


def _hint(code: int) -> str | None:
    if code in (401, 403):
        return "check the API key"
    return "check url and model" if code == 404 or 300 <= code < 400 else None
