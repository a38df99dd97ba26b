"""Fairness notions: rates and means that are compared between subgroups."""

from gerrymend.notions.choosing import (
    FAVOURABLE,
    NOTION_NAMES,
    OUTCOME_NAMES,
    SIDES,
    AnyNotion,
    NotionLike,
    as_notions,
    as_rates,
    by_class,
    check_labels_given,
    directed_notions,
)
from gerrymend.notions.moments import Moment, moment_of
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
    in_words,
    nothing_counts,
    rate_and_class,
)

__all__ = [
    "ABSOLUTE_ERROR",
    "EQUALIZED_ODDS",
    "ERROR_RATE",
    "FALSE_NEGATIVE_RATE",
    "FALSE_POSITIVE_RATE",
    "FAVOURABLE",
    "MEAN_ERROR",
    "MEAN_OUTCOME",
    "NOTION_NAMES",
    "OUTCOME_NAMES",
    "SIDES",
    "SQUARED_ERROR",
    "STATISTICAL_PARITY",
    "AnyNotion",
    "FairnessNotion",
    "Moment",
    "NotionLike",
    "OutcomeNotion",
    "as_notions",
    "as_rates",
    "by_class",
    "check_labels_given",
    "directed_notions",
    "in_words",
    "moment_of",
    "nothing_counts",
    "rate_and_class",
]
