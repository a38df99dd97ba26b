"""Watch: audits repeated on batches, with alarms whose false-alarm rate holds over all looks."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend._runtime.interrupts import interruptible
from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.chosen_subgroups import cells_of, published_by, worst_of_notion
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.from_rows import Given, read_tally, rows_of, tally_of_kinds
from gerrymend.auditing.inference.disclosure import KnownSums
from gerrymend.auditing.provenance import fingerprint
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE, may_be_described
from gerrymend.auditing.subgroup import MOST_SHARED, Subgroup, beyond_rounding, shared_part
from gerrymend.auditing.tally import Tally, largest_rounding
from gerrymend.changes.look import Look
from gerrymend.changes.watch_file import read_state, write_state
from gerrymend.changes.watch_state import WatchState, groups_asked_for, rules_of
from gerrymend.changes.watched import Batch, Watched
from gerrymend.inputs.numbers import is_number_type, short
from gerrymend.inputs.protected import Column
from gerrymend.inputs.sample import Decided
from gerrymend.inputs.settings import check_fraction, check_whole
from gerrymend.notions import FairnessNotion, NotionLike, as_rates, by_class
from gerrymend.subgroups.base import Bracket, most_of_any
from gerrymend.subgroups.compiling import compile_proofs


class Watch:
    """Watch a stream of batches for a subgroup that exceeds gamma.

    Each batch is searched for its worst subgroup, which is watched from the next batch on, with the
    groups that were named. Bets that these exceed gamma are made on the batches that follow: as
    long as no subgroup does, the money of all bets together is no more on average after a batch
    than before. It is the evidence, and the alarm is raised where it reaches 1/level. Whatever the
    number of batches and of groups, and however often one looks, the probability of a false alarm
    is at most `level` (by Ville's inequality), if the rows of a batch are drawn independently of
    each other. Batches may differ in their people; that no subgroup exceeds gamma has to hold of
    each.

    Parameters
    ----------
    notion, subgroups, gamma, favourable, side, min_group_size
        As in audit(). Rates of decisions, compared with everyone.
    level : float, default=0.05
        The probability of a false alarm, over all looks.
    groups : ExplicitGroups, AuditReport, dict or path, optional
        Groups to watch from the first batch on: named ones, or those that a report tells.
    threshold, decision_probabilities, pos_label
        How decisions are read, as in audit().
    max_groups : int, default=20
        Groups that are watched at most; those that were found and have the least evidence go.
    budget : float, default=10.0
        Seconds that the search of a batch may take.
    random_state : int, default=0
        Seed of the order in which the rows of a batch are bet on.

    Attributes
    ----------
    n_batches : int
        Batches so far.
    e_value, p_value : float
        The evidence now, and 1 over the largest so far.
    raised : int or None
        The batch at which the alarm was raised, where it was. It stays: after a repair a new watch
        begins.
    looks : tuple of dict
        The number, time, rows and evidence of each batch.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from gerrymend import Watch
    >>> rng = np.random.default_rng(0)
    >>> watch = Watch(notion="statistical_parity", subgroups="conjunctions", gamma=0.02)
    >>> for month in range(1, 7):
    ...     sex, age = rng.choice(["F", "M"], 1000), rng.integers(18, 80, 1000)
    ...     rate = 0.5 - 0.3 * (month > 3) * ((sex == "F") & (age > 50))
    ...     look = watch.update(None, rng.random(1000) < rate, at=f"2025-{month:02}",
    ...                         sensitive_features={"sex": sex, "age": age})
    ...     if look.alarm:
    ...         break
    >>> look.at, look.leading
    ('2025-05', 'sex = F and age ≥ 51')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = watch.save(f"{folder}/watch.json")
    ...     Watch.load(path).e_value == watch.e_value
    True
    """

    def __init__(
        self,
        *,
        notion: NotionLike = "false_positive_rate",
        subgroups: Any = "linear",
        gamma: float = 0.01,
        level: float = 0.05,
        groups: Any = None,
        favourable: str | None = None,
        side: str = "both",
        threshold: float | None = None,
        decision_probabilities: bool = False,
        pos_label: Any = None,
        min_group_size: int = MIN_GROUP_SIZE,
        max_groups: int = 20,
        budget: float = 10.0,
        random_state: int = 0,
    ) -> None:
        settings = check_settings(
            notion=as_rates(notion),
            reference=None,
            favourable=favourable,
            side=side,
            subgroups=subgroups,
            gamma=gamma,
            budget=budget,
            min_group_size=min_group_size,
            n_permutations=0,
            top=1,
            random_state=random_state,
        )
        decided = Decided(threshold, decision_probabilities, pos_label, many=True)
        decided.by_label  # noqa: B018  checks its flag
        self._state = WatchState(
            notions=settings["notions"],
            subgroups=settings["subgroups"],
            gamma=settings["gamma"],
            level=check_fraction(level, "level", remedy="0.05 for 5 %, for example."),
            favourable=favourable,
            side=side,
            threshold=threshold,
            decision_probabilities=bool(decision_probabilities),
            pos_label=pos_label,
            min_group_size=settings["min_group_size"],
            max_groups=check_whole(max_groups, "max_groups", low=1),
            budget=settings["budget"],
            random_state=settings["random_state"],
            asked=groups_asked_for(groups),
        )
        self._written: bytes | None = None

    @property
    def n_batches(self) -> int:
        """Return how many batches there were."""
        return len(self._state.looks)

    @property
    def e_value(self) -> float:
        """Return the evidence now."""
        return self._state.e_value

    @property
    def p_value(self) -> float:
        """Return 1 over the largest evidence so far, at most 1."""
        return min(1.0, 1 / self._state.highest)

    @property
    def raised(self) -> int | None:
        """Return the batch at which the alarm was raised, where it was."""
        return self._state.raised

    @property
    def looks(self) -> tuple[Mapping[str, Any], ...]:
        """Return the number, time, rows and evidence of each batch."""
        return tuple(dict(one) for one in self._state.looks)

    @property
    def watched(self) -> tuple[str, ...]:
        """Return the groups that are watched, in words, those with most evidence first."""
        ordered = sorted(self._state.watched, key=lambda one: -one.total)
        return tuple(one.rule.describe() for one in ordered)

    @interruptible
    def update(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        data: Any = None,
        at: str | float | None = None,
    ) -> Look:
        """Take in a batch, and say whether there is an alarm.

        Parameters
        ----------
        y_true, y_pred, sensitive_features, data
            The rows of the batch, as in audit(). It has the labels and the attributes of the first.
        at : str or number, optional
            When it was, as "2025-03" or a number: later than the batch before.

        Returns
        -------
        Look

        Raises
        ------
        TypeError, ValueError
            For rows that can't be used, a batch that was taken in before, or one that is earlier.
            The watch is then as it was.
        """
        state = self._state
        self._check_order(at)
        given = rows_of(data, Given(y_true, y_pred, sensitive_features))
        tally, state = _read(state, given)
        digest = fingerprint(tally)
        if at is None and digest in state.fingerprints:
            number = state.fingerprints.index(digest) + 1
            raise ArgumentError(
                "y_pred",
                f"and all else of this batch are those of batch {number}, by their fingerprint. "
                "Each batch counts once: pass the rows that came since or, if these are others "
                "that happen to be alike, say when each was, as ",
                Argument("at"),
                ".",
            )
        notions = [one for one in state.rates if _counts_any(tally, one)]
        if not notions:
            words = " or ".join(one.words for one in state.rates)
            raise ArgumentError(
                "y_true", f"has no row that the {words} is over; wait for more rows."
            )
        state = _after_bets(_named(state, tally), tally, notions)
        seen = _searched(state, tally, notions)
        state, look = _told(state, tally, seen, at, digest)
        self._state = state
        return look

    def save(self, path: Any) -> Path:
        """Save the watch as JSON, whole or not at all; no row of any batch is in it.

        Raises ArgumentError where the file is another watch's, or one that was taken on since by
        another process.
        """
        self._written, target = write_state(self._state, path, self._written)
        return target

    def check_settings(self, **given: Any) -> None:
        """Raise an ArgumentError where settings of `Watch` that are given are not this watch's.

        >>> Watch(gamma=0.02).check_settings(gamma=0.05)
        Traceback (most recent call last):
            ...
        gerrymend._runtime.errors.ArgumentError: gamma=0.05 is not what is watched for, 0.02. \
Leave it out, or begin another watch.
        """
        own = self._state
        other = Watch(**given)._state
        for name in given:
            field = {"notion": "notions", "groups": "asked"}.get(name, name)
            asked, mine = getattr(other, field), getattr(own, field)
            if name == "subgroups":
                asked, mine = asked.to_dict(), mine.to_dict()
            if name == "notion":
                asked, mine = ([one.name for one in some] for some in (asked, mine))
            # As they are in a file, where a tuple is a list.
            if json.dumps(asked, default=str) != json.dumps(mine, default=str):
                raise ArgumentError(
                    Argument(name, value=short(given[name])),
                    f"is not what is watched for, {short(mine)}. Leave it out, or begin another "
                    "watch.",
                )

    @classmethod
    def load(cls, path: Any) -> "Watch":
        """Load a watch that was saved, to go on with it."""
        watch = cls.__new__(cls)
        watch._state, watch._written = read_state(path)
        return watch

    def __repr__(self) -> str:
        names = ("n_batches", "e_value", "raised")
        told = {name: getattr(self, name) for name in names}
        return short_repr(self, **told, gamma=self._state.gamma, level=self._state.level)

    def _check_order(self, at: Any) -> None:
        """Raise an ArgumentError for a batch that does not follow those before."""
        is_number = is_number_type(type(at)) and math.isfinite(at)
        if at is not None and not is_number and not isinstance(at, str):
            raise ArgumentError("at", f"must be text, as '2025-03', or a number; got {short(at)}.")
        if not self._state.looks:
            return
        last = self._state.looks[-1]["at"]
        if last is None:
            return
        if at is None:
            raise ArgumentError(
                "at", f"is not given, and that of the batch before is {last!r}; say it of each."
            )
        if isinstance(at, str) != isinstance(last, str):
            raise ArgumentError(
                "at", f"is {short(at)}, and that of the batch before {short(last)}: one is text."
            )
        if at <= last:
            raise ArgumentError(
                "at",
                f"is {short(at)}, which is not later than the batch before, {short(last)}. Batches "
                "are taken in in their order; text is compared letter by letter, as ISO dates "
                "may be.",
            )


def _read(state: WatchState, given: Given) -> tuple[Tally, WatchState]:
    """Read a batch like the first one, or the first, which decides labels and attributes."""
    decided = Decided(
        state.threshold, state.decision_probabilities, state.pos_label, many=True,
        labels=state.labels,
    )  # fmt: skip
    if state.kinds is None:
        tally = read_tally(None, given, decided, state.notions)
        kinds = {column.name: column.kind for column in tally.protected}
        rates = by_class(state.notions, tally.labels, state.favourable)
        return tally, replace(
            state,
            kinds=kinds,
            labels=tally.labels,
            is_labelled=tally.is_labelled,
            rates=as_rates(rates),
        )
    if (given.y_true is None) == state.is_labelled:
        have = "has labels, and the first batch had none"
        if given.y_true is None:
            have = "is not given, and the first batch had labels"
        raise ArgumentError("y_true", f"{have}; pass all batches alike.")
    tally = tally_of_kinds(given, decided, state.notions, state.kinds)
    if {column.name for column in tally.protected} != state.kinds.keys():
        raise ArgumentError(
            "sensitive_features",
            f"are {', '.join(column.name for column in tally.protected)}, and those of the first "
            f"batch {', '.join(state.kinds)}; pass the same ones.",
        )
    if tally.labels != state.labels:
        raise ArgumentError(
            "y_true" if tally.is_labelled else "y_pred",
            f"has the labels {', '.join(map(repr, tally.labels))}, and the first batch had "
            f"{', '.join(map(repr, state.labels or ()))}; pass the same ones, with ",
            Argument("pos_label"),
            ".",
        )
    return tally, state


def _counts_any(tally: Tally, notion: FairnessNotion) -> bool:
    """Return whether any row is in the event of a notion."""
    return bool((np.asarray(notion.event, float) @ tally.view(notion).weight).any())


def _named(state: WatchState, tally: Tally) -> WatchState:
    """Begin to watch the groups that were asked for, with the first batch."""
    if state.looks or not state.asked:
        return state
    columns = {column.name: column for column in tally.columns}
    found = [
        Watched(rule, notion, 1, state.sides_of(notion), named=True, whole=_whole(columns))
        for rule, name in rules_of(state.asked, columns)
        for notion in state.rates
        if name in (None, notion.name)
    ]
    return replace(state, watched=tuple(found))


def _whole(columns: Mapping[str, Column]) -> tuple[str, ...]:
    """Return the attributes that have no fractions."""
    return tuple(name for name, column in columns.items() if column.is_whole)


def _after_bets(state: WatchState, tally: Tally, notions: Sequence[FairnessNotion]) -> WatchState:
    """Give fresh money to each bet, and bet on a batch."""
    n_bets = sum(one.n_bets for one in state.watched)
    if not n_bets:
        return state
    # 1/(k + 1) of what is left, so that 1/(k + 1) of all is left after k times.
    fresh = state.cash / (state.n_bets_made + 2)
    # 7 keeps these draws apart from all others of the same seed.
    seeds = [state.random_state, 7, len(state.looks)]
    batches = {
        notion: Batch.of(tally, notion, np.random.default_rng([*seeds, i]))
        for i, notion in enumerate(state.rates)
        if notion in notions
    }
    watched = []
    for one in state.watched:
        mine = one.given(fresh / n_bets)
        if (batch := batches.get(one.notion)) is not None:
            mine = batch.after(mine, state.gamma, state.min_group_size)
        watched.append(mine)
    return replace(
        state,
        cash=state.cash - fresh,
        n_bets_made=state.n_bets_made + 1,
        watched=tuple(watched),
    )


def _searched(state: WatchState, tally: Tally, notions: Sequence[FairnessNotion]) -> list[Examined]:
    """Search a batch for the worst subgroup of each notion."""
    compile_proofs([state.subgroups], tally.protected)
    deadline = time.monotonic() + state.budget
    examined = []
    for i, notion in enumerate(notions):
        seen = tally.of_notion(notion)
        bound = seen.bind(state.subgroups)
        sign = notion.harm if state.side == "disadvantaged" else 0
        if sign:
            bound = bound.one_sided(sign)
        left = max(0.0, deadline - time.monotonic()) / (len(notions) - i)
        found = bound.search(seen.residual, seconds=left)
        bracket = Bracket(found, float(most_of_any(seen.residual)))
        examined.append(Examined(seen, bound, bracket, state.subgroups, sign))
    return examined


def _told(
    state: WatchState, tally: Tally, examined: list[Examined], at: Any, digest: str
) -> tuple[WatchState, Look]:
    """Return the state after a batch, with its worst among those that are watched, and the look."""
    floor = state.min_group_size
    n = tally.total_weight
    values = [abs(float(part.bracket.found.values[0])) / n for part in examined]
    part = examined[int(np.argmax(values))]
    deadline = time.monotonic() + state.budget
    worst = worst_of_notion(part, examined, floor, deadline)
    if worst is not None:
        worst = replace(worst, composition=()) if worst.differs else None
    first = max(state.watched, key=lambda one: one.total, default=None)
    leading = _leading_now(first, tally, floor)
    rounding = largest_rounding(part.seen for part in examined)
    e_value = state.e_value
    number = len(state.looks) + 1
    raised = state.raised
    if raised is None and e_value >= 1 / state.level:
        raised = number
    state = replace(
        _with_worst(state, worst, examined, number),
        highest=max(state.highest, e_value),
        raised=raised,
        fingerprints=(*state.fingerprints, digest),
        looks=(
            *state.looks,
            {"number": number, "at": at, "n_rows": int(tally.n_rows.sum()), "e_value": e_value},
        ),
    )
    return state, Look(
        number=number,
        at=at,
        n_rows=int(tally.n_rows.sum()),
        gamma=state.gamma,
        level=state.level,
        e_value=e_value,
        p_value=min(1.0, 1 / state.highest),
        raised=raised,
        unfairness=beyond_rounding(max(values), rounding),
        worst=_beside(leading, worst, examined, floor, state.budget),
        leading=None if first is None else first.rule.describe(),
        leading_now=leading,
        n_watched=len(state.watched),
    )


def _leading_now(first: Watched | None, tally: Tally, floor: int) -> Subgroup | None:
    """Return the group with most evidence in this batch, if there are enough rows to tell."""
    if first is None or not _counts_any(tally, first.notion):
        return None
    seen = tally.of_notion(first.notion)
    group = seen.cells.as_treated(first.rule, seen.outcomes)
    inside = int(seen.rows[cells_of(seen, group)[seen.cells.active]].sum())
    return group if may_be_described(inside, seen.rows.sum(), floor) else None


def _beside(
    leading: Subgroup | None,
    worst: Subgroup | None,
    examined: Sequence[Examined],
    floor: int,
    seconds: float,
) -> Subgroup | None:
    """Return the worst group of a batch, if it tells of no small one beside the leading one."""
    if worst is None or leading is None:
        return worst
    seen = [part.seen for part in examined]
    told = published_by(seen, [leading], floor, seconds)[worst.notion]
    return worst if told.told(cells_of(seen[0], worst).astype(np.intp)) is None else None


def _with_worst(
    state: WatchState, worst: Subgroup | None, examined: Sequence[Examined], number: int
) -> WatchState:
    """Watch the worst of a batch from the next one on, unless it is one that is watched already.

    Nor is it where a group of few rows of this batch is all that it differs by from those.
    """
    if worst is None or abs(worst.unfairness) <= state.gamma + worst.rounding:
        return state
    seen = next(part.seen for part in examined if part.seen.notion == worst.notion)
    columns = {column.name: column for column in seen.tally.columns}
    active = seen.cells.active
    mine = cells_of(seen, worst)
    known = KnownSums(seen.rows_of_cells, state.min_group_size, state.budget)
    for one in state.watched:
        if one.notion == worst.notion:
            other = one.rule.members(columns)
            shared = shared_part(seen.cells.mass, mine[active], other[active], divisions=False)
            if shared > MOST_SHARED:
                return state
            known.add(other.astype(np.intp))
    if known.told(mine.astype(np.intp)) is not None:
        return state
    found = Watched(
        worst.rule, worst.notion, number + 1, state.sides_of(worst.notion), whole=_whole(columns)
    )
    watched = [*state.watched, found]
    cash = state.cash
    if len(watched) > state.max_groups:
        old = [one for one in state.watched if not one.named]
        if not old:
            return state
        poorest = min(old, key=lambda one: one.total)
        watched.remove(poorest)
        cash += poorest.total
    return replace(state, watched=tuple(watched), cash=cash)
