"""What clients on other machines are told of where things are."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault_mcp.told import without_places

VAULT = Path("/srv/tenants/ana")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("/srv/tenants/ana: the folder does not exist (create it)", "the vault: the folder does not exist (create it)"),
        ("/srv/tenants/ana/.cogvault.toml:3: unknown key", "the vault/.cogvault.toml:3: unknown key"),
        ("/srv/tenants/ana2/x.md: no", "…: no"),
        ("changes were not looked for: /root/.cache/cogvault/i-1: no room", "changes were not looked for: …: no room"),
        ("chmod 700 /run/user/0, or set X to ~/run", "chmod 700 …, or set X to …"),
        (r"C:\Users\ana\vault: away; \\host\share too", "…: away; … too"),
        ("notes/a.md: cogvault://user/ana/tea.md and/or a/b", "notes/a.md: cogvault://user/ana/tea.md and/or a/b"),
        ("no model at http://127.0.0.1:11434/v1 (1/2)", "no model at http://127.0.0.1:11434/v1 (1/2)"),
    ],
)
def test_no_place_on_the_disk_is_left_in_a_message(message: str, told: str) -> None:
    assert without_places(VAULT)(message) == told


def test_a_vault_at_the_root_of_the_disk_has_no_name() -> None:
    assert without_places(Path("/"))("/: cannot be read; see /etc/x") == "/: cannot be read; see …"
