"""No-regret dynamics: a Learner who follows the perturbed leader, an Auditor who best-responds."""

import copy
from typing import Any

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.numbers import LARGEST, short
from gerrymend.inputs.seeds import draw_seed
from gerrymend.inputs.settings import check_number, check_whole
from gerrymend.solvers.averaging import AveragingSolver, Player, in_few_bytes
from gerrymend.solvers.base import State
from gerrymend.solvers.fictitious_play import FictitiousPlayer
from gerrymend.solvers.players.auditor import Answer, Auditor


class NoRegret(AveragingSolver):
    """The algorithm of Kearns, Neel, Roth and Wu (2018) that provably takes polynomial time.

    The Learner answers the average of the duals so far, as in fictitious play, but with noise on
    the costs, one draw for all rows that have the same label and protected values: it follows the
    perturbed leader, and so draws its play from a distribution. After `n_samples` plays the Auditor
    answers these alone, not all plays so far: C on the violated side of their worst subgroup if it
    exceeds gamma. The mixture is the average of all plays.

    With exact oracles, n such sets of rows, G subgroups, and K answers of the Auditor to m plays
    each, the mixture is within O(C·√(n/K) + C·√(log G / m)) of the best. Other solvers get there
    sooner.

    Parameters
    ----------
    n_samples : int, default=10
        Plays before the Auditor answers; each is a round. To a single play it answers the draw and
        not the distribution, which leads to mixtures that are not the best.
    perturbation : float, default=0.1
        The size of the noise, as a multiple ρ of the one with the best bound if the Learner can
        decide each of these sets as it likes. The bound grows by the factor (ρ + 1/ρ)/2; but a
        Learner who is bound to features averages noise out over rows, and needs less.
    random_state : int, RandomState or None, default=None
        Draws the noise, which is the same for every gamma.

    See Also
    --------
    ExponentiatedGradient
        Multiplicative weights on the subgroups found so far, and a linear program over the plays.
    FictitiousPlay : The paper's algorithm (FairFictPlay of Kearns, Neel, Roth and Wu).

    Examples
    --------
    >>> from gerrymend import SubgroupParityClassifier
    >>> from gerrymend.solvers import NoRegret
    >>> clf = SubgroupParityClassifier(solver=NoRegret(random_state=0), max_iter=2000)
    """

    def __init__(
        self, n_samples: int = 10, perturbation: float = 0.1, random_state: Any = None
    ) -> None:
        self.n_samples = n_samples
        self.perturbation = perturbation
        self.random_state = random_state

    def start(self, auditor: Auditor, gammas: Array, C: float) -> Player:
        """Start with no pressure at all, and noise."""
        return _PerturbedPlayer(
            auditor,
            gammas,
            C,
            n_samples=check_whole(self.n_samples, "n_samples", low=1),
            perturbation=_check_perturbation(self.perturbation),
            random=np.random.default_rng(draw_seed(self.random_state)),
        )


def _check_perturbation(perturbation: Any) -> float:
    """Return the size of the noise; raise an ArgumentError for one that sums can't hold."""
    remedy = "It is a multiple of the noise with the best bound: 0.1, for example."
    number = check_number(perturbation, "perturbation", low=0.0, remedy=remedy)
    if number > LARGEST:
        raise ArgumentError(
            "perturbation", f"must be at most {LARGEST:g}; got {short(perturbation)}. {remedy}"
        )
    return number


class _PerturbedPlayer(FictitiousPlayer):
    """Costs added up over k − 1 answers of the Auditor get noise, uniform on ±2ρ·√(R·A·k).

    Write L(h, λ) as ⟨c, d⟩ + const with d the weight decided 1 in each label-cell, over Σw, and c
    the costs per unit of weight. Of the costs to come the part (1 − 2y) is known, so the leader
    minimises ⟨S, d⟩ with S the costs of k − 1 answers and (1 − 2y) once more. Let the noise p be
    uniform on ±1/2ε in each label-cell.

    - Were the k-th costs known, S would move by their pressure alone, whose sum of absolute values
      is at most A. Cubes of side 1/ε that lie so far apart share all but ε·A of their volume, and
      there the same d is played; elsewhere a play loses at most R, the range of ⟨c, d⟩. So not
      knowing them costs at most ε·R·A (Kalai and Vempala 2005).
    - Who knows them loses at most E max_d ⟨−p, d⟩ ≤ E max(0, −p_i) = 1/8ε to the best fixed d.

    With ε_k = 1/(4√(R·A·k)) the regret Σ_k ε_k·R·A + 1/8ε_K is at most √(R·A·K), for every K, and
    with ρ times the noise (1/ρ + ρ)/2 of that. Where costs never change no noise is needed.

    On a group that is the share s of the event E the pressure is C·b·(1 − s), on the rest −C·b·s.
    If label-cells weigh the same, absolute values sum up to 2s(1 − s)·C·|b| times the n_E of E: so
    A = C·|b|·n_E / 2, and R = 1 + C·|b|·P(E) / 2. If they don't, R is the same, but the sum can be
    up to 2A, and in the bound 2/ρ is to be written for 1/ρ.
    """

    perturbs = True

    def __init__(
        self,
        auditor: Auditor,
        gammas: Array,
        C: float,
        *,
        n_samples: int,
        perturbation: float,
        random: np.random.Generator,
    ) -> None:
        super().__init__(auditor, gammas, C, lag=False, short=False, realised=True)
        self._n_samples = n_samples
        self._random = random
        self._drawing = random
        self._n_answers = self._n_drawn = 0
        self._votes = np.zeros((len(gammas), len(auditor.base_cost)))
        # The bounds of the class docstring: `moved` is A, with n_E label-cells, and `spread` is R.
        # With several notions the Auditor presses for one at a time, so the largest of each holds.
        steepest = [C * float(np.abs(one.slope).max()) / 2 for one in auditor.notions]
        moved = max(s * len(one.slope) for s, one in zip(steepest, auditor.notions, strict=True))
        spread = 1.0 + max(
            s * float(one.event_weight.sum()) / auditor.total_weight
            for s, one in zip(steepest, auditor.notions, strict=True)
        )
        self._half_width = 2.0 * perturbation * np.sqrt(spread * moved)

    def perturb(self, costs: Array) -> Array:
        """Draw noise anew; costs are the sum divided by k, so that √k has become 1/√k.

        It is drawn from a copy, so that a round which is interrupted is drawn again.
        """
        self._drawing = copy.deepcopy(self._random)
        rows = self._auditor.pressed
        half_width = self._half_width / np.sqrt(self._n_answers + 1)
        perturbed = costs.copy()
        perturbed[:, rows] += self._drawing.uniform(-half_width, half_width, rows.stop - rows.start)
        return perturbed

    def step(self, number: int, answer: Answer, decided: Array) -> None:
        """Collect plays; when there are enough, answer them."""
        votes = self._votes + decided
        n_drawn = self._n_drawn + 1
        if n_drawn == self._n_samples:
            # To these plays alone: `answer`, to all plays so far, is what fictitious play would
            # take.
            super().step(self._n_answers + 1, self._auditor.worst(votes, n_drawn), decided)
            self._n_answers += 1
            votes = np.zeros_like(votes)
            n_drawn = 0
        self._votes = votes
        self._n_drawn = n_drawn
        # Only now is the round's draw used up; see `perturb`.
        self._random = self._drawing

    def state(self) -> State:
        """Return the sums, the plays not answered yet, and where the noise goes on."""
        return super().state() | {
            "votes": in_few_bytes(self._votes),
            "n_drawn": self._n_drawn,
            "n_answers": self._n_answers,
            "random": self._random.bit_generator.state,
        }

    def restore(self, state: State) -> None:
        """Go on from a state."""
        super().restore(state)
        self._votes = state["votes"].astype(np.float64)
        self._n_drawn = state["n_drawn"]
        self._n_answers = state["n_answers"]
        self._random.bit_generator.state = state["random"]
