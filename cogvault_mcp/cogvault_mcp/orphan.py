"""End with the client, also when it was killed and somebody else still holds our standard input open."""

from __future__ import annotations

import os
import threading
import time

__all__ = ["exit_with_parent"]

_CHECK_SECONDS = 1.0


def exit_with_parent() -> None:
    """End this process soon after its parent did. Everything that matters is on disk at any instant."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_CHECK_SECONDS)
        os._exit(0)

    threading.Thread(target=watch, name="cogvault-parent", daemon=True).start()
