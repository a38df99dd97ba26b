"""AuditDisplay: rates of the worst subgroups, and of listed groups, against the overall rate."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gerrymend.auditing.audit import audit
from gerrymend.auditing.inference import GroupEstimate
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.notions import PREDICTED, in_words
from gerrymend.plotting._display import (
    BLUE,
    VERMILLION,
    Display,
    decisions_of,
    label,
    legend_above,
    protected_of,
    say_nothing,
)
from gerrymend.reporting.audit.subgroup_words import short_name
from gerrymend.reporting.wording import figure, percent

# Line styles of the overall rates, one a notion.
_LINES = ("--", ":", "-.", (0, (5, 1)))


class GroupRate(NamedTuple):
    """Hold one line of the picture: a group, its rate, and the interval of that where there is one.

    `found` is true for a subgroup that the audit found, and false for a group that is listed.
    `expected` is what it is compared with, where that is not the overall rate.
    """

    words: str
    notion: str
    rate: float
    size: int
    interval: tuple[float, float] | None
    found: bool
    expected: float | None = None


class AuditDisplay(Display):
    """Draw rates of groups, one a line: those that an audit found, and others to compare.

    Make it by `from_report`, `from_estimator` or `from_predictions`.

    Parameters
    ----------
    groups : sequence of GroupRate
        In the order of the lines, from the top.
    overall : mapping of str to float
        The overall rate of each notion by its name, or its reference.
    level : float, default=0.95
        The confidence with which all intervals hold at once.
    unit : str, optional
        What means of numbers are counted in; None for rates.
    references : mapping from the name of a notion to a text, optional
        What `overall` is, in words, of notions that are compared with a reference in its place.

    Attributes
    ----------
    ax_, figure_ :
        The Axes and the figure that it was last drawn on.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.
    SubgroupCalibrationDisplay
        Draw the calibration of the worst subgroup, at all scores, and that of everyone.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from gerrymend import AuditDisplay, audit
    >>> from gerrymend.datasets import make_gerrymandered
    >>> toy = make_gerrymandered(800)
    >>> report = audit(toy.target, (toy.score >= 0.5).astype(int),
    ...                sensitive_features=toy.sensitive_features, top=2)
    >>> display = AuditDisplay.from_report(report)
    >>> display.ax_.get_xlabel()
    'false positive rate'
    >>> [group.words for group in display.groups if group.found]
    ['race = blue and gender = man', 'race = green and gender = woman']
    >>> [group.words for group in display.groups if not group.found]
    ['race = blue', 'race = green', 'gender = man', 'gender = woman']
    """

    def __init__(
        self,
        groups: Sequence[GroupRate],
        overall: Mapping[str, float],
        level: float = 0.95,
        unit: str | None = None,
        references: Mapping[str, str] | None = None,
    ) -> None:
        self.groups = tuple(groups)
        self.overall = dict(overall)
        self.level = level
        self.unit = unit
        self.references = dict(references or {})

    @classmethod
    def from_report(cls, report: AuditReport, *, ax: Any = None) -> "AuditDisplay":
        """Draw the groups of a report: `top`, and those that its class lists, or its `marginals`.

        Raises a TypeError for anything but an AuditReport.
        """
        if not isinstance(report, AuditReport):
            raise TypeError(f"report must be an AuditReport, as audit() returns; got {report!r}.")
        compared = {one.notion: one for one in report.overall_rates}
        display = cls(
            _groups(report),
            {
                name: one.rate if one.reference is None else one.reference
                for name, one in compared.items()
                if one.rate is not None
            },
            unit=report.notions[0].unit,
            references={
                name: one.compared_with
                for name, one in compared.items()
                if one.compared_with is not None
            },
        )
        display.plot(ax)
        return display

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> "AuditDisplay":
        """Audit what a fitted classifier decides, and draw that.

        `options` are those of audit(): notion, subgroups, top, …. The mixtures of this package are
        audited by the probability of each decision, other classifiers by predict().
        """
        decided, are_probabilities = decisions_of(estimator, X)
        return cls.from_predictions(
            y, decided, sensitive_features=protected_of(X, sensitive_features), ax=ax,
            decision_probabilities=are_probabilities, **options,
        )  # fmt: skip

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, sensitive_features: Any, ax: Any = None, **options: Any
    ) -> "AuditDisplay":
        """Audit decisions, and draw that; `options` are those of audit()."""
        report = audit(
            y_true, y_pred, sensitive_features=sensitive_features, **{"top": 3, **options}
        )
        return cls.from_report(report, ax=ax)

    def _size(self) -> tuple[float, float]:
        """Return the width and height of a new figure, with room for each group."""
        return 7.5, max(2.4, 1.5 + 0.36 * len(self.groups))

    def _draw(self, ax: Any) -> None:
        """Draw what groups are compared with as lines, the groups, and the legend."""
        if not self.groups:
            other = "reference" if self.references else "overall"
            say_nothing(ax, f"No subgroup that may be described differs from the {other}.")
            return
        predicted = PREDICTED in self.references.values()
        lines = {} if predicted else self.overall  # which each group has of its own
        for (notion, rate), style in zip(lines.items(), _LINES, strict=False):
            several = _words(notion) if len(self._notions) > 1 else ""
            words = f"overall {several}".strip()
            if notion in self.references:
                words = label(", ".join(filter(None, [several, self.references[notion]])), lines=1)
            ax.axvline(
                rate, color="black", lw=1.2, ls=style, label=f"{words}: {self._figure(rate)}"
            )
        self._draw_kind(ax, True, VERMILLION, "D", "worst found by the audit")
        self._draw_kind(ax, False, BLUE, "o", "others")
        if any(group.expected is not None for group in self.groups):
            words = PREDICTED if predicted else "expected by its strata"
            ax.plot([], [], "|", color="black", ms=11, label=words)
        if any(group.interval for group in self.groups):
            words = f"{percent(self.level)} intervals, all at once"
            ax.plot([], [], color="0.4", lw=1.4, marker="|", ms=7, label=words)
        ax.set_yticks(range(len(self.groups)), [self._label(group) for group in self.groups])
        ax.tick_params(axis="y", length=0, labelsize=9 if len(self.groups) <= 25 else 8)
        ax.set_ylim(len(self.groups) - 0.4, -0.6)
        ax.xaxis.set_major_formatter(lambda value, _: self._figure(value))
        several = "rate" if self.unit is None else "mean"
        ax.set_xlabel(several if len(self._notions) > 1 else _words(next(iter(self._notions))))
        ax.grid(axis="x", color="0.9")
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        # To the left, over the names of the groups, there is room for it.
        legend_above(ax, columns=2, side="right")

    def _draw_kind(self, ax: Any, found: bool, colour: str, marker: str, words: str) -> None:
        """Draw the groups that were found, or those that were listed."""
        chosen = [(i, group) for i, group in enumerate(self.groups) if group.found == found]
        for i, group in chosen:
            reference = self.overall.get(group.notion)
            if group.expected is not None:
                reference = group.expected
                ax.plot([reference], [i], "|", color="black", ms=11)
            if reference is not None:  # a bar from there to the group's rate
                ax.plot([reference, group.rate], [i, i], color=colour, lw=4, alpha=0.3)
            if group.interval is not None:
                low, high = group.interval
                ax.plot(
                    [low, high],
                    [i, i],
                    color=colour,
                    lw=1.4,
                    marker="|",
                    ms=7,
                    solid_capstyle="butt",
                )
        if chosen:
            rates = [group.rate for _, group in chosen]
            ax.plot(rates, [i for i, _ in chosen], marker, color=colour, ms=7, label=words)

    def _figure(self, value: float) -> str:
        return label(figure(value, self.unit), lines=1)

    @property
    def _notions(self) -> dict[str, None]:
        """Names of the notions of all groups, in order."""
        return dict.fromkeys(group.notion for group in self.groups)

    def _label(self, group: GroupRate) -> str:
        """Return the label of a group: its words and size, and its notion where there are several.

        With more than 25 groups each has only one line.
        """
        lines = 2 if len(self.groups) <= 25 else 1
        rate = f", {_words(group.notion)}" if len(self._notions) > 1 else ""
        return label(group.words, lines=lines) + f"  ({group.size:,}{rate})"


def _groups(report: AuditReport) -> list[GroupRate]:
    """Return the worst that were found, then the other groups by decreasing rate.

    The others are those that the class lists, or the groups of one attribute at a time. A group
    that is both found and listed comes once, as found, with the interval of its listing.
    """

    def expected(group: Subgroup | GroupEstimate) -> float | None:
        own = report.control_features or report.notions[0].reference == PREDICTED
        return group.overall_rate if own else None

    others = {(group.group, group.notion): group for group in report.intervals or report.marginals}
    groups = []
    for group in report.top:
        words = short_name(group.to_dict())
        notion = group.notion.name
        listed = others.pop((group.describe(), notion), None)
        interval = None if listed is None else listed.rate_interval
        groups.append(
            GroupRate(words, notion, group.rate, group.size, interval, True, expected(group))
        )
    return groups + [
        GroupRate(
            group.group, group.notion, group.rate, group.size, group.rate_interval, False,
            expected(group),
        )
        for group in sorted(others.values(), key=lambda group: -group.rate)
    ]  # fmt: skip


def _words(notion: str) -> str:
    """Return a notion in words, as a label."""
    return label(in_words(notion), lines=1)
