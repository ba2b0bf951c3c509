"""Cards' files as a scan saw them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cogvault.types import Stamp

__all__ = ["ScannedFile", "ScannedFiles"]


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A card's file as it was seen.

    Attributes:
        id: NFC of ``path``, or ``path`` itself where two names on disk share an NFC form.
        path: vault-relative path on disk, with ``/``.
        target: vault-relative path of the file itself: another one when ``path`` is a symbolic link.
        stamp: the stamp of ``target``.
    """

    id: str
    path: str
    target: str
    stamp: Stamp


class ScannedFiles(Mapping[str, ScannedFile]):
    """Files by id, each made when it is asked for: a look at ten thousand keeps little but what an index has anyway.

    Args:
        stamps: by id, in the order that the files are to have.
        paths: by id, where the path on disk is another than the id.
        targets: by path on disk, where it is a symbolic link.
    """

    __slots__ = ("_paths", "_stamps", "_targets")

    def __init__(self, stamps: dict[str, Stamp], paths: dict[str, str], targets: dict[str, str]) -> None:
        self._stamps = stamps
        self._paths = paths
        self._targets = targets

    def __getitem__(self, id: str) -> ScannedFile:
        path = self._paths.get(id, id)
        return ScannedFile(id, path, self._targets.get(path, path), self._stamps[id])

    def __contains__(self, id: object) -> bool:
        return id in self._stamps

    def __iter__(self) -> Iterator[str]:
        return iter(self._stamps)

    def __len__(self) -> int:
        return len(self._stamps)
