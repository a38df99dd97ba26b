"""audit(): find the subgroup that a model's decisions treat most differently; bound all others."""

from collections.abc import Callable, Sequence
from typing import Any

from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.doubts import doubts_of
from gerrymend.auditing.examine import examine
from gerrymend.auditing.from_rows import Given, as_read, read_tally, second_sample
from gerrymend.auditing.inference.held_out import split
from gerrymend.auditing.inference.population import N_RESAMPLES
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.auditing.strata import check_counted
from gerrymend.inputs.sample import Decided
from gerrymend.inputs.settings import check_test_size
from gerrymend.notions import GroupMean, NotionLike, by_class


def audit(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notion: NotionLike = "false_positive_rate",
    reference: float | GroupMean | None = None,
    subgroups: Any = "linear",
    gamma: float = 0.01,
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    favourable: str | None = None,
    side: str = "both",
    budget: float = 30.0,
    min_group_size: int = MIN_GROUP_SIZE,
    data: Any = None,
    control_features: Any = None,
    leave_out_empty_strata: bool = False,
    n_permutations: int = 0,
    test_size: float | None = None,
    holdout: Any = None,
    top: int = 1,
    random_state: int = 0,
    on_draw: Callable[[int, int], None] | None = None,
    features: Sequence[str] | None = None,
    intersection: Sequence[str] | None = None,
    n_jobs: int | None = None,
    confidence: float | None = None,
    n_resamples: int = N_RESAMPLES,
    discovery_rate: float | None = None,
) -> AuditReport:
    """Find the subgroup that a model's decisions treat most differently, or worst.

    Parameters
    ----------
    y_true : array of labels, of two values or more, or of numbers, or None
        None where the notion compares decisions alone, as "statistical_parity" and "mean_outcome"
        do. Of more than two classes, up to 30, each is compared with all others together, in one
        audit with one p-value; the error rate is of all at once. Numbers for a mean of errors.
    y_pred : array of decisions, of the same values, or of numbers
        Or scores, with `threshold`; or a mixture's probabilities of deciding the positive label,
        with `decision_probabilities=True`. For a mean of numbers: a price, a dose, days. For
        "multiaccuracy" and "multicalibration": scores, as they are.
    sensitive_features : frame, Series, mapping from names to columns, or array
        The protected attributes: strings, categoricals, booleans and numbers. Rows are matched by
        position, never by an index.
    notion : str, FairnessNotion, OutcomeNotion or tuple of these, default="false_positive_rate"
        The rate to compare, or the mean of numbers: "mean_outcome", "mean_error", "absolute_error",
        "squared_error", or an OutcomeNotion of your own. Of several, the worst is reported. Of
        scores: "multiaccuracy", or "multicalibration" within every interval of them.
    reference : float or GroupMean, optional
        What groups are compared with, in place of the overall rate: a number, such as a limit of 30
        days, or GroupMean({"sex": "M"}, factor=0.8), four fifths of the men's rate. Everyone is
        then a subgroup as well. There is no p-value; `confidence` takes any.
    subgroups : str or SubgroupClass, default="linear"
        The class of subgroups to search: "linear" thresholds over all attributes,
        "conjunctions" of values and intervals, "value_sets", "trees", "marginals" (one attribute
        at a time), or an instance of one, such as Conjunctions(max_depth=3).
    gamma : float, default=0.01
        The unfairness to allow: a share of the rows times a difference of rates or, of numbers, of
        means in their unit. 0.3 is then 3 days more for a tenth of the people.
    sample_weight : array of weights, optional
        Finite and not negative; by default each row weighs 1.
    threshold : float, optional
        Decide the positive label where the score y_pred is at least this.
    decision_probabilities : bool, default=False
        Whether y_pred are the probabilities with which a randomised model decides.
    pos_label : label, optional
        The positive label; by default the second in sorted order. Of more than two, the class that
        alone is compared with the rest; by default all are, and the worst is reported.
    favourable : {"positive", "negative"}, optional
        The decision that people wish for: "positive" where the positive label is a loan that is
        granted, "negative" where it is an arrest. The report then says who is treated worse and who
        better. Without it that is known of error rates alone, and of other rates it is only said
        who differs. Of more than two classes it is about the one that `pos_label` names.
    side : {"both", "disadvantaged"}, default="both"
        Which subgroups count. With "disadvantaged" unfairness, bounds, p-value and verdict are over
        those that are treated worse than the overall, and `favourable` has to be known.
    budget : float, default=30.0
        Seconds that search, proof and description may take, and permutations and resamples as many
        again each. What was proven by then holds; where nothing was, `no_bound` of the report says
        why.
    min_group_size : int, default=10
        Groups with fewer rows in the notion's event (for false positive rates: fewer negatives),
        inside or outside, are not described, as few rows identify people. The bounds cover them
        all the same.
    data : frame or mapping from names to columns, optional
        Where the columns are. y_true, y_pred and sample_weight are then names of columns, and
        sensitive_features a list of names. A lazy frame (a Polars LazyFrame, a DuckDB relation,
        PySpark, Dask) is summed by its own engine: only sums by protected values travel, and the
        report is the same.
    control_features : frame, Series, mapping from names to columns, or array, optional
        What may rightly matter, such as an occupation: groups are compared within each stratum, the
        rows of equal values, and summed over strata. Names of columns where `data` is given.
    leave_out_empty_strata : bool, default=False
        Leave out a stratum without a row that the rate is over, rather than refuse it; the report
        says which. Its rows are still among all rows, of which unfairness is a share.
    n_permutations : int, default=0
        Permutations for a p-value of the worst unfairness, each with the whole search repeated, so
        that the p-value accounts for it. 199 will do; below 19 no p-value can be 5 %. Of scores:
        samples in which these are right. Who stands out is tested though there be no time for that.
    test_size : float, optional
        Part of the rows, of each label, to keep out of the search. The report is about the other
        rows; `held_out` has the subgroup that leads as measured on these, who stands out and each
        other that is told of and exceeds gamma. Which rows these are is not kept: to check figures
        by hand, part them yourself and pass `holdout`.
    holdout : tuple (y_true, y_pred, sensitive_features), or a frame where `data` is one, optional
        A second sample to measure these subgroups on, in the form of the first; the weights of a
        tuple, if any, come fourth, and control features fifth.
    top : int, default=1
        Number of subgroups to describe: the worst, then the worst of the others that differ from
        it, …. Text and pages leave out further ones that are no more than what chance finds.
    random_state : int, default=0
        Seed of permutations, of resamples and of the rows that are held out.
    on_draw : callable, optional
        Called as on_draw(done, of) while permutations, or resamples, are made.
    features : list of str, optional
        Names of the columns that the model decides by, for the report to say which protected ones
        are among them.
    intersection : pair of str, optional
        Two categories to make a table of rates of; by default the first two of few values.
    n_jobs : int, optional
        Workers for permutations and resamples, through joblib and whatever backend it is configured
        to use, which share the cores between them. The result is the same, unless the budget ends
        them.
    confidence : float, optional
        Bound the unfairness of every subgroup for the people that the rows were drawn from, with
        this confidence (0.95, for example): `population_bound` of the report, and `population`
        with all that is known of it.
    n_resamples : int, default=400
        How often rows are drawn anew for that, with replacement, and searched.
    discovery_rate : float, optional
        Flag the groups that differ, so that at most this part of the flags is expected to be false:
        0.1, for example. Tested are those of one attribute, all in which two meet (three, with
        Conjunctions(max_depth=3)), numbers in quarters, and your own.

    Returns
    -------
    AuditReport
        Its `warnings` say why the verdict may say nothing of fairness: decisions that are the
        labels or all alike, an attribute that is the label, a holdout of the same rows, ….

    Raises
    ------
    TypeError, ValueError
        For an argument that can't be used; the message names it, before any search begins.

    See Also
    --------
    prove : Prove that no subgroup exceeds an unfairness, or find one that does.
    audit_counts
        Audit a table of counts, with the same report as audit() gives for the rows it counts.
    audit_uncertain : Audit where an attribute is known as probabilities, as by BISG.
    compare : Compare an audit with an earlier one, or a model with another.
    check_report
        Verify a report against the data that it was made from, in exact rational arithmetic.
    impact_ratios : Compare how often each category, and those in which several meet, are selected.
    SubgroupParityClassifier
        A classifier of least error whose rates differ by at most gamma in every subgroup.

    Examples
    --------
    The paper's toy example: fair to each race and to each gender, and not to blue men.

    >>> from gerrymend import audit
    >>> from gerrymend.datasets import make_gerrymandered
    >>> toy = make_gerrymandered(800)
    >>> decisions = (toy.score >= 0.5).astype(int)
    >>> audit(toy.target, decisions, sensitive_features=toy.sensitive_features,
    ...       subgroups="marginals").unfairness
    0.0
    >>> print(audit(toy.target, decisions, sensitive_features=toy.sensitive_features))
    More unfair than allowed on these rows
    Whether chance alone could make as much was not tested (n_permutations=199,
    --permutations 199 would): the worst of many groups looks bad even where none
    differs, and a small group that is hit hard may not show. The subgroup that
    differs most is race = blue and gender = man, 200 of 800 rows: false positive
    rate 100 %, against 50 % overall and 33.3 % of everyone else. Of its 100
    negatives (label “0”) about 50 more are decided “1” than there would be at the
    overall rate. “Most” counts both how far a group's rate is off and how many
    people are in it. This group's unfairness is 0.0625, and 0.01 is allowed; no
    subgroup that was searched has more.
    <BLANKLINE>
    Unfairness      A group's negatives, as a share of all rows, times how far its
                    rate is from the overall rate. Allowed: 0.01 (gamma), 8 cases
                    too many in 800 rows.
    Differs most    race = blue and gender = man
                    200 rows; false positive rate 100 %, against 50 % overall:
                    +50 points, 2.00 times the overall rate (33.3 % of everyone
                    else); unfairness 0.0625
                    95 % interval of its rate: 96.4 % to 100 %, which is too narrow,
                    as the group was chosen as the worst of many; confidence=0.95
                    (--confidence 0.95), or rows kept out of the search, would allow
                    for it
    <BLANKLINE>
    Proof           Exact: none has more. Proven over every linear threshold of
                    race, gender.
    One by one      One attribute at a time (each value, each interval of a number)
                    shows nothing of it: the largest unfairness there is 0, and over
                    all subgroups 0.0625.
    <BLANKLINE>
    Verdict         exceeds gamma; gamma is 0.01
    Labels          “1” is the positive label, “0” the negative one. The false
                    positive rate is, of those whose label is “0”, the part that is
                    decided “1”. Which decision is favourable was not said
                    (favourable=, --favourable), so that no group is called better
                    or worse off for its false positive rate.

    Where the data lives, here in a Polars query:

    >>> import polars as pl
    >>> people = pl.LazyFrame({**toy.sensitive_features, "y": toy.target, "score": toy.score})
    >>> audit("y", "score", threshold=0.5, sensitive_features=["race", "gender"], data=people
    ...       ).worst.describe()
    'race = blue and gender = man'
    """
    # Settings are checked before the rows are read, which may take long.
    settings = check_settings(
        notion=notion,
        reference=reference,
        favourable=favourable,
        side=side,
        subgroups=subgroups,
        gamma=gamma,
        budget=budget,
        min_group_size=min_group_size,
        n_permutations=n_permutations,
        top=top,
        random_state=random_state,
        features=features,
        intersection=intersection,
        n_jobs=n_jobs,
        on_draw=on_draw,
        confidence=confidence,
        n_resamples=n_resamples,
        discovery_rate=discovery_rate,
    )
    if test_size is not None:
        test_size = check_test_size(test_size)
        if holdout is not None:
            raise ArgumentError(
                "test_size",
                "and holdout exclude each other: rows are held out of this sample, or "
                "are a second one.",
            )
    decided = Decided(threshold, decision_probabilities, pos_label, many=True)
    given = Given(y_true, y_pred, sensitive_features, sample_weight, control_features)
    tally = read_tally(data, given, decided, settings["notions"])
    settings["notions"] = by_class(as_read(settings["notions"], tally), tally.labels, favourable)
    check_counted(tally, settings["notions"], leave_out=leave_out_empty_strata)
    held_out = None
    if holdout is not None:
        held_out = second_sample(holdout, tally, data, given, decided, settings["notions"])
    named = (y_true, y_pred) if data is not None else (None, None)
    doubts = doubts_of(tally, held_out, decided, named, settings["notions"], settings["gamma"])
    if test_size is not None:
        tally, held_out = split(tally, test_size, settings["random_state"])
    return examine(tally, held_out=held_out, doubts=doubts, **settings)
