"""What happened to the files that show the layers of folders."""

from __future__ import annotations

from dataclasses import dataclass

from cogvault.types.base import JsonValue, Problem, to_document


@dataclass(frozen=True, slots=True)
class LayerFilesReport:
    """What an export, or an import of edits, did. Paths are relative to the vault, in order.

    Attributes:
        written: files that were written.
        unchanged: number of files that say what they should.
        edited: files with a person's text that is the layer of its folder; they are never written over.
        outdated: files with a person's text about cards that changed since; import their edits to keep them in force.
        removed: files of folders that hold no card any more.
        problems: files that could not be read or written.
    """

    written: tuple[str, ...] = ()
    unchanged: int = 0
    edited: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return to_document(self)
