"""Layers of folders as files beside the cards, ``.abstract.md`` and ``.overview.md``, for people to read and correct.

A text that a person wrote is the layer of its folder as long as the folder's cards stay as they were when it was made
or taken in. The files alone say so, so nothing is lost with the index.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cogvault.cards.addresses import place_of
from cogvault.cards.decoding import decode
from cogvault.cards.paths import is_usable_name
from cogvault.cards.writer import hash_of, write_atomic
from cogvault.errors import CardError, CogvaultError
from cogvault.indexing.folders import FolderRules
from cogvault.indexing.rollups import VaultLayers, folder_of
from cogvault.layers.file_form import LayerFile, read_layer, write_layer
from cogvault.layers.folder_store import FolderStore
from cogvault.layers.rollup import ROOT
from cogvault.lifecycle.workspace import Workspace
from cogvault.text.normalise import nfc
from cogvault.types import CardLayers, LayerFilesReport, Problem
from cogvault.types.arguments import check_arguments

__all__ = ["Layers"]

logger = logging.getLogger(__name__)

_KINDS = ("abstract", "overview")
_MAX_BYTES = 1 << 20
_MAY_QUOTE = "a person wrote this text, so it stays as it is; it may still quote the card that is gone"
# What a person's own file has instead of the hash of a text that was made.
_NEVER_MADE = "0" * 16


class Layers:
    """Abstracts and overviews of a vault's cards and folders.

    Args:
        made: those that were made.
        store: where those of folders are.
        workspace: the vault.
    """

    def __init__(self, made: VaultLayers, store: FolderStore, workspace: Workspace) -> None:
        self._made = made
        self._store = store
        self._workspace = workspace
        self._options = workspace.scan

    def __call__(self, id: str = ROOT) -> CardLayers:
        """Abstract (L0) and overview (L1); of a folder, what a person wrote into its files comes first.

        Args:
            id: a card's id, a folder's path, or the address of either; ``""`` or ``.`` is the vault.

        Raises:
            PathError: it is none of them; the refusal does not say what exists.
        """
        check_arguments(id=id)
        id = place_of(self._workspace.fresh().cards, id)
        made = self._made(id)
        folder = folder_of(id)
        place = self._place(folder)
        edits = [None if place is None else _edit(self._file(place, kind)) for kind in _KINDS]
        if edits == [None, None]:
            return made
        source = self._store.stored().hashes.get(folder, "")
        texts = (
            edit.text if edit is not None and edit.speaks_of(source) else text
            for edit, text in zip(edits, (made.abstract, made.overview), strict=True)
        )
        return CardLayers(*texts)

    def export(self) -> LayerFilesReport:
        """Write the layers of every folder beside its cards. Files that a person edited stay as they are; those of
        folders that hold no card any more are removed.

        Raises:
            VaultError: another writer did not let go in time.
        """
        return self._each(_Run.export)

    def import_edits(self) -> LayerFilesReport:
        """Take every text that a person wrote as the layer of its folder as the cards are now.

        Edits of an exported file are in force without this, until a card of the folder changes. A file that was not
        exported is taken in the same way.

        Raises:
            VaultError: another writer did not let go in time.
        """
        return self._each(_Run.take)

    def remake(self, id: str) -> tuple[Problem, ...]:
        """Make exported files anew after a card is gone for good, so that none goes on quoting it.

        Files that are not there are not made, and a person's text is left alone.

        Args:
            id: the card that was.

        Returns:
            The person's files in the folders above the card, and files that could not be made anew.
        """
        try:
            if not any(self._file(place, kind).exists() for place in self._places() for kind in _KINDS):
                return ()
            self._workspace.latest()  # or they would be made from layers that know the card
            report = self._each(_Run.remake)
        except (CogvaultError, OSError) as error:
            return (Problem(id, "layer-file", f"exported abstracts and overviews may still quote it: {error}"),)
        kept = sorted((*report.edited, *report.outdated))
        above = [name for name in kept if f"/{id}".startswith(f"/{nfc(name)}"[: -len(name.rpartition("/")[2])])]
        return (*(Problem(name, "layer-edited", _MAY_QUOTE) for name in above), *report.problems)

    def _each(self, step: Callable[[_Run, Path, str, str], None]) -> LayerFilesReport:
        self._made(ROOT)  # the store is up to date then
        hashes = self._store.stored().hashes
        run = _Run(self._workspace.root)
        with self._workspace.writing():
            for place in sorted(self._places()):
                folder = nfc(place)
                [layers] = self._store.layers([folder])
                for kind, text in zip(_KINDS, (layers.abstract, layers.overview), strict=True):
                    path = self._file(place, kind)
                    try:
                        step(run, path, text.strip(), hashes.get(folder, ""))
                    except (CogvaultError, OSError) as error:
                        run.problems.append(Problem(run.name(path), "layer-file", str(error)))
        return run.report()

    def _file(self, place: str, kind: str) -> Path:
        return self._workspace.root / place / f".{kind}.md"

    def _place(self, folder: str) -> str | None:
        """Where a folder is on disk, which may spell its name in another normal form."""
        if folder.isascii() or (self._workspace.root / folder).is_dir():
            return folder
        return next((place for place in self._places() if nfc(place) == folder), None)

    def _places(self) -> Iterator[str]:
        """Every folder that may hold cards, as it is on disk."""
        rules = FolderRules(self._workspace.root, self._options)
        waiting = [ROOT]
        while waiting:
            place = waiting.pop()
            try:
                with os.scandir(self._workspace.root / place) as entries:  # which tell folders without a look at each
                    names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            except PermissionError:  # as status tells
                continue
            yield place
            for name in filter(is_usable_name, names):
                inner = f"{place}/{name}" if place else name
                if self._options.walks(f"{inner}/") and rules.enters(f"{inner}/"):
                    waiting.append(inner)


@dataclass(slots=True)
class _Run:
    """What was done so far."""

    root: Path
    written: list[str] = field(default_factory=list)
    unchanged: int = 0
    edited: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def name(self, path: Path) -> str:
        """Path as reports tell it."""
        return path.relative_to(self.root).as_posix()

    def export(self, path: Path, text: str, source: str) -> None:
        """Bring one file up to date; ``text`` and ``source`` are "" for a folder that has no layers."""
        data = _read(path)
        file = None if data is None else read_layer(decode(data).text)
        if file is not None and file.is_edited:
            (self.edited if file.speaks_of(source) else self.outdated).append(self.name(path))
        elif text:
            self._write(path, write_layer(text, source), data)
        elif data is not None:
            path.unlink()
            self.removed.append(self.name(path))

    def remake(self, path: Path, text: str, source: str) -> None:
        """Bring one file up to date, if it is there."""
        if path.exists():
            self.export(path, text, source)

    def take(self, path: Path, _: str, source: str) -> None:
        """Mark a person's text as one about the cards as they are now."""
        data = _read(path)
        file = None if data is None else read_layer(decode(data).text)
        if file is None or not file.is_edited:
            return
        (self.edited if source else self.outdated).append(self.name(path))
        if source and not file.speaks_of(source):
            self._write(path, write_layer(file.text, source, file.made or _NEVER_MADE), data)

    def report(self) -> LayerFilesReport:
        """All that was done."""
        return LayerFilesReport(
            tuple(self.written),
            self.unchanged,
            tuple(self.edited),
            tuple(self.outdated),
            tuple(self.removed),
            tuple(self.problems),
        )

    def _write(self, path: Path, data: bytes, before: bytes | None) -> None:
        if data == before:
            self.unchanged += 1
            return
        write_atomic(path, data, expected_hash=None if before is None else hash_of(before))
        self.written.append(self.name(path))


def _read(path: Path) -> bytes | None:
    """Bytes of a file, None = there is none.

    Raises:
        CardError: it is no plain file of a reasonable size.
    """
    if path.is_symlink():
        raise CardError("a symbolic link is not followed here", path=path, hint="replace it by a plain file")
    if not path.exists():
        return None
    if not path.is_file() or path.stat().st_size > _MAX_BYTES:
        raise CardError("not a file of at most 1 MiB", path=path, hint="move it away")
    return path.read_bytes()


def _edit(path: Path) -> LayerFile | None:
    """What a person wrote into a file, None = nothing, or nothing that can be read."""
    try:
        data = _read(path)
    except (CardError, OSError) as error:
        logger.warning("an edited layer is not used: %s", error)
        return None
    file = None if data is None else read_layer(decode(data).text)
    return file if file is not None and file.is_edited else None
