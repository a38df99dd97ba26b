"""The surface of a training: decisions of its mixtures at chosen rounds, as sums by cell."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import check_min_group_size
from gerrymend.auditing.strata import strata_of, stratified
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import Cells
from gerrymend.inputs.sample import Sample
from gerrymend.inputs.settings import check_flag, check_whole
from gerrymend.notions import as_rates, moment_of
from gerrymend.solvers import Equilibrium, GameSolver, Round, as_solver
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.surfaces.half_planes import cells_of_two
from gerrymend.surfaces.measuring import measure_surface, one_notion
from gerrymend.surfaces.surface import DiscriminationSurface
from gerrymend.training.fit import ParityClassifier

# About as many rounds are kept unless they are named, the first ones closest together.
_ABOUT = 24


def training_surface(
    classifier: Any,
    X: Any,
    y: Any,
    sensitive_features: Any,
    control_features: Any,
    sample_weight: Any,
    attributes: Any,
    rounds: Sequence[int] | None,
    notion: Any,
    thetas: Sequence[float] | None,
    min_group_size: int,
) -> DiscriminationSurface:
    """Fit a copy of the classifier, and measure the surface of its decisions at some rounds.

    Parameters
    ----------
    classifier : ParityClassifier
        Without a checkpoint, since a resumed training doesn't replay its earlier rounds.
    X, y, sensitive_features, control_features, sample_weight :
        As in its fit().
    attributes, thetas, min_group_size :
        As in discrimination_surface().
    rounds : sequence of int or None
        The rounds to keep; a warning names those that were not played. The last is always kept.
    notion :
        One rate, or None for the classifier's own.
    """
    smallest = check_min_group_size(min_group_size)
    if not isinstance(classifier, ParityClassifier):
        raise TypeError(
            "classifier must be a SubgroupParityClassifier or a MarginalParityClassifier; got "
            f"{classifier!r}. For other models pass their decisions to discrimination_surface()."
        )
    if classifier.checkpoint is not None:
        raise ValueError(
            f"classifier has checkpoint={classifier.checkpoint!r}, and rounds before it would not "
            "be seen; set checkpoint=None."
        )
    # All checks are before fit(), which may take hours.
    rate = one_notion(as_rates(classifier.notion if notion is None else notion))
    at = _check_rounds(rounds, check_whole(classifier.max_iter, "max_iter", low=1))
    rows = Sample.read(y, sensitive_features, sample_weight, control=control_features, features=X)
    leave_out = check_flag(classifier.leave_out_empty_strata, "leave_out_empty_strata")
    strata = strata_of(rows, [moment_of(rate, rows.y)], leave_out=leave_out)
    listener = _RoundTallies(rows, strata, attributes, at, smallest)
    solver = _SolverWithListener(as_solver(classifier.solver), listener)
    fitted = clone(classifier).set_params(solver=solver)
    fitted.fit(
        X,
        y,
        sensitive_features=sensitive_features,
        control_features=control_features,
        sample_weight=sample_weight,
    )
    # The last round is that of the fitted mixture itself, as it would be deployed.
    kept = {number: tally for number, tally in listener.tallies.items() if number < fitted.n_iter_}
    kept[fitted.n_iter_] = listener.tally(fitted.predict_proba(X)[:, 1])
    missed = sorted(at - kept.keys())
    if rounds is not None and missed:
        warnings.warn(
            f"The game ended after {fitted.n_iter_} rounds, so that rounds "
            f"{', '.join(map(str, missed))} were not played. Set tol=None to play all max_iter.",
            UserWarning,
            stacklevel=3,
        )
    return measure_surface(
        kept, rate, attributes, thetas=thetas, standardize=True, min_group_size=smallest
    )


class _RoundTallies:
    """Listen to rounds, and keep the tally of chosen ones in `tallies`, by number.

    Decisions have to be summed at once: the next round overwrites them.
    """

    def __init__(
        self,
        rows: Sample,
        strata: Cells | None,
        attributes: Any,
        at: set[int],
        min_group_size: int,
    ) -> None:
        self._rows = rows
        self._strata = strata
        self._cells = cells_of_two(
            rows.columns, rows.weight, np.ones(len(rows.y)), attributes, min_group_size
        )
        self._at = at
        self.tallies: dict[int, Tally] = {}

    def __call__(self, rows: MemoryRows, played: Round) -> None:
        """Keep the round of a game between these rows, if it is one of those chosen."""
        if played.number in self._at:
            # What is decided is known by label-cell alone; only sums over these are shown.
            weight = rows.label_cells.weight
            # votes are the weight decided 1, summed over rounds; divided by their number it is that
            # of the mixture so far. Rounding may take it above the whole weight.
            decided = np.minimum(played.votes[0] / played.number, weight)
            share = np.divide(decided, weight, out=np.zeros(len(weight)), where=weight > 0)
            self.tallies[played.number] = self.tally(rows.as_given(share))

    def tally(self, p: Array) -> Tally:
        """Return the decisions of a mixture, summed by cell, without the rows themselves."""
        rows = self._rows
        tally = Tally.of_rows(self._cells, rows.y, p, rows.weight, rows.pair)
        if self._strata is not None:
            tally = stratified(tally, self._strata)
        return _without_rows(tally)


def _without_rows(tally: Tally) -> Tally:
    """Return the sums alone: rows of many rounds would not fit."""
    strata = tally.strata
    if strata is not None:
        strata = replace(strata, parts=tuple(map(_without_rows, strata.parts)))
    return replace(tally, rows=None, strata=strata)


class _SolverWithListener(GameSolver):
    """Play as another solver does, and report each round to one more listener."""

    def __init__(self, solver: GameSolver, listener: Callable[[MemoryRows, Round], None]) -> None:
        self.solver = solver
        self.listener = listener

    def __sklearn_clone__(self) -> "_SolverWithListener":
        # The listener is shared, not copied: its owner reads from it after the fit.
        return _SolverWithListener(clone(self.solver), self.listener)

    def play(
        self,
        rows: Any,
        auditor: Any,
        *,
        on_round: Callable[[Round], None] | None = None,
        **rules: Any,
    ) -> list[Equilibrium]:
        """Play as the solver does."""

        def both(played: Round) -> None:
            """Report a round to this listener, then to the caller's."""
            self.listener(rows, played)
            if on_round is not None:
                on_round(played)

        # A plain function is taken as a listener that needs votes, which the tallies are made of.
        return self.solver.play(rows, auditor, on_round=both, **rules)


def _check_rounds(rounds: Sequence[int] | None, max_iter: int) -> set[int]:
    """Return the rounds to keep: those that are named, or about 24 that grow geometrically apart.

    Raises a TypeError for anything but whole numbers, and a ValueError for rounds after `max_iter`.
    """
    if rounds is None:
        # An average of t plays changes by 1/t a round, most in the first: equal ratios show as much
        # change from one frame to the next. Rounding makes some of the first rounds equal; hence a
        # set.
        chosen: NDArray[np.intp] = np.geomspace(1, max_iter, _ABOUT).round().astype(np.intp)
        return set(chosen.tolist())
    is_list = isinstance(rounds, Sequence | np.ndarray) and np.ndim(rounds) == 1
    if isinstance(rounds, str) or not is_list:
        raise TypeError(f"rounds must be a list of whole numbers; got {rounds!r}.")
    at = {check_whole(number, "rounds", low=1) for number in rounds}
    if at and max(at) > max_iter:
        raise ValueError(
            f"rounds has {max(at)}, and the classifier plays at most max_iter={max_iter}; raise "
            "max_iter, or name earlier rounds."
        )
    return at
