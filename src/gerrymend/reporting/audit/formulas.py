"""Tell the subgroups that are said in a sentence from those that take a formula, or many words."""

from collections.abc import Mapping
from typing import Any

from gerrymend._runtime.errors import inert
from gerrymend.reporting.audit.score_words import own_rule, own_words

# Descriptions of more characters are put into no heading and no sentence.
LONG = 120
# What follows the name of an attribute, where a group is told by its values.
_COMPARISONS = ("= ", "≠ ", "in {", "not in {", "≥ ", "≤ ")


def is_long(subgroup: Mapping[str, Any]) -> bool:
    """Return whether a subgroup's description is too long for a heading or a sentence."""
    return len(subgroup["subgroup"]) > LONG


def is_sentence(subgroup: Mapping[str, Any]) -> bool:
    """Return whether a description says who is in: no formula, no "not (…)", and not too long.

    >>> rule = {"kind": "linear", "terms": [{"attribute": "town"}, {"attribute": "age"}]}
    >>> [is_sentence({"subgroup": words, "rule": rule})
    ...  for words in ("town = a·b", "[town=a] + age ≥ 3", "not (town = a)")]
    [True, False, False]
    """
    is_linear = own_rule(subgroup["rule"])["kind"] == "linear"
    is_negated = is_linear and own_words(subgroup).startswith("not (")
    return not (is_formula(subgroup) or is_negated or is_long(subgroup))


def is_formula(subgroup: Mapping[str, Any]) -> bool:
    """Return whether a subgroup is a weighted sum of attributes, which not everyone reads.

    A linear rule that is none begins with an attribute and what its values are, or with "not (".
    """
    rule = own_rule(subgroup["rule"])
    if rule["kind"] != "linear":
        return False
    names = {term["attribute"] for term in rule["terms"]} | {*rule.get("unnamed", ())}
    told = tuple(f"{inert(str(name))} {sign}" for name in names for sign in _COMPARISONS)
    return bool(names) and not own_words(subgroup).startswith((*told, "not ("))
