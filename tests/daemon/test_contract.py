"""A vault of the daemon is a vault: the same calls give the same results, of the same types, and the same errors."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cogvault import Draft, Session, Turn, Vault
from cogvault.client import Endpoint, RemoteLayers, RemoteSession, RemoteVault, connect
from cogvault.errors import CogvaultError
from cogvault.types import SweepReport
from tests.daemon.conftest import write_cards

AnyVault = Any
Step = Callable[[AnyVault], object]
FIVE: Any = 5
NOTHING: Any = None

# Watching and resting are the daemon's own business; its settings and files are where it runs.
LOCAL_ONLY = {"changes", "watch", "rest", "config", "resolved", "is_repairing"}

STEPS: dict[str, Step] = {
    "sync": lambda vault: vault.sync(verify=True),
    "reindex": lambda vault: vault.reindex(),
    "search": lambda vault: vault.search("why did the job queue move from Redis", explain=True),
    "search with all arguments": lambda vault: vault.search(
        "Redis table",
        3,
        type=("project", "user"),
        tags="queue",
        path="",
        after=date(2025, 1, 1),
        before="2027",
        as_of=datetime(2026, 6, 1, tzinfo=UTC),
        where={"created": "2026-01-20"},
        min_score=0.1,
        budget_tokens=300,
        layer="L2",
        session_seen={"user_ana.md"},
        sync=False,
    ),
    "search in another script": lambda vault: vault.search("设备清单", where={"team": "harbor"}),
    "search for nothing": lambda vault: vault.search(""),
    "search k": lambda vault: vault.search("x", 0),
    "search k too large": lambda vault: vault.search("x", 10**30),
    "search k as text": lambda vault: vault.search("x", "5"),
    "search k as truth": lambda vault: vault.search("x", True),
    "search share as text": lambda vault: vault.search("x", min_score="0.5"),
    "search budget as text": lambda vault: vault.search("x", budget_tokens="300"),
    "search layer": lambda vault: vault.search("x", layer="L9"),
    "search date": lambda vault: vault.search("x", after="yesterday-ish"),
    "search range": lambda vault: vault.search("x", after="2026-02", before="2026-01"),
    "search outside": lambda vault: vault.search("x", path="../other"),
    "search share": lambda vault: vault.search("x", min_score=1.5),
    "search budget": lambda vault: vault.search("x", budget_tokens=-1),
    "search where key": lambda vault: vault.search("x", where={1: 2}),
    "search where value": lambda vault: vault.search("x", where={"team": float("nan")}),
    "search where list": lambda vault: vault.search("x", where=["team"]),
    "search half a character": lambda vault: vault.search("\ud800 x", where={"\udfff": "\ud800"}),
    "search by a date": lambda vault: vault.search(date(2026, 1, 1)),
    "search by a list": lambda vault: vault.search(["Redis"]),
    "search type as a date": lambda vault: vault.search("x", type=date(2026, 1, 1)),
    "search type as bytes": lambda vault: vault.search("x", type=b"user"),
    "search types of a generator": lambda vault: vault.search("tea", type=(name for name in ["user"])),
    "search tags as a number": lambda vault: vault.search("x", tags=Decimal("0.5")),
    "search path as a file": lambda vault: vault.search("x", path=Path("user_ana.md")),
    "search seen as text": lambda vault: vault.search("tea", session_seen="user_ana.md"),
    "search seen as nothing": lambda vault: vault.search("tea", session_seen=None),
    "search layer as a time": lambda vault: vault.search("x", layer=datetime(2026, 1, 1)),
    "search layer as a list": lambda vault: vault.search("x", layer=["L2"]),
    "search before a span": lambda vault: vault.search("x", before=timedelta(days=1)),
    "search after a time of a zone": lambda vault: vault.search(
        "Redis table", after=datetime(2026, 1, 20, 2, tzinfo=timezone(timedelta(hours=3, seconds=1)))
    ),
    "search share as a fraction": lambda vault: vault.search("Redis table", min_score=Fraction(1, 2)),
    "search share as no number": lambda vault: vault.search("x", min_score=float("nan")),
    "search where fraction": lambda vault: vault.search("x", where={"n": Fraction(1, 2)}),
    "search where many": lambda vault: vault.search("tea", where={"team": ("harbor", True), " team ": None}),
    "search explain as a word": lambda vault: vault.search("x", explain="no"),
    "search sync as a number": lambda vault: vault.search("x", sync=1),
    "record half a character": lambda vault: vault.record("\ud800 is no character."),
    "read half a character": lambda vault: vault.read("\ud800.md"),
    "read": lambda vault: vault.read("project_queue.md"),
    "read lines": lambda vault: vault.read("project_queue.md", (1, 3)),
    "read bad lines": lambda vault: vault.read("project_queue.md", (3, 1)),
    "read nothing": lambda vault: vault.read("no-such.md"),
    "read outside": lambda vault: vault.read("../../etc/passwd"),
    "cards": lambda vault: list(vault.cards()),
    "status": lambda vault: vault.status(),
    "list": lambda vault: vault.list(),
    "list outside": lambda vault: vault.list("/etc"),
    "tree": lambda vault: vault.tree(),
    "layers": lambda vault: vault.layers("project_queue.md"),
    "layers of nothing": lambda vault: vault.layers("no-such.md"),
    "record": lambda vault: vault.record(
        "Deploys go out on Tuesday.\n",
        "Deploys",
        "reference",
        ["ops"],
        description="When",
        to="cogvault://user/ana/",
        importance=0.7,
        pinned=True,
        valid_from="2026-01-01",
        valid_until=datetime(2099, 1, 1, tzinfo=UTC),
        source="talk",
        meta={"team": "harbor", "n": 3, "deep": {"list": [1, None, "x"]}},
    ),
    "record again": lambda vault: vault.record("Deploys go out on Tuesday.\n"),
    "record nothing": lambda vault: vault.record(" "),
    "record outside": lambda vault: vault.record("x", to="../elsewhere/"),
    "record in the place of another": lambda vault: vault.record("Something else.", to="user_ana.md"),
    "record secret": lambda vault: vault.record("Key: AKIAIOSFODNN7EXAMPLQ here.", "Key", redact=True),
    "record importance": lambda vault: vault.record("Important.", importance=7.0),
    "record_many": lambda vault: vault.record_many(
        [Draft("One more fact about tea.", tags=("tea",)), Draft(" "), Draft("Two cups a day.", valid_from="2026")]
    ),
    "record_many with comma text": lambda vault: vault.record_many(
        [Draft("Tea is brewed for four minutes.", tags="tea, #brew"), Draft("Water is boiled once.", tags=["tea"])]  # type: ignore[arg-type]
    ),
    "record importance as a word": lambda vault: vault.record("x", importance="much"),
    "record importance as a whole number": lambda vault: vault.record("x", importance=2),
    "record importance as a decimal": lambda vault: vault.record("x", importance=Decimal("0.5")),
    "update importance": lambda vault: vault.update("user_ana.md", set={"importance": 7}),
    "record_many of none": lambda vault: vault.record_many([]),
    "record_many of what is no card among others": lambda vault: vault.record_many(
        [
            Draft("Cups are blue."),
            Draft("x", description=FIVE),
            "x",
            Draft("x", tags=FIVE),
            Draft(FIVE),
            Draft("x", meta={"a": b"abc"}),
            Draft("x", importance=float("nan")),
            Draft("x", importance="much"),
            Draft("x", pinned="yes"),
            Draft("x", redact="no"),
            Draft("x", valid_until=datetime.max.replace(tzinfo=timezone(-timedelta(hours=12)))),
            Draft("x", valid_from="noon"),
            None,
            Draft("Saucers are green.", importance="0.5", valid_from=date(2026, 5, 1), meta={"pair": (1, "x")}),
        ]
    ),
    "update": lambda vault: vault.update("user_ana.md", append="She likes coffee too.", set={"n": 1}, unset=["team"]),
    "update of a key as text": lambda vault: vault.update("user_ana.md", unset="n"),
    "update conflict": lambda vault: vault.update("user_ana.md", append="x", base_hash="0" * 64),
    "update section": lambda vault: vault.update("user_ana.md", section="No such", body="x"),
    "update nothing": lambda vault: vault.update("no-such.md", body="x"),
    "update to a time of a zone": lambda vault: vault.update(
        "user_ana.md",
        set={"due": datetime(2026, 5, 1, 3, 4, 5, 6, timezone(timedelta(hours=3))), "day": date(2026, 5, 1)},
    ),
    "update to values of Python": lambda vault: vault.update(
        "user_ana.md", set={"pair": (1, "x"), "words": {"a"}, "deep": {"when": datetime(2026, 5, 1, 3)}}
    ),
    "update to bytes": lambda vault: vault.update("user_ana.md", set={"a": b"abc"}),
    "update to no number": lambda vault: vault.update("user_ana.md", set={"a": float("nan")}),
    "update to an object": lambda vault: vault.update("user_ana.md", set={"a": object}),
    "record tags as text": lambda vault: vault.record("Tea is in the tin.", "Tin", tags="tea, tin,tea"),
    "record importance as text": lambda vault: vault.record("Sugar is not.", "Sugar", meta={"importance": "0.5"}),
    "record meta of bytes": lambda vault: vault.record("Milk.", "Milk", meta={"a": b"abc"}),
    "record meta of a time": lambda vault: vault.record(
        "Milk is out.", "Milk", meta={"bought": datetime(2026, 5, 1, 3, tzinfo=timezone(timedelta(hours=3)))}
    ),
    "record a date out of range": lambda vault: vault.record(
        "x", valid_until=datetime.max.replace(tzinfo=timezone(-timedelta(hours=12)))
    ),
    "record_many with a time": lambda vault: vault.record_many(
        [Draft("Cups are white.", meta={"seen": datetime(2026, 5, 1, 3, tzinfo=timezone(timedelta(hours=3)))})]
    ),
    "supersede": lambda vault: vault.supersede("project_queue.md", "reference_flags.md"),
    "supersede itself": lambda vault: vault.supersede("user_ana.md", "user_ana.md"),
    "history": lambda vault: vault.history("project_queue.md"),
    "history of nothing": lambda vault: vault.history("no-such.md"),
    "move": lambda vault: vault.move("reference_flags.md", "reference_compiler-flags.md"),
    "move onto another": lambda vault: vault.move("project_queue.md", "user_ana.md"),
    "strength": lambda vault: vault.strength("user_ana.md"),
    "strengths": lambda vault: sorted(vault.strengths(), key=lambda one: str(one.id)),
    "sweep": lambda vault: _by_id(vault.sweep()),
    "sweep for good": lambda vault: vault.sweep(apply=True, purge=True),
    "forget": lambda vault: vault.forget("user_ana.md"),
    "forget nothing": lambda vault: vault.forget("no-such.md"),
    "archived": lambda vault: vault.archived(),
    "restore version": lambda vault: vault.restore("user_ana.md", 9),
    "restore": lambda vault: vault.restore("user_ana.md"),
    "restore again": lambda vault: vault.restore("user_ana.md"),
    "purge": lambda vault: vault.purge("user_ana.md"),
    "forget for good": lambda vault: vault.forget("user_ana.md", purge=True),
    "session": lambda vault: [vault.session("standup").name, vault.session("standup").folder, vault.session("a").uri],
    "session name": lambda vault: vault.session("../x"),
    "append": lambda vault: vault.session("standup").append("Ana", "Shall we drop Redis?", "2026-03-01T10:00:00Z"),
    "append many": lambda vault: vault.session("standup").append_many(
        [Turn("Bo", "Yes.", datetime(2026, 3, 1, 11, tzinfo=UTC), {"mood": ["glad", 1]}), Turn("Ana", "Fine.")]
    ),
    "append time": lambda vault: vault.session("standup").append("Ana", "x", "noon"),
    "append nobody": lambda vault: vault.session("standup").append("", "x"),
    "append with a date below": lambda vault: vault.session("standup").append(
        "Bo", "x", None, {"a": [date(2026, 1, 1)]}
    ),
    "append with a set": lambda vault: vault.session("standup").append_many([Turn("Bo", "x", None, {"a": {1}})]),
    "append to a closed one": lambda vault: _append_after_close(vault),
    "turns": lambda vault: vault.session("standup").turns(),
    "turns last": lambda vault: vault.session("standup").turns(1),
    "session close": lambda vault: vault.session("standup").close(),
    "sessions": lambda vault: vault.sessions(),
    "layers.export": lambda vault: vault.layers.export(),
    "layers.import_edits": lambda vault: vault.layers.import_edits(),
}


# Nothing of these is done, so that all are tried on both sides without a change of the vault.
WRONG: dict[str, Step] = {
    "record content": lambda vault: vault.record(5),
    "record title": lambda vault: vault.record("x", title=5),
    "record type": lambda vault: vault.record("x", type=["note"]),
    "record tags": lambda vault: vault.record("x", tags=5),
    "record a tag": lambda vault: vault.record("x", tags=[5]),
    "record to": lambda vault: vault.record("x", to=5),
    "record pinned": lambda vault: vault.record("x", pinned="yes"),
    "record valid_from": lambda vault: vault.record("x", valid_from=5),
    "record source": lambda vault: vault.record("x", source=5),
    "record meta": lambda vault: vault.record("x", meta=["a"]),
    "record a key of meta": lambda vault: vault.record("x", meta={1: 2}),
    "record_many of text": lambda vault: vault.record_many("text"),
    "record_many of a number": lambda vault: vault.record_many(5),
    "record_many of a draft": lambda vault: vault.record_many(Draft("x")),
    "record redact": lambda vault: vault.record("x", redact="no"),
    "update id": lambda vault: vault.update(5, body="x"),
    "update body": lambda vault: vault.update("user_ana.md", body=5),
    "update section": lambda vault: vault.update("user_ana.md", body="x", section=5),
    "update append": lambda vault: vault.update("user_ana.md", append=5),
    "update set": lambda vault: vault.update("user_ana.md", set=["a"]),
    "update a key of set": lambda vault: vault.update("user_ana.md", set={1: 2}),
    "update unset": lambda vault: vault.update("user_ana.md", unset=5),
    "update a key of unset": lambda vault: vault.update("user_ana.md", unset=[5]),
    "update base_hash": lambda vault: vault.update("user_ana.md", append="x", base_hash=5),
    "read id": lambda vault: vault.read(5),
    "read no id": lambda vault: vault.read(None),
    "read lines as text": lambda vault: vault.read("user_ana.md", "12"),
    "read one line": lambda vault: vault.read("user_ana.md", (1,)),
    "read lines of text": lambda vault: vault.read("user_ana.md", ("1", "2")),
    "list prefix": lambda vault: vault.list(5),
    "list after": lambda vault: vault.list(after=5),
    "list limit": lambda vault: vault.list(limit="5"),
    "list limit as truth": lambda vault: vault.list(limit=True),
    "tree": lambda vault: vault.tree(5),
    "history": lambda vault: vault.history(5),
    "supersede": lambda vault: vault.supersede("user_ana.md", 5),
    "move": lambda vault: vault.move("user_ana.md", 5),
    "forget": lambda vault: vault.forget(5),
    "forget by a word for no": lambda vault: vault.forget("user_ana.md", purge="no"),
    "forget by nothing": lambda vault: vault.forget("user_ana.md", purge=None),
    "sweep by a word for no": lambda vault: vault.sweep(apply="false"),
    "sweep for good by a number": lambda vault: vault.sweep(apply=True, purge=1),
    "sync by a number": lambda vault: vault.sync(verify=0),
    "update by a word for no": lambda vault: vault.update("user_ana.md", append="x", redact="no"),
    "restore": lambda vault: vault.restore("user_ana.md", "1"),
    "purge": lambda vault: vault.purge("user_ana.md", 1.5),
    "strength": lambda vault: vault.strength(5),
    "layers": lambda vault: vault.layers(5),
    "session": lambda vault: vault.session(5),
    "append speaker": lambda vault: vault.session("a").append(5, "x"),
    "append text": lambda vault: vault.session("a").append("Ana", 5),
    "append at": lambda vault: vault.session("a").append("Ana", "x", 5),
    "append meta": lambda vault: vault.session("a").append("Ana", "x", None, ["a"]),
    "append a key of meta": lambda vault: vault.session("a").append("Ana", "x", None, {1: 2}),
    "append_many of text": lambda vault: vault.session("a").append_many(["x"]),
    "append_many without meta": lambda vault: vault.session("a").append_many([Turn("Ana", "x", None, NOTHING)]),
    "append_many of a time": lambda vault: vault.session("a").append_many([Turn("Ana", "x", FIVE)]),
    "turns": lambda vault: vault.session("a").turns("1"),
}


def _by_id(report: SweepReport) -> SweepReport:
    """Cards of the same age are in an order that depends on the instant of each."""
    return dataclasses.replace(report, items=tuple(sorted(report.items, key=lambda item: str(item.card.id))))


def _append_after_close(vault: AnyVault) -> object:
    with vault.session("empty") as session:
        pass
    return session.append("Ana", "too late")


@pytest.fixture
def both(endpoint: Endpoint, tmp_path: Path) -> Iterator[tuple[Vault, RemoteVault]]:
    """The same vault twice: one in this process, one of the daemon."""
    remote = connect(write_cards(tmp_path / "remote"), endpoint=endpoint)
    assert remote is not None
    with Vault(write_cards(tmp_path / "local")) as local, local.watch(), remote:
        yield local, remote


def told(step: Step, vault: AnyVault) -> object:
    """What a call gave or raised, without what differs between two vaults and two instants."""
    try:
        return _typed(step(vault), str(vault.path))
    except CogvaultError as error:
        fields = (error.message, error.path, error.line, error.key, error.hint)
        return type(error).__name__, [_typed(field, str(vault.path)) for field in fields]


def _typed(value: object, folder: str) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.name not in _UNEQUAL]
        return type(value).__name__, {name: _typed(getattr(value, name), folder) for name in names}
    if isinstance(value, Mapping):
        return {name: _typed(item, folder) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [_typed(item, folder) for item in value]
    if isinstance(value, datetime):
        return "now" if abs((datetime.now(UTC) - value).total_seconds()) < 600 else value
    if isinstance(value, float):
        return pytest.approx(value, abs=1e-3)
    if isinstance(value, str):
        return _VARYING.sub("~", value.replace(folder, "VAULT"))
    return value


_UNEQUAL = {
    "seconds",
    "keyword_seconds",
    "ms",
    "index",
    "bytes_on_disk",
    "synced_at",
    "sequence",
    "added",
    "changed",
    "unchanged",
    "stamp",
}
_VARYING = re.compile(r"[0-9a-f]{64}|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")


def test_every_call_gives_the_same(both: tuple[Vault, RemoteVault]) -> None:
    local, remote = both
    for vault in both:
        vault.sync()
    for name, step in STEPS.items():
        assert told(step, remote) == told(step, local), name
        assert _files(remote) == _files(local), name


def test_an_argument_of_the_wrong_type_is_refused_alike(both: tuple[Vault, RemoteVault]) -> None:
    local, remote = both
    before = _files(local)
    for name, step in WRONG.items():
        refused = told(step, local)
        assert isinstance(refused, tuple), name
        assert refused[0] == "QueryError", name
        assert told(step, remote) == refused, name
    assert _files(local) == _files(remote) == before


def _files(vault: AnyVault) -> dict[str, str]:
    """Every card as it is written, without the instants of now, which the layers beside them have digests of."""
    folder = Path(vault.path)
    return {
        path.relative_to(folder).as_posix(): _VARYING.sub("~", path.read_text(encoding="utf-8"))
        for path in folder.rglob("[!.]*.md")
    }


def test_every_call_is_tried() -> None:
    tried = " ".join(STEPS) + " append append_many turns close"
    for name in _public(Vault) - LOCAL_ONLY - {"close"}:
        assert re.search(rf"\b{name}\b", tried), name


def _public(kind: type[Any]) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_it_has_every_method_with_the_same_arguments() -> None:
    from cogvault.lifecycle.layer_files import Layers

    for kind, other, left_out in (
        (Vault, RemoteVault, LOCAL_ONLY),
        (Session, RemoteSession, {"uri"}),
        (Layers, RemoteLayers, {"remake"}),  # done by the purge itself, where it runs
    ):
        for name in _public(kind) - left_out:
            ours, theirs = getattr(other, name), getattr(kind, name)
            assert _arguments(ours) == _arguments(theirs), f"{kind.__name__}.{name}"


def _arguments(function: Callable[..., Any]) -> list[tuple[str, object, object]]:
    signature = inspect.signature(function)
    return [(name, one.kind, one.default) for name, one in signature.parameters.items()]
