"""Multiplicative weights over a list of subgroups (Agarwal et al. 2018): the paper's MARGINAL."""

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.solvers.averaging import AveragingSolver, Duals, Player
from gerrymend.solvers.base import State
from gerrymend.solvers.players.auditor import Answer, Auditor
from gerrymend.subgroups.listed import ListedClass


class MultiplicativeWeights(AveragingSolver):
    """Multiplicative weights on every subgroup, and a best-responding Learner.

    For classes that list their subgroups: marginals, explicit groups, the grid. The step size
    needs no choice: with K constraints and violations r_s seen so far it is
    √(log(K+1) / Σ_s max|r_s|²), which has regret O(C·√(T log K)) times their size, whatever that
    is and however long the game goes on.

    See Also
    --------
    ExponentiatedGradient
        Multiplicative weights on the subgroups found so far, and a linear program over the plays.
    MarginalParityClassifier
        A classifier that is fair on one protected attribute at a time: the paper's MARGINAL.

    Examples
    --------
    >>> from gerrymend import MultiplicativeWeights, SubgroupParityClassifier
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(600, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> clf = SubgroupParityClassifier(
    ...     subgroups="marginals", solver=MultiplicativeWeights(), max_iter=20, tol=None)
    >>> clf = clf.fit(data.data, data.target, sensitive_features=data.sensitive_features)
    >>> bool(clf.history_["unfairness"][-1] < clf.history_["unfairness"][0])
    True
    """

    def start(self, auditor: Auditor, gammas: Array, C: float) -> Player:
        """Start with equal weights, shared with the choice of no subgroup at all."""
        for notion in auditor.notions:
            if not isinstance(notion.subgroups, ListedClass):
                raise ValueError(
                    "solver='multiplicative_weights' needs a class that lists its subgroups: "
                    "subgroups='marginals', ExplicitGroups or LinearThresholds(search='grid'). "
                    "For others use solver='exponentiated_gradient'."
                )
        return _WeightsPlayer(auditor, gammas, C)


def hedge(violations: Array, squares: Array, C: float) -> Array:
    """Return λ = C·softmax(0, η·R), with R the violations of each constraint over the rounds.

    A row is a game; `squares` are Σ_s max|r_s|², of which the step size is made.
    """
    # Before the first round nothing has been seen, and any rate times 0 is 0.
    rate = np.sqrt(np.log(violations.shape[1] + 1) / np.maximum(squares, 1e-100))
    logits = np.pad(rate[:, None] * violations, ((0, 0), (1, 0)))
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    multipliers: Array = C * weights[:, 1:] / weights.sum(axis=1, keepdims=True)
    return multipliers


class _WeightsPlayer(Player):
    """Duals by `hedge`, of violations that are added up over the rounds."""

    duals_are_averages = False

    def __init__(self, auditor: Auditor, gammas: Array, C: float) -> None:
        self._auditor = auditor
        self._gammas = gammas
        self._C = C
        self._classes = [
            notion.subgroups for notion in auditor.notions
            if isinstance(notion.subgroups, ListedClass)
        ]  # fmt: skip
        self._sizes = [len(listed.rules) for listed in self._classes]
        self._cells_of = [listed.membership.T.tocsr() for listed in self._classes]
        # Two constraints a subgroup: its rate may be too high (−) or too low (+).
        self._violations = np.zeros((len(gammas), 2 * sum(self._sizes)))
        self._squares = np.zeros(len(gammas))
        self._set_duals()

    def step(self, number: int, answer: Answer, decided: Array) -> None:
        """Move weight to what the Learner's last play violates."""
        signed = np.concatenate(
            [
                listed.values(notion.residuals(decided, 1))
                for notion, listed in zip(self._auditor.notions, self._classes, strict=True)
            ],
            axis=1,
        )
        signed /= self._auditor.total_weight
        violation = np.concatenate([signed, -signed], axis=1) - self._gammas[:, None]
        self._violations += violation
        self._squares += np.square(np.abs(violation).max(axis=1))
        self._set_duals()

    def state(self) -> State:
        """Return the violations so far."""
        return {"violations": self._violations, "squares": self._squares}

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self._violations = state["violations"]
        self._squares = state["squares"]
        self._set_duals()

    def _set_duals(self) -> None:
        multipliers = hedge(self._violations, self._squares, self._C)
        too_high, too_low = np.split(multipliers, 2, axis=1)
        by_notion = np.split(too_high - too_low, np.cumsum(self._sizes)[:-1], axis=1)
        pressure = [
            (cells_of @ net.T).T for cells_of, net in zip(self._cells_of, by_notion, strict=True)
        ]
        self.duals = Duals(pressure, multipliers.sum(axis=1))
