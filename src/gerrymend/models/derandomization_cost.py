"""Figures of a deterministic classifier beside those of the mixture that it came from."""

from dataclasses import asdict, dataclass
from typing import Any, Self

from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.reporting import wording


@dataclass(frozen=True)
class Figures:
    """Error and unfairness of a classifier on some rows.

    Attributes
    ----------
    error : float
        The expected share of the weight that is decided wrongly.
    unfairness : float
        The largest unfairness that an audit found.
    upper_bound : float
        An unfairness that no subgroup of the class exceeds.
    """

    error: float
    unfairness: float
    upper_bound: float

    @property
    def no_more_than(self) -> str:
        """The upper bound as text: rounded up, or as the unfairness is where that is exact."""
        is_exact = self.upper_bound <= self.unfairness + ROUNDING
        return f"{self.unfairness:.4f}" if is_exact else wording.bound(self.upper_bound)


@dataclass(frozen=True)
class DerandomizationCost:
    """Figures of a deterministic classifier beside those of the mixture that it came from.

    Attributes
    ----------
    what : str
        The deterministic classifier in words.
    gamma : float
        The largest unfairness that was allowed.
    notions : tuple of str
        The rates that were compared.
    covers : str
        The class of subgroups, in words.
    n_rows : int
        The number of rows that both were audited on.
    mixture, deterministic : Figures
        Error, unfairness and upper bound of each.
    control_features : tuple of str
        The columns within whose values groups were compared; empty where there are none.

    See Also
    --------
    MixtureClassifier
        A fitted classifier that decides by one of its predictors, drawn with known probabilities.

    Examples
    --------
    >>> mixture, fixed = Figures(0.21, 0.0095, 0.01), Figures(0.225, 0.004, 0.004)
    >>> print(DerandomizationCost("predictor 2 of 5", 0.01, ("error rate",), "every value of sex",
    ...                           1000, mixture, fixed))
    Deterministic: predictor 2 of 5; on 1,000 rows, by the error rate over every value of sex:
                      error   unfairness  no more than
      mixture        0.2100       0.0095        0.0100
      deterministic  0.2250       0.0040        0.0040
    It costs 0.0150 of error. No subgroup exceeds gamma = 0.01: proven.
    """

    what: str
    gamma: float
    notions: tuple[str, ...]
    covers: str
    n_rows: int
    mixture: Figures
    deterministic: Figures
    control_features: tuple[str, ...] = ()

    @property
    def error(self) -> float:
        """The increase in error; negative if the deterministic classifier has less."""
        return self.deterministic.error - self.mixture.error

    @property
    def proven(self) -> bool:
        """True if it is proven that no subgroup of the class exceeds gamma."""
        return self.deterministic.upper_bound <= self.gamma + ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data for JSON."""
        plain = asdict(self) | {"notions": list(self.notions)}
        # Left out where there are none, as in files from before there were any.
        controls = list(plain.pop("control_features"))
        return plain | ({"control_features": controls} if controls else {})

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Self:
        """Make the object again that `to_dict` converted."""
        figures = {name: Figures(**plain[name]) for name in ("mixture", "deterministic")}
        names = {name: tuple(plain.get(name, ())) for name in ("notions", "control_features")}
        return cls(**plain | figures | names)

    def __str__(self) -> str:
        lines = [
            f"Deterministic: {self.what}; on {self.n_rows:,} rows, by the "
            f"{' and the '.join(self.notions)} over {self.covers}"
            f"{wording.within_strata(self.control_features)}:",
            f"  {'':13}  {'error':>6}   unfairness  no more than",
        ]
        for name in ("mixture", "deterministic"):
            figures: Figures = getattr(self, name)
            found = f"{figures.error:.4f}       {figures.unfairness:.4f}"
            lines.append(f"  {name:13}  {found}        {figures.no_more_than}")
        verb = "saves" if round(self.error, 4) < 0 else "costs"
        lines.append(f"It {verb} {abs(self.error):.4f} of error. No subgroup {self._assurance()}")
        return "\n".join(lines)

    def _assurance(self) -> str:
        if self.proven:
            return f"exceeds gamma = {self.gamma:g}: proven."
        return (
            f"that was found exceeds gamma = {self.gamma:g}; proven is "
            f"{wording.bound(self.deterministic.upper_bound)}. A larger budget may prove more."
        )
