"""Forgetting: which cards are weak, and their way to the archive."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cogvault.cards.addresses import card_at
from cogvault.cards.key_names import misnamed
from cogvault.cards.paths import refusal
from cogvault.cards.regular import read_regular
from cogvault.cards.writer import hash_of
from cogvault.cards.yaml_values import DATE_KEYS
from cogvault.config import Config
from cogvault.errors import CogvaultError, ConfigError
from cogvault.indexes.infos import mtime
from cogvault.lifecycle.archive import archived
from cogvault.lifecycle.strength import half_life_days, strength
from cogvault.lifecycle.uris import find
from cogvault.lifecycle.usage import Usage, Used
from cogvault.lifecycle.workspace import Workspace
from cogvault.retrieval.decay import review_due
from cogvault.text.normalise import fold
from cogvault.types import Action, CardInfo, CardStrength, Problem, SweepItem, SweepReport, Verdict, WriteResult

__all__ = ["Forgetting", "SweepRules", "judge", "measure"]

logger = logging.getLogger(__name__)

_TASK = "sweep"
# A card in which one of these cannot be read may be one that is to be kept.
_KEEPING_KEYS = frozenset({"pinned", "type", "importance"}) | DATE_KEYS


@dataclass(frozen=True, slots=True)
class SweepRules:
    """What a sweep keeps.

    Attributes:
        min_strength: cards at least so strong.
        grace_days: cards that were made, changed or dated so many days ago or later.
        evergreen_types: cards of these types. Pinned cards are kept always.
    """

    min_strength: float
    grace_days: float
    evergreen_types: Collection[str]

    @classmethod
    def from_config(cls, config: Config) -> SweepRules:
        """The rules that a vault's settings ask for."""
        return cls(config.forgetting_min_strength, config.forgetting_grace_days, config.evergreen_types)


def measure(card: CardInfo, used: Used | None, now: datetime, lost_at: datetime | None = None) -> CardStrength:
    """Strength of one card.

    Forgetting begins with the last use; of a card that was never used, with its ``updated``, ``created`` or ``date``,
    whichever is latest, its file's time counting when it has neither of the first two. It does not begin before the
    card holds (``valid_from``), nor, where uses were lost, before that.
    """
    dates = [date for date in (card.updated, card.created) if date is not None] or [mtime(card.stamp)]
    last_use = None if used is None else used.last
    since = max(date for date in (*dates, card.dated, card.valid_from, lost_at, last_use) if date is not None)
    uses = 0 if used is None else used.uses
    return CardStrength(
        id=card.id,
        title=card.title,
        strength=strength(card.importance, uses, since, now),
        half_life_days=half_life_days(card.importance, uses),
        uses=uses,
        last_used=None if used is None else used.last,
        since=since,
    )


def judge(
    cards: Sequence[CardInfo],
    uses: Mapping[str, Used],
    rules: SweepRules,
    now: datetime,
    lost_at: datetime | None = None,
) -> tuple[SweepItem, ...]:
    """Every card with a verdict, weakest first.

    Args:
        cards: to judge.
        uses: by id.
        rules: what is kept.
        now: the current instant.
        lost_at: when uses were lost last; before that a card may have been used. None = never.
    """
    items = (_judge(card, measure(card, uses.get(card.id), now, lost_at), rules, now) for card in cards)
    return tuple(sorted(items, key=lambda item: (item.card.strength, item.card.id)))


class Forgetting:
    """Strengths and sweeps of one vault.

    Args:
        workspace: the vault.
        usage: uses of its cards.
        archive: moves the card with this id to the archive.
        purge: deletes the card with this id for good; what killed writers left was taken away before.
    """

    def __init__(
        self,
        workspace: Workspace,
        usage: Usage,
        archive: Callable[[str], WriteResult],
        purge: Callable[[str], WriteResult],
    ) -> None:
        self._workspace = workspace
        self._usage = usage
        self._steps = {Action.ARCHIVED: archive, Action.PURGED: purge}
        self._rules = SweepRules.from_config(workspace.config)

    def strength(self, text: str) -> CardStrength:
        """Strength of the card that an id, path or address names.

        Raises:
            PathError: there is none.
            VaultError: how often it was used cannot be read.
        """
        cards = self._workspace.fresh().cards
        card = card_at(cards, find(self._workspace, text, cards).id)
        if card is None:  # it was made this moment
            raise refusal(text)
        uses, lost_at = self._usage.all(), self._usage.lost_at()
        return measure(card, uses.get(card.id), self._workspace.clock(), lost_at)

    def strengths(self) -> tuple[CardStrength, ...]:
        """Strength of every card, weakest first.

        Raises:
            VaultError: how often cards were used cannot be read.
        """
        uses, lost_at, now = self._usage.all(), self._usage.lost_at(), self._workspace.clock()
        found = (measure(card, uses.get(card.id), now, lost_at) for card in self._workspace.fresh().cards)
        return tuple(sorted(found, key=lambda card: (card.strength, card.id)))

    def sweep(self, *, apply: bool, purge: bool = False) -> SweepReport:
        """Judge every card and, if ``apply``, archive the weak ones.

        A card whose file is not what was judged (somebody pins it this moment) is kept until the next sweep.

        Args:
            apply: False changes nothing.
            purge: delete the weak ones for good instead.

        Raises:
            ConfigError: ``purge``, but ``forgetting_archive_before_delete`` is on.
            VaultError: how often cards were used cannot be read; they are not taken for unused. Or another writer did
                not let go in time.
        """
        if purge and self._workspace.config.forgetting_archive_before_delete:
            raise ConfigError(
                "a sweep does not delete, it archives",
                key="forgetting_archive_before_delete",
                hint="purge archived cards one by one, or set forgetting_archive_before_delete = false",
            )
        cards = self._workspace.latest()[0].cards
        items = judge(cards, self._usage.all(), self._rules, self._workspace.clock(), self._usage.lost_at())
        if not apply:
            return SweepReport(items, applied=False)
        step = Action.PURGED if purge else Action.ARCHIVED
        if purge:
            with self._workspace.writing():
                self._workspace.clear_leftovers()  # once, however many cards go
        files = {card.id: (card.path, card.hash) for card in cards}
        problems: list[Problem] = []
        done = tuple(
            self._carry_out(item, step, *files[item.card.id], problems) if item.verdict is Verdict.WEAK else item
            for item in items
        )
        self._drop_uses({card.id for card in cards})
        return SweepReport(done, applied=True, problems=tuple(dict.fromkeys(problems)))

    def sweep_by_schedule(self) -> None:
        """Archive weak cards when forgetting is on and no process has done it for the scan interval."""
        config = self._workspace.config
        if not config.forgetting_enabled:
            return
        if not self._usage.claim(_TASK, timedelta(hours=config.forgetting_scan_interval_hours)):
            return
        try:
            report = self.sweep(apply=True)
        except CogvaultError as error:
            logger.warning("%s: weak cards were not archived: %s", self._workspace.root, error)
            return
        gone = [item.card.id for item in report.weak if item.action is not None]
        logger.info("%s: %d weak cards archived", self._workspace.root, len(gone))

    def _drop_uses(self, known: set[str]) -> None:
        """Forget the uses of cards that somebody deleted: neither in the vault, nor ignored there, nor archived."""
        gone = self._usage.all().keys() - known - {card.id for card in archived(self._workspace)}
        self._usage.drop(id for id in gone if not (self._workspace.root / id).exists())

    def _carry_out(self, item: SweepItem, step: Action, path: str, hash: str, problems: list[Problem]) -> SweepItem:
        try:
            if hash_of(read_regular(self._workspace.root / path)) != hash:
                return replace(item, verdict=Verdict.CHANGED, reason="its file changed a moment ago")
            result = self._steps[step](item.card.id)
        except (CogvaultError, OSError) as error:
            problems.append(Problem(item.card.id, "not-forgotten", str(error)))
            return item
        problems.extend(result.problems)
        return replace(item, action=step)


def _judge(card: CardInfo, measured: CardStrength, rules: SweepRules, now: datetime) -> SweepItem:
    verdict, reason = _verdict(card, measured, rules, now)
    return SweepItem(measured, verdict, reason)


def _verdict(card: CardInfo, measured: CardStrength, rules: SweepRules, now: datetime) -> tuple[Verdict, str]:
    if card.pinned:
        return Verdict.PINNED, "pinned"
    if fold(card.type or "") in {fold(kind) for kind in rules.evergreen_types}:
        return Verdict.EVERGREEN, f"cards of type {card.type} are evergreen"
    if not card.writable:
        return Verdict.UNREADABLE, "its frontmatter cannot be read, so it may be pinned: correct it"
    if (key := next((one for one in misnamed(card.meta) if one.meant in _KEEPING_KEYS), None)) is not None:
        return Verdict.UNREADABLE, key.message
    if (problem := next((each for each in card.problems if each.key in _KEEPING_KEYS), None)) is not None:
        return Verdict.UNREADABLE, f"{problem.message}: correct it"
    changed = max(date for date in (card.created, card.updated, card.dated, mtime(card.stamp)) if date is not None)
    age_days = (now - changed) / timedelta(days=1)
    if age_days <= rules.grace_days:
        return Verdict.YOUNG, f"changed {max(0.0, age_days):.0f} days ago, within {rules.grace_days:g} days of grace"
    times = {0: "never used", 1: "used once"}.get(measured.uses, f"used {measured.uses} times")
    days = max(0.0, (now - measured.since) / timedelta(days=1))
    figures = (
        f"strength {measured.strength:.2f} after {days:.0f} days, half-life {measured.half_life_days:.0f}, {times}"
    )
    if review_due(card, now):
        figures += ", review due"
    return (Verdict.STRONG if measured.strength >= rules.min_strength else Verdict.WEAK), figures
