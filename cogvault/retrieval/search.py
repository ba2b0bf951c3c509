"""Recall, step by step: analyze, find candidates, score, weigh, select, show."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from cogvault.errors import ModelError, SnapshotExpired
from cogvault.protocols import Embedder, Index, Ranker, Snapshot
from cogvault.rankers import CrossEncoder
from cogvault.retrieval.candidates import Candidates, gather
from cogvault.retrieval.days import day_terms, lacks_day
from cogvault.retrieval.decay import Validities, decay_weights
from cogvault.retrieval.diversity import diversify
from cogvault.retrieval.fusion import reciprocal_rank
from cogvault.retrieval.hits import Hit, Hits, Stage, Trace
from cogvault.retrieval.ladder import Selection, climb, covers_query, in_user_scope, keyword_thresholds, select
from cogvault.retrieval.ordering import best_first
from cogvault.retrieval.packing import NOTHING_PACKED, Packed
from cogvault.retrieval.present import Found, Presenter, pack_answer, shown_as, word_overlap
from cogvault.retrieval.request import SearchRequest, describe, placed
from cogvault.retrieval.rerank import TOP, Reranked, rerank
from cogvault.retrieval.scoring import Calibration, Scores, ScoringOptions, score
from cogvault.retrieval.succession import SharedGraph
from cogvault.retrieval.turns import Turns
from cogvault.text.commonness import weight_of
from cogvault.text.queries import MAX_QUERY_WORDS, alike, cut_query, query_terms, query_words
from cogvault.text.tokens import words
from cogvault.types import Evidence, FloatArray, IntArray, Query, Status, Term

logger = logging.getLogger(__name__)

RETRIES = 8
SYNC_HINT = "sync the vault (`cogvault index`)"
MMR_POOL = 40
RRF_NOTE = (
    "rrf: ranks of keyword and semantic are fused, titles only find candidates, scores tell no more than the order"
)
# More chunks than this never fit into a budget that an agent can read.
PACK_POOL = 200


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Settings of a searcher; the fields of ``Config`` with the same names say what they mean."""

    candidates: int = 100
    fusion: str = "layered"
    rrf_k: int = 60
    layer_weights: tuple[float, float, float] = (0.4, 0.3, 0.3)
    semantic_weight: float = 0.4
    window: int = 2
    thresholds: tuple[float, ...] = (0.45, 0.35, 0.28)
    min_score: float | None = None
    hits_per_card: int = 1
    half_life_days: float | None = None
    decay_floor: float = 0.2
    evergreen_types: tuple[str, ...] = ("feedback", "reference")
    mmr_lambda: float | None = None


@dataclass(slots=True)
class _Steps:
    """What happened so far, for the trace."""

    clock: Callable[[], float]
    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reason: str = ""
    hint: str = ""
    started: float = 0.0

    def done(self, name: str, count: int) -> None:
        now = self.clock()
        self.stages.append(Stage(name, count, round((now - self.started) * 1000, 3)))
        self.started = now


class Searcher:
    """Answers questions from an index. Holds no state of its own but what the rankers cache; safe for threads.

    Args:
        rankers: by name, in the order in which they are asked.
        embedder: gives the model for a snapshot, or None where there is none; called once a search, so it may load
            lazily.
        options: settings.
        calibrate: floor and ceiling of the model on a snapshot.
        reranker: reorders the best hits, None = off.
        links: which card a link means; None = this searcher's own.
        turns: taken to compute the answer once the query's vector is there; None = no limit.
    """

    def __init__(
        self,
        rankers: Mapping[str, Ranker],
        embedder: Callable[[Snapshot], Embedder | None],
        options: SearchOptions,
        calibrate: Callable[[Snapshot, Embedder], Calibration],
        reranker: CrossEncoder | None = None,
        links: SharedGraph | None = None,
        turns: Turns | None = None,
    ) -> None:
        self._rankers = rankers
        self._embedder = embedder
        self._options = options
        self._calibrate = calibrate
        self._reranker = reranker
        self._turns = turns or nullcontext()
        graph = links or SharedGraph()
        self._presenter = Presenter(graph)
        self._validities = Validities(graph)

    def search(self, index: Index, request: SearchRequest) -> tuple[Hits, Snapshot]:
        """Answer one question from the newest snapshot, which is given back too.

        Raises:
            IndexFault: the index could not be read.
        """
        for _ in range(RETRIES):
            snapshot = index.snapshot()
            try:
                return self._answer(snapshot, request), snapshot
            except SnapshotExpired:
                logger.debug("snapshot purged while it was read; trying the next one")
        snapshot = index.snapshot()
        return self._answer(snapshot, request), snapshot

    def _answer(self, snapshot: Snapshot, request: SearchRequest) -> Hits:
        steps = _Steps(time.perf_counter, started=time.perf_counter())
        request = replace(request, filter=placed(request.filter, snapshot.cards))
        query, calibration = self._analyze(snapshot, request.text, steps)
        if not query.terms and query.vector is None:
            return self._hits((), snapshot, request, query, steps, Selection(np.empty(0, np.int64), "none"))
        with self._turns:
            return self._ranked(snapshot, request, query, calibration, steps)

    def _ranked(
        self,
        snapshot: Snapshot,
        request: SearchRequest,
        query: Query,
        calibration: Calibration | None,
        steps: _Steps,
    ) -> Hits:
        # Never fewer than may be shown.
        shown = request.k if request.budget_tokens is None else PACK_POOL
        limit = max(self._options.candidates, shown)
        candidates = gather(self._rankers, snapshot, query, request.filter, limit)
        steps.done("candidates", len(candidates.chunks))
        evidence = snapshot.evidence(candidates.chunks, query.terms, query.vector, self._options.window)
        steps.done("evidence", len(candidates.chunks))
        scores = score(evidence, query.terms, candidates.titles(evidence.cards), self._scoring(calibration))
        final = self._weigh(snapshot, request, candidates, evidence, scores)
        per_card = 0 if request.budget_tokens is not None else self._options.hits_per_card
        order = best_first(final, evidence, per_card)
        if self._options.fusion == "rrf":
            steps.notes.append(RRF_NOTE)
        steps.done("scores", len(order))
        wanted = request.k if self._reranker is None else max(request.k, TOP)
        selection = self._select(snapshot, request, query, evidence, final, order, wanted)
        chosen = self._diversify(snapshot, evidence, final, order, selection, wanted)
        replaced = self._validities.replaced(snapshot.cards)
        found = Found(snapshot, request, query, evidence, scores, final, replaced)
        reranked = self._rerank(found, chosen, steps)
        chosen, packed = reranked.places[: request.k], None
        if request.budget_tokens is not None:
            packed = pack_answer(found, chosen[:PACK_POOL], request.budget_tokens)
            chosen = np.array([place for place, _ in packed.chosen], dtype=np.int64)
        hits = self._presenter.present(found, chosen, self._options, reranked.said)
        if packed is not None:
            hits = shown_as(hits, packed)
        near = () if hits else self._presenter.present(found, order[: min(3, request.k)], self._options)
        steps.done("hits", len(hits))
        return self._hits(hits, snapshot, request, query, steps, selection, near, packed)

    def _analyze(self, snapshot: Snapshot, text: str, steps: _Steps) -> tuple[Query, Calibration | None]:
        used = cut_query(text)
        if len(used) < len(text):
            steps.notes.append(f"only the first {len(used)} characters of the query were used")
        if len(used) > MAX_QUERY_WORDS and len(set(words(used))) > MAX_QUERY_WORDS:
            steps.notes.append(f"only the first {MAX_QUERY_WORDS} different words of the query were used")
        vector, calibration = self._embed(snapshot, used, steps)
        terms: tuple[Term, ...] = ()
        if "keyword" in self._rankers or "title" in self._rankers:
            # Where no vector tells what the question is about, its rare words do. One or two words are no question:
            # both were chosen.
            is_question = vector is None and len(set(query_words(used))) > 2
            known = partial(weight_of, chunks=snapshot.stats.chunks) if is_question else alike
            terms = day_terms(used, query_terms(used, known))
        steps.done("analyze", len(terms))
        return Query(used, terms, vector), calibration

    def _embed(self, snapshot: Snapshot, text: str, steps: _Steps) -> tuple[FloatArray | None, Calibration | None]:
        """The query's vector, or why there is none. A model is touched only when the index holds vectors of it."""
        stats = snapshot.stats
        if "semantic" not in self._rankers or not text.strip() or not stats.chunks:
            return None, None
        embedder = self._embedder(snapshot)
        if embedder is None:
            steps.reason = steps.reason or "no embedding model: keyword recall only"
            steps.hint = steps.hint or "pip install 'cogvault[bundled]'"
            return None, None
        try:
            if stats.identity.model != embedder.fingerprint or not stats.vectors:
                steps.reason = "the index has no vectors of this model yet: keyword recall only"
                steps.hint = SYNC_HINT
                return None, None
            vector = embedder.embed_query(text)
        except ModelError as error:
            steps.reason, steps.hint = f"keyword recall only: {error.message}", error.hint or ""
            return None, None
        if stats.vectors < stats.embeddable:
            steps.reason = f"{stats.embeddable - stats.vectors} of {stats.embeddable} chunks have no vector yet"
            steps.hint = SYNC_HINT
        return vector, self._calibrate(snapshot, embedder)

    def _scoring(self, calibration: Calibration | None) -> ScoringOptions:
        options = self._options
        return ScoringOptions(
            options.layer_weights,
            options.semantic_weight,
            options.window,
            calibration,
            keyword="keyword" in self._rankers,
        )

    def _weigh(
        self,
        snapshot: Snapshot,
        request: SearchRequest,
        candidates: Candidates,
        evidence: Evidence,
        scores: Scores,
    ) -> FloatArray:
        options = self._options
        final = scores.final
        if options.fusion == "rrf":
            final = reciprocal_rank(candidates.rankings, candidates.chunks, options.rrf_k)
        at = request.filter.as_of or request.now
        weights = self._validities.weights(snapshot.cards, evidence.cards, at)
        if options.half_life_days is not None:
            weights *= decay_weights(
                [snapshot.cards[place] for place in evidence.cards.tolist()],
                now=at,
                half_life_days=options.half_life_days,
                floor=options.decay_floor,
                evergreen=options.evergreen_types,
            )
        return np.asarray(final * weights, dtype=np.float32)

    def _select(
        self,
        snapshot: Snapshot,
        request: SearchRequest,
        query: Query,
        evidence: Evidence,
        final: FloatArray,
        order: IntArray,
        wanted: int,
    ) -> Selection:
        falling = final[order]
        pool = max(wanted, MMR_POOL) if self._options.mmr_lambda is not None else wanted
        lowest = request.min_score if request.min_score is not None else self._options.min_score
        if lowest is not None or self._options.fusion == "rrf":
            return select(falling, pool, lowest)
        cards = evidence.cards[order]
        thresholds = self._options.thresholds
        if query.vector is None and not lacks_day(query.terms, evidence.card.counts):
            thresholds = keyword_thresholds(thresholds, final[best_first(final, evidence, 1)])
        return climb(
            falling,
            request.k,
            thresholds,
            lambda near: np.array([in_user_scope(snapshot.cards[place]) for place in cards[near]], dtype=np.bool_),
            lambda: covers_query(evidence, query.terms)[order],
            pool=pool,
        )

    def _diversify(
        self,
        snapshot: Snapshot,
        evidence: Evidence,
        final: FloatArray,
        order: IntArray,
        selection: Selection,
        k: int,
    ) -> IntArray:
        chosen = order[selection.places]
        if self._options.mmr_lambda is None or len(chosen) < 2:
            return chosen[:k]
        texts = [stored.chunk.text for stored in snapshot.chunks(evidence.chunks[chosen].tolist())]
        return chosen[diversify(final[chosen], word_overlap(texts), self._options.mmr_lambda, k)]

    def _rerank(self, found: Found, chosen: IntArray, steps: _Steps) -> Reranked:
        if self._reranker is None or len(chosen) < 2:
            return Reranked(chosen)
        try:
            reranked = rerank(found, chosen, self._reranker)
        except ModelError as error:
            steps.reason = "; ".join(filter(None, (steps.reason, f"not reranked: {error.message}")))
            steps.hint = steps.hint or error.hint or "correct rerank_model, or leave it out"
            return Reranked(chosen)
        steps.done("rerank", len(reranked.said))
        return reranked

    def _hits(
        self,
        hits: Sequence[Hit],
        snapshot: Snapshot,
        request: SearchRequest,
        query: Query,
        steps: _Steps,
        selection: Selection,
        near: Sequence[Hit] = (),
        packed: Packed | None = None,
    ) -> Hits:
        status = Status.OK if hits else Status.EMPTY
        fault = snapshot.stats.fault
        reason, hint = "; ".join(filter(None, (steps.reason, fault))), steps.hint or (SYNC_HINT if fault else "")
        if reason:
            status = Status.DEGRADED
        elif not hits:
            reason, hint = _why_empty(snapshot, request, too_tight=packed is not None and len(selection.places) > 0)
        trace = Trace(
            query=query.text,
            terms=tuple(query_words(query.text)),
            rung=selection.rung,
            filter=describe(request.filter),
            stages=tuple(steps.stages),
            notes=tuple(steps.notes),
            sequence=snapshot.stats.sequence,
        )
        told = NOTHING_PACKED if packed is None else packed
        return Hits(tuple(hits), status, trace, reason, hint, tuple(near), told.text, told.tokens, told.passages)


def _why_empty(snapshot: Snapshot, request: SearchRequest, *, too_tight: bool) -> tuple[str, str]:
    if not snapshot.stats.cards:
        return "the vault has no cards", "add Markdown files; those in subfolders count with recursive = true"
    if not request.text.strip():
        return "the query is empty", "ask something"
    if too_tight:
        return f"no hit fits into a budget of {request.budget_tokens} tokens", "raise budget_tokens"
    if not query_words(cut_query(request.text)):
        return "the query holds no word", "ask with letters or digits"
    if not request.filter.is_empty:
        return "no card that passes the filter answers this", "widen the filter"
    return "no card answers this", "lower min_score to see the nearest cards"
