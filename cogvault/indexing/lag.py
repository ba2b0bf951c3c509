"""Why an index may lag behind the files."""

from __future__ import annotations

__all__ = ["Lag"]


class Lag:
    """What the last looks at the files could not do. A look at some paths says nothing of all the others."""

    def __init__(self) -> None:
        self._of_all = ""
        self._of_some = ""

    def __str__(self) -> str:
        """The reason, "" = the index does not lag."""
        return self._of_all or self._of_some

    def keep(self, reason: str, *, is_whole: bool) -> None:
        """Keep what has become of a look.

        Args:
            reason: why it was not done, "" = it was.
            is_whole: the look was at all files.
        """
        if is_whole:
            self._of_all = reason
        if not (is_whole and reason):  # all files are some too
            self._of_some = reason

    def miss(self, reason: str, *, is_whole: bool) -> None:
        """No look came about, or none that kept why it was not done; arguments as for ``keep``."""
        if not (self._of_all if is_whole else str(self)):
            self.keep(reason, is_whole=is_whole)
