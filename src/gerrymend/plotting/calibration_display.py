"""SubgroupCalibrationDisplay: what scores predict and what happens, of a subgroup and everyone."""

from typing import Any

from gerrymend.auditing.audit import audit
from gerrymend.auditing.calibration_curve import CalibrationCurve, CalibrationPoint
from gerrymend.auditing.report import AuditReport
from gerrymend.plotting._display import BLUE, VERMILLION, Display, label, legend_above, say_nothing
from gerrymend.reporting.wording import figure


class SubgroupCalibrationDisplay(Display):
    """Draw the calibration of the worst subgroup, at all scores, and that of everyone.

    Scores that are right are on the diagonal. Make it by `from_report` or `from_predictions`.

    Parameters
    ----------
    curve : CalibrationCurve
        As `calibration` of a report of multicalibration has it.
    unit : str, optional
        What numbers are counted in; None for probabilities.

    Attributes
    ----------
    ax_, figure_ :
        The Axes and the figure that it was last drawn on.

    See Also
    --------
    Multicalibration
        Scores that are right on average in every subgroup, within every interval of the score.
    SubgroupCalibrator : A model whose scores are right in every subgroup, as far as rows can tell.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from gerrymend import SubgroupCalibrationDisplay
    >>> score = [0.3] * 40 + [0.7] * 40
    >>> happened = [0] * 20 + [1] * 10 + [0] * 10 + [1] * 20 + [0] * 10 + [1] * 10
    >>> display = SubgroupCalibrationDisplay.from_predictions(
    ...     happened, score, sensitive_features={"sex": (["F"] * 20 + ["M"] * 20) * 2})
    >>> display.ax_.get_xlabel(), display.curve.rule.describe(), len(display.curve.group)
    ('predicted (score)', 'sex = F', 2)
    """

    def __init__(self, curve: CalibrationCurve, unit: str | None = None) -> None:
        self.curve = curve
        self.unit = unit

    @classmethod
    def from_report(cls, report: AuditReport, *, ax: Any = None) -> "SubgroupCalibrationDisplay":
        """Draw the curve of a report.

        Raises a TypeError for anything but an AuditReport, and a ValueError for one that has no
        curve.
        """
        if not isinstance(report, AuditReport):
            raise TypeError(f"report must be an AuditReport, as audit() returns; got {report!r}.")
        if report.calibration is None:
            raise ValueError(
                "report has no calibration curve: it is of audit(..., notion='multicalibration'), "
                "where a subgroup differs that may be described."
            )
        display = cls(report.calibration, report.notions[0].to_dict()["unit"])
        display.plot(ax)
        return display

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, sensitive_features: Any, ax: Any = None, **options: Any
    ) -> "SubgroupCalibrationDisplay":
        """Audit scores, and draw the worst subgroup; `options` are those of audit()."""
        options = {"notion": "multicalibration", **options}
        report = audit(y_true, y_pred, sensitive_features=sensitive_features, **options)
        return cls.from_report(report, ax=ax)

    def _size(self) -> tuple[float, float]:
        """Return a square, with room for the legend."""
        return 5.6, 6.0

    def _draw(self, ax: Any) -> None:
        """Draw the diagonal, everyone, and the subgroup before them."""
        points = (*self.curve.group, *self.curve.everyone)
        if not points:
            say_nothing(ax, "No bin of the score has enough rows to be shown.")
            return
        values = [v for one in points for v in (one.predicted, one.observed, *one.interval)]
        ends = [min(values), max(values)]
        ax.plot(ends, ends, color="black", lw=1.0, ls="--", label="scores that are right")
        self._draw_line(ax, self.curve.everyone, BLUE, "o", "everyone")
        # A formula names nobody.
        rule = self.curve.rule
        words = label(rule.describe(), lines=1) if rule.says_who else "the subgroup that was found"
        self._draw_line(ax, self.curve.group, VERMILLION, "D", words)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: figure(value, self.unit))
        ax.set_xlabel(label(f"predicted ({self.curve.score})", lines=1))
        ax.set_ylabel("happened" if self.unit is None else "observed")
        room = 0.04 * (ends[1] - ends[0] or 1.0)
        ax.set(xlim=(ends[0] - room, ends[1] + room), ylim=(ends[0] - room, ends[1] + room))
        ax.set_aspect("equal")
        ax.grid(color="0.9")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        legend_above(ax, columns=1)

    def _draw_line(
        self,
        ax: Any,
        points: tuple[CalibrationPoint, ...],
        colour: str,
        marker: str,
        words: str,
    ) -> None:
        """Draw the points of one group, each with its interval."""
        for one in points:
            ax.plot([one.predicted] * 2, one.interval, color=colour, lw=1.2, alpha=0.5)
        if points:
            predicted = [one.predicted for one in points]
            observed = [one.observed for one in points]
            ax.plot(predicted, observed, color=colour, marker=marker, ms=6, lw=1.4, label=words)
