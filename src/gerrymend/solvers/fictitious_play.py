"""Fictitious play: both sides answer the average of the other's past plays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.inputs.settings import check_choice
from gerrymend.solvers.averaging import AveragingSolver, Duals, Player
from gerrymend.solvers.base import Equilibrium, State
from gerrymend.solvers.loop import Listener
from gerrymend.solvers.players.auditor import Answer, Auditor
from gerrymend.solvers.players.learners import LinearLearner
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import Rows
from gerrymend.subgroups.encoding import DirectionRules
from gerrymend.subgroups.thresholds.regression import RegressionSearch

if TYPE_CHECKING:
    from gerrymend.solvers.regression.game import RegressionGame


class FictitiousPlay(AveragingSolver):
    """The paper's algorithm (FairFictPlay of Kearns, Neel, Roth and Wu).

    In round t the Auditor puts C on the subgroup it found, on the side that is violated, if its
    unfairness exceeds gamma, and nothing otherwise; the Learner answers λ̄ = Σ_{t'<t} λ^{t'} / t.

    Parameters
    ----------
    order : {"body", "appendix"}, default="body"
        Whom the Auditor answers in round t: the mixture with the Learner's play of that round (the
        paper's body text), or the one before it (its appendix). In both the first play is
        unconstrained, and round t is the record of the mixture that the Auditor answered.
    divisor : {"t", "t-1"}, default="t"
        What the sum of the duals before round t is divided by: t as the appendix writes it, or the
        number of the duals. The text leaves open which one made the paper's figures.
    side : {"realised", "predicted"}, default="realised"
        Which side of the found subgroup pays: the one that its unfairness shows, or always the one
        that the search predicted (too high a rate), which a heuristic can get wrong.

    See Also
    --------
    ExponentiatedGradient
        Multiplicative weights on the subgroups found so far, and a linear program over the plays.
    NoRegret
        The algorithm of Kearns, Neel, Roth and Wu (2018) that provably takes polynomial time.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from gerrymend import SubgroupParityClassifier
    >>> from gerrymend.solvers import FictitiousPlay
    >>> SubgroupParityClassifier(LinearRegression(), solver=FictitiousPlay(order="appendix"))
    SubgroupParityClassifier(estimator=LinearRegression(),
                             solver=FictitiousPlay(order='appendix'))
    """

    def __init__(self, order: str = "body", divisor: str = "t", side: str = "realised") -> None:
        self.order = order
        self.divisor = divisor
        self.side = side

    def play(self, rows: Rows, auditor: Auditor, **rules: Any) -> list[Equilibrium]:
        """Play one game for each gamma, all together; from sums, where both are least squares."""
        beyond = ("certify", "known")
        plain = not (self._conventions()["lag"] or any(rules.get(name) for name in beyond))
        listener = Listener.of(rules.get("on_round"))
        blind = listener is None or not listener.needs_votes
        if plain and blind and isinstance(rows, MemoryRows) and _is_regression(rows, auditor):
            game = self._from_sums(rows, auditor, rules["gammas"], rules["C"])
            told = ("max_iter", "tol", "budget", "on_round", "checkpoint")
            return game.play(**{name: rules[name] for name in told if name in rules})
        return super().play(rows, auditor, **rules)

    def _from_sums(
        self, rows: MemoryRows, auditor: Auditor, gammas: Sequence[float], C: float
    ) -> "RegressionGame":
        """Return the game that makes no cost and no residual of rows."""
        from gerrymend.solvers.regression.cell_rows import CellRows  # which import this
        from gerrymend.solvers.regression.game import RegressionGame

        notion = auditor.notions[0]
        source = notion.subgroups.source
        assert isinstance(source, DirectionRules)
        return RegressionGame(
            CellRows(rows, auditor), notion.notion, source.encoding, self, gammas, C
        )

    def start(self, auditor: Auditor, gammas: Array, C: float) -> Player:
        """Start with no pressure at all."""
        return FictitiousPlayer(auditor, gammas, C, **self._conventions())

    def _conventions(self) -> dict[str, bool]:
        return {
            "lag": check_choice(self.order, "order", ("body", "appendix")) == "appendix",
            "short": check_choice(self.divisor, "divisor", ("t", "t-1")) == "t-1",
            "realised": check_choice(self.side, "side", ("realised", "predicted")) == "realised",
        }


class FictitiousPlayer(Player):
    """Sums of the duals so far.

    In the appendix's order the mixture of round t is h⁰, …, hᵗ⁻¹, where hᵗ⁻¹ answers λ̄ of round
    t − 1: seen from the Auditor, the Learner answers with a lag of one round. That is all there is
    to the order of play.
    """

    duals_are_averages = True

    def __init__(
        self, auditor: Auditor, gammas: Array, C: float, *, lag: bool, short: bool, realised: bool
    ) -> None:
        self._auditor = auditor
        self._gammas = gammas
        self._C = C
        self._lag = lag
        self._short = short
        self._realised = realised
        shapes = [(len(gammas), len(notion.event_weight)) for notion in auditor.notions]
        self._sums = [np.zeros(shape) for shape in shapes]  # Σ ±C·g
        self._total_dual = np.zeros(len(gammas))
        self._n_steps = 0
        none = [np.zeros(shape) for shape in shapes]
        self.duals = self._next = Duals(none, self._total_dual.copy())

    def step(self, number: int, answer: Answer, decided: Array) -> None:
        """Add C on what was found, and average."""
        exceeds = answer.unfairness > self._gammas
        if exceeds.any():
            self._total_dual += self._C * exceeds
            for i, found in enumerate(answer.found):
                # Too high a rate is pressed down (the paper's λ⁻), too low a one lifted (λ⁺).
                side = np.copysign(self._C, found.values) if self._realised else self._C
                multiplier = side * exceeds
                if len(answer.found) > 1:
                    multiplier *= answer.notion == i
                self._sums[i] += multiplier[:, None] * found.members
        self._n_steps = number
        average = self._average()
        self.duals = self._next if self._lag else average
        self._next = average

    def _average(self) -> Duals:
        scale = 1.0 / (self._n_steps if self._short else self._n_steps + 1)
        return Duals([total * scale for total in self._sums], self._total_dual * scale)

    def state(self) -> State:
        """Return the sums; with a lag the duals too, which are then those of the round before."""
        return {
            "sums": self._sums,
            "total_dual": self._total_dual,
            "n_steps": self._n_steps,
            "lagging": tuple(self.duals) if self._lag else None,
        }

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self._sums = state["sums"]
        self._total_dual = state["total_dual"]
        self._n_steps = state["n_steps"]
        self._next = self._average()
        self.duals = Duals(*state["lagging"]) if self._lag else self._next


def _is_regression(rows: MemoryRows, auditor: Auditor) -> bool:
    """Return whether both sides are least squares, for one notion with an event of one label.

    Nor may there be strata or means of numbers: its sums know one mean, of one slope. Then the
    event is a slice, unless label-cells are not in their order, or some weigh nothing.
    """
    notion = auditor.notions[0]
    return (
        type(rows.learner) is LinearLearner
        and len(auditor.notions) == 1
        and auditor.label_cells.stratum is None
        and not auditor.label_cells.own_moments
        and type(notion.subgroups) is RegressionSearch
        and isinstance(notion.event, slice)
        and bool((rows.weight[rows.rows_of(notion.event)] > 0).all())
        and sum(notion.notion.event) == 1
        and bool(notion.slope[0])
    )
