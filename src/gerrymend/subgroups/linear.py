"""Linear thresholds over the protected attributes: the paper's class."""

import numpy as np

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array, total
from gerrymend.inputs.protected import Column, take_rows
from gerrymend.inputs.settings import check_choice, check_flag, check_whole
from gerrymend.subgroups.base import BoundClass, SubgroupClass
from gerrymend.subgroups.encoding import LinearEncoding, is_too_wide
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.thresholds.regression import RegressionSearch, SparseRegression
from gerrymend.subgroups.thresholds.through_mean import ThroughMean


class LinearThresholds(SubgroupClass):
    """Subgroups Σ coefficient·attribute ≥ threshold; categories enter as indicators.

    Parameters
    ----------
    search : {"search", "regression", "grid"}, default="search"
        The method that searches for the worst subgroup.

        - "search": ascent along great circles of directions, started from the direction of a least
          squares and of a logistic regression, the best so far and random ones. It finds a lower
          bound, never below that of "regression". An audit goes on from there to a proof by branch
          and bound: exact for up to about five attributes (a categorical one comes free), a
          bracket for some more, and beyond 8 dimensions exact over the thresholds of at most 2, 3
          and 4 of the attributes, as far as the budget goes.
        - "regression", the paper's heuristic: least squares of the residual on the attributes, over
          the rows in the event; the group is where the prediction is positive. It finds a lower
          bound, and nothing at all if the residual is orthogonal to every attribute. No proof
          follows.
        - "grid", the paper's brute force for exactly two attributes: θ in {−1, −.9, …, .9}², no
          intercept, centred attributes, group θ·x < 0. Exact over these 400 groups.

    intercept : bool, default=True
        False restricts the class to thresholds through the mean: Σ coefficient·(attribute − mean)
        above 0, or at least 0. Takes exactly two attributes, and is exact; "grid" is a sample of
        this class.
    restarts : int or None, default=100
        Number of starts of "search" beside the two regressions. With 0 it starts from least squares
        alone, which is fastest. None, meant for searches that are repeated often, is 200 for few
        distinct rows and 5 for many.
    random_state : int, default=0
        Seed of "search".

    See Also
    --------
    Conjunctions : Every conjunction of a few conditions, each on a different attribute. Exact.
    ValueSets : Every set of values of a category, intersected over a few attributes. Exact.
    Trees : Every union of leaves of a small decision tree.

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0, 0, 0, 0, 1] * 10, [1, 1, 0, 0, 1] * 10,
    ...                sensitive_features={"age": [20, 30, 40, 50, 60] * 10},
    ...                subgroups=LinearThresholds())
    >>> print(report.worst, round(report.unfairness, 3), report.exact)
    age ≤ 35 0.2 True
    """

    def __init__(
        self,
        search: str = "search",
        *,
        intercept: bool = True,
        restarts: int | None = 100,
        random_state: int = 0,
    ) -> None:
        self.search = search
        self.intercept = intercept
        self.restarts = restarts
        self.random_state = random_state

    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> BoundClass:
        """Check the parameters, encode the attributes and factorise them.

        Raises ValueError for "grid" or `intercept=False` with other than two attributes.
        """
        search = check_choice(self.search, "search", ("search", "regression", "grid"))
        check_flag(self.intercept, "intercept")
        encoding = LinearEncoding.of(columns, weight)
        # Cells without weight in the event have no residual, so no search sees them. The mean is
        # over all cells: it belongs to the class, not to the notion.
        active = event_weight > 0
        counted = take_rows(columns, active)
        if search == "grid" or not self.intercept:
            _check_two(encoding, "search='grid'" if search == "grid" else "intercept=False")
            design = encoding.matrix(columns)
            mean = np.array([total(weight * values) for values in design.T]) / total(weight)
            return (ThetaGrid if search == "grid" else ThroughMean)(counted, encoding, mean)
        wide = is_too_wide(int(active.sum()), len(encoding.terms))
        if search == "regression":
            regression = SparseRegression if wide else RegressionSearch
            return regression(counted, encoding, event_weight[active])
        from gerrymend.subgroups.thresholds.pooled_search import PooledSearch
        from gerrymend.subgroups.thresholds.search import GreatCircleSearch

        return (PooledSearch if wide else GreatCircleSearch)(
            counted,
            encoding,
            event_weight[active],
            restarts=None
            if self.restarts is None
            else check_whole(self.restarts, "restarts", low=0),
            seed=check_whole(self.random_state, "random_state", low=0),
        )


def _check_two(encoding: LinearEncoding, argument: str) -> None:
    """Raise ValueError unless there are two attributes of one term each."""
    if len(encoding.terms) != 2 or len(encoding.levels) != 2:
        names = ", ".join(term.describe() for term in encoding.terms)
        raise ValueError(
            f"{argument} takes exactly two protected attributes, each a number or with two "
            f"categories; got {len(encoding.levels)}, encoded as {names}. Choose two, or use "
            "LinearThresholds()."
        )


class ThetaGrid(ListedClass):
    """The paper's brute force over two attributes.

    `thetas`, of shape (400, 2), are its directions in the order of the rules; `mean` is that of
    the two terms over all rows.
    """

    def __init__(self, columns: tuple[Column, ...], encoding: LinearEncoding, mean: Array) -> None:
        # Quotients, since np.arange(-1, 1, 0.1) misses 0.
        steps = np.arange(-10, 10) / 10
        self.thetas = np.array([(first, second) for first in steps for second in steps])
        centred = encoding.matrix(columns) - mean
        # With x = a − mean, θ·x < 0 is −θ·a > −θ·mean; a tie at 0 is out.
        rules = [encoding.linear_rule(-theta, TIE - float(theta @ mean)) for theta in self.thetas]
        members = [
            centred[:, 0] * theta[0] + centred[:, 1] * theta[1] < -TIE for theta in self.thetas
        ]
        super().__init__(rules, members, "the 400 linear thresholds of the paper's grid")
