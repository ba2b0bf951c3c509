"""Whether a download can work at all, found out before a library retries for a minute."""

from __future__ import annotations

import os
import queue
import socket
import threading
import urllib.parse
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDPOINT: Final = "https://huggingface.co"
_PROBE_SECONDS: Final = 1.5
_TRUE: Final = {"1", "on", "true", "yes"}


def can_download() -> bool:
    """Whether the model hub, or the proxy before it, takes connections; decided within 1.5 seconds.

    Looks at `HF_HUB_OFFLINE`, `HF_ENDPOINT` and the proxy variables, as the download itself would.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in _TRUE:
        return False
    endpoint = os.environ.get("HF_ENDPOINT") or _ENDPOINT
    scheme = urllib.parse.urlsplit(endpoint).scheme
    proxies = urllib.request.getproxies()
    target = urllib.parse.urlsplit(proxies.get(scheme) or proxies.get("all") or endpoint)
    if not target.hostname:
        return False
    address = (target.hostname, target.port or (443 if target.scheme == "https" else 80))
    answers: queue.SimpleQueue[bool] = queue.SimpleQueue()
    # Name resolution knows no time limit, hence a thread that may be left behind.
    threading.Thread(target=_probe, args=(address, answers), daemon=True, name="cogvault-probe").start()
    try:
        return answers.get(timeout=_PROBE_SECONDS)
    except queue.Empty:
        return False


def _probe(address: tuple[str, int], answers: queue.SimpleQueue[bool]) -> None:
    try:
        with socket.create_connection(address, timeout=_PROBE_SECONDS):
            answers.put(True)
    except (OSError, UnicodeError):
        answers.put(False)


@contextmanager
def quiet_loguru(library: str) -> Iterator[None]:
    """Silence a library's log on standard error while its failures are being reported by us."""
    from loguru import logger

    logger.disable(library)
    try:
        yield
    finally:
        logger.enable(library)
