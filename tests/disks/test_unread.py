"""What cannot be read is said with every answer: nobody takes it for what is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cogvault import Hits, Vault
from cogvault.types import Status
from tests.disks.conftest import config
from tests.settling import settle

pytestmark = pytest.mark.skipif(os.name == "nt", reason="nothing is unreadable by these modes on Windows")


@pytest.mark.parametrize("shut", ["sub", "sub/b.md", "."])
def test_answers_say_what_could_not_be_read(plain_user: Path, shut: str) -> None:
    root = plain_user / "vault"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("The wombat digs.\n")
    (root / "sub/b.md").write_text("The quokka smiles.\n")
    settings = config(plain_user / "index").model_copy(update={"recursive": True})
    with Vault(root, settings) as vault, Vault(root, settings) as other:
        vault.sync()
        (root / "sub/b.md").write_text("The dingo howls.\n")
        (root / shut).chmod(0o400 if shut == "." else 0)  # the names in the vault can be listed, and nothing else
        for each in (vault, other):
            assert worth(each.search("dingo")) == ([], Status.DEGRADED)
            assert worth(each.search("wombat")) == (["a.md"], Status.DEGRADED)
            assert worth(each.search("quokka")) == (["sub/b.md"], Status.DEGRADED)
            assert "could not be indexed" in each.search("dingo").reason
            assert each.status().status is Status.DEGRADED
        assert vault.sync().status is Status.DEGRADED
        (root / shut).chmod(0o700)
        settle(root)
        for each in (vault, other):
            assert worth(each.search("dingo")) == (["sub/b.md"], Status.OK)
            assert worth(each.search("quokka")) == ([], Status.EMPTY)
            assert each.status().status is Status.OK


def worth(hits: Hits) -> tuple[list[str], Status]:
    return [hit.id for hit in hits], hits.status
