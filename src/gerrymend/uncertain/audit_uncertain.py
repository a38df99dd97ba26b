"""audit_uncertain(): audit where an attribute is known as probabilities, and nobody is assigned."""

from typing import Any

from gerrymend.auditing.doubts import doubts_of
from gerrymend.auditing.from_rows import Given
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.classes import Decided
from gerrymend.inputs.settings import check_number, check_whole
from gerrymend.notions import NotionLike
from gerrymend.uncertain.examine import Asked, examine_uncertain
from gerrymend.uncertain.people import People, check_rates
from gerrymend.uncertain.report import UncertainReport

POOL_SIZE = 100
# Settings that are checked as an audit's.
_SHARED = (
    *("subgroups", "gamma", "budget", "min_group_size"),
    *("n_permutations", "random_state"),
)


def audit_uncertain(
    y_true: Any,
    y_pred: Any,
    *,
    attribute_probabilities: Any,
    sensitive_features: Any = None,
    notion: NotionLike = "false_positive_rate",
    subgroups: Any = "conjunctions",
    gamma: float = 0.01,
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    pool_size: int = POOL_SIZE,
    probability_error: float = 0.0,
    data: Any = None,
    budget: float = 30.0,
    min_group_size: int = MIN_GROUP_SIZE,
    n_permutations: int = 0,
    random_state: int = 0,
) -> UncertainReport:
    """Audit where an attribute is known as probabilities, as by BISG.

    Nobody is assigned to a group: each row counts in each category with its probability. That gives
    the expected unfairness of every group; what it is in truth depends on who is who, and is
    bounded for all of them.

    Parameters
    ----------
    y_true : array of labels, of two values, or None
        None where the notion compares decisions alone, as "statistical_parity" does.
    y_pred : array of decisions, of the same values
        Or scores, with `threshold`; or probabilities of deciding, with
        `decision_probabilities=True`.
    attribute_probabilities : mapping of str to frame, or mapping from categories to columns
        The attribute, and a probability for each of its categories, 8 at most, given all that is in
        `sensitive_features`: {"race": {"Black": …, "White": …}}. They add up to 1 by row; rounded
        ones, within 0.01, are divided by their sum. Where `data` is given, names of its columns:
        {"race": ["p_black", "p_white"]}, or a mapping from categories to names.
    sensitive_features : frame, Series, mapping from names to columns, or array, optional
        Protected attributes that are known, as in audit().
    notion : str, FairnessNotion or tuple of these, default="false_positive_rate"
        The rate to compare; of several, the worst is reported.
    subgroups : str or SubgroupClass, default="conjunctions"
        The class over the known attributes. Groups are those of it, and everyone, each within every
        set of categories.
    gamma : float, default=0.01
        The unfairness to allow, as in audit().
    sample_weight : array of weights, optional
        Finite and not negative; by default each row weighs 1.
    threshold, decision_probabilities, pos_label
        As in audit().
    pool_size : int, default=100
        The bound takes the probabilities to be right on average among so many people, with the same
        known attributes and the nearest probabilities. More ask less of them, and bound less.
    probability_error : float, default=0.0
        How far the shares in such a pool may be from the mean of the probabilities: 0.05 for 5
        points, of any set of categories.
    data : frame or mapping from names to columns, optional
        Where the columns are; the others are then names.
    budget : float, default=30.0
        Seconds that searches and proofs may take, and again the permutations.
    min_group_size : int, default=10
        Groups of which fewer rows are expected in the notion's event, or that fewer rows are left
        out of, are not described. The bounds cover them all the same.
    n_permutations : int, default=0
        Permutations of decisions among people, for a p-value of the expected unfairness.
    random_state : int, default=0
        Seed of the permutations.

    Returns
    -------
    UncertainReport
        Its verdict is "within gamma" only where no group exceeds gamma, whoever the members are.

    Raises
    ------
    TypeError, ValueError
        For an argument that can't be used; the message names it.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.

    Notes
    -----
    The expected unfairness is an average over who people may be. It is unbiased if, among those of
    the same known attributes and probabilities, decisions and labels are independent of the
    attribute itself, and can be far off where they aren't (Chen et al., 2019). The bounds need no
    such assumption (after Kallus, Mao and Zhou, 2022).

    Examples
    --------
    Loans that are granted to four of ten people of neighbourhoods where nine of ten are Black:

    >>> from gerrymend import audit_uncertain
    >>> p_black = [0.1] * 200 + [0.9] * 200
    >>> granted = ([1] * 8 + [0] * 2) * 20 + ([1] * 4 + [0] * 6) * 20
    >>> print(audit_uncertain(None, granted, notion="statistical_parity", gamma=0.1,
    ...     attribute_probabilities={"race": {
    ...         "Black": p_black, "White": [1 - p for p in p_black]}}))
    Not decided
    The group that is expected to differ most is race = Black, some 200 of 400 rows:
    rate of positive decisions 44 %, against 60 % overall. Its expected unfairness
    is 0.0800, and 0.1000 is allowed. Nobody was assigned to a category of race:
    each row counts in each with its probability. What is so in truth depends on who
    is who: no group has more than 0.1500, whoever the members are, as long as the
    probabilities are right on average.
    <BLANKLINE>
    race = Black    44 %, some 200 rows; unfairness −0.0800, in truth −0.1500 to
                    −0.0500
    race = White    76 %, some 200 rows; unfairness +0.0800, in truth +0.0500 to
                    +0.1500
    <BLANKLINE>
    Expected        Expected figures are right on average if, among people of the
                    same probabilities, decisions don't depend on race itself. Else
                    they are too small or too large. Even then who is who is drawn,
                    and the unfairness of race = Black is in truth off by 0.0073
                    (one standard deviation).
    In truth        The bound takes the probabilities to be right on average in each
                    of 2 pools of 100 people or more: as many are in each category
                    as they add up to. It allows for any decisions to be those of
                    the members. Chance moves the shares of pools by some points, of
                    each in another direction; probability_error,
                    --probability-error, allows for that in all of them at once.
    Searched        Every set of categories of race, within everyone.
    Chance          Whether chance alone makes as much was not tested
                    (n_permutations=199, --permutations 199 would): the worst of
                    many groups looks bad even where none differs.
    Verdict         undecided; gamma is 0.1. “Within gamma” is that no group exceeds
                    it, and “exceeds gamma” that one does, whoever the members are.
                    What is expected decides neither.
    Labels          “1” is the positive decision, “0” the negative one.
    """
    settings = check_settings(
        notion=notion,
        reference=None,
        favourable=None,
        side="both",
        subgroups=subgroups,
        gamma=gamma,
        budget=budget,
        min_group_size=min_group_size,
        n_permutations=n_permutations,
        top=1,
        random_state=random_state,
    )
    asked = Asked(
        notions=check_rates(settings["notions"]),
        pool_size=check_whole(pool_size, "pool_size", low=1, remedy="It is a number of people."),
        probability_error=check_number(probability_error, "probability_error", low=0.0),
        **{name: settings[name] for name in Asked._fields if name in _SHARED},
    )
    decided = Decided(threshold, decision_probabilities, pos_label)
    given = Given(y_true, y_pred, sensitive_features, sample_weight)
    people = People.read(given, attribute_probabilities, data, decided, asked.notions)
    named = (y_true, y_pred) if data is not None else (None, None)
    tally = Tally.of_sample(people.sample)
    doubts = doubts_of(tally, None, decided, named, asked.notions, asked.gamma)
    if not people.has_known:  # the column that stands for them is the same in every row
        doubts = tuple(one for one in doubts if one.code != "constant_attribute")
    return examine_uncertain(people, asked, doubts)
