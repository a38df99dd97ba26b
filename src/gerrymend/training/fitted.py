"""Keep what a fit has come to, and make mixture and worst subgroup when they are asked for."""

from collections.abc import Mapping
from typing import Any

from gerrymend.models.mixture_classifier import MixtureClassifier
from gerrymend.solvers import Equilibrium
from gerrymend.solvers.players.auditor import Subgroup
from gerrymend.subgroups.rules import Rare


class Fitted:
    """Hold an equilibrium until its mixture is made, and from then on what was made of it.

    A path has a classifier for each of its gammas, of which few are used: making all their mixtures
    would take longer than to train them.

    Parameters
    ----------
    equilibrium : Equilibrium
    about : mapping
        How it was trained, as plain data, but for its figures.
    rare : mapping
        The values that no description may tell.
    settings : parameters of `MixtureClassifier`
    """

    def __init__(
        self, equilibrium: Equilibrium, about: Mapping[str, Any], rare: Rare, **settings: Any
    ) -> None:
        self._equilibrium: Equilibrium | None = equilibrium
        self._rare = rare
        self._about = about
        self._settings = settings

    def make(self) -> None:
        """Make the mixture and the worst subgroup, and let go of the plays of all gammas."""
        # Read once: another thread may set it to None between a test and a use.
        equilibrium = self._equilibrium
        if equilibrium is None:
            return
        assert equilibrium.mixture is not None
        training = {**self._about, **equilibrium.figures()}
        self._mixture = MixtureClassifier(equilibrium.mixture, training=training, **self._settings)
        # Not yet made, so that this is read from the equilibrium.
        self._worst = self.worst
        self._equilibrium = None  # last: another thread may ask at the same time

    @property
    def mixture(self) -> MixtureClassifier:
        """Return the mixture as a classifier."""
        self.make()
        return self._mixture

    @property
    def worst(self) -> Subgroup | None:
        """Return the worst subgroup that is known of the mixture."""
        equilibrium = self._equilibrium
        if equilibrium is None:
            return self._worst
        worst = equilibrium.worst
        return None if worst is None else worst.withholding(self._rare)

    def __getstate__(self) -> dict[str, Any]:
        """Return what was made: a file holds none of the plays of other gammas."""
        self.make()
        return vars(self)
