"""Choice of a deterministic classifier in place of a mixture, with its cost in error."""

import heapq
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import in_words, is_dask_collection, is_device_array
from gerrymend._numeric.sums import Array, total, total_by_cell
from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.audit import audit
from gerrymend.auditing.outcome_tables import tally_of_outcomes
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.row_data import Rows
from gerrymend.auditing.strata import strata_of, stratified
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.categories import check_label_types
from gerrymend.inputs.protected import Cells
from gerrymend.inputs.sample import Decided, Names, Numbers, Sample, named_columns, read_vector
from gerrymend.inputs.settings import check_budget, check_choice, check_flag, check_gamma
from gerrymend.models.derandomization_cost import DerandomizationCost, Figures
from gerrymend.models.mixture import Predictor, ThresholdPredictor
from gerrymend.models.mixture_classifier import MixtureClassifier
from gerrymend.notions import (
    AnyNotion,
    NotionLike,
    OutcomeNotion,
    as_trainable,
    check_decisions,
    moment_of,
    warn_of_unit,
)
from gerrymend.subgroups import SubgroupClass, as_subgroup_class

Decisions = NDArray[np.bool_]
_Audit = Callable[..., AuditReport]

# Probabilities that differ by less may be the same sum of weights, added in another order.
_SAME_PROBABILITY = 1e-9
# Seconds for the proof of an audit that only tells, in an error, how close a candidate came.
_LEAST_SECONDS = 0.1


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
    control_features: Any,
    leave_out_empty_strata: bool,
) -> MixtureClassifier:
    """Implement `MixtureClassifier.derandomize`; see there."""
    how = check_choice(how, "how", ("best", "predictor", "threshold"))
    gamma = check_gamma(gamma)
    budget = check_budget(budget)
    leave_out = check_flag(leave_out_empty_strata, "leave_out_empty_strata")
    notions = as_trainable(notion)
    for one in notions:
        check_decisions(one, classifier.classes_)
    subgroup_class = as_subgroup_class(subgroups)
    if is_dask_collection(X) or is_device_array(X):
        raise ArgumentError(
            "X",
            f"is {in_words(X)}, and candidates are chosen by rows in memory; bring it here first, "
            "with .compute() or .cpu().",
        )
    features = classifier.read(X)
    p = classifier.mixture.positive_probability(features)
    # y may have one of the two labels only, of which nothing would tell which is positive; so the
    # classifier's own order decides.
    pos_label = _check_known_labels(y, classifier)
    if control_features is None:
        _warn_of_strata(classifier)
    sample = Sample.read(
        y,
        named_columns(X, sensitive_features),
        sample_weight,
        control=named_columns(X, control_features, "control_features"),
        decisions=p,
        decided=Decided(None, True, pos_label),
        names=Names(decisions="X"),
    )
    means = [one for one in notions if isinstance(one, OutcomeNotion)]
    of_rates = {"decision_probabilities": True, "pos_label": pos_label}
    given = {
        "y_true": sample.y if means else sample.labels,
        "sensitive_features": sample.protected,
        "sample_weight": sample.given_weight,
        **({} if means else of_rates),
        "control_features": sample.control,
        "leave_out_empty_strata": leave_out,
    }
    audited = partial(
        _audit, given, notion=notions, subgroups=subgroup_class, gamma=gamma, budget=budget
    )
    tally = Tally.of_sample(sample)
    moments = [moment_of(one, sample.y) for one in notions]
    warn_of_unit(gamma, moments)
    strata = strata_of(sample, moments, leave_out=leave_out)
    if strata is not None:
        tally = stratified(tally, strata)
    assert tally.rows is not None
    # Before the audit of the mixture, which takes up to `budget` seconds, as it may raise.
    candidates = _candidates(classifier, features, tally.rows, how)
    of_mixture = audited(p)
    deciding: Callable[[Any], Tally] = partial(_deciding, tally)
    if means:
        deciding = partial(_outcomes, sample, means, strata)
    search = _Search(deciding, p, notions, subgroup_class)
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
        control_features=report.control_features,
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
            f"labels are {', '.join(map(repr, classifier.classes_.tolist()))}). Pass labels "
            "of the two that it was trained on.",
        )
    return classifier.classes_.tolist()[1]


def _warn_of_strata(classifier: MixtureClassifier) -> None:
    """Warn where a mixture was trained within strata, and none are given to choose within."""
    if controls := classifier.training.get("control_features"):
        warnings.warn(
            f"The mixture was trained within strata of {' and '.join(controls)}, and "
            "control_features is not given: the choice compares groups with the overall rate. "
            "Pass the columns as control_features to compare within strata.",
            UserWarning,
            stacklevel=5,
        )


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
    # A constant is perfectly fair and useless: it would be chosen for any small gamma.
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
    # A cut between rows without weight changes no figure here, only decisions that nobody measured.
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
        self,
        deciding: Callable[[Any], Tally],
        p: Array,
        notions: Sequence[AnyNotion],
        subgroups: SubgroupClass,
    ) -> None:
        """Bind the subgroups to the rows that `deciding` sums, of decisions or of `p`."""
        tally = deciding(p)
        self._deciding = deciding
        self._total_weight = tally.total_weight
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
        n = self._total_weight
        # Known subgroups give a lower bound by one product of a matrix and a vector. Candidates of
        # one mixture are alike, so that the worst group of the last often settles the next.
        if values and max(values) / n > enough:
            return max(values) / n
        for bound, known, residual in zip(self._bound, self._known, residuals, strict=True):
            found = bound.worst(residual[None])
            known.append(found.members[0])
            values.append(abs(float(found.values[0])))
        return max(values) / n

    def _residuals(self, decisions: Decisions) -> list[Array]:
        """Return the residual by cell of each notion, for decisions by row."""
        tally = self._deciding(decisions)
        return [tally.of_notion(notion).residual for notion in self._notions]


def _outcomes(
    sample: Sample, means: Sequence[OutcomeNotion], strata: Cells | None, decisions: Any
) -> Tally:
    """Return the table of what decisions bring about, and its strata."""
    y = sample.y.astype(np.float64)
    numbers = Numbers(y, decisions.astype(np.float64), sample.columns, sample.weight)
    tally = tally_of_outcomes(numbers, means)
    return tally if strata is None else stratified(tally, strata)


def _deciding(tally: Tally, decisions: Array | Decisions) -> Tally:
    """Return a tally, and its strata, of other decisions about the same rows."""
    rows = tally.rows
    shape = tally.weight.shape
    assert rows is not None
    # The tally has a row for each label and a column for each cell.
    key = rows.cell + shape[1] * rows.y
    positive = total_by_cell(key, rows.weight * decisions, 2 * shape[1]).reshape(shape)
    strata = tally.strata
    if strata is not None:
        parts = enumerate(strata.parts)
        # Rows of a part are those of its stratum, in their order, which a mask keeps.
        decided = (_deciding(part, decisions[rows.stratum == number]) for number, part in parts)
        strata = replace(strata, parts=tuple(decided))
    return replace(tally, positive=positive, strata=strata)


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
            # Undecided is enough: the cost tells that nothing above gamma was found, and what is
            # proven.
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
    # `number` breaks ties, by least error, as candidates are sorted by it.
    queue = [(bound, number, 0) for number, bound in enumerate(found)]
    heapq.heapify(queue)
    while True:
        bound, number, times_raised = heapq.heappop(queue)
        candidate = candidates[number]
        # Searched and audited, and no other lower bound is below its unfairness: none can be less
        # unfair. At most two steps a candidate, so that the loop ends.
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
