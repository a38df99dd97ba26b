"""Patches: what is done to the scores of a subgroup within an interval, and lists of them.

A list is applied in order: each patch changes the rows of its rule whose score, as the patches
before it left it, lies in its interval. That is all that a deployment needs, and all that a file
of patches has (`saved.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.reprs import short_repr
from gerrymend.calibration.changes import Change
from gerrymend.calibration.standing import Standing
from gerrymend.calibration.table import in_interval
from gerrymend.calibration.text import patches_text
from gerrymend.inputs.indexes import check_same_index
from gerrymend.inputs.numbers import is_number_type, short
from gerrymend.inputs.protected import Column, distinct_rows, select_columns
from gerrymend.inputs.sample import finite
from gerrymend.inputs.validation import check_same_length
from gerrymend.subgroups.rules import Condition, Rule


@dataclass(frozen=True)
class Patch:
    """A change of the scores of one subgroup within one interval of them.

    Attributes
    ----------
    rule : Rule
        Who is in the subgroup, by the protected attributes.
    low, high : float
        The interval, low ≤ score < high, which may be open: −∞, ∞.
    change : OddsChange or NumberChange
        What is done to the scores.
    rows : int
        How many rows it was learnt from.
    predicted, happened : float
        The mean score of these rows before, and the mean of what happened.
    violation : float
        Their share of all, times how far what happened was above what was predicted.
    p_value : float or None
        How often chance makes a worst violation as large, of scores that are right; of the line
        for everyone, that of all changes that were fitted together. None of the shifts among these,
        and where chance was not asked about.

    See Also
    --------
    ScorePatches
        Patches of a score in the order in which they are applied, as `calibrate` learns them.
    calibrate
        Learn patches after which scores are right in every subgroup, as far as rows can tell.

    Examples
    --------
    It happens to half of the men, and to none of the women, of whom half was predicted too:

    >>> from gerrymend import calibrate
    >>> sex = ["F"] * 100 + ["M"] * 100
    >>> happened = [0] * 100 + [0, 1] * 50
    >>> (patch,) = calibrate(happened, [0.5] * 200, sensitive_features={"sex": sex},
    ...                      notion="multiaccuracy")
    >>> print(patch.rule, patch.rows, patch.predicted, patch.happened)
    sex = F 100 0.5 0.0
    """

    rule: Rule
    low: float
    high: float
    change: Change
    rows: int
    predicted: float
    happened: float
    violation: float
    p_value: float | None

    def interval(self, score: str) -> str:
        """Return the interval in words; "all" where it is open on both sides."""
        return interval_words(score, self.low, self.high)

    def apply(self, score: Array, members: NDArray[np.bool_]) -> Array:
        """Return scores of which those in the interval, of members, are changed."""
        inside = members & in_interval(score, self.low, self.high)
        changed = score.copy()
        changed[inside] = self.change.apply(score[inside])
        return changed


def interval_words(score: str, low: float, high: float) -> str:
    """Return an interval of a score in words.

    >>> interval_words("p", 0.5, 0.75), interval_words("p", -np.inf, np.inf)
    ('0.5 ≤ p < 0.75', 'all')
    """
    condition = Condition(score, low=low, high=high)
    return "all" if condition == Condition(score) else condition.describe()


@dataclass(frozen=True, repr=False)
class ScorePatches(Sequence[Patch]):
    """Patches of a score in the order in which they are applied, as `calibrate` learns them.

    A slice, such as ``patches[:2]``, is the list of these alone; so is what `undo` leaves.

    Attributes
    ----------
    patches : tuple of Patch
    attributes : dict of str to str
        The protected attributes with the kind of each, in their order.
    probabilities : bool
        Whether scores are probabilities, or predictions of a number.
    score : str
        What the score is called.
    whole : tuple of str
        The attributes that are numbers without fractions, for words.
    standing : Standing or None
        What is known of the patched scores of the rows that the patches were learnt on: the worst
        violation before and after, what is proven, and why no patch followed. None for a part of
        the list.

    See Also
    --------
    calibrate
        Learn patches after which scores are right in every subgroup, as far as rows can tell.
    SubgroupCalibrator : A model whose scores are right in every subgroup, as far as rows can tell.
    save_patches
        Save patches as JSON; the file is written whole or not at all, and replaces an existing one.
    check_patches
        Verify patches against the rows that they were learnt on, in exact rational arithmetic.

    Examples
    --------
    >>> from gerrymend import calibrate
    >>> A = {"sex": ["F", "M"] * 100}
    >>> patches = calibrate([0, 1] * 80 + [1, 1] * 20, [0.5, 0.6] * 100, sensitive_features=A,
    ...                     notion="multiaccuracy")
    >>> patches.apply([0.5], {"sex": ["F"]}).round(1).tolist()
    [0.2]
    >>> patches.undo(len(patches)).apply([0.5], {"sex": ["F"]}).tolist()
    [0.5]
    """

    patches: tuple[Patch, ...]
    attributes: Mapping[str, str]
    probabilities: bool
    score: str
    whole: tuple[str, ...] = ()
    standing: Standing | None = None

    def apply(self, scores: Any, sensitive_features: Any) -> Array:
        """Return the patched scores of any rows.

        Parameters
        ----------
        scores : array of n_rows numbers
            As the model gives them: probabilities, unless numbers are predicted.
        sensitive_features : frame, mapping or array
            The protected attributes that the patches were learnt on, by name; of an array the
            columns are taken in their order.
        """
        score = finite(scores, "scores")
        if self.probabilities:
            _check_probabilities(score)
        columns = select_columns(sensitive_features, self.attributes)
        n_rows = len(next(iter(columns.values())).values)
        check_same_length(scores=len(score), sensitive_features=n_rows)
        check_same_index(scores=scores, sensitive_features=sensitive_features)
        return self.applied(score, columns)

    def applied(self, score: Array, columns: Mapping[str, Column]) -> Array:
        """Return the patched scores of rows that were read and checked."""
        cells = distinct_rows(tuple(columns.values()))
        by_name = {column.name: column for column in cells.columns}
        for patch in self.patches:
            score = patch.apply(score, patch.rule.members(by_name)[cells.index])
        return score

    def undo(self, n: int = 1) -> "ScorePatches":
        """Return the list without its last n patches."""
        most = len(self.patches)
        number = n if isinstance(n, Integral) and is_number_type(type(n)) else -1
        if not 0 <= number <= most:
            raise ArgumentError(
                "n", f"must be a number of patches from 0 to {most}; got {short(n)}."
            )
        return self[: most - number]

    def to_dict(self) -> dict[str, Any]:
        """Return the patches as plain data: what a file of them has, its sha256 included."""
        from gerrymend.calibration.saved import sealed_plain  # which makes patches again

        return sealed_plain(self)

    def __len__(self) -> int:
        return len(self.patches)

    @overload
    def __getitem__(self, index: int) -> Patch: ...
    @overload
    def __getitem__(self, index: slice) -> "ScorePatches": ...
    def __getitem__(self, index: int | slice) -> "Patch | ScorePatches":
        if not isinstance(index, slice):
            return self.patches[index]
        kept = self.patches[index]
        if kept == self.patches:
            return self
        return replace(self, patches=kept, standing=None)

    def __iter__(self) -> Iterator[Patch]:
        return iter(self.patches)

    def __str__(self) -> str:
        return patches_text(self)

    def __repr__(self) -> str:
        figures: dict[str, Any] = {"n_patches": len(self.patches)}
        if self.standing is not None:
            figures["before"] = self.standing.before
            figures["after"] = self.standing.after
        return short_repr(self, **figures)


def _check_probabilities(score: Array) -> None:
    """Raise an ArgumentError for scores that are no probabilities."""
    outside = (score < 0) | (score > 1)
    if outside.any():
        raise ArgumentError(
            "scores",
            f"has {int(outside.sum()):,} scores outside of [0, 1], such as "
            f"{score[outside][0]:g}; these patches are of probabilities.",
        )
