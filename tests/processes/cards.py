"""Cards whose text tells whether it is whole: every part names the card, the version, and how many parts there are."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from pathlib import Path

PARTS = 6
_WORDS = ["alpha", "beta", "gamma", "note", "shared", "words", "ключ", "设备", "naïve", "POL-358"]
_PART = re.compile(r"part (\d+) of (\d+) in (\w+)")
_TITLE = re.compile(r"title (\w+)")


def marker(name: str, version: int) -> str:
    """One word that only this version of this card holds."""
    return f"{name}v{version}x"


def text(name: str, version: int, rng: random.Random) -> str:
    """A card in six sections, each long enough to be a chunk of its own."""
    own = marker(name, version)
    parts = [
        f"## Section {number}\n\npart {number} of {PARTS} in {own} {' '.join(rng.choices(_WORDS, k=24))}"
        for number in range(1, PARTS + 1)
    ]
    return f"---\ntitle: title {own}\ntags: [{rng.choice('xyz')}]\n---\n" + "\n\n".join(parts) + "\n"


def is_whole(title: str, texts: Iterable[str]) -> bool:
    """True when title and all parts are there and of one version; of an empty file nothing is."""
    found = _PART.findall("\n".join(texts))
    if not found:
        return not _TITLE.match(title)
    numbers, counts, owners = zip(*found, strict=True)
    named = _TITLE.match(title)
    return (
        named is not None
        and {named[1]} == set(owners)
        and counts == (str(PARTS),) * PARTS
        and sorted(map(int, numbers)) == list(range(1, PARTS + 1))
    )


def is_of_one_version(title: str, passage: str) -> bool:
    """True when a passage of a card comes from the version that its title names."""
    named = _TITLE.match(title)
    return all(named is not None and owner == named[1] for _, _, owner in _PART.findall(passage))


def save(file: Path, content: str) -> None:
    """Write as tools do: a card is there whole or not at all."""
    beside = file.with_name(f".{file.name}.tmp")
    beside.write_text(content, encoding="utf-8")
    beside.replace(file)


def overwrite(file: Path, content: str) -> None:
    """Write as some editors do: for a moment the file is empty."""
    file.write_text(content, encoding="utf-8")
