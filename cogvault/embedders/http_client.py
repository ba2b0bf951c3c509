"""A small JSON client: bounded in time, size and attempts, and careful with its key."""

from __future__ import annotations

import http.client
import json
import os
import re
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from cogvault.errors import ConfigError, ModelError, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME: Final = re.compile(r"openai:(?P<model>.+?)@(?P<url>https?://\S+)")
_ATTEMPTS: Final = 4
_FIRST_WAIT_SECONDS: Final = 0.5
_LONGEST_WAIT_SECONDS: Final = 20.0
_LARGEST_ANSWER_BYTES: Final = 256 << 20
_SHOWN_ANSWER_BYTES: Final = 300
_TRANSIENT: Final = {408, 425, 429, 500, 502, 503, 504}
_NOT_THERE: Final = {401, 403, 404}
_OPENAI_HOST: Final = "api.openai.com"


def split_server_name(name: str, key: str, example: str) -> tuple[str, str]:
    """Model and URL of `openai:MODEL@URL`.

    Args:
        name: What a user wrote.
        key: The setting it was written for, for messages.
        example: A model to show in the hint.

    Raises:
        ConfigError: If the name is not of that form, or the URL holds a password.
    """
    found = _NAME.fullmatch(name)
    if found is None or not urlsplit(found["url"]).hostname:
        msg = "a model behind a server is written openai:MODEL@URL"
        raise ConfigError(msg, key=key, hint=f"for example openai:{example}@http://localhost:11434/v1")
    if "@" in urlsplit(found["url"]).netloc:
        msg = "the model's URL must not hold a user or password"
        raise ConfigError(msg, key=key, hint="set COGVAULT_OPENAI_API_KEY")
    return found["model"], found["url"]


def find_api_key(url: str) -> str | None:
    """The key to send to a server: cogvault's own variable, or OpenAI's for OpenAI's host only."""
    key = os.environ.get("COGVAULT_OPENAI_API_KEY")
    if not key and urlsplit(url).hostname == _OPENAI_HOST:
        key = os.environ.get("OPENAI_API_KEY")
    return key or None


class JsonClient:
    """Posts JSON to one address. Safe for use from many threads.

    Args:
        url: The full address.
        key: Sent as a bearer token; None sends none.
        timeout_seconds: Of one attempt.
        sleep: Waits between attempts.
    """

    __slots__ = ("_headers", "_opener", "_sleep", "_timeout_seconds", "_url")

    def __init__(self, url: str, key: str | None, timeout_seconds: float, sleep: Callable[[float], None]) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "cogvault"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._timeout_seconds = timeout_seconds
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirects)

    def __repr__(self) -> str:
        return f"JsonClient({self._url!r})"  # never the headers

    def post(self, payload: dict[str, Any]) -> Any:
        """Send a document and return the answer's.

        Transient refusals (429, 5xx) and broken connections are tried again, four times in all, waiting as
        long as the server asks within reason. A server that nobody runs is not waited for.

        Raises:
            ModelUnavailable: If the server cannot be reached, or refuses the key or the model.
            ModelError: If it answers something else than JSON or an error that trying again does not cure.
        """
        body = json.dumps(payload).encode()
        for attempt in range(1, _ATTEMPTS + 1):
            wait = min(_FIRST_WAIT_SECONDS * 2 ** (attempt - 1), _LONGEST_WAIT_SECONDS)
            request = urllib.request.Request(self._url, data=body, headers=self._headers, method="POST")
            try:
                with self._opener.open(request, timeout=self._timeout_seconds) as response:
                    return self._parse(response.read(_LARGEST_ANSWER_BYTES + 1))
            except urllib.error.HTTPError as error:
                with error:
                    failure = self._refusal(error)
                    if error.code not in _TRANSIENT or attempt == _ATTEMPTS:
                        raise failure from error
                    wait = _asked_wait(error, wait)
            except (OSError, http.client.HTTPException) as error:  # URLError and timeouts are OSErrors
                reason = getattr(error, "reason", error)
                if attempt == _ATTEMPTS or isinstance(reason, ConnectionRefusedError):
                    raise self._unreachable(reason) from error
            self._sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _parse(self, content: bytes) -> Any:
        if len(content) > _LARGEST_ANSWER_BYTES:
            msg = "the model server's answer is too large"
            raise ModelError(msg, path=self._url)
        try:
            return json.loads(content)
        except ValueError as error:
            msg = f"the model server answers something else than JSON: {_excerpt(content)}"
            raise ModelError(msg, path=self._url, hint="does the URL end in /v1?") from error

    def _refusal(self, error: urllib.error.HTTPError) -> ModelError:
        try:
            content = error.read(_SHOWN_ANSWER_BYTES)
        except (OSError, http.client.HTTPException):
            content = b""
        msg = f"the model server answers {error.code} {error.reason}: {_excerpt(content)}"
        if error.code in _NOT_THERE:
            return ModelUnavailable(msg, path=self._url, hint="check the URL, the model's name and the API key")
        if error.code in _TRANSIENT:
            return ModelUnavailable(msg, path=self._url, hint="try again later")
        return ModelError(msg, path=self._url)

    def _unreachable(self, reason: object) -> ModelUnavailable:
        msg = f"the model server cannot be reached: {reason}"
        return ModelUnavailable(msg, path=self._url, hint="is it running?")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another server, and turn the request into a GET."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


def _asked_wait(error: urllib.error.HTTPError, otherwise: float) -> float:
    try:
        asked = float(error.headers.get("Retry-After") or otherwise)
    except ValueError:  # a date
        return otherwise
    return min(max(asked, 0.0), _LONGEST_WAIT_SECONDS)


def _excerpt(content: bytes) -> str:
    return " ".join(content[:_SHOWN_ANSWER_BYTES].decode("utf-8", "replace").split()) or "(nothing)"
