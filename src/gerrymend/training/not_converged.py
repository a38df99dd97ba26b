"""Warn of a game that ended before it converged, and say what would change it."""

import warnings
from collections.abc import Mapping

from sklearn.exceptions import ConvergenceWarning

from gerrymend._runtime.errors import Argument, Message, users_line
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.reporting.wording import at_least, bound
from gerrymend.solvers import Equilibrium

# An unfairness above gamma by more than this part of it is told: sums and programs round by less.
_ROUNDED = 1e-9


# What can be done, in words and arguments.
Remedy = tuple[str | Argument, ...]


class NotConvergedWarning(Message, ConvergenceWarning):
    """Warn of a game that ended early; `argument` is the limit that ended it.

    Parameters
    ----------
    limit : str
        The argument that ended it.
    lead : str
        The sentence that says what is off.
    remedies : tuples of str and Argument
        Each is something to do. In the terms of a command, those with an argument that it has no
        option for are left out.

    >>> raised = "raise ", Argument("max_iter")
    >>> warning = NotConvergedWarning("max_iter", "It is off.", raised, ("raise ", Argument("C")))
    >>> print(warning)
    It is off. Raise max_iter; or raise C.
    >>> print(warning.in_terms({"max_iter": "--max-iter"}))
    It is off. Raise --max-iter.
    """

    def __init__(self, limit: str, lead: str, *remedies: Remedy) -> None:
        super().__init__(limit, lead=lead)
        self.remedies = remedies
        self.args = limit, lead, *remedies  # type: ignore[arg-type]  # for pickle

    def in_terms(self, names: Mapping[str, str]) -> str:
        """Return the message with other names for arguments, such as options of a command."""
        told = "; or ".join(
            "".join(word.in_terms(names) if isinstance(word, Argument) else word for word in remedy)
            for remedy in self.remedies
            # No names: Python's own, in which every argument is there.
            if not names or all(_has(names, word) for word in remedy)
        )
        return f"{self.lead} {told[:1].upper()}{told[1:]}."


def _has(names: Mapping[str, str], word: str | Argument) -> bool:
    """Return whether a word is no argument, or one that has a name.

    An argument with a value is named with it: "certify=True" may have an option of its own.

    >>> _has({"certify=True": "--certify"}, Argument("certify", value="True"))
    True
    >>> _has({"max_iter": "--max-iter"}, Argument("C"))
    False
    """
    if not isinstance(word, Argument):
        return True
    return (f"{word.name}={word.value}" if word.value else word.name) in names


def warn_unless_converged(
    equilibrium: Equilibrium, *, C: float, tol: float | None, max_iter: int, certify: bool
) -> None:
    """Warn with ConvergenceWarning that says what is off and what would change it.

    Parameters
    ----------
    equilibrium : Equilibrium
        What the game came to.
    C, tol, max_iter, certify
        The classifier's parameters. With `certify` only a proof is asked for; without, `tol=None`
        plays all rounds and asks for no convergence, but an unfairness above gamma is told too.
    """
    unfairness = equilibrium.found
    gap = equilibrium.gap
    gamma = equilibrium.gamma
    rounds = equilibrium.n_rounds
    after = _after(equilibrium)
    # The limit that ended the game, and what it is now.
    # With rounds left to play, it was the time that ended it.
    limit = "budget" if rounds < max_iter else "max_iter"
    now = "" if rounds < max_iter else f" (now {max_iter})"
    longer: Remedy = ("raise ", Argument(limit), now)
    allowed: Remedy = ("allow a larger ", Argument("gamma"))
    warning = None
    if certify:
        if not equilibrium.certified:
            limit = "budget"
            ended = "budget ended before a proof"
            remedy: Remedy = ("raise ", Argument("budget"))
            if equilibrium.out_of_reach:
                limit = "estimator"
                ended = "estimator had no answer left, and no mixture of its answers keeps to gamma"
                remedy = ("train another ", Argument("estimator"))
            warning = NotConvergedWarning(
                limit,
                f"{after} {ended}: the worst subgroup found has "
                f"unfairness {unfairness:.4f}, and it is proven only that none exceeds "
                f"{bound(equilibrium.upper_bound)}.",
                remedy,
                allowed,
            )
    # A part of gamma, and of the unit for a gamma of 0, of which any part is 0.
    elif unfairness > gamma * (1 + _ROUNDED) + equilibrium.scale * ROUNDING:
        # A game has converged once C·excess and the gap are within tol: an excess of up to tol /
        # C is then left, and a larger limit would play no more rounds.
        if tol is not None and equilibrium.converged:
            limit = "tol"
            within = f" (now {tol:g}), which C times the excess is within"
            longer = ("lower ", Argument(limit), within)
        elif tol is not None:
            longer = (*longer, f", while the gap is large (now {gap:.4f})")
        warning = _above_gamma(equilibrium, limit, C, longer, allowed)
    elif tol is not None and not equilibrium.converged:
        # A gap is by the estimator's answers, which need not be the best that there are: it may be
        # small by chance, and is believed once no answer of many rounds has bettered the mixture.
        off = f"but its error may be up to about {gap:.4f} above the least possible"
        if gap <= tol:
            off = (
                f"but it has not settled: the last rounds still bettered it by more than {tol:g}, "
                f"or are too few to tell. By the last answers its error is {gap:.4f} above the "
                "least possible; others may do better"
            )
        warning = NotConvergedWarning(
            limit,
            f"{after} mixture has unfairness {unfairness:.4f}, as it should, {off}.",
            longer,
            ("accept it with a larger ", Argument("tol"), f" (now {tol:g})"),
        )
    if warning is not None:
        warnings.warn(warning, stacklevel=users_line())


def _above_gamma(
    equilibrium: Equilibrium, limit: str, C: float, *others: Remedy
) -> NotConvergedWarning:
    """Return the warning of a mixture above gamma, be it by little; `others` are more to do."""
    gamma = equilibrium.gamma
    found = at_least(equilibrium.found, beside=gamma)
    least = at_least(float(equilibrium.unfairness.min()), beside=gamma)
    return NotConvergedWarning(
        limit,
        f"{_after(equilibrium)} worst subgroup found has unfairness {found}, above gamma; the "
        f"least of any mixture on the way is {least}.",
        (
            "raise ",
            Argument("C"),
            f" (now {C:g}), which is the error that a unit of unfairness may cost",
        ),
        ("set ", Argument("certify", value="True"), ", which keeps to gamma at any price"),
        *others,
    )


def _after(equilibrium: Equilibrium) -> str:
    """Return how a sentence about a game begins."""
    rounds = equilibrium.n_rounds
    return f"After {rounds} round{'s' if rounds > 1 else ''} at gamma={equilibrium.gamma:g} the"
