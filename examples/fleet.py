"""Many users, one process: each has a vault of its own, models are loaded once, and nobody finds what is another's.

Run it from anywhere: python examples/fleet.py
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cogvault import Config, Fleet
from cogvault.errors import CogvaultError

FACTS = {
    "ana": ("Deploys go out on Tuesday at 10:00.", "The garden door opens with code 4711."),
    "bo": ("Deploys wait for the night shift.", "Bo's cat is called Mittens."),
    "cy": ("The printer needs a new drum.",),
}


def tell(fleet: Fleet, user: str) -> str:
    """One user's agent at work; many of them may do so at once."""
    fleet.create(user)
    with fleet.vault(user) as vault:
        for fact in FACTS[user]:
            vault.record(fact, type="user")
        return f"{user} told {len(vault.cards())}"


def ask(fleet: Fleet, user: str, question: str) -> str:
    """What this user's memory says, or what is wrong with the question."""
    try:
        with fleet.vault(user) as vault:
            hits = vault.search(question, k=1)
    except CogvaultError as error:
        return f"{user!r}: {error.message}"
    return f"{user}: {hits[0].snippet if hits else 'I was never told.'}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        config = Config(model="none", index_dir=base / "indexes", state_dir=base / "state")
        # Two vaults keep what they read; the third stays open and reads again when it is asked.
        with Fleet(base, config, max_open=100, max_awake=2) as fleet:
            with ThreadPoolExecutor(3) as pool:
                print("\n".join(pool.map(lambda user: tell(fleet, user), FACTS)))
            for user in ("ana", "bo", "cy", "dee"):
                print(ask(fleet, user, "When do deploys go out?"))
            print(ask(fleet, "ana", "What is the cat called?"))

            # Several at once only by name; each hit says whose it is.
            found = fleet.search("deploys", ["ana", "bo"])
            print(found.status.value, sorted(f"{item.tenant}/{item.hit.id}" for item in found))


if __name__ == "__main__":
    main()
