"""Inactive, pending, firing, resolved: the episodes of one series (rule, device and subject).

Silences, maintenance and acknowledgement don't change these states. They only decide what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.insight.alerts.conditions import STATE, ConditionResult
from api.insight.alerts.model import Condition, Episode, Event

LATE_MS: Final = DAY_MS  # conditions that ended longer ago are recorded, not sent
REFIRED_MS: Final = HOUR_MS  # time from a resolution to the next firing that counts as flapping
FIRST_DELAY_MS: Final = 15 * MINUTE_MS
DELAY_GROWTH: Final = 1.5
LONGEST_DELAY_MS: Final = HOUR_MS
MOST_FLIPS: Final = 4  # flips in a day
FLIPS_MS: Final = DAY_MS
MAINTENANCE: Final = "maintenance"


class Quiet(NamedTuple):
    """A span in which a new condition makes no alert. ``why``: maintenance or, for silence only,
    downtime of Weir itself."""

    start_ms: int
    end_ms: int
    why: str


@dataclass(frozen=True, slots=True)
class Setting:
    """The input for one series. ``since_ms``: since when the rule has this condition. ``data_ms``:
    the device's last reading. ``wait_ms``: time to wait for others that fall silent with it.
    ``silenced_until``: by subject, None where it isn't silenced."""

    organization_id: str
    rule_id: str
    device_key: int
    now_ms: int
    since_ms: int
    data_ms: int | None
    hold_ms: int = 0
    reminder_ms: int = 0
    wait_ms: int = 0
    enabled: bool = True
    has_receiver: bool = True
    quiet: Sequence[Quiet] = ()
    silenced_until: Callable[[str], int | None] = lambda subject: None


@dataclass(slots=True)
class Outcome:
    """Episodes to save, ids of pending ones to discard, and events."""

    episodes: list[Episode] = field(default_factory=list[Episode])
    dropped: list[str] = field(default_factory=list[str])
    events: list[Event] = field(default_factory=list[Event])


def advance(
    setting: Setting,
    subject: str,
    result: ConditionResult,
    episodes: Sequence[Episode],
    new_id: Callable[[], str],
) -> Outcome:
    """Advances one series to now. ``episodes``: those of this series, open or from the last
    weeks."""
    series = _Series(setting, subject, episodes, new_id)
    if not setting.enabled:
        series.switch_off()
    elif not result.unclear:
        series.run(sorted(result.conditions, key=lambda each: (each.opened_ms, each.ref)))
    elif series.current is not None:
        series.put(series.reminded(series.current))
    return series.outcome


class _Series:
    def __init__(
        self,
        setting: Setting,
        subject: str,
        episodes: Sequence[Episode],
        new_id: Callable[[], str],
    ) -> None:
        self._s, self._subject, self._new_id = setting, subject, new_id
        self._before = {each.id: each for each in episodes}
        self._refs = {ref for each in episodes for ref in each.refs}
        self.current = next((each for each in episodes if each.open), None)
        over = [each for each in episodes if not each.open]
        self._last = max(over, key=lambda each: each.resolved_ms or 0, default=None)
        self._after: dict[str, Episode] = {}
        self.outcome = Outcome()

    # --- Transitions ---

    def put(self, episode: Episode) -> None:
        if self._before.get(episode.id) != episode:
            self._after[episode.id] = episode
        self.outcome.episodes = list(self._after.values())
        self.current = episode if episode.open else None
        if not episode.open:
            self._last = episode

    def _drop(self, episode: Episode) -> None:
        self._after.pop(episode.id, None)
        self.outcome.episodes = list(self._after.values())
        if episode.id in self._before:
            self.outcome.dropped.append(episode.id)
        self.current = None

    def switch_off(self) -> None:
        """Ends the episodes of a deleted or disabled rule: receivers notified of the firing are
        notified of the end."""
        if self.current is None:
            return
        if self.current.state == "pending":
            self._drop(self.current)
        else:
            self._resolve(self.current, self._s.now_ms, "The rule was switched off.")

    def run(self, conditions: Sequence[Condition]) -> None:
        by_ref = {each.ref: each for each in conditions}
        if self.current is not None:
            self._go_on(self.current, by_ref)
        for condition in conditions:
            if self.current is not None:
                break  # of several open ones, the earliest represents all
            if condition.ref not in self._refs:
                self._begin(condition, by_ref)
            elif condition.end_ms is None:
                self._begin_again(condition, by_ref)

    # --- Pending ---

    def _begin(self, condition: Condition, by_ref: dict[str, Condition]) -> None:
        over = condition.end_ms is not None
        if over and (condition.end_ms or 0) < self._s.since_ms:
            return  # began before the rule existed
        self._refs.add(condition.ref)
        self._pend(condition, self._s.now_ms, by_ref)

    def _begin_again(self, condition: Condition, by_ref: dict[str, Condition]) -> None:
        """Continues a condition that had ended, under the same ref, as if it began now."""
        self._pend(condition._replace(opened_ms=self._s.now_ms), self._s.now_ms, by_ref)

    def _pend(self, condition: Condition, noticed_ms: int, by_ref: dict[str, Condition]) -> None:
        setting = self._s
        episode = Episode(
            id=self._new_id(),
            organization_id=setting.organization_id,
            rule_id=setting.rule_id,
            device_key=setting.device_key,
            subject=self._subject,
            state="pending",
            condition=condition,
            noticed_ms=noticed_ms,
            refs=(condition.ref,),
            delay_ms=self._delay(noticed_ms),
            flips=self._flips(),
        )
        self._go_on(episode, by_ref | {condition.ref: condition})

    def _delay(self, at_ms: int) -> int:
        """Returns how long the resolution of a new episode is delayed."""
        last = self._last
        if last is None or at_ms - (last.resolved_ms or 0) > REFIRED_MS:
            return 0
        longer = int(last.delay_ms * DELAY_GROWTH) or FIRST_DELAY_MS
        return min(longer, LONGEST_DELAY_MS)

    def _flips(self) -> tuple[int, ...]:
        flips = () if self._last is None else self._last.flips
        return self._of_a_day(flips)

    def _of_a_day(self, flips: Sequence[int]) -> tuple[int, ...]:
        return tuple(each for each in flips if each > self._s.now_ms - FLIPS_MS)

    def _go_on(self, episode: Episode, by_ref: dict[str, Condition]) -> None:
        condition = by_ref.get(episode.refs[-1])
        if episode.state == "pending":
            if condition is None and (other := _earliest_open(by_ref)) is not None:
                self._refs.add(other.ref)  # the same condition: its start was corrected
                condition = other._replace(
                    opened_ms=min(other.opened_ms, episode.condition.opened_ms)
                )
                episode = replace(episode, condition=condition, refs=(*episode.refs, condition.ref))
            self._wait(episode, condition)
        else:
            self._look(episode, condition, by_ref)

    def _wait(self, episode: Episode, condition: Condition | None) -> None:
        if condition is None:
            self._drop(episode)
            return
        condition = _as_begun(condition, episode)
        episode = replace(episode, condition=condition)
        plain_ms, quiet = self._fire_ms(condition)
        at_ms = plain_ms
        if quiet is not None:
            at_ms = max(plain_ms, quiet.end_ms + _to_know(condition) + self._s.hold_ms)
        if condition.end_ms is not None and condition.end_ms < at_ms:
            if quiet is not None and quiet.why == MAINTENANCE and condition.end_ms >= plain_ms:
                self._record(episode, plain_ms)
            else:
                self._drop(episode)
            return
        wait_ms = at_ms
        if condition.end_ms is None:
            wait_ms = max(at_ms, episode.noticed_ms + self._s.wait_ms)
        if self._s.now_ms < wait_ms:
            self.put(replace(episode, due_ms=wait_ms))
        else:
            self._fire(episode, at_ms)

    def _fire_ms(self, condition: Condition) -> tuple[int, Quiet | None]:
        """Returns when it fires, and the quiet span that it began in, which it must outlast."""
        began = (condition.start_ms, condition.opened_ms)
        within = [
            each
            for each in self._s.quiet
            if any(each.start_ms <= at < each.end_ms for at in began)
            and (condition.by_clock or each.why == MAINTENANCE)
        ]
        last = max(within, key=lambda each: each.end_ms, default=None)
        return condition.opened_ms + self._s.hold_ms, last

    def _record(self, episode: Episode, fired_ms: int) -> None:
        """Records a condition that began and ended within maintenance: history only."""
        condition = episode.condition
        self.put(
            replace(
                episode,
                state="resolved",
                fired_ms=fired_ms,
                resolved_ms=condition.end_ms,
                due_ms=None,
                not_sent=MAINTENANCE,
            )
        )

    # --- Firing ---

    def _fire(self, episode: Episode, at_ms: int) -> None:
        setting, condition = self._s, episode.condition
        now_ms = setting.now_ms
        episode = replace(episode, state="firing", fired_ms=at_ms, due_ms=None)
        episode, first = self._flipped(episode, max(condition.opened_ms, now_ms - FLIPS_MS + 1))
        latest_ms = condition.end_ms
        if latest_ms is None:
            latest_ms = now_ms if condition.by_clock else (setting.data_ms or now_ms)
        until_ms = setting.silenced_until(self._subject)
        if now_ms - latest_ms > LATE_MS:
            episode = replace(episode, not_sent="late")
        elif not setting.has_receiver:
            episode = replace(episode, not_sent="no receiver")
        elif until_ms is not None:
            episode = replace(episode, not_sent="silenced", due_ms=until_ms)
        elif episode.unstable and not first:
            episode = replace(episode, not_sent="unstable")
        else:
            kind = "unstable" if first else "fire"
            self.outcome.events.append(Event(kind, episode))
        self._look(episode, condition, {condition.ref: condition})

    def _flipped(self, episode: Episode, at_ms: int) -> tuple[Episode, bool]:
        """Adds a flip. Returns whether this made the episode unstable."""
        flips = (*self._of_a_day(episode.flips), at_ms)
        before = episode.unstable or (
            self._last is not None and self._last.unstable and len(flips) > MOST_FLIPS
        )
        unstable = len(flips) > MOST_FLIPS
        return replace(episode, flips=flips, unstable=unstable), unstable and not before

    def _look(
        self, episode: Episode, condition: Condition | None, by_ref: dict[str, Condition]
    ) -> None:
        going = condition if condition is not None and condition.end_ms is None else None
        if going is None:
            going = _earliest_open(by_ref)
        if going is not None:
            self._stay(episode, going)
            return
        if episode.ended_ms is None:
            ended = self._s.now_ms if condition is None else condition.end_ms or self._s.now_ms
            episode, first = self._flipped(episode, max(ended, self._s.now_ms - FLIPS_MS + 1))
            episode = replace(
                episode,
                ended_ms=ended,
                condition=episode.condition if condition is None else condition,
            )
            self._report_unstable(episode, first=first)
        note = "Its cause was withdrawn." if condition is None else ""
        at_ms = (episode.ended_ms or 0) + (FLIPS_MS if episode.unstable else episode.delay_ms)
        if self._s.now_ms >= at_ms:
            self._resolve(episode, episode.ended_ms or 0, note)
        else:
            self.put(replace(episode, due_ms=at_ms))

    def _stay(self, episode: Episode, going: Condition) -> None:
        refs = episode.refs if going.ref in episode.refs else (*episode.refs, going.ref)
        self._refs.update(refs)
        if refs[-1] != going.ref:
            refs = (*(ref for ref in refs if ref != going.ref), going.ref)
        if episode.ended_ms is not None:
            episode, first = self._flipped(episode, self._s.now_ms)
            self._report_unstable(episode, first=first)
        going = _as_begun(going, episode)
        going = going._replace(start_ms=min(going.start_ms, episode.condition.start_ms))
        self.put(self.reminded(replace(episode, condition=going, refs=refs, ended_ms=None)))

    def _report_unstable(self, episode: Episode, *, first: bool) -> None:
        if first and episode.told:
            self.outcome.events.append(Event("unstable", episode))

    def reminded(self, episode: Episode) -> Episode:
        """Adds the reminder, or the firing message that a silence held back, and the time of the
        next check."""
        if episode.state != "firing":
            return episode
        setting, due_ms = self._s, None
        until_ms = setting.silenced_until(self._subject)
        if episode.not_sent == "silenced":
            if until_ms is not None:
                return replace(episode, due_ms=until_ms)
            episode = replace(episode, not_sent="", due_ms=None)
            self.outcome.events.append(Event("fire", episode))
            return episode
        if setting.reminder_ms and episode.told_ms and episode.acknowledged_ms is None:
            due_ms = max(episode.told_ms, episode.reminded_ms or 0) + setting.reminder_ms
            if until_ms is not None:
                due_ms = max(due_ms, until_ms)
            if setting.now_ms >= due_ms:
                due_ms = setting.now_ms + setting.reminder_ms
                episode = replace(episode, reminded_ms=setting.now_ms)
                self.outcome.events.append(Event("reminder", episode))
        return replace(episode, due_ms=due_ms)

    def _resolve(self, episode: Episode, at_ms: int, note: str) -> None:
        episode = replace(
            episode,
            state="resolved",
            resolved_ms=max(at_ms, episode.condition.start_ms),
            due_ms=None,
        )
        self.put(episode)
        self.outcome.events.append(Event("resolve", episode, note))


def _earliest_open(by_ref: dict[str, Condition]) -> Condition | None:
    still = [each for each in by_ref.values() if each.end_ms is None]
    return min(still, key=lambda each: each.opened_ms, default=None)


def _as_begun(condition: Condition, episode: Episode) -> Condition:
    """Keeps the earlier start under the same ref: a state has no start of its own."""
    before = episode.condition
    if condition.ref != before.ref:
        return condition
    start_ms = before.start_ms if condition.ref == STATE else condition.start_ms
    return condition._replace(start_ms=start_ms, opened_ms=before.opened_ms)


def _to_know(condition: Condition) -> int:
    """Returns how long such a condition lasts before it can be detected."""
    return condition.opened_ms - condition.start_ms
