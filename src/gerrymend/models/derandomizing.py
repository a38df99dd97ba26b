"""Choice of a deterministic classifier in place of a mixture, with its cost in error."""

import heapq
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, total, total_by_cell
from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.audit import audit
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.auditing.tally import Rows, Tally
from gerrymend.inputs.categories import check_label_types
from gerrymend.inputs.sample import Decided, Names, Sample, named_columns, read_vector
from gerrymend.inputs.settings import check_budget, check_choice, check_gamma
from gerrymend.models.mixture import Predictor, ThresholdPredictor
from gerrymend.models.mixture_classifier import MixtureClassifier
from gerrymend.notions import FairnessNotion, NotionLike, as_rates
from gerrymend.reporting import wording
from gerrymend.subgroups import SubgroupClass, as_subgroup_class

Decisions = NDArray[np.bool_]
_Audit = Callable[..., AuditReport]

# Probabilities that differ by less may be the same sum of weights, added in another order.
_SAME_PROBABILITY = 1e-9
# Seconds for the proof of an audit that only tells, in an error, how close a candidate came.
_LEAST_SECONDS = 0.1


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
        return asdict(self) | {"notions": list(self.notions)}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Self:
        """Make the object again that `to_dict` converted."""
        figures = {name: Figures(**plain[name]) for name in ("mixture", "deterministic")}
        return cls(**plain | figures | {"notions": tuple(plain["notions"])})

    def __str__(self) -> str:
        lines = [
            f"Deterministic: {self.what}; on {self.n_rows:,} rows, by the "
            f"{' and the '.join(self.notions)} over {self.covers}:",
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


class _Candidate(NamedTuple):
    """A deterministic classifier, with its error on the rows that it is chosen on.

    `decide` computes the decisions for these rows anew; those of all candidates would not fit.
    """

    what: str
    predictor: Predictor
    decide: Callable[[], Decisions]
    error: float
    is_constant: bool

    @classmethod
    def of(
        cls, what: str, predictor: Predictor, decide: Callable[[], Decisions], rows: Rows
    ) -> Self:
        """Make a candidate; it is constant if all rows with weight are decided alike."""
        decisions = decide()
        counted = decisions[rows.weight > 0]
        is_constant = bool(counted.all() or not counted.any())
        return cls(what, predictor, decide, _error(rows, decisions), is_constant)


@interruptible
def derandomize(
    classifier: MixtureClassifier,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    gamma: float,
    notion: NotionLike,
    subgroups: Any,
    how: str,
    sample_weight: Any,
    budget: float,
) -> MixtureClassifier:
    """Implement `MixtureClassifier.derandomize`; see there."""
    how = check_choice(how, "how", ("best", "predictor", "threshold"))
    gamma = check_gamma(gamma)
    budget = check_budget(budget)
    notions = as_rates(notion)
    subgroup_class = as_subgroup_class(subgroups)
    features = classifier.read(X)
    p = classifier.mixture.positive_probability(features)
    pos_label = _check_known_labels(y, classifier)
    sample = Sample.read(
        y,
        named_columns(X, sensitive_features),
        sample_weight,
        decisions=p,
        decided=Decided(None, True, pos_label),
        names=Names(decisions="X"),
    )
    given = {
        "y_true": sample.labels,
        "sensitive_features": sample.protected,
        "sample_weight": sample.given_weight,
        "decision_probabilities": True,
        "pos_label": pos_label,
    }
    audited = partial(
        _audit, given, notion=notions, subgroups=subgroup_class, gamma=gamma, budget=budget
    )
    tally = Tally.of_sample(sample)
    assert tally.rows is not None
    candidates = _candidates(classifier, features, tally.rows, how)
    of_mixture = audited(p)
    search = _Search(tally, notions, subgroup_class)
    choice = _least_error(candidates, search, audited, gamma)
    if isinstance(choice, list):
        nearest, reached = _least_unfair(candidates, choice, search, audited, budget)
        raise _none_within(gamma, how, len(candidates), nearest, reached, of_mixture.unfairness)
    chosen, report = choice
    cost = DerandomizationCost(
        what=chosen.what,
        gamma=gamma,
        notions=tuple(notion.words for notion in notions),
        covers=report.covers,
        n_rows=report.n_rows,
        mixture=_figures(_error(tally.rows, p), of_mixture),
        deterministic=_figures(chosen.error, report),
    )
    return classifier.with_predictor(chosen.predictor, cost)


def _audit(given: Mapping[str, Any], decisions: Array | Decisions, **settings: Any) -> AuditReport:
    return audit(**given, y_pred=decisions.astype(np.float64), **settings)


def _check_known_labels(y: Any, classifier: MixtureClassifier) -> Any:
    """Return the positive label; raise ArgumentError if y has one that the classifier lacks."""
    labels = read_vector(y, "y")
    check_label_types(labels, "y")
    unknown = sorted(map(repr, set(labels.tolist()) - set(classifier.classes_.tolist())))
    if unknown:
        raise ArgumentError(
            "y",
            f"has values that are no label of the classifier: {', '.join(unknown[:3])} (its "
            f"labels are {', '.join(map(repr, classifier.classes_.tolist()))}).",
        )
    return classifier.classes_.tolist()[1]


def _candidates(
    classifier: MixtureClassifier, features: Any, rows: Rows, how: str
) -> list[_Candidate]:
    """Return the candidates in order of their error, constants only if there are no others."""
    made: list[_Candidate] = []
    if how in ("best", "predictor"):
        made += _single_predictors(classifier, features, rows)
    if how in ("best", "threshold"):
        made += _thresholds(classifier, rows)
    if not made:
        raise ValueError(
            "how='threshold' finds nothing to cut: the mixture decides with the same probability "
            f"for every row of X, {rows.p[0]:.4f}. Choose how='predictor', or pass other rows."
        )
    varied = [candidate for candidate in made if not candidate.is_constant]
    return sorted(varied or made, key=lambda candidate: candidate.error)


def _single_predictors(
    classifier: MixtureClassifier, features: Any, rows: Rows
) -> Iterator[_Candidate]:
    of = len(classifier.predictors_)
    for number, predictor in enumerate(classifier.predictors_, start=1):
        decide = partial(predictor.decide, features)
        yield _Candidate.of(f"predictor {number} of {of}", predictor, decide, rows)


def _thresholds(classifier: MixtureClassifier, rows: Rows) -> Iterator[_Candidate]:
    """Yield a candidate for each cut halfway between neighbouring probabilities of the mixture."""
    values = np.unique(rows.p[rows.weight > 0])
    apart = np.diff(values) > _SAME_PROBABILITY
    for cut in ((values[:-1] + values[1:])[apart] / 2).tolist():
        what = f"1 where the mixture decides so with probability {cut:.4f} or more"
        decide = partial(np.greater_equal, rows.p, cut)
        yield _Candidate.of(what, ThresholdPredictor(classifier.mixture, cut), decide, rows)


def _error(rows: Rows, p: Array | Decisions) -> float:
    """Return the expected share of the weight that is decided wrongly."""
    wrong = np.where(rows.y == 1, 1.0 - p, p)
    return total(rows.weight * wrong) / total(rows.weight)


def _figures(error: float, report: AuditReport) -> Figures:
    return Figures(float(error), float(report.unfairness), float(report.upper_bound))


class _Search:
    """Search for the worst subgroup of many decisions, earlier finds first as they cost little."""

    def __init__(
        self, tally: Tally, notions: Sequence[FairnessNotion], subgroups: SubgroupClass
    ) -> None:
        self._tally = tally
        self._notions = notions
        self._bound = [tally.of_notion(notion).bind(subgroups) for notion in notions]
        self._known: list[list[Array]] = [[] for _ in notions]

    def unfairness(self, decisions: Decisions, enough: float = np.inf) -> float:
        """Return the largest unfairness found, without further search once it exceeds `enough`."""
        residuals = self._residuals(decisions)
        values = [
            float(np.abs(np.stack(known) @ residual).max())
            for known, residual in zip(self._known, residuals, strict=True)
            if known
        ]
        n = self._tally.total_weight
        if values and max(values) / n > enough:
            return max(values) / n
        for bound, known, residual in zip(self._bound, self._known, residuals, strict=True):
            found = bound.worst(residual[None])
            known.append(found.members[0])
            values.append(abs(float(found.values[0])))
        return max(values) / n

    def _residuals(self, decisions: Decisions) -> list[Array]:
        """Return the residual by cell of each notion, for decisions by row."""
        rows = self._tally.rows
        shape = self._tally.weight.shape
        assert rows is not None
        # The tally has a row for each label and a column for each cell.
        key = rows.cell + shape[1] * rows.y
        positive = total_by_cell(key, rows.weight * decisions, 2 * shape[1]).reshape(shape)
        tally = replace(self._tally, positive=positive)
        return [tally.of_notion(notion).residual for notion in self._notions]


def _least_error(
    candidates: Sequence[_Candidate], search: _Search, audited: _Audit, gamma: float
) -> tuple[_Candidate, AuditReport] | list[float]:
    """Return the first candidate in which neither search nor audit exceeds gamma, and its audit.

    If there is none, return what was found for each candidate, a lower bound of its unfairness.
    The search comes first because it is much cheaper than an audit with its proof.
    """
    found = []
    for candidate in candidates:  # in order of their error
        decisions = candidate.decide()
        unfairness = search.unfairness(decisions, enough=gamma + ROUNDING)
        if unfairness <= gamma + ROUNDING:
            report = audited(decisions)
            if report.verdict != "exceeds gamma":
                return candidate, report
            unfairness = report.unfairness
        found.append(unfairness)
    return found


def _least_unfair(
    candidates: Sequence[_Candidate],
    found: Sequence[float],
    search: _Search,
    audited: _Audit,
    budget: float,
) -> tuple[_Candidate, float]:
    """Return the candidate that is least unfair by its audit, and its unfairness.

    Best first: the candidate with the lowest lower bound is searched, and audited when its turn
    comes again. One that has been audited and is still the lowest is the least unfair.
    """
    deadline = time.monotonic() + budget
    queue = [(bound, number, 0) for number, bound in enumerate(found)]
    heapq.heapify(queue)
    while True:
        bound, number, times_raised = heapq.heappop(queue)
        candidate = candidates[number]
        if times_raised == 2:
            return candidate, bound
        if times_raised == 0:
            better = search.unfairness(candidate.decide())
        else:
            seconds = max(deadline - time.monotonic(), _LEAST_SECONDS)
            better = audited(candidate.decide(), budget=seconds).unfairness
        heapq.heappush(queue, (max(bound, better), number, times_raised + 1))


def _none_within(
    gamma: float, how: str, number: int, nearest: _Candidate, reached: float, of_mixture: float
) -> ValueError:
    """Return the error for a gamma that no candidate is within, with the gamma that one is."""
    # Rounded up to the four digits shown, so that the suggested gamma suffices.
    enough = math.ceil(1e4 * reached) / 1e4
    other = "" if how == "best" else " try how='best';"
    return ValueError(
        f"No deterministic classifier (how={how!r}, {number:,} tried) is within gamma={gamma:g}. "
        f"The smallest unfairness reached is {reached:.4f}, by this one: {nearest.what} (error "
        f"{nearest.error:.4f}). The mixture itself has {of_mixture:.4f}. Allow gamma={enough:.4f};"
        f"{other} or deploy the mixture, whose draw for a row is the same every time."
    )
