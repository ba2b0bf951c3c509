"""Files of a keyword folder: which belong to its last commit, and whether they are as tantivy wrote them."""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

_SEGMENT_FILE = re.compile(r"[0-9a-f]{32}\..*")
_FOOTER = struct.Struct("<II")
_MAGIC = 1337
_BUFFER_BYTES = 2**20

Stamps = Mapping[str, tuple[int, int, int]]
"""Size, time of the last change (ns) and inode of files, by path."""


def stamps(folder: Path) -> Stamps:
    """Of every committed file; tantivy writes each once, and never changes it.

    Raises:
        OSError: the folder or its list of segments cannot be read.
        ValueError: that list is damaged.
    """
    try:
        segments = _committed(folder)
    except (KeyError, TypeError) as error:
        raise ValueError(f"meta.json: {error}") from error
    with os.scandir(folder) as entries:
        paths = [entry.path for entry in entries if _is_committed(entry.name, segments)]
    return {path: stamp for path in paths if (stamp := file_stamp(path)) is not None}


def overwritten(files: Stamps) -> str:
    """Name of a file that was changed since, "" = none. One that is gone is no fault: what is mapped stays."""
    for path, stamp in files.items():
        if (now := file_stamp(path)) is not None and now != stamp:
            return Path(path).name
    return ""


def file_stamp(path: str) -> tuple[int, int, int] | None:
    """Stamp of one file, None = there is none."""
    try:
        info = os.stat(path)  # noqa: PTH116 - called for every search
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns, info.st_ino


def faults(folder: Path) -> Iterator[str]:
    """Compare every committed file with the checksum in its own footer; one sentence for each that differs.

    Files of segments that were never committed, which a kill leaves behind, are tantivy's to delete.
    """
    try:
        segments = _committed(folder)
        for path in sorted(folder.iterdir()):
            if _is_committed(path.name, segments) and not _is_sound(path):
                yield f"{folder.name}/{path.name}: its checksum is wrong"
    except OSError as error:
        yield f"{folder.name}: {error.strerror}"
    except (ValueError, KeyError, TypeError) as error:
        yield f"{folder.name}/meta.json: {error}"


def sweep(folder: Path) -> None:
    """Delete what a killed writer left: tantivy refuses to write a file of deletions that is there already."""
    segments = _committed(folder)
    for path in folder.iterdir():
        if _SEGMENT_FILE.fullmatch(path.name) and not _is_committed(path.name, segments):
            path.unlink(missing_ok=True)


def _committed(folder: Path) -> dict[str, int | None]:
    """Committed segments, and the stamp of the newest deletions in each."""
    try:
        found = json.loads((folder / "meta.json").read_bytes())["segments"]
    except RecursionError as error:
        raise ValueError("lists in lists without an end") from error
    return {
        segment["segment_id"].replace("-", ""): (segment["deletes"] or {"opstamp": None})["opstamp"]
        for segment in found
    }


def _is_committed(file: str, segments: dict[str, int | None]) -> bool:
    name, _, kind = file.partition(".")
    stamp, _, deletions = kind.partition(".")
    return name in segments and (deletions != "del" or stamp == str(segments[name]))


def _is_sound(path: Path) -> bool:
    """tantivy ends each file with JSON that holds the CRC-32 of all before it, its length, and a magic number."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < _FOOTER.size:
            return False
        file.seek(size - _FOOTER.size)
        length, magic = _FOOTER.unpack(file.read())
        end = size - _FOOTER.size - length
        if magic != _MAGIC or end < 0:
            return False
        file.seek(end)
        try:
            expected = json.loads(file.read(length))["crc"]
        except (ValueError, KeyError, TypeError):
            return False
        file.seek(0)
        value = 0
        while end > 0 and (part := file.read(min(end, _BUFFER_BYTES))):
            value = zlib.crc32(part, value)
            end -= len(part)
        return bool(value == expected)
