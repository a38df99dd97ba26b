"""The loop that learns patches: find the worst, change it, and stop before chance is learnt.

All scores come first. Those of most models on rows that they have not seen are too sure of
themselves, and a little off for many groups, of which few can be told from chance one by one. So a
line for everyone and shifts for groups are fitted together and drawn towards no change
(`together.py`), where a test of all of them says that they are no chance.

Then the worst subgroup and interval is changed, and so on. Each patch has to be above all but
`level` of what chance makes of scores that are right, those that the patches before it left: what
was wrong elsewhere is no reason to change a subgroup that chance explains.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.calibration.chance import Chance
from gerrymend.calibration.changes import Change, towards_mean
from gerrymend.calibration.conditions import FEWEST_ROWS, Steps, steps_of
from gerrymend.calibration.patches import Patch, interval_words
from gerrymend.calibration.settings import Settings
from gerrymend.calibration.standing import (
    CHANCE,
    FEW_ROWS,
    MAX_PATCHES,
    PROVEN,
    UNCHANGED,
    UNDECIDED,
    Refused,
    Standing,
)
from gerrymend.calibration.table import (
    Candidate,
    ScoredRows,
    ScoreTable,
    Spotted,
    describable_columns,
)
from gerrymend.calibration.together import Regression, fit_together, p_value_of_all
from gerrymend.inputs.bins import cuts_of
from gerrymend.subgroups.explicit import ExplicitGroups

# Patches that are refused and told of.
_MOST_REFUSED = 100
# The part of `level` at which all changes together are tested: where they matter it is far below.
_OF_LEVEL = 0.2


class Learnt(NamedTuple):
    """The patches, and what is known of the scores after them."""

    patches: tuple[Patch, ...]
    standing: Standing


def learn(rows: ScoredRows, settings: Settings) -> Learnt:
    """Learn patches on rows, whose scores are changed on the way."""
    loop = _Loop(rows, settings)
    if settings.bins is not None:
        loop.change_together()
    stop = loop.step()
    while stop is None:
        stop = loop.step()
    return Learnt(tuple(loop.patches), loop.standing(stop))


class _Stop(NamedTuple):
    """Why no further patch is made, and those that were considered."""

    reason: str
    refused: tuple[Refused, ...] = ()


class _Loop:
    """The scores so far, in `rows`, and the patches that made them so."""

    def __init__(self, rows: ScoredRows, settings: Settings) -> None:
        self.patches: list[Patch] = []
        self._rows = rows
        self._settings = settings
        self._error = rows.squared_error(rows.score)
        # Sums of errors round by less; patches of what is left below it would chase the rounding.
        self._rounding = ROUNDING * float(np.abs(rows.y - rows.score).max())
        self._told_columns = describable_columns(
            settings.subgroups, rows.columns, settings.min_group_size
        )
        self._bind()
        self._before = self._every.worst().size
        self._is_drawn = False  # for the scores as they are

    def _bind(self) -> None:
        """Cut the scores, and bind the class of subgroups: to all values, and to those told of."""
        rows = self._rows
        bins = self._settings.bins
        self._cuts: tuple[float, ...] = ()
        if bins is not None:
            self._cuts = cuts_of(bins, rows.score, rows.weight, probabilities=rows.probabilities)
        name = None if bins is None else self._settings.score
        how = (self._settings.subgroups, self._cuts, name)
        self._every = ScoreTable(rows, rows.columns, *how)
        self._told = self._every
        pairs = zip(self._told_columns, rows.columns, strict=False)
        if len(self._told_columns) < len(rows.columns) or any(a is not b for a, b in pairs):
            self._told = ScoreTable(rows, self._told_columns, *how)
        self._chance = Chance(
            self._told, self._settings.n_draws, self._settings.seed, on_draw=self._say_draw
        )

    def change_together(self) -> None:
        """Change everyone's scores and, by a little, those of groups, where that is no chance."""
        rows = self._rows
        # Of few labels a line has no slope that can be relied on; that of numbers has one.
        if len(rows.y) < FEWEST_ROWS and rows.probabilities:
            return
        self._say("0 patches; looking at everyone")
        regression = self._regression(self._steps())
        limit = _OF_LEVEL * self._settings.level if self._settings.level < 1 else 1.0
        p_value = p_value_of_all(regression)
        if p_value > limit or not self._settings.max_patches:
            return
        if regression.size - 1 > self._settings.max_patches:
            regression = self._regression([])
        found = fit_together(regression, self._settings.seed)
        if found is None:
            return
        before = rows.score
        self._make(self._every.everyone(), found.everyone, p_value)
        conditions = (one for step in regression.steps for one in step.conditions)
        for of_group, change in zip(conditions, found.shifts, strict=True):
            self._make(self._told.at_all_scores(of_group), change, None)
        if rows.squared_error(rows.score) >= self._error:
            rows.score = before
            self.patches.clear()
        elif not rows.probabilities:  # whose cuts are quantiles
            self._bind()

    def _regression(self, steps: Sequence[Steps]) -> Regression:
        """Return the regression of what happened on the scores as they are."""
        rows = self._rows
        return Regression.of(
            rows.y, rows.score, rows.weight, steps, probabilities=rows.probabilities
        )

    def _steps(self) -> Sequence[Steps]:
        """Return the conditions that scores are changed under; none but groups a user named."""
        subgroups = self._settings.subgroups
        if isinstance(subgroups, ExplicitGroups):
            return ()
        return steps_of(
            self._told_columns,
            self._rows.weight,
            self._settings.min_group_size,
            pairs=getattr(subgroups, "max_depth", 1) > 1,
        )

    def step(self) -> _Stop | None:
        """Make a patch, or return why none is made."""
        self._say(f"{len(self.patches):,} patches; looking for the worst subgroup")
        worst = self._told.worst()
        alpha = self._settings.alpha
        if alpha is not None and worst.size <= alpha:
            worst, _ = self._told.prove(alpha, self._settings.budget)
            if worst.size <= alpha:
                return self._end_of_proof(alpha)
        if worst.size <= self._rounding:
            return _Stop(UNCHANGED)
        limit = self._limit(worst.size)
        if worst.size <= limit:
            return self._within_chance(worst, limit)
        limit = max(limit, alpha or 0.0)
        worst = self._told.narrowed(worst, limit)
        candidate = self._told.describable(worst, self._settings.min_group_size)
        if candidate is None or abs(candidate.value) <= limit:
            return _Stop(FEW_ROWS, (self._refused(None, limit),))
        if len(self.patches) >= self._settings.max_patches:
            return _Stop(MAX_PATCHES)
        inside = candidate.members
        rows = self._rows
        change = towards_mean(
            rows.y[inside], rows.score[inside], rows.weight[inside],
            probabilities=rows.probabilities,
        )  # fmt: skip
        if np.array_equal(change.apply(rows.score[inside]), rows.score[inside]):
            return _Stop(UNCHANGED)
        self._make(candidate, change, self._chance.p_value(abs(candidate.value)))
        return None

    def _within_chance(self, worst: Spotted, limit: float) -> _Stop:
        """Return that what is left is not changed, as chance makes as much, and where it is."""
        table = self._told
        fewest = self._settings.min_group_size
        alpha = self._settings.alpha
        candidates = [table.describable(worst, fewest)]
        if alpha is not None:
            others = itertools.islice(table.others(worst, alpha), _MOST_REFUSED - 1)
            candidates += [table.told(one, fewest) for one in others]
        return _Stop(CHANCE, tuple(self._refused(one, limit) for one in candidates))

    def _refused(self, candidate: Candidate | None, limit: float) -> Refused:
        """Return a patch that is not made; None stands for one of few rows."""
        part = self._settings.level
        if candidate is None:
            return Refused(FEW_ROWS, None, None, None, limit, part)
        words = interval_words(self._settings.score, candidate.low, candidate.high)
        return Refused(CHANCE, candidate.rule.describe(), words, candidate.value, limit, part)

    def _limit(self, violation: float) -> float:
        """Return what a violation has to exceed; draws are made anew where it might not."""
        level = self._settings.level
        if level == 1:
            return 0.0
        if self._chance.is_stale or (not self._is_drawn and violation <= self._chance.limit(level)):
            self._chance.draw()
            self._is_drawn = True
        return self._chance.limit(level)

    def _end_of_proof(self, alpha: float) -> _Stop:
        """Return how a search ends that finds no more than alpha among those that may be told."""
        _, at_most = self._every.prove(alpha, self._settings.budget)
        if at_most <= alpha:
            return _Stop(PROVEN)
        return _Stop(UNDECIDED if self._every is self._told else FEW_ROWS)

    def _make(self, candidate: Candidate, change: Change, p_value: float | None) -> None:
        """Change the scores of a candidate, and note the patch."""
        rows = self._rows
        inside = candidate.members
        weight = rows.weight[inside]
        mass = float(weight.sum())
        patch = Patch(
            rule=candidate.rule,
            low=candidate.low,
            high=candidate.high,
            change=change,
            rows=int(inside.sum()),
            predicted=float(weight @ rows.score[inside]) / mass,
            happened=float(weight @ rows.y[inside]) / mass,
            violation=candidate.value,
            p_value=p_value,
        )
        self.patches.append(patch)
        rows.score = patch.apply(rows.score, inside)
        self._is_drawn = False

    def standing(self, stop: _Stop) -> Standing:
        """Return what is known of the scores as they are."""
        alpha = None if self._every.bound.exact else self._settings.alpha
        worst, at_most = self._every.prove(alpha, self._settings.budget)
        after = max(worst.size, self._every.worst().size)
        return Standing(
            n_rows=len(self._rows.y),
            before=self._before,
            after=after,
            upper_bound=max(at_most, after),
            error_before=self._error,
            error_after=self._rows.squared_error(self._rows.score),
            stopped=stop.reason,
            refused=stop.refused,
            covers=self._every.bound.covers,
            settings=self._settings.to_dict(self._cuts),
        )

    def _say(self, words: str, done: int = 0, of: int | None = None) -> None:
        if self._settings.on_step is not None:
            self._settings.on_step(words, done, of)

    def _say_draw(self, done: int, of: int) -> None:
        self._say(f"draws of chance, after {len(self.patches):,} patches", done, of)
