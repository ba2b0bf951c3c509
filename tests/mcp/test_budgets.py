"""How large an answer may be, whatever the tool is told and finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault import estimate_tokens
from tests.mcp.raw import Server, size, text_of


@pytest.mark.parametrize("budget", [200, 300, 1000])
def test_a_budget_holds_for_all_of_the_text_and_for_the_data(server: Server, budget: int) -> None:
    result = server.call("cogvault_recall", query="how do we deploy and run jobs", k=20, budget_tokens=budget)
    assert result["structuredContent"]["hits"]
    assert size(result) <= budget
    assert result["structuredContent"]["tokens"] == estimate_tokens(text_of(result))


def test_a_recall_that_names_no_number_tells_all_that_answers_and_fits(server: Server, example_vault: Path) -> None:
    for number in range(30):
        (example_vault / f"heron-{number:02}.md").write_text(f"# Heron {number}\n\nHeron {number} nests by the pond.\n")
    server.call("cogvault_browse", sync=True)
    everything = server.call("cogvault_recall", query="heron nests by the pond")
    assert len(everything["structuredContent"]["hits"]) == 30
    assert len(server.call("cogvault_recall", query="heron nests by the pond", k=3)["structuredContent"]["hits"]) == 3
    some = server.call("cogvault_recall", query="heron nests by the pond", budget_tokens=1000)
    assert 5 < len(some["structuredContent"]["hits"]) < 30
    assert 800 < size(some) <= 1000


def test_browsing_stays_within_the_budget_and_leaves_out_no_card(server: Server, example_vault: Path) -> None:
    for number in range(300):
        title = "# " + 'A long "title" ' * 10
        name = f"a-long-name-{'of-many-words-' * 7}{number:03}.md"
        (example_vault / name).write_text(title + "\n")
    seen: list[str] = []
    after = ""
    for _ in range(100):
        result = server.call("cogvault_browse", limit=200, after_id=after, sync=not after)
        assert result["structuredContent"]["ids"]
        assert size(result) <= 4000
        assert ("There are more" in text_of(result)) == bool(result["structuredContent"]["next"])
        seen += result["structuredContent"]["ids"]
        after = result["structuredContent"]["next"]
        if not after:
            break
    assert seen == sorted(path.name for path in example_vault.glob("*.md"))


def test_a_write_that_finds_much_to_tell_tells_the_first_of_it(server: Server, example_vault: Path) -> None:
    keys = "\n\n".join(f"The key of host {number} is AKIA{number:016}" for number in range(1000))
    result = server.call("cogvault_record", content=keys, title="Keys")
    assert "looks like a secret" in text_of(result)
    assert "985 more" in text_of(result)
    assert size(result) <= 4000


def test_an_error_about_a_long_argument_is_short(server: Server) -> None:
    for arguments in ({"id": "x" * 1_000_000}, {"id": "a.md", "lines": "9" * 1_000_000 + "x"}):
        result = server.call("cogvault_read", **arguments)
        assert result["isError"]
        assert size(result) <= 4000
    for method, params in (
        ("resources/read", {"uri": f"cogvault://resources/{'x' * 1_000_000}"}),
        ("prompts/get", {"name": "x" * 1_000_000}),
        ("tools/call", {"name": "x" * 1_000_000}),
    ):
        error = server.ask(method, params)["error"]
        assert len(error["message"]) <= 4000, method
