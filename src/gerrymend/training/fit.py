"""The fit that both classifiers share: validate, assemble, play, store."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.rare_values import rare_of
from gerrymend.inputs.attribute_bins import check_attribute_bins
from gerrymend.inputs.seeds import draw_seed
from gerrymend.inputs.settings import (
    check_budget,
    check_flag,
    check_gamma,
    check_gammas,
    check_number,
    check_whole,
)
from gerrymend.models.features import FeatureReader, warn_all_protected
from gerrymend.models.mixture_classifier import MixtureClassifier, MixtureTrainer
from gerrymend.notions import as_notions, as_trainable, check_overall
from gerrymend.solvers import Equilibrium, Round, as_solver
from gerrymend.solvers.base import Interrupted
from gerrymend.solvers.players.auditor import Subgroup
from gerrymend.solvers.players.estimator_checks import check_estimator_kind
from gerrymend.solvers.regression.rows import RowsRead
from gerrymend.subgroups import SubgroupClass
from gerrymend.training.assemble import check_playable, read_rows
from gerrymend.training.callbacks import (
    CallbackSupportMixin,
    Progress,
    Rounds,
    end_fit,
    everyone,
    with_callbacks,
)
from gerrymend.training.checkpoints import FitCheckpoint
from gerrymend.training.fitted import Fitted
from gerrymend.training.games import Setting, rate_of
from gerrymend.training.not_converged import warn_unless_converged

Play = Callable[..., list[Equilibrium]]


class ParityClassifier(CallbackSupportMixin, MixtureTrainer, ClassifierMixin, BaseEstimator):
    """A classifier by the game; the two public ones differ in their subgroups and their solver."""

    @abstractmethod
    def _subgroup_class(self, *, audited: bool = False) -> SubgroupClass:
        """Return the subgroups to be treated alike; `audited`, as `audit` searches them."""

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn a mixture with the least error such that no subgroup exceeds gamma.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_features)
            What decisions may use. Include the protected columns only if decisions may use them.
        y : array of n_rows labels, of two values
            The second in sorted order is the positive one.
        sensitive_features : frame, Series, mapping, array, or list of column names of X
            The protected attributes: strings, categoricals, booleans and numbers, matched to X by
            position of the rows. A list of strings names columns if X is a frame. None is every
            column of X, with a warning.
        control_features : the same, optional
            What may rightly matter, such as a department: groups are compared within each stratum,
            the rows of equal values, and summed over strata, as audit() does. Decisions don't need
            them, unless they are among the columns of X.
        sample_weight : array of n_rows weights, optional

        Returns
        -------
        self
        """
        data = {
            "y": y,
            "sensitive_features": sensitive_features,
            "control_features": control_features,
            "sample_weight": sample_weight,
        }
        # One gamma is a path of one, with the same checks.
        (equilibrium,) = self._play(X, data, [self.gamma])
        self._store(equilibrium, self._about())
        # At once: the one model of a fit is there to be used, and its game can then be let go.
        self._fitted_.make()
        weighted = None if sample_weight is None else {"sample_weight": sample_weight}
        end_fit(self, X=X, y=y, metadata=weighted)
        return self

    def fit_path(
        self,
        X: Any,
        y: Any,
        *,
        gammas: Sequence[float],
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> list[Self]:
        """Fit one classifier for each gamma, for less than so many fits.

        The default solver goes from the largest gamma to the smallest with one pool of predictors
        and subgroups, so that each starts from what the others found, and at the end weighs every
        mixture once more over all of them, unless it was certified: better than `fit` as a rule,
        but not the same. A budget is for each gamma, less that last weighing.
        With the others all games advance together: with `LinearRegression()` they are rows of one
        matrix, many cost little more than one, and each result is what `fit` would give. Their
        mixtures and worst subgroups are made when they are first asked for.

        Returns
        -------
        list of fitted classifiers, in the order of gammas

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; its `models` are the classifiers of the gammas that were played.
        """
        levels = check_gammas(gammas)
        # A copy plays, so that the parameters and any earlier fit of this one stay as they are.
        player = clone(self)
        if self.warm_start and hasattr(self, "mixture_"):
            player._fitted_ = self._fitted_
        data = {
            "y": y,
            "sensitive_features": sensitive_features,
            "control_features": control_features,
            "sample_weight": sample_weight,
        }
        try:
            played = player._play_path(X, data, levels)
        except Interrupted as stop:
            stop.models = self._models(player, stop.equilibria)
            raise
        return self._models(player, played)

    def _models(self, player: Self, equilibria: Sequence[Equilibrium]) -> list[Self]:
        """Return a classifier for each gamma of what was played."""
        blank = clone(self)
        parameters = blank.get_params(deep=False)
        # What playing has set, such as classes_: names that a clone, which has parameters alone,
        # does not have.
        learned = {name: vars(player)[name] for name in vars(player).keys() - vars(blank).keys()}
        about = player._about()
        models = []
        for equilibrium in equilibria:
            # As clone(), which looks at the signature of each parameter again for every model.
            model = copy(blank)
            vars(model).update(learned | deepcopy(parameters))
            model.gamma = equilibrium.gamma
            model._store(equilibrium, about)
            models.append(model)
        return models

    def predict_proba(self, X: Any) -> Any:
        """Return the probability with which the mixture makes each *decision*, by class.

        This is not P(y | x): it says how often a row like this is decided so, and it is what the
        fairness guarantee is about.
        """
        check_is_fitted(self, "mixture_")
        return self.mixture_.predict_proba(X)

    def predict(self, X: Any, random_state: Any = None) -> Any:
        """Draw a decision for each row.

        A row's draw depends on the seed and the row's values alone, so a person gets the same
        decision in any batch and any order. Cutting `predict_proba` at 0.5 instead would lose the
        guarantee.

        Parameters
        ----------
        random_state : int, RandomState or None
            None repeats the draws of the fitted model; anything else draws anew.
        """
        check_is_fitted(self, "mixture_")
        return self.mixture_.predict(X, random_state)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the expected accuracy of the randomised decisions; no draw plays a part."""
        check_is_fitted(self, "mixture_")
        return self.mixture_.score(X, y, sample_weight)

    @property
    def mixture_(self) -> MixtureClassifier:
        """The mixture that was learned, which is all that a deployment needs."""
        return self._fitted_.mixture

    @property
    def worst_subgroup_(self) -> Subgroup | None:
        """The worst subgroup that is known of the mixture, by a last look like that of `audit`.

        Its unfairness is a lower bound unless `upper_bound_` meets it: an audit that is given more
        time than the fit can find a worse one, above all of a fit with a `budget`.
        """
        return self._fitted_.worst

    @property
    def predictors_(self) -> Sequence[Any]:
        """The predictors of the mixture."""
        return self.mixture_.predictors_

    @property
    def weights_(self) -> Array:
        """The probability with which each predictor is used."""
        return self.mixture_.weights_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        if self.estimator is not None:
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags

    @with_callbacks
    def _play_path(self, X: Any, data: dict[str, Any], gammas: list[float]) -> list[Equilibrium]:
        equilibria = self._play(X, data, gammas)
        end_fit(self)
        return equilibria

    def _play(self, X: Any, data: dict[str, Any], gammas: list[float]) -> list[Equilibrium]:
        """Check everything, then bind and play; `data` has the other arguments of fit by name."""
        # Taken before all that ends in "_" is deleted below.
        last: MixtureClassifier | None = getattr(self, "mixture_", None)
        warm_start = check_flag(self.warm_start, "warm_start")
        known = last.predictors_ if warm_start and last is not None else []
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # a fit that fails leaves no model, rather than half of one
        setting = self._setting(gammas, known, weighted=data["sample_weight"] is not None)
        limits = self._limits()
        self._is_verbose()  # raises now, and not after the rows were read
        checkpoint = None
        if self.checkpoint is not None:
            checkpoint = FitCheckpoint(self.checkpoint, self.checkpoint_every)
        check_playable(X, setting, **data)

        allow_nan = get_tags(self).input_tags.allow_nan
        self._reader = FeatureReader.of(X, setting.estimator, allow_nan=allow_nan)
        features = self._reader.read(X, self, reset=True)
        if known and last is not None and last.n_features_in_ != self.n_features_in_:
            raise ArgumentError(
                Argument("warm_start", value="True"),
                f"starts from the last fit, whose X had {last.n_features_in_} columns; X has "
                f"{self.n_features_in_}. Set warm_start=False for other columns.",
            )
        if data["sensitive_features"] is None:
            warn_all_protected()
        rows = read_rows(X, features, **data, setting=setting)
        self.classes_ = rows.classes
        self._controls = rows.controls
        self.bins_ = rows.bins
        self._rare = rare_of(rows.counts)
        self._seed = self._settle_seed(checkpoint, rows, setting.identity(X))
        # With neither, the estimator keeps whatever random_state it was given, None included.
        if self.random_state is not None or checkpoint is not None:
            setting = setting.seeded(self._seed)
        game = rows.begin(setting.estimator, setting.solver, setting.gammas, setting.C)
        play = game.play
        if checkpoint is not None:
            checkpoint.example = game.example
            play = partial(play, checkpoint=checkpoint)
        return self._played(play, checkpoint, len(gammas) == 1, setting.C, **limits)

    def _setting(self, gammas: list[float], known: Sequence[Any], *, weighted: bool) -> Setting:
        """Check the parameters that decide which game is played."""
        return Setting(
            gammas=[check_gamma(gamma) for gamma in gammas],
            C=check_number(self.C, "C", low=0.0, above=True),
            certify=check_flag(self.certify, "certify"),
            notions=check_overall(as_trainable(self.notion)),
            solver=as_solver(self.solver),
            subgroups=self._subgroup_class(),
            audited=self._subgroup_class(audited=True),
            estimator=check_estimator_kind(self.estimator, weighted=weighted),
            known=known,
            leave_out_empty_strata=check_flag(
                self.leave_out_empty_strata, "leave_out_empty_strata"
            ),
            bins=check_attribute_bins(self.bins),
        )

    def _is_verbose(self) -> bool:
        """Return whether progress is told; `verbose` may be True, as elsewhere, or a number."""
        if isinstance(self.verbose, bool | np.bool_):
            return bool(self.verbose)
        return check_whole(self.verbose, "verbose", low=0) > 0

    def _limits(self) -> dict[str, Any]:
        """Check the parameters that end a game."""
        # A proof may take exponential time, so that it has a limit unless one is given; rounds have
        # max_iter.
        budget = 60.0 if self.certify else math.inf
        if self.budget is not None:
            budget = check_budget(self.budget)
        return {
            "max_iter": check_whole(self.max_iter, "max_iter", low=1),
            "tol": None if self.tol is None else check_number(self.tol, "tol", low=0.0),
            "budget": budget,
        }

    def _played(
        self, play: Play, checkpoint: FitCheckpoint | None, alone: bool, C: float, **limits: Any
    ) -> list[Equilibrium]:
        """Play a game that was bound; tell of its rounds, keep what it comes to, and warn."""
        max_iter = limits["max_iter"]
        # A path of several gammas may play up to max_iter rounds for each, together or in turn.
        rounds = Rounds.begin(self, max_iter if alone else None)
        listeners: list[Callable[[Round], None]] = [] if rounds is None else [rounds]
        if self._is_verbose():
            listeners.append(Progress(max_iter))
        try:
            equilibria = play(**limits, on_round=everyone(listeners))
        except BaseException as stop:
            # After Ctrl-C a single fit is usable as far as it came. Of a path fit_path() makes the
            # models.
            if isinstance(stop, Interrupted) and len(stop.equilibria) == 1:
                self._store(stop.equilibria[0], self._about())
            if checkpoint is not None:
                checkpoint.cut_short(stop)
            raise
        if rounds is not None:
            rounds.end()
        for equilibrium in equilibria:
            warn_unless_converged(
                equilibrium, C=C, tol=limits["tol"], max_iter=max_iter, certify=self.certify
            )
        if checkpoint is not None:
            # After the warnings: where a filter makes an error of one, the file is still there.
            checkpoint.ended()
        return equilibria

    def _settle_seed(
        self, checkpoint: FitCheckpoint | None, rows: RowsRead, given: dict[str, Any]
    ) -> int:
        """Return the seed of this fit, or of the one that it goes on with."""
        draw = partial(draw_seed, self.random_state)
        if checkpoint is None:
            return draw()
        # A generator has moved on since; what was drawn from it is in the checkpoint.
        plain = self.random_state is None or isinstance(self.random_state, int | np.integer)
        given |= {
            "tol": self.tol,
            "classifier": type(self).__name__,
            "random_state": self.random_state if plain else type(self.random_state).__name__,
        }
        return checkpoint.identify(given, rows.digests, rows.protected, draw)

    def _store(self, equilibrium: Equilibrium, about: dict[str, Any]) -> None:
        self._fitted_ = Fitted(
            equilibrium,
            about,
            self._rare,
            classes=self.classes_,
            n_features=self.n_features_in_,
            feature_names=getattr(self, "feature_names_in_", None),
            reader=self._reader,
            seed=self._seed,
        )
        self.n_iter_ = self.n_oracle_calls_ = equilibrium.n_rounds
        self.history_ = {
            "round": equilibrium.rounds,
            "error": equilibrium.error,
            "unfairness": equilibrium.unfairness,
            "subgroup": equilibrium.subgroups.withholding(self._rare),
        }
        self.gap_ = equilibrium.gap
        self.upper_bound_ = equilibrium.upper_bound
        self.certified_ = equilibrium.certified

    def _about(self) -> dict[str, Any]:
        """Return how a mixture is trained, as plain data that tells nothing of a row."""
        return {
            "classifier": type(self).__name__,
            "estimator": repr(self.estimator),
            "notions": [rate_of(notion).to_dict() for notion in as_notions(self.notion)],
            "subgroups": repr(self._subgroup_class()),
            "control_features": list(self._controls),
            "bins": {name: list(cuts) for name, cuts in self.bins_.cuts.items()},
        }
