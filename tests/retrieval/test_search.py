from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from cogvault.embedders import HashingEmbedder
from cogvault.errors import ModelError, ModelUnavailable, SnapshotExpired
from cogvault.protocols import Snapshot
from cogvault.rankers import KeywordRanker
from cogvault.retrieval.ladder import KEYWORD_SHARE
from cogvault.retrieval.request import SearchRequest
from cogvault.retrieval.search import RRF_NOTE
from cogvault.text.queries import query_terms
from cogvault.types import Filter, Query, Ranking, Status, StoredChunk
from tests.retrieval.values import NOW
from tests.retrieval.world import BrokenEmbedder, Interrupted, World, rankers

FILES = {
    "backup.md": "---\ntitle: Staging database backup\ntype: project\ntags: [ops, database]\n---\n"
    "The staging database is dumped every night at three and kept for ten days.\n\nSee [[restore]].\n",
    "restore.md": "---\ntitle: Restore drill\ntype: reference\ntags: [ops]\n---\n"
    "We restore the dump into a scratch server every month.\n",
    "payments.md": "---\ntitle: Payments service\ntype: project\nstatus: open\n---\n"
    "svc_payments fails with POL-358 when getUserName returns nothing in src/auth/login.py.\n",
    "coffee.md": "---\ntitle: Coffee\ntype: user\n---\nAna drinks her coffee black, without sugar.\n",
    "设备.md": "---\ntitle: 设备清单\n---\n设备清单已更新\n\n重跑gen-itgc后检查\n",
}


@pytest.fixture(scope="module")
def world() -> World:
    return World(FILES)


@pytest.fixture(scope="module")
def plain() -> World:
    """Keyword and title only, by choice."""
    return World(FILES, embedder=None, rankers=rankers("keyword", "title"))


@pytest.fixture(scope="module")
def small() -> World:
    """A few short cards without a model."""
    return World(SMALL, embedder=None)


class TestAnswers:
    def test_a_question_finds_its_card_first(self, world: World) -> None:
        found = world.search("why is the staging database dumped every night")
        assert found.status is Status.OK
        assert found[0].id == "backup.md"
        assert found[0].score > 0.45
        assert found[0].confidence == "high"
        assert found.trace.rung == "0.45"

    def test_a_hit_tells_where_its_text_stands(self, world: World) -> None:
        hit = world.search("staging database dumped every night")[0]
        lines = FILES["backup.md"].split("\n")
        assert "\n".join(lines[hit.lines[0] - 1 : hit.lines[1]]) == hit.text
        assert hit.citation.startswith("backup.md#L6")
        assert {"staging", "dumped"} <= set(hit.matched)

    def test_an_answer_is_json(self, world: World) -> None:
        json.dumps(world.search("staging database", explain=True, budget_tokens=200).to_dict(), allow_nan=False)

    def test_each_card_answers_once(self) -> None:
        world = World({"a.md": "\n\n".join(f"# Zebra {n}\n\nzebra stripes number {n}" for n in range(5))})
        assert world.ids("zebra stripes") == ["a.md"]
        assert world.with_options(hits_per_card=2).ids("zebra stripes") == ["a.md"] * 2
        assert len(world.with_options(hits_per_card=0).search("zebra stripes", k=10)) >= 5

    def test_the_best_passage_of_a_card_is_shown_not_its_head(self) -> None:
        body = "\n\n".join(f"# Part {n}\n\nnothing of interest number {n} here" for n in range(8))
        world = World({"long.md": f"{body}\n\n# Odd\n\nthe zebra crossed the river at dawn\n"})
        assert "zebra crossed" in world.search("zebra crossed the river")[0].text

    def test_equal_cards_are_ordered_by_id(self) -> None:
        text = "The zebra crossed the river."
        world = World({id: f"# T\n\n{text}" for id in ("b.md", "a.md", "d.md", "c.md")})
        assert world.ids("zebra crossed river") == ["a.md", "b.md", "c.md", "d.md"]
        assert world.ids("zebra crossed river", k=2) == ["a.md", "b.md"]

    def test_the_order_in_which_cards_were_indexed_does_not_matter(self, world: World) -> None:
        other = World(dict(reversed(FILES.items())))
        for query in ("database restore", "coffee", "设备", "ops every month"):
            assert [(h.id, h.score) for h in world.search(query)] == [(h.id, h.score) for h in other.search(query)]

    def test_the_trace_names_what_was_asked_and_done(self, world: World) -> None:
        trace = world.search("Staging backup", type="project", tags="ops", k=2).trace
        assert trace.terms == ("staging", "backup")
        assert trace.filter == "type: project, tags: ops"
        assert [stage.name for stage in trace.stages][:2] == ["analyze", "candidates"]
        assert trace.sequence == world.index.snapshot().stats.sequence

    @pytest.mark.parametrize("query", ["staging database backup", "coffee", "POL-358", "设备清单"])
    def test_the_parts_of_a_hit_add_up_to_its_score(self, world: World, query: str) -> None:
        for options in ({}, {"half_life_days": 1.0}, {"fusion": "rrf"}):
            late = NOW + timedelta(days=3)
            for hit in world.with_options(**options).search(query, explain=True, min_score=0.0, now=late):
                assert sum(part.contribution for part in hit.parts) == pytest.approx(hit.score, abs=1e-3)

    @pytest.mark.parametrize("names", [("title",), ("semantic", "title"), ("semantic",), ("keyword",)])
    def test_the_parts_are_numbers_whatever_is_missing(self, names: tuple[str, ...]) -> None:
        world = World({"coffee.md": "", "tea.md": "Green tea."}, rankers=rankers(*names))
        for query in ("coffee", "green tea"):
            json.dumps(world.search(query, explain=True, min_score=0.0).to_dict(), allow_nan=False)

    def test_parts_are_left_out_unless_asked_for(self, world: World) -> None:
        assert world.search("coffee")[0].parts == ()


class TestStatus:
    def test_without_a_model_the_answer_is_degraded_and_says_why(self) -> None:
        found = World(FILES, embedder=None).search("staging database backup")
        assert found[0].id == "backup.md"
        assert found.status is Status.DEGRADED
        assert "model" in found.reason
        assert found.hint

    def test_keyword_only_by_choice_is_not_degraded(self, plain: World) -> None:
        assert plain.search("staging database backup").status is Status.OK

    @pytest.mark.parametrize(
        "error", [ModelError("the model file is damaged"), ModelUnavailable("not here", hint="install it")]
    )
    def test_a_model_that_fails_degrades_the_answer_and_never_empties_it(self, error: ModelError) -> None:
        world = World(FILES)
        world.embedder = BrokenEmbedder(error)
        found = world.search("staging database backup")
        assert found[0].id == "backup.md"
        assert found.status is Status.DEGRADED
        assert error.message in found.reason

    def test_a_model_that_cannot_even_be_named_degrades_the_answer(self) -> None:
        class Nameless(BrokenEmbedder):
            @property
            def fingerprint(self) -> str:
                raise ModelUnavailable("the folder holds no model", hint="install it")

        world = World(FILES)
        world.embedder = Nameless(ModelError("never asked"))
        found = world.search("staging database backup")
        assert (found[0].id, found.status) == ("backup.md", Status.DEGRADED)
        assert "the folder holds no model" in found.reason

    def test_a_failing_model_is_not_shown_as_no_results(self) -> None:
        world = World(FILES)
        world.embedder = BrokenEmbedder(ModelError("damaged"))
        found = world.search("quux zzyzx")
        assert len(found) == 0
        assert found.status is Status.DEGRADED

    def test_a_fault_of_another_kind_is_not_swallowed(self) -> None:
        world = World(FILES)
        world.embedder = BrokenEmbedder(ZeroDivisionError("a bug"))
        with pytest.raises(ZeroDivisionError):
            world.search("staging database")

    def test_a_model_is_not_touched_before_its_vectors_are_there(self) -> None:
        broken = BrokenEmbedder(ModelError("damaged"))
        world = World(FILES, embedder=None)
        world.embedder = broken
        found = world.search("staging database backup")
        assert broken.calls == 0
        assert found.status is Status.DEGRADED
        assert found[0].id == "backup.md"

    def test_vectors_that_are_missing_are_counted(self) -> None:
        world = World(FILES, embedder=None)
        world.embedder = BrokenEmbedder(ModelError("unused")).inner
        world.embed(world.embedder, limit=2)
        found = world.search("staging database backup")
        stats = world.index.snapshot().stats
        assert found.status is Status.DEGRADED
        assert f"{stats.embeddable - 2} of {stats.embeddable}" in found.reason

    @pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u200b"])
    def test_a_blank_query_is_empty_and_says_so(self, plain: World, query: str) -> None:
        found = plain.search(query)
        assert (len(found), found.status) == (0, Status.EMPTY)
        assert "query" in found.reason

    @pytest.mark.parametrize("query", ["", "anything", "?!"])
    @pytest.mark.parametrize("budget", [None, 100])
    def test_an_empty_vault_is_empty_and_says_so(self, query: str, budget: int | None) -> None:
        found = World({}).search(query, budget_tokens=budget, explain=True)
        assert (len(found), found.status) == (0, Status.EMPTY)
        assert "no cards" in found.reason
        assert found.text == ""

    def test_nothing_worth_showing_is_empty_with_the_nearest_misses(self, world: World) -> None:
        found = world.search("quarterly revenue in the staging department of finland")
        assert found.status is Status.EMPTY
        assert found.reason
        assert found.near_misses
        assert all(miss.score < 0.28 for miss in found.near_misses)

    def test_a_filter_that_nothing_passes_is_named_as_the_reason(self, world: World) -> None:
        found = world.search("staging database", type="nonsense")
        assert found.status is Status.EMPTY
        assert "filter" in found.reason

    def test_a_budget_too_small_for_anything_is_named_as_the_reason(self, world: World) -> None:
        found = world.search("staging database backup", budget_tokens=1)
        assert (len(found), found.text, found.tokens) == (0, "", 0)
        assert "budget" in found.reason
        assert "budget" in found.hint

    @pytest.mark.parametrize("query", ["?!…", "🎉", "—"])
    def test_a_query_without_words_says_so(self, plain: World, query: str) -> None:
        found = plain.search(query)
        assert found.status is Status.EMPTY
        assert "word" in found.reason


class TestFilters:
    """Each filter acts where candidates are found: its only match ranks far below the cut without it."""

    @pytest.fixture(scope="class")
    @staticmethod
    def crowd() -> World:
        files = {f"c{n:02}.md": f"# Zebra\n\nzebra zebra zebra stripes {n}\n" for n in range(20)}
        files["odd/last.md"] = (
            "---\ntitle: Other\ntype: rare\ntags: [rare]\nstatus: odd\ndate: 2020-01-01\n---\n"
            "A long text with many other words in which one zebra is mentioned, among much else of no interest.\n"
        )
        world = World(files)
        return world.with_options(candidates=3)

    @pytest.mark.parametrize(
        "asked",
        [
            {"type": "rare"},
            {"tags": "#Rare"},
            {"path": "odd"},
            {"path": "odd/last.md"},
            {"before": "2020-02-01"},
            {"after": "2019-01-01", "before": "2020-01-02"},
            {"where": {"status": "odd"}},
        ],
    )
    def test_the_only_match_is_found_though_it_ranks_last(self, crowd: World, asked: dict[str, Any]) -> None:
        assert crowd.ids("zebra", k=1, min_score=0.0) == ["c00.md"]
        assert crowd.ids("zebra", k=1, min_score=0.0, **asked) == ["odd/last.md"]

    def test_cards_that_were_seen_leave_their_place_to_others(self, crowd: World) -> None:
        seen = [f"c{n:02}.md" for n in range(20)]
        assert crowd.ids("zebra", k=1, min_score=0.0, without=seen) == ["odd/last.md"]

    def test_title_candidates_are_filtered_too(self) -> None:
        world = World({"a.md": "---\ntitle: Zebra\ntype: x\n---\n", "b.md": "---\ntitle: Zebra\ntype: y\n---\n"})
        assert world.ids("zebra", type="y") == ["b.md"]

    def test_semantic_candidates_are_filtered_too(self, crowd: World) -> None:
        alone = World(
            {"a.md": "zebra stripes", "odd/b.md": "---\ntype: rare\n---\nzebras with a stripe"},
            rankers=rankers("semantic"),
        )
        assert alone.ids("zebra stripes", type="rare", min_score=0.0) == ["odd/b.md"]


class TestTime:
    def test_a_superseded_card_ranks_below_its_successor_and_says_so(self) -> None:
        old = "---\ntitle: Old port\nsuperseded_by: new.md\n---\nThe gateway listens on port eight thousand.\n"
        new = "---\ntitle: New port\n---\nThe gateway now listens on port nine thousand, behind the new proxy server.\n"
        found = World({"a-old.md": old, "new.md": new}).search("gateway listens on port eight thousand", min_score=0.0)
        assert [(hit.id, hit.valid) for hit in found] == [("new.md", "current"), ("a-old.md", "superseded")]

    def test_a_question_about_the_past_is_answered_as_of_then(self) -> None:
        files = {
            "old.md": "---\ncreated: 2025-01-01\nvalid_until: 2026-01-01\nsuperseded_by: new.md\n---\nPort 8000.\n",
            "new.md": "---\ncreated: 2026-01-01\n---\nPort 9000.\n",
        }
        world = World(files)
        then = world.search("port", as_of="2025-06-01", min_score=0.0)
        assert [(hit.id, hit.valid) for hit in then] == [("old.md", "current")]
        assert world.ids("port", as_of="2026-02-01", min_score=0.0) == ["new.md"]

    def test_the_date_of_a_card_goes_before_its_mtime(self) -> None:
        """A fresh clone makes every file new; what the card says of itself stays."""
        files = {
            "a.md": "---\ndate: 2020-01-01\n---\nThe zebra crossed the river.\n",
            "b.md": "---\ndate: 2026-05-30\n---\nThe zebra crossed the river.\n",
        }
        world = World(files).with_options(half_life_days=30.0)
        assert world.ids("zebra crossed river", min_score=0.0) == ["b.md", "a.md"]

    def test_without_decay_age_does_not_matter(self) -> None:
        files = {
            "a.md": "---\ndate: 2020-01-01\n---\nThe zebra crossed the river.\n",
            "b.md": "---\ndate: 2026-05-30\n---\nThe zebra crossed the river.\n",
        }
        assert World(files).ids("zebra crossed river") == ["a.md", "b.md"]

    def test_cards_with_and_without_zone_are_both_ranked(self) -> None:
        files = {
            "a.md": "---\ndate: 2026-05-01T10:00:00\n---\nzebra\n",
            "b.md": "---\ndate: 2026-05-01T10:00:00+02:00\n---\nzebra\n",
            "c.md": "zebra\n",
        }
        world = World(files).with_options(half_life_days=30.0)
        assert set(world.ids("zebra", min_score=0.0, after="2026-01-01")) == set(files)


class TestDialogue:
    TALK = (
        "**Ana** (2024-03-15T10:30:00Z): I painted a lake last week.\n\n"
        "**Ben** (2024-03-15T10:31:00Z): Ana painted a lake, lovely.\n"
    )

    @pytest.mark.parametrize(("speaker", "other"), [("Ana", "Ben"), ("Ben", "Ana")])
    def test_a_speaker_named_in_the_query_lifts_what_they_said(self, speaker: str, other: str) -> None:
        talk = f"**{other}**: I painted a lake today.\n\n**{speaker}**: I painted a lake today.\n"
        world = World({"talk.md": talk}).with_options(hits_per_card=0)
        hits = [hit for hit in world.search(f"what did {speaker} paint at the lake", min_score=0.0) if hit.speaker]
        assert hits[0].speaker == speaker

    def test_a_turn_brings_its_speaker_and_time(self) -> None:
        hit = World({"talk.md": self.TALK}).search("Ana painted a lake last week")[0]
        assert hit.speaker == "Ana"
        assert hit.at is not None
        assert hit.at.isoformat() == "2024-03-15T10:30:00+00:00"


class TestLinks:
    def test_links_and_backlinks_come_with_the_top_hit_only(self) -> None:
        files = {
            "a.md": "# A\n\nThe zebra, see [[b]] and [[ghost]] and [[a]].\n",
            "b.md": "# B\n\nThe zebra of B.\n",
            "c.md": "# C\n\nOther, see [[a]].\n",
        }
        found = World(files).search("The zebra see", min_score=0.0)
        assert found[0].id == "a.md"
        assert found[0].related == ("b.md", "c.md")
        assert all(hit.related == () for hit in found[1:])

    def test_related_follows_a_change_of_the_vault(self) -> None:
        world = World({"a.md": "# A\n\nThe zebra, see [[b]].\n"})
        assert world.search("zebra", min_score=0.0)[0].related == ()
        world.put({"b.md": "# B\n\nOther.\n"})
        assert world.search("zebra", min_score=0.0)[0].related == ("b.md",)


class TestBudget:
    def test_a_packed_answer_holds_its_budget_and_cites(self, world: World) -> None:
        found = world.search("staging database restore dump", budget_tokens=60, k=100, min_score=0.0)
        assert found
        assert 0 < found.tokens <= 60
        assert all(hit.file in found.text for hit in found)

    def test_a_larger_budget_tells_more(self, world: World) -> None:
        few, many = (
            world.search("staging database restore dump", budget_tokens=budget, k=100, min_score=0.0)
            for budget in (40, 400)
        )
        assert len(few) < len(many)
        assert few[0].id == many[0].id

    @pytest.mark.parametrize("layer", ["L2", "L1", "L0"])
    def test_a_forced_layer_is_told_of_every_hit(self, world: World, layer: str) -> None:
        found = world.search("staging database backup", budget_tokens=400, layer=layer)
        assert found
        assert {hit.layer for hit in found} == {layer}
        assert found[0].title in found.text or found[0].text in found.text

    def test_a_chunk_that_is_too_large_is_told_by_its_card(self) -> None:
        world = World({"a.md": "# Zebra\n\n" + "the zebra crossed the river again and again " * 30})
        found = world.search("zebra crossed the river", budget_tokens=20)
        assert [hit.layer for hit in found] == ["L0"]
        assert "Abstract of Zebra." in found.text

    def test_an_outdated_card_is_labelled_in_the_text(self) -> None:
        world = World({"a.md": "---\nvalid_until: 2026-01-01\n---\nThe zebra crossed the river.\n"})
        assert "expired" in world.search("zebra crossed the river", budget_tokens=100).text


class TestOptions:
    def test_reciprocal_rank_fusion_scores_from_0_to_1(self, world: World) -> None:
        fused = world.with_options(fusion="rrf")
        found = fused.search("staging database backup")
        assert found[0].id == "backup.md"
        assert found[0].score > 0.95
        assert all(0 <= hit.score <= 1 for hit in found)

    def test_diversity_puts_something_else_before_a_repetition(self) -> None:
        files = {
            "a.md": "# A\n\nThe zebra crossed the river at dawn.\n",
            "b.md": "# B\n\nThe zebra crossed the river at dawn.\n",
            "c.md": "# C\n\nA zebra was seen near some other river in winter.\n",
        }
        world = World(files)
        assert world.ids("zebra crossed river", k=3, min_score=0.0) == ["a.md", "b.md", "c.md"]
        assert world.with_options(mmr_lambda=0.3).ids("zebra crossed river", k=3, min_score=0.0)[1] == "c.md"

    @pytest.mark.parametrize("query", ["staging database", "ops every month", "coffee"])
    def test_diversity_with_lambda_1_changes_nothing(self, world: World, query: str) -> None:
        assert world.with_options(mmr_lambda=1.0).ids(query) == world.ids(query)

    def test_a_lowest_score_of_the_vault_is_used_unless_one_is_asked_for(self, world: World) -> None:
        strict = world.with_options(min_score=1.0)
        assert strict.ids("restore the dump") == []
        assert strict.ids("restore the dump", min_score=0.1)

    def test_a_lower_threshold_only_adds(self, world: World) -> None:
        query = "restore the staging database"
        before: list[str] = []
        for lowest in (0.9, 0.6, 0.3, 0.0):
            found = world.ids(query, min_score=lowest)
            assert found[: len(before)] == before
            before = found


class TestSnapshots:
    def test_a_snapshot_that_expired_is_taken_anew(self, world: World) -> None:
        index = Interrupted(world.index, 3, lambda snapshot: _Expired(snapshot))
        again = World({}, embedder=None, rankers=rankers("keyword", "title"))
        again.index = index
        assert again.ids("staging database backup")[0] == "backup.md"
        assert index.taken == 4

    def test_an_index_that_never_holds_still_is_an_error_not_an_empty_answer(self, world: World) -> None:
        again = World({}, embedder=None, rankers=rankers("keyword", "title"))
        again.index = Interrupted(world.index, -1, lambda snapshot: _Expired(snapshot))
        with pytest.raises(SnapshotExpired):
            again.search("staging database backup")


class _Expired:
    """A snapshot whose chunks were purged after the ranking was made."""

    def __init__(self, inner: Snapshot) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def chunks(self, ids: Sequence[int]) -> list[StoredChunk]:
        raise SnapshotExpired("purged")


class TestReportedFailures:
    """Rows 88 to 101 of the failures that users of such systems reported."""

    @pytest.mark.parametrize(
        ("query", "id"),
        [
            ("POL-358", "payments.md"),
            ("pol-358", "payments.md"),
            ("358", "payments.md"),
            ("svc_payments", "payments.md"),
            ("getUserName", "payments.md"),
            ("login.py", "payments.md"),
            ("sugar.", "coffee.md"),
            ("-POL-358", "payments.md"),
            ("--", None),
            ("设备", "设备.md"),
            ("清单", "设备.md"),
            ("itgc", "设备.md"),
            ("gen-itgc", "设备.md"),
        ],
    )
    def test_punctuation_identifiers_and_dense_scripts_are_literal(
        self, plain: World, query: str, id: str | None
    ) -> None:
        assert plain.ids(query)[:1] == ([id] if id else [])

    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("don't", "We don't deploy on Fridays."),
            ("lint AND commit", "Run lint and commit."),
            ("Baker's and Miller's", "Baker's and Miller's contract"),
            ("title:foo", "the field title:foo is set"),
            ("NOT deployed OR tested", "not deployed or tested"),
            ('"quoted', 'a "quoted phrase'),
            ("wild* (card", "wild* (card"),
            ("C", "Written in C for speed."),
            ("Go", "Written in Go for speed."),
            ("R&D", "The R&D budget."),
            ("C++", "Compiled from C++ sources."),
        ],
    )
    def test_nothing_is_syntax_and_short_words_are_found(self, query: str, text: str) -> None:
        world = World(
            {"hit.md": f"# Note\n\n{text}\n", "miss.md": "# Other\n\nUnrelated paragraph.\n"},
            embedder=None,
            rankers=rankers("keyword", "title"),
        )
        assert world.ids(query) == ["hit.md"]

    def test_every_word_of_a_short_query_counts(self) -> None:
        world = World({"a.md": "quick ok", "b.md": "quick only"})
        assert world.ids("quick ok", k=1) == ["a.md"]

    def test_a_question_is_answered_though_most_of_its_words_are_missing(self) -> None:
        world = World({"a.md": "# Billing export\n\nRuns at night.\n", **FILES})
        assert world.ids("why is the billing export not working")[0] == "a.md"

    def test_stop_words_alone_do_no_harm_and_a_title_of_them_is_found(self) -> None:
        world = World({"who.md": "# The Who\n\nA band.\n", **FILES})
        world.search("the of and")
        assert world.ids("the who")[0] == "who.md"

    @pytest.mark.parametrize(
        "query",
        ["word " * 10_000, " ".join("abcdefghij" * 100), "x" * 50_000, "设" * 50_000, "\x00\ud800", "((((" * 99],
    )
    def test_any_paste_is_answered(self, world: World, query: str) -> None:
        found = world.search(query)
        assert found.status in (Status.OK, Status.EMPTY)
        assert len(found.trace.query.encode()) <= 8 * 1024
        assert bool(found.trace.notes) == (len(query) > 8 * 1024)

    def test_previews_are_bounded(self) -> None:
        files = {f"{n}.md": f"# Zebra {n}\n\n" + "the zebra crossed the river " * 2_000 for n in range(3)}
        for hit in World(files).search("zebra crossed the river"):
            assert len(hit.snippet) <= 242
            assert len(hit.text) < 8_000

    @pytest.mark.parametrize("query", ["Staging database backup", "staging-database-backup", "STAGING DATABASE BACKUP"])
    @pytest.mark.parametrize("embedded", [True, False])
    def test_an_exact_title_is_first_and_above_any_usual_threshold(self, query: str, embedded: bool) -> None:
        files = {
            **FILES,
            "rival.md": "# Rival\n\nThe staging database backup! Never forget the staging database backup.\n",
        }
        world = World(files) if embedded else World(files, embedder=None)
        found = world.search(query, min_score=0.5)
        assert found[0].id == "backup.md"
        assert found[0].score >= 0.9


class _Counting:
    """A snapshot that counts what it is asked."""

    def __init__(self, inner: Snapshot) -> None:
        self._inner = inner
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not callable(value):
            return value
        self.asked.append(name)
        return value


def test_rrf_without_a_threshold_says_so(world: World) -> None:
    fused = world.with_options(fusion="rrf")
    found = fused.search("staging database")
    assert found.trace.rung == "no threshold"
    assert RRF_NOTE in found.trace.notes
    assert fused.search("staging database", min_score=0.1).trace.rung == "min_score"


SMALL = {
    "backups.md": "# Backups\n\nThe nightly database backup is kept for 35 days.\n",
    "invoices.md": "# Duplicate invoices\n\nPOL-358 was caused by a click that came twice.\n",
    "deploy.md": "# Deploy\n\nWe deploy on Tuesdays.\n",
    "lunch.md": "# Lunch\n\nThe team eats at noon.\n",
    "apples.md": "# Fruit\n\nWe bought 358 apples.\n",
    "queue.md": "# Queue\n\nThe jobs left Redis and run in PostgreSQL.\n",
    "sessions.md": "# Sessions\n\nA login is forgotten after an hour.\n",
    "editor.md": "# Editor\n\nMara uses vim, and not emacs.\n",
    "копії.md": "# Резервні копії\n\nПаролі зберігаються окремо.\n",
    "回滚.md": "# 回滚\n\n出错时立即回滚上一版本。\n",
}


class TestWithoutVectors:
    """A question holds words that say little, and in a small vault most of them stand in no card."""

    @pytest.mark.parametrize(
        ("query", "card"),
        [
            ("how long do we keep backups?", "backups.md"),
            ("backups?", "backups.md"),
            ("what happened in POL-358?", "invoices.md"),
            ("why did we leave Redis", "queue.md"),
            ("which editor should I use here?", "editor.md"),
            ("де лежать паролі?", "копії.md"),
            ("什么时候应该回滚?", "回滚.md"),
        ],
    )
    def test_the_one_word_that_says_something_is_enough(self, small: World, query: str, card: str) -> None:
        assert small.ids(query)[:1] == [card]

    @pytest.mark.parametrize(
        "query",
        [
            "zebra quantum",
            "why is the sky blue?",
            "what is the capital of Mongolia?",
            "who won the cup this year?",
            "яка погода у Львові?",
            "明天天气怎么样?",
        ],
    )
    def test_words_that_say_little_are_not(self, small: World, query: str) -> None:
        assert small.ids(query) == []

    @pytest.mark.parametrize("query", ["the", "and not", "we"])
    def test_a_question_of_such_words_alone_still_finds_them(self, small: World, query: str) -> None:
        assert small.ids(query)

    def test_with_vectors_all_words_count_alike(self) -> None:
        asked: list[Query] = []

        class Noting(KeywordRanker):
            def rank(self, snapshot: Snapshot, query: Query, filter: Filter, limit: int) -> Ranking:
                asked.append(query)
                return super().rank(snapshot, query, filter, limit)

        noting = {**rankers(), "keyword": Noting()}
        for embedder in (HashingEmbedder(), None):
            World(SMALL, embedder=embedder, rankers=noting).search("how long do we keep backups?")
        assert asked[0].terms == query_terms("how long do we keep backups?") != asked[1].terms


def test_a_query_of_more_words_than_are_used_says_so(plain: World) -> None:
    letters = "abcdefghij"
    some = [one + other + one for one in letters for other in letters]
    assert plain.search(" ".join(some[:64] * 2)).trace.notes == ()
    assert plain.search(" ".join(some)).trace.notes == ("only the first 64 different words of the query were used",)


def test_a_card_about_the_user_fills_up_an_answer() -> None:
    talk = "Filler of many other words that nobody asks for, at length and without any end. " * 3
    files = {f"{name}.md": f"---\ntype: {name}\n---\nThe zebra likes tea. {talk}\n" for name in ("user", "project")}
    world = World({"best.md": "The zebra likes tea.\n", **files}, embedder=None)
    floor = world.search("zebra likes green tea", min_score=0.0)[1].score
    # So high that only the best card passes, and the cards below it pass the bar of the user's scope.
    options = world.with_options(thresholds=(floor * 1.2 / KEYWORD_SHARE,))
    found = options.search("zebra likes green tea")
    assert [hit.id for hit in found] == ["best.md", "user.md"]
    assert (found.trace.rung, found[1].confidence) == ("user scope", "weak")


def test_a_search_gives_back_the_one_snapshot_that_answered() -> None:
    world = World({"a.md": "The zebra crossed the river.\n"})
    taken: list[Snapshot] = []

    def snapshot() -> Snapshot:
        taken.append(world.index.snapshot())
        return taken[-1]

    hits, answered = world.searcher.search(SimpleNamespace(snapshot=snapshot), SearchRequest("zebra", 5, NOW))  # type: ignore[arg-type]
    assert [hit.id for hit in hits] == ["a.md"]
    assert taken == [answered]


def test_more_hits_ask_the_index_no_more_often() -> None:
    world = World({f"{number}.md": f"The zebra crossed the river, said {number}.\n" for number in range(8)})
    asked = []
    for k in (1, 5):
        snapshot = _Counting(world.index.snapshot())
        index = SimpleNamespace(snapshot=lambda snapshot=snapshot: snapshot)
        found, _ = world.searcher.search(index, SearchRequest("zebra crossed the river", k, NOW, min_score=0.0))  # type: ignore[arg-type]
        assert len(found) == k
        asked.append(sorted(snapshot.asked))
    assert asked[0] == asked[1]
    assert asked[0].count("chunks") == 1
