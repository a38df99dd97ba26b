"""Notions of scores: whether what a model predicts is right, on average, for every subgroup.

The outcome of a row is its error u = y − score, and what it is compared with is 0: the score
itself, so that a subgroup's value is its share times (what happened − what was predicted). Over
subgroups that is multiaccuracy (Kim, Ghorbani and Zou, 2019); over subgroups within every interval
of the score it is multicalibration (Hébert-Johnson et al., 2018), for which the score is one more
column of the cells.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.bins import check_score_bins
from gerrymend.inputs.numbers import short
from gerrymend.inputs.protected import Column
from gerrymend.notions.outcomes import Outcome, OutcomeNotion, error_of
from gerrymend.notions.rates import FairnessNotion
from gerrymend.notions.references import PREDICTED, Reference, check_worse, is_none_or

# What y_true may be.
TARGETS = ("labels", "numbers")
# What a score is called that has no column's name.
SCORE = "score"


@dataclass(frozen=True)
class Multiaccuracy(OutcomeNotion):
    """Scores that are right on average in every subgroup.

    Parameters
    ----------
    unit : str, default=""
        What numbers are counted in, in the plural, for reports: "days".
    worse : {"higher", "lower"}, optional
        Which errors are worse for a group; audits set it by their `favourable`.
    target : {"labels", "numbers"}, optional
        Whether y_true has two labels, of which scores are the probability of the positive one, or
        numbers that scores predict. By default two values are labels, and more are numbers.

    See Also
    --------
    Multicalibration
        Scores that are right on average in every subgroup, within every interval of the score.
    OutcomeNotion : A mean of numbers, one a row, that should be the same in every subgroup.

    Examples
    --------
    Seven of ten are predicted, for women and men; it happens to half of the women, and nine of ten
    men.

    >>> from gerrymend import Multiaccuracy, audit
    >>> sex = ["F"] * 40 + ["M"] * 40
    >>> report = audit([0, 1] * 20 + [1] * 36 + [0] * 4, [0.7] * 80, notion=Multiaccuracy(),
    ...                sensitive_features={"sex": sex}, subgroups="marginals")
    >>> worst = report.worst
    >>> print(worst, worst.rate, round(worst.overall_rate, 3), round(worst.unfairness, 3))
    sex = M 0.9 0.7 0.1
    """

    name: str = field(default="multiaccuracy", init=False, repr=False)
    # Made for each instance: a function of the class would be its method.
    outcome: Outcome = field(default_factory=lambda: error_of, init=False, repr=False)
    event: Outcome | None = field(default=None, init=False, repr=False)
    reads_labels: bool = field(default=True, init=False, repr=False)
    unit: str = field(default="", kw_only=True)
    worse: str | None = field(default=None, compare=False, repr=False, kw_only=True)
    # y − score falls as the score rises.
    rises: int = field(default=-1, init=False, compare=False, repr=False)
    reference: Reference = field(default=PREDICTED, init=False, repr=False)
    target: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not is_none_or(self.target, TARGETS):
            raise ArgumentError(
                "target",
                f"of the notion {self.name!r} is 'labels', 'numbers' or None, to tell by their "
                f"number of values; got {short(self.target)}.",
            )
        if not isinstance(self.unit, str):
            raise TypeError(f"unit of the notion {self.name!r} is text; got {short(self.unit)}.")
        check_worse(self.name, self.worse)

    @property
    def rate(self) -> FairnessNotion:
        """The same mean over rows that were read: u for the decision."""
        return FairnessNotion(
            self.name,
            (True, True),
            a=(0, 0),
            b=(1, 1),
            worse=self.worse,
            # Of labels the mean is a rate, a share of the rows, which has no unit.
            unit=None if self.target == "labels" else self.unit,
            reference=self.reference,
        )

    def against(self, reference: Any) -> "Multiaccuracy":
        """Return itself: rows are compared with their scores; raise for another reference."""
        if reference == self.reference:
            return self
        raise ArgumentError(
            Argument("reference", value=short(reference)),
            f"is not what {self.name!r} compares with, which is each row's own score; leave it "
            "out, or choose notion='mean_error'.",
        )

    def as_read(self, *, of_labels: bool, score: Column | None) -> "Multiaccuracy":
        """Return the notion as it is of rows that were read."""
        return replace(self, target="labels" if of_labels else "numbers")


@dataclass(frozen=True)
class Multicalibration(Multiaccuracy):
    """Scores that are right on average in every subgroup, within every interval of the score.

    Parameters
    ----------
    bins : int or list of float, default=10
        How many bins scores are cut into, or the scores to cut them at. Every run of neighbouring
        bins is an interval. Probabilities are cut into bins of equal width, and other scores into
        bins of equal weight.
    unit, worse, target
        As for Multiaccuracy.
    score : str, optional
        What the score is called in rules; by default the name of its column, or "score".

    See Also
    --------
    Multiaccuracy : Scores that are right on average in every subgroup.
    calibrate
        Learn patches after which scores are right in every subgroup, as far as rows can tell.
    SubgroupCalibrationDisplay
        Draw the calibration of the worst subgroup, at all scores, and that of everyone.

    Examples
    --------
    Of all women, and of all men, half are predicted, and it happens to half. But low scores are too
    high for women, and high ones too low; for men it is the other way round.

    >>> from gerrymend import Multicalibration, audit
    >>> score = [0.3] * 40 + [0.7] * 40
    >>> happened = [0] * 20 + [1] * 10 + [0] * 10 + [1] * 20 + [0] * 10 + [1] * 10
    >>> sex = (["F"] * 20 + ["M"] * 20) * 2
    >>> report = audit(happened, score, sensitive_features={"sex": sex},
    ...                notion=Multicalibration(bins=5), subgroups="marginals")
    >>> worst = report.worst
    >>> print(worst, worst.rate, round(worst.overall_rate, 3), round(worst.unfairness, 3))
    sex = F and score ≥ 0.6 1.0 0.7 0.075
    """

    name: str = field(default="multicalibration", init=False, repr=False)
    bins: int | tuple[float, ...] = 10
    score: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        # Frozen, so not by assignment; as a tuple, since a list could not be hashed.
        object.__setattr__(self, "bins", check_score_bins(self.bins))
        if not isinstance(self.score, str | None) or self.score == "":
            raise TypeError(f"score of a Multicalibration must be text; got {short(self.score)}.")

    def as_read(self, *, of_labels: bool, score: Column | None) -> "Multicalibration":
        """Return the notion as it is of rows that were read: with the cuts of their scores."""
        assert score is not None
        assert score.cuts is not None
        target = "labels" if of_labels else "numbers"
        return replace(self, target=target, bins=score.cuts, score=score.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the notion as plain data for JSON, with the column of scores and its cuts."""
        cuts = list(self.bins) if isinstance(self.bins, tuple) else None
        return {**super().to_dict(), "score": self.score, "cuts": cuts}


MULTIACCURACY = Multiaccuracy()
MULTICALIBRATION = Multicalibration()
