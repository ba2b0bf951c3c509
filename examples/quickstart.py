"""Index a folder of Markdown, ask it something, read what was found.

Run it from anywhere: python examples/quickstart.py
"""

from __future__ import annotations

from pathlib import Path

from cogvault import Vault

MEMORY = Path(__file__).parent / "memory"


def main() -> None:
    """Ask the example vault three questions."""
    with Vault(MEMORY) as vault:
        report = vault.sync()
        print(f"{len(vault.cards())} cards, {len(report.added)} of them new, in {report.seconds:.1f} s")

        for question in (
            "why did customers get two invoices?",
            "Як часто перевіряємо відновлення з резервної копії?",
            "Darf eine Rechnungsnummer fehlen?",
        ):
            hits = vault.search(question, k=3)
            print(f"\n{question}  [{hits.status}]")
            for hit in hits:
                print(f"  {hit.score:.2f}  {hit.title}  ({hit.citation})")

        decisions = vault.search("job queue", type="project", tags=["decision"])
        best = decisions[0]
        print(f"\n{best.title}, related: {', '.join(best.related)}\n")
        print(vault.read(best.id, lines=best.lines).text)


if __name__ == "__main__":
    main()
