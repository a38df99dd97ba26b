"""Watch: audits repeated on batches, with alarms whose false-alarm rate holds over all looks."""

import json
import math
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend._runtime.interrupts import interruptible
from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.from_rows import Given, rows_of
from gerrymend.auditing.provenance import fingerprint
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.changes.batches import (
    after_bets,
    counts_any,
    read_batch,
    searched,
    told,
    with_named,
)
from gerrymend.changes.look import Look
from gerrymend.changes.watch_file import read_state, write_state
from gerrymend.changes.watch_state import WatchState, groups_asked_for
from gerrymend.inputs.classes import plain_label
from gerrymend.inputs.held_numbers import held
from gerrymend.inputs.numbers import as_float, is_number_type, short
from gerrymend.inputs.settings import check_fraction, check_whole
from gerrymend.inputs.validation import check_cut
from gerrymend.notions import NotionLike, as_rates


class Watch:
    """Watch a stream of batches for a subgroup that exceeds gamma.

    Each batch is searched for its worst subgroup, which is watched from the next batch on, together
    with the groups that were named. In later batches the watch bets that these groups exceed gamma.
    As long as no subgroup does, the capital of all bets together does not grow on average. The
    capital starts at 1 and is the evidence; the alarm is raised when it reaches 1/level. By Ville's
    inequality the probability of a false alarm is at most `level`, for any number of batches and
    groups and however often one looks, if the rows of a batch are drawn independently of each
    other. Batches may have different people.

    Parameters
    ----------
    notion, subgroups, gamma
        As in audit(). Rates of decisions, compared with everyone.
    level : float, default=0.05
        The probability of a false alarm, over all looks.
    groups : ExplicitGroups, AuditReport, dict or path, optional
        Groups to watch from the first batch on: named ones, or those that a report describes.
    favourable, side
        As in audit().
    threshold, decision_probabilities, pos_label
        How decisions are read, as in audit().
    min_group_size
        As in audit().
    max_groups : int, default=20
        The largest number of groups to watch; beyond it, those with the least evidence are dropped,
        but never named ones.
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

    See Also
    --------
    compare : Compare an audit with an earlier one, or a model with another.
    audit : Find the subgroup that a model's decisions treat most differently, or worst.
    Look : The state of a watch after a batch.

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
        threshold = check_cut(threshold, decision_probabilities)
        self._state = WatchState(
            notions=settings["notions"],
            subgroups=settings["subgroups"],
            gamma=settings["gamma"],
            level=check_fraction(level, "level", remedy="0.05 for 5 %, for example."),
            favourable=favourable,
            side=side,
            threshold=threshold,
            decision_probabilities=bool(decision_probabilities),
            pos_label=None if pos_label is None else plain_label(pos_label),
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
        at = self._checked_time(at)
        given = rows_of(data, Given(y_true, y_pred, sensitive_features))
        tally, state = read_batch(state, given)
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
        notions = [one for one in state.rates if counts_any(tally, one)]
        if not notions:
            words = " or ".join(one.words for one in state.rates)
            raise ArgumentError(
                "y_true", f"has no row that the {words} is over; wait for more rows."
            )
        state = after_bets(with_named(state, tally), tally, notions)
        seen = searched(state, tally, notions)
        state, look = told(state, tally, seen, at, digest)
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

    def _checked_time(self, at: Any) -> str | float | None:
        """Return a time as plain data; raise an ArgumentError unless it is after all before."""
        is_number = is_number_type(type(at)) and math.isfinite(as_float(at))
        if at is not None and not is_number and not isinstance(at, str):
            raise ArgumentError("at", f"must be text, as '2025-03', or a number; got {short(at)}.")
        if is_number:
            at = int(at) if isinstance(at, Integral) else held(at, "at")
        last = self._state.looks[-1]["at"] if self._state.looks else None
        if last is None:
            return at
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
        return at
