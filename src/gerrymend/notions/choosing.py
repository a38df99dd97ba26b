"""Choosing of notions: by name or instance, with the direction that makes a group worse off."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.numbers import short
from gerrymend.inputs.settings import check_choice, did_you_mean
from gerrymend.notions.outcomes import (
    ABSOLUTE_ERROR,
    MEAN_ERROR,
    MEAN_OUTCOME,
    SQUARED_ERROR,
    OutcomeNotion,
)
from gerrymend.notions.rates import (
    EQUALIZED_ODDS,
    ERROR_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    STATISTICAL_PARITY,
    FairnessNotion,
)
from gerrymend.notions.references import OVERALL, PREDICTED, Reference, check_reference
from gerrymend.notions.scores import MULTIACCURACY, MULTICALIBRATION, Multiaccuracy

AnyNotion: TypeAlias = FairnessNotion | OutcomeNotion

# A notion that gets a name here gets words and a check too: docs/extending.md lists where.
_RATES: dict[str, tuple[AnyNotion, ...]] = {
    notion.name: (notion,)
    for notion in (FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE, STATISTICAL_PARITY, ERROR_RATE)
} | {"equalized_odds": EQUALIZED_ODDS}
_OUTCOMES: dict[str, tuple[AnyNotion, ...]] = {
    notion.name: (notion,) for notion in (MEAN_OUTCOME, MEAN_ERROR, ABSOLUTE_ERROR, SQUARED_ERROR)
}
_SCORES: dict[str, tuple[AnyNotion, ...]] = {
    notion.name: (notion,) for notion in (MULTIACCURACY, MULTICALIBRATION)
}
_BY_NAME = _RATES | _OUTCOMES | _SCORES
# So many labels are listed in an error.
_MOST_SHOWN = 6

NOTION_NAMES = tuple(_RATES)
OUTCOME_NAMES = tuple(_OUTCOMES)
SCORE_NAMES = tuple(_SCORES)

NotionLike: TypeAlias = "str | AnyNotion | tuple[str | AnyNotion, ...]"

FAVOURABLE = ("positive", "negative")
SIDES = ("both", "disadvantaged")


def directed_notions(
    notion: NotionLike, favourable: Any = None, side: Any = "both", reference: Any = None
) -> tuple[AnyNotion, ...]:
    """Return notions that know which of their rates is worse, as far as that can be known.

    Parameters
    ----------
    notion : name, FairnessNotion, OutcomeNotion, or collection of these
    favourable : {"positive", "negative"} or None
        The decision that people wish for; of numbers, "positive" is a high one.
    side : {"both", "disadvantaged"}
        With "disadvantaged" an ArgumentError is raised unless every direction is known.
    reference : number, GroupMean or None
        What groups are compared with; None for what each notion itself compares with.
    """
    if favourable is not None:
        check_choice(favourable, "favourable", FAVOURABLE)
    check_choice(side, "side", SIDES)
    notions = tuple(one.favouring(favourable) for one in as_notions(notion))
    if reference is not None:
        notions = tuple(_against(one, check_reference(reference)) for one in notions)
    # harm is 0 where neither a high nor a low rate is known to be the worse one.
    unknown = [one for one in notions if not one.harm]
    if side == "disadvantaged" and unknown:
        raise ArgumentError(
            Argument("side", value=repr(side)),
            f"needs to know whether a high {unknown[0].words} is good or bad for a group, which "
            "depends on the decision that people wish for: pass 'positive' or 'negative' (of "
            "numbers: high or low) as ",
            Argument("favourable"),
            ".",
        )
    return notions


def _against(notion: AnyNotion, reference: Reference) -> AnyNotion:
    """Return a notion with this reference; raise an ArgumentError if it has another of its own."""
    if notion.reference not in (OVERALL, reference):
        raise ArgumentError(
            Argument("reference", value=short(reference)),
            f"is not what {notion.name!r} itself compares with, {short(notion.reference)}; leave "
            "one of them out.",
        )
    return notion.against(reference)


def as_notions(notion: NotionLike) -> tuple[AnyNotion, ...]:
    """Return the notions that a name, an instance, or a collection of these stands for.

    Duplicates are removed. Raises an ArgumentError for an unknown name or anything else, and for
    rates and means of numbers in one, or means in different units.

    >>> [n.name for n in as_notions("equalized_odds")]
    ['false_positive_rate', 'false_negative_rate']
    """
    # What reports have in place of a mean of numbers: same name, no functions.
    if isinstance(notion, FairnessNotion) and (
        notion.unit is not None or notion.reference == PREDICTED
    ):
        return (_mean_of(notion),)
    if isinstance(notion, AnyNotion):
        return (notion,)
    if isinstance(notion, str):
        if notion not in _BY_NAME:
            raise ArgumentError(
                Argument("notion", value=repr(notion)),
                f"is unknown{did_you_mean(notion, _BY_NAME)}. Known: {', '.join(_BY_NAME)}; or "
                "pass a FairnessNotion or an OutcomeNotion.",
            )
        return _BY_NAME[notion]
    if isinstance(notion, tuple | list) and notion:
        # A set would lose the order, in which reports list them.
        every = tuple(dict.fromkeys(single for part in notion for single in as_notions(part)))
        # Equal notions are one by now, so that two of the same name do differ.
        names = [one.name for one in every]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ArgumentError(
                "notion",
                f"has two notions of the name {twice!r}, and a report tells them by that; rename "
                "one of them.",
            )
        alone = next((one for one in every if isinstance(one, Multiaccuracy)), None)
        if alone is not None and len(every) > 1:
            raise ArgumentError(
                "notion",
                f"has {alone.name!r}, which is of scores, beside others. Audit them one after the "
                "other; multicalibration has multiaccuracy in it, as the interval of all scores.",
            )
        numbers = [isinstance(one, OutcomeNotion) for one in every]
        if any(numbers) and not all(numbers):
            raise ArgumentError(
                "notion",
                f"has the rate {every[numbers.index(False)].words!r}, of labels and decisions, and "
                f"the mean {every[numbers.index(True)].words!r}, of numbers: ",
                Argument("y_true"),
                " and ",
                Argument("y_pred"),
                " can't be both. Audit them one after the other; a model is trained for both where "
                "the rate is written as an OutcomeNotion.",
            )
        _check_one_unit(every)
        return every
    raise ArgumentError(
        "notion",
        "must be a name, a FairnessNotion, an OutcomeNotion, or a non-empty tuple of these; got "
        f"{notion!r}.",
    )


def _check_one_unit(notions: Sequence[AnyNotion]) -> None:
    """Raise an ArgumentError for means in different units; a unit that was not said is any."""
    units = {one.unit: one for one in notions if isinstance(one, OutcomeNotion) and one.unit}
    if len(units) > 1:
        (first, one), (second, other) = list(units.items())[:2]
        raise ArgumentError(
            "notion",
            f"has the {one.words!r} in {first} and the {other.words!r} in {second}: one of these "
            "can't be larger than the other, nor can both be compared with one ",
            Argument("gamma"),
            ". Audit them one after the other, each with its own.",
        )


def _mean_of(rate: FairnessNotion) -> AnyNotion:
    """Return the mean that a subgroup's notion stands for, which has its name and no functions.

    >>> _mean_of(replace(MEAN_ERROR, unit="days").rate).unit
    'days'
    """
    scored = rate.reference == PREDICTED
    if scored and rate.name == MULTIACCURACY.name:
        return replace(MULTIACCURACY, unit=rate.unit or "", worse=rate.worse)
    for named in () if scored else (MEAN_OUTCOME, MEAN_ERROR, ABSOLUTE_ERROR, SQUARED_ERROR):
        # Brought to the same unit, reference and direction, so that only the mean itself is
        # compared.
        mean = replace(named, unit=rate.unit or "", reference=rate.reference, worse=rate.worse)
        if mean.rate == rate:
            return mean
    raise ArgumentError(
        "notion",
        f"is what reports call {rate.name!r}, a mean of numbers, without the functions that it is "
        "made of; pass the OutcomeNotion itself, as notions of the report has it.",
    )


def by_class(
    notions: Iterable[AnyNotion], classes: Sequence[Any], favourable: str | None
) -> tuple[AnyNotion, ...]:
    """Return each notion once for each class against the rest, where there are more than two.

    The error rate is one whatever the classes are: the part that is decided wrongly. Raises an
    ArgumentError for a favourable decision that no class is named for.

    >>> [n.name for n in by_class(as_notions(("error_rate", "statistical_parity")), "abc", None)]
    ['error_rate', 'statistical_parity[a]', 'statistical_parity[b]', 'statistical_parity[c]']
    """
    notions = tuple(notions)
    if len(classes) <= 2:
        return notions
    found: list[AnyNotion] = []
    for notion in notions:
        if isinstance(notion, OutcomeNotion) or notion.against(OVERALL) == ERROR_RATE:
            found.append(notion)
            continue
        if notion.of_class is not None:  # one of another audit's report
            found.append(notion)
            continue
        if favourable is not None:
            raise ArgumentError(
                Argument("favourable", value=repr(favourable)),
                f"speaks of one positive label, and there are {len(classes)}{_shown(classes)}, "
                "each of which is compared with the others in turn. Mend or drop rows with a label "
                "that is a slip; or name the one that is meant as ",
                Argument("pos_label"),
                f"; or leave it out, and no group is called worse off for its {notion.words}.",
            )
        found += [notion.against_the_rest(label) for label in classes]
    return tuple(found)


def _shown(classes: Sequence[Any]) -> str:
    """Return the first labels in brackets, by which a slip is seen.

    >>> _shown([0, 1, 2]), _shown([*"abcdefgh"])
    (' (0, 1, 2)', " ('a', 'b', 'c', 'd', 'e', 'f', …)")
    """
    more = ", …" if len(classes) > _MOST_SHOWN else ""
    plain = np.asarray(classes, dtype=object)[:_MOST_SHOWN].tolist()
    return f" ({', '.join(map(short, plain))}{more})"


def as_rates(notion: NotionLike, argument: str = "notion") -> tuple[FairnessNotion, ...]:
    """Return notions that are rates of decisions; raise an ArgumentError for means of numbers.

    And so for a rate that is compared with anything but the overall one.

    >>> [n.name for n in as_rates(("statistical_parity", "error_rate"))]
    ['statistical_parity', 'error_rate']
    """
    notions = as_notions(notion)
    rates = tuple(one for one in notions if isinstance(one, FairnessNotion))
    if len(rates) < len(notions):
        raise ArgumentError(
            argument,
            f"is {notions[0].name!r}, a mean of numbers, and a rate of decisions is needed here: "
            f"{', '.join(NOTION_NAMES)}, or a FairnessNotion. Audits take both.",
        )
    check_overall(rates, argument)
    return rates


def check_overall(
    notions: tuple[AnyNotion, ...], argument: str = "notion"
) -> tuple[AnyNotion, ...]:
    """Return notions; raise an ArgumentError if one compares with other than the overall rate.

    >>> check_overall((STATISTICAL_PARITY.against(0.3),))
    Traceback (most recent call last):
        ...
    gerrymend._runtime.errors.ArgumentError: notion compares the rate of positive decisions with \
0.3, and here groups are compared with the overall rate: pass it without a reference. Audits take \
any.
    """
    own = next((one for one in notions if one.reference != OVERALL), None)
    if own is not None:
        raise ArgumentError(
            argument,
            f"compares the {own.words} with {short(own.reference)}, and here groups are compared "
            "with the overall rate: pass it without a reference. Audits take any.",
        )
    return notions


def check_labels_given(labels: Any, notions: Iterable[AnyNotion], argument: str) -> None:
    """Raise an ArgumentError if there are no labels, and a notion reads them.

    >>> check_labels_given(None, [STATISTICAL_PARITY, ERROR_RATE], "y_true")
    Traceback (most recent call last):
        ...
    gerrymend._runtime.errors.ArgumentError: y_true is not given, and the error rate can't be told \
without labels. Pass them, or choose notion='statistical_parity', which compares decisions alone.
    """
    if labels is not None:
        return
    for notion in notions:
        if notion.reads_labels:
            of_numbers = isinstance(notion, OutcomeNotion)
            other = "'mean_outcome'" if of_numbers else "'statistical_parity'"
            raise ArgumentError(
                Argument(argument),
                f"is not given, and the {notion.words} can't be told without labels. Pass them, or "
                "choose ",
                Argument("notion", value=other),
                f", which compares {'predictions' if of_numbers else 'decisions'} alone.",
            )
