"""What may stand in the place of a file."""

from __future__ import annotations

from pathlib import Path


def to_folder(path: Path) -> None:
    """Put a folder in the place of a file."""
    path.unlink(missing_ok=True)
    path.mkdir()
    (path / "thing").write_text("in the way")


def to_link(path: Path) -> None:
    """Put a link to nowhere in the place of a file."""
    path.unlink(missing_ok=True)
    path.symlink_to("nowhere/at/all")
