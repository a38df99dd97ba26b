"""The classifiers that users call; how they work is in `training/fit.py`."""

from typing import Any

from gerrymend.subgroups import LinearThresholds, SubgroupClass, as_subgroup_class
from gerrymend.training import defaults
from gerrymend.training.fit import ParityClassifier


class SubgroupParityClassifier(ParityClassifier):
    """A classifier of least error whose rates differ by at most gamma in every subgroup.

    What it learns is a randomised mixture of classifiers. Training is a game: in each round a
    Learner trains `estimator` on re-weighted rows, and an Auditor finds the subgroup that is worst
    under the mixture so far.

    Parameters
    ----------
    estimator : scikit-learn estimator or None, default=None
        What the Learner trains. A classifier must take sample_weight; it is trained on the label
        that costs less, weighted by the difference in cost. A regressor is trained on the cost, and
        its prediction is cut at 0. `LinearRegression()` is the paper's heuristic and has a fast
        path. None is LogisticRegression; with its default solver, rounds start from earlier
        coefficients and end by its own `tol`.
    notion : str, FairnessNotion, OutcomeNotion or tuple of these, default="false_positive_rate"
        The rate to equalise: "false_positive_rate", "false_negative_rate", "statistical_parity",
        "error_rate", or "equalized_odds" for the first two at once. A mean of numbers can be too,
        if it is linear in decisions of 0 and 1 (docs/outcomes.md); gamma is then in its unit.
    gamma : float, default=0.01
        The largest unfairness to allow: the share of all rows that are in the subgroup (and count
        for the notion), times how far its rate is from the overall one or, with control_features
        in fit, from what it would be at the rates of its strata.
    subgroups : str or SubgroupClass, default="linear"
        The class of subgroups, as in audit(). "linear" is LinearThresholds(restarts=None) in the
        rounds, because the search is repeated often, and as in audit() in the final audit. What
        that finds is reported, and trained against as long as it is above gamma.
    solver : str or GameSolver, default="exponentiated_gradient"
        How the game is played: "exponentiated_gradient", which needs the fewest rounds and gives
        few predictors; "fictitious_play", the paper's algorithm; "no_regret", which has a
        convergence theorem; "multiplicative_weights", for classes that list their subgroups.
    C : float, default=10.0
        The largest total weight of the fairness constraints: the fit accepts at most C units of
        error to remove a unit of unfairness above gamma. If it would cost more, gamma is not
        reached. For means of numbers a unit is the most that a decision changes an outcome by.
    max_iter : int, default=120
        The largest number of rounds. Each round trains the estimator once, so with a slow estimator
        a fit may take that many times as long as a plain one.
    tol : float or None, default=2e-3
        The game has converged when gap and penalty are at most this. None plays every round, and
        then only an unfairness above gamma is warned of, not a gap.
    certify : bool, default=False
        Continue until it is proven that no subgroup of the class exceeds gamma on the training
        rows, whatever error that costs; each subgroup that refutes it is trained against. For
        "mean_error" and similar notions gamma may be out of reach, and there is a warning then.
        Only for solver="exponentiated_gradient".
    budget : float or None, default=None
        Seconds that a game may take, proof included. After that the best mixture so far is audited
        for at most a second more and kept. None is no limit, and 60 with certify=True.
    warm_start : bool, default=False
        Start from the predictors of the last fit. For solver="exponentiated_gradient".
    leave_out_empty_strata : bool, default=False
        Leave out strata of fit's control_features in which no row counts for the rate, instead of
        raising an error.
    bins : int or None, default=None
        Cut each numeric protected attribute into so many bins, at its quantiles over the rows; one
        of no more distinct values stays as it is. gamma is then about subgroups of the binned
        attributes, which are named so, as "age (binned)": audit `bins_.transform(...)` of yours.
        None cuts none, but for rows of Dask with more than 2·10⁶ combinations of label and
        protected values: as finely as keeps below that, with a warning.
    random_state : int, RandomState or None
        Seeds the draws of `predict`, and the estimator.
    verbose : int, default=0
        1 reports progress about once a second: to the logger "gerrymend" if it has a handler, else
        to the standard output.
    checkpoint : path or None, default=None
        A file to which the state of the fit is written: from time to time, on Ctrl-C, and when an
        error ends it. The same call, also in a new process, resumes from there and gives the same
        result to the last bit. The file is removed when the fit has ended. See docs/long_runs.md.
        Needs skops: `pip install 'gerrymend[save]'`.
    checkpoint_every : float, default=60.0
        Seconds between two writes of the checkpoint, the first after the first round; 0 writes
        after every round. It waits longer where writing would take more than a tenth of the time.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ :
        As in scikit-learn.
    predictors_, weights_ :
        The mixture: its predictors, identical ones merged, and their probabilities.
    history_ : dict of sequences by round
        "error" and "unfairness" of the mixtures that were audited, the worst "subgroup" of each,
        and after which "round" it was.
    n_iter_, n_oracle_calls_ : int
        Rounds played, and times the Learner was asked.
    gap_ : float
        How far the mixture is from the game's value, by the two sides' answers.
    worst_subgroup_ : Subgroup or None
        The worst subgroup found on the training rows, by a final audit with searches and a proof
        like those of audit(). If the proof does not end it is a lower bound: a longer audit may
        find a worse one, above all after a fit with a small budget. For solvers that average, it
        may be worse than the last of `history_`, which has what the search of the rounds found.
        Values that fewer than 10 rows have are counted and not named; membership includes them. A
        formula is described by its most typical values; audit() also describes the worst group in a
        sentence.
    upper_bound_ : float
        No subgroup of the class is treated worse than this on the training rows.
    bins_ : AttributeBins
        Where numeric protected attributes were cut, by name (`cuts`), and `transform`, which cuts
        those of other rows alike.
    certified_ : bool
        With certify=True, whether `upper_bound_` was proven to be at most gamma; False otherwise.
        `upper_bound_` holds in either case.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.
    pareto_frontier
        Train a model for each gamma, notion and estimator, and audit each as audit() does.
    MixtureClassifier
        A fitted classifier that decides by one of its predictors, drawn with known probabilities.
    SubgroupCalibrator : A model whose scores are right in every subgroup, as far as rows can tell.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from gerrymend import SubgroupParityClassifier
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(1000, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> clf = SubgroupParityClassifier(LinearRegression(), gamma=0.01, random_state=0)
    >>> clf.fit(data.data, data.target, sensitive_features=data.sensitive_features).n_iter_ > 1
    True
    >>> bool(clf.history_["unfairness"][-1] < 0.0105)
    True

    Within strata, every group is compared with those of the same degree. An audit within the same
    strata finds what the fit reports:

    >>> from gerrymend import audit
    >>> degree = {"degree": data.data[:, 0] > 0}
    >>> A = data.sensitive_features
    >>> asked = {"notion": "statistical_parity", "subgroups": "conjunctions", "gamma": 0.02}
    >>> clf = SubgroupParityClassifier(LinearRegression(), random_state=0, **asked)
    >>> clf = clf.fit(data.data, data.target, sensitive_features=A, control_features=degree)
    >>> report = audit(
    ...     None, clf.predict_proba(data.data)[:, 1], sensitive_features=A,
    ...     control_features=degree, decision_probabilities=True, **asked)
    >>> report.verdict, bool(abs(report.unfairness - abs(clf.worst_subgroup_.unfairness)) < 1e-9)
    ('within gamma', True)

    A fit that is interrupted resumes from its checkpoint, which is removed when the fit has ended:

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf = clf.set_params(checkpoint=f"{folder}/fit.checkpoint")
    ...     clf = clf.fit(data.data, data.target, sensitive_features=data.sensitive_features)
    ...     os.path.exists(clf.checkpoint)
    False
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        notion: Any = defaults.NOTION,
        gamma: float = defaults.GAMMA,
        subgroups: Any = "linear",
        solver: Any = defaults.SOLVER,
        C: float = defaults.C,
        max_iter: int = defaults.MAX_ITER,
        tol: float | None = defaults.TOLERANCE,
        certify: bool = False,
        budget: float | None = None,
        warm_start: bool = False,
        leave_out_empty_strata: bool = False,
        bins: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        checkpoint: Any = None,
        checkpoint_every: float = defaults.SECONDS_BETWEEN_CHECKPOINTS,
    ) -> None:
        self.estimator = estimator
        self.notion = notion
        self.gamma = gamma
        self.subgroups = subgroups
        self.solver = solver
        self.C = C
        self.max_iter = max_iter
        self.tol = tol
        self.certify = certify
        self.budget = budget
        self.warm_start = warm_start
        self.leave_out_empty_strata = leave_out_empty_strata
        self.bins = bins
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def _subgroup_class(self, *, audited: bool = False) -> SubgroupClass:
        if (
            isinstance(self.subgroups, str) and self.subgroups == "linear" and not audited
        ):  # asked often
            return LinearThresholds(restarts=None)
        return as_subgroup_class(self.subgroups)


class MarginalParityClassifier(ParityClassifier):
    """A classifier that is fair on one protected attribute at a time: the paper's MARGINAL.

    Its groups are each value of a categorical attribute, and both sides of the mean of a numeric
    one. A classifier can be fair to all of them and unfair to their intersections.

    Attributes and methods are those of `SubgroupParityClassifier`.

    Parameters
    ----------
    estimator, notion, gamma, solver, C, max_iter, tol, certify, budget, warm_start
        As in `SubgroupParityClassifier`.
    leave_out_empty_strata, bins, random_state, verbose, checkpoint, checkpoint_every
        As in `SubgroupParityClassifier`.

    See Also
    --------
    SubgroupParityClassifier
        A classifier of least error whose rates differ by at most gamma in every subgroup.
    Marginals
        Each value of a categorical attribute, and both sides of the mean of each numeric one.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from gerrymend import MarginalParityClassifier
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(2000, random_state=0)
    >>> clf = MarginalParityClassifier(LinearRegression(), gamma=0.005, random_state=0)
    >>> clf.fit(data.data, data.target, sensitive_features=data.sensitive_features).n_iter_ > 1
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        notion: Any = defaults.NOTION,
        gamma: float = defaults.GAMMA,
        solver: Any = defaults.SOLVER,
        C: float = defaults.C,
        max_iter: int = defaults.MAX_ITER,
        tol: float | None = defaults.TOLERANCE,
        certify: bool = False,
        budget: float | None = None,
        warm_start: bool = False,
        leave_out_empty_strata: bool = False,
        bins: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        checkpoint: Any = None,
        checkpoint_every: float = defaults.SECONDS_BETWEEN_CHECKPOINTS,
    ) -> None:
        self.estimator = estimator
        self.notion = notion
        self.gamma = gamma
        self.solver = solver
        self.C = C
        self.max_iter = max_iter
        self.tol = tol
        self.certify = certify
        self.budget = budget
        self.warm_start = warm_start
        self.leave_out_empty_strata = leave_out_empty_strata
        self.bins = bins
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def _subgroup_class(self, *, audited: bool = False) -> SubgroupClass:
        return as_subgroup_class("marginals")
