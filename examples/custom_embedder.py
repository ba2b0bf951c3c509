"""Bring your own model: any object with the members of ``cogvault.protocols.Embedder`` will do.

This one knows six topics and nothing else, which is enough to find a card without sharing a word with it.
Run it from anywhere: python examples/custom_embedder.py
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cogvault import Config, Vault
from cogvault.types import FloatArray

TOPICS = {
    "money": ("invoice", "invoices", "billing", "paid", "payments", "price", "accounting", "cash", "charged"),
    "storage": ("database", "postgresql", "table", "column", "row", "schema", "index"),
    "speed": ("slow", "seconds", "timeout", "latency", "cache", "stampede", "standstill"),
    "access": ("logged", "token", "session", "refresh", "sign", "locked", "login"),
    "people": ("mara", "olena", "wei", "jonas", "priya", "prefers", "likes", "taste"),
    "release": ("deploy", "deployment", "release", "rollback", "flag", "ship"),
}


class TopicEmbedder:
    """One dimension for each topic, the last for everything else. Texts of one topic point the same way."""

    name = "topics"
    fingerprint = "topics-1"  # change it whenever the same text would get another vector
    dim = len(TOPICS) + 1
    max_tokens = 512
    floor = 0.3  # cosine of texts that have nothing to do with each other
    ceiling = 1.0  # cosine of a question and its best answer

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words of each text."""
        return [len(text.split()) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """(n, dim) float32 rows of unit length, zero for a blank text."""
        return np.stack([self.embed_query(text) for text in texts]) if texts else np.zeros((0, self.dim), np.float32)

    def embed_query(self, text: str) -> FloatArray:
        """(dim,) float32 of unit length, zero for a blank text."""
        words = re.findall(r"\w+", text.casefold())
        counts = [sum(word in topic for word in words) for topic in TOPICS.values()]
        vector = np.array([*counts, 0.5 if words else 0], np.float32)
        length = float(np.linalg.norm(vector))
        return vector / np.float32(length) if length else vector


def main() -> None:
    """Ask for cash and accounting; the card says invoices and billing."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Path(folder) / "memory"
        memory.mkdir()
        (memory / "invoices.md").write_text(
            "# Invoices\n\nBilling wrote two invoices for one order.\n", encoding="utf-8"
        )
        (memory / "tabs.md").write_text("# Tabs\n\nEvery open tab asked for a new session token.\n", encoding="utf-8")

        with Vault(memory, Config(index_dir=Path(folder) / "indexes"), embedder=TopicEmbedder()) as vault:
            vault.sync()
            for hit in vault.search("who was charged cash twice?", explain=True):
                parts = ", ".join(f"{part.layer} {part.name} {part.contribution:+.2f}" for part in hit.parts)
                print(f"{hit.score:.2f}  {hit.title}  ({parts})")


if __name__ == "__main__":
    main()
