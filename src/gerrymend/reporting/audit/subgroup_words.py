"""Word one subgroup: who is in, its rate beside the overall one, and what that comes to.

Plain text, with names and values from the data as they are: whoever renders it escapes it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.notions import PREDICTED, SCORE_NAMES, in_words, rate_and_class
from gerrymend.reporting.audit.class_words import of_notion
from gerrymend.reporting.audit.formulas import LONG, is_formula, is_long
from gerrymend.reporting.audit.score_words import (
    interval_of,
    is_scored,
    own_rule,
    predicted_words,
)
from gerrymend.reporting.wording import (
    Compared,
    capitalised,
    compared,
    count,
    decided_words,
    event_noun,
    figure,
    label_words,
    percent,
    unfairness,
)
from gerrymend.subgroups.linear_rule import Term
from gerrymend.subgroups.rules import category_label, number

Facts = list[tuple[str, str]]

# A sum of more than `_MOST_TERMS` terms is shown by some, and values without a term up to so many.
_SHOWN = 20
_MOST_TERMS = 60
_MOST_VALUES = 5
# A subgroup is told by at most so many attributes; by a value that no fewer members have, and whose
# share is more than that above everyone's.
_TRAITS = 3
_COMMON = 0.2
_LIKE = 0.03
# Of a group with so much of the rows that count, the rate of everyone else is told as well.
_MUCH = 0.25
# Characters of any other description that are shown.
_LONGEST = 2000
_REST = "are in the report's JSON"
# What reports call a reference that is a number.
_CONSTANT = "the reference"


def notion_meaning(name: str, report: Mapping[str, Any]) -> str | None:
    """Say what a rate counts; None for one of the user's own.

    >>> notion_meaning("false_positive_rate", {"labels": ["no", "yes"]})
    'of those whose label is “no”, the part that is decided “yes”'
    """
    rate, _ = rate_and_class(name)
    if rate == "error_rate":
        return "of all, the part that is decided wrongly"
    if rate in SCORE_NAMES:
        positive = label_words(report)[1] if report["labels"] != [None, None] else None
        return positive and f"of all, the part whose label is {positive}"
    negative, positive = label_words(of_notion(report, name))
    refused, granted = decided_words(of_notion(report, name))
    return {
        "false_positive_rate": f"of those whose label is {negative}, the part that is {granted}",
        "false_negative_rate": f"of those whose label is {positive}, the part that is {refused}",
        "statistical_parity": f"of all, the part that is {granted}",
    }.get(rate)


def rate_of_all(subgroup: Mapping[str, Any]) -> str:
    """Return at which rate a subgroup would have no unfairness."""
    if subgroup.get("reference"):
        constant = subgroup["reference"] == _CONSTANT
        return f"a rate of {own_reference(subgroup)}" if constant else own_reference(subgroup)
    return "the rates of their strata" if subgroup.get("within_strata") else "the overall rate"


def than_words(subgroup: Mapping[str, Any]) -> str:
    """Return what a number of cases is more or fewer than."""
    if is_scored(subgroup):
        return "than was predicted"
    return f"than there would be at {rate_of_all(subgroup)}"


def own_reference(subgroup: Mapping[str, Any]) -> str:
    """Return a reference of one's own as such: a number, or what it is a part of."""
    if subgroup["reference"] == _CONSTANT:
        return figure(subgroup["overall_rate"], subgroup.get("unit"))
    return str(subgroup["reference"])


def compared_rates(subgroup: Mapping[str, Any]) -> Compared:
    """Return a subgroup's rate, the one that it is compared with, and the difference, in words."""
    return compared(subgroup["rate"], subgroup["overall_rate"], subgroup.get("unit"))


def rate_sentence(subgroup: Mapping[str, Any]) -> str:
    """Return a subgroup's rate beside the overall one, and the others' where it is large."""
    rest = rest_words(subgroup)
    return f"{rate_alone(subgroup)}{f' and {rest}' if rest else ''}"


def rate_in_words(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Return a subgroup's rate as a reader first hears of it: who is counted, and what happens.

    That takes the columns of labels and decisions; without them it is `rate_sentence`.
    """
    told = _counted(subgroup["notion"], report)
    if told is None or subgroup.get("within_strata") or subgroup.get("reference"):
        return rate_sentence(subgroup)
    rates = compared_rates(subgroup)
    rest = rest_words(subgroup)
    against = f"against {against_words(subgroup)}{f' and {rest}' if rest else ''}"
    return f"{rates.rate} of {told} ({in_words(subgroup['notion'])}), {against}"


def _counted(name: str, report: Mapping[str, Any]) -> str | None:
    """Return who a rate counts, and what happens to them, by the columns; None without these.

    >>> columns = {"label": "eligible", "decision": "granted", "threshold": None}
    >>> _counted("false_negative_rate", {"labels": [0, 1], "columns": columns})
    'those with eligible = 1 are decided granted = 0'
    """
    columns = report.get("columns", {})
    if columns.get("decision") is None or len(report["labels"]) > 2:
        return None
    refused, granted = decided_words(report)
    if name == "statistical_parity":
        return f"them are {granted}"
    if columns.get("label") is None:
        return None
    negative, positive = label_words(report)
    return {
        "false_positive_rate": f"those with {negative} are {granted}",
        "false_negative_rate": f"those with {positive} are {refused}",
    }.get(name)


def rate_alone(subgroup: Mapping[str, Any]) -> str:
    """Return a subgroup's rate beside the overall one, in words."""
    if is_scored(subgroup):
        return predicted_words(compared_rates(subgroup), subgroup.get("unit"))
    return (
        f"{in_words(subgroup['notion'])} {compared_rates(subgroup).rate}, against "
        f"{against_words(subgroup)}"
    )


def rest_words(subgroup: Mapping[str, Any]) -> str:
    """Return the rate of everyone else, beside a group that makes much of the overall one.

    The overall rate has the group in it: with s the group's part of the rows that count, it is off
    from that by 1 − s times what it is off from everyone else. "" up to a quarter of the rows, and
    where groups are compared with something else.

    >>> large = {"rate": 0.9, "overall_rate": 0.7, "rest_rate": 0.5}
    >>> rest_words(large), rest_words(large | {"overall_rate": 0.55})
    ('50 % of everyone else', '')
    """
    rest = subgroup.get("rest_rate")
    if rest is None:
        return ""
    off = abs(subgroup["rate"] - subgroup["overall_rate"])
    from_rest = abs(subgroup["rate"] - rest)
    if from_rest == 0 or off > (1 - _MUCH) * from_rest * (1 + 1e-9):
        return ""
    return f"{figure(rest, subgroup.get('unit'))} of everyone else"


def against_words(subgroup: Mapping[str, Any]) -> str:
    """Return the rate that a subgroup is compared with, and whose it is.

    >>> rates = {"overall_rate": 0.25}
    >>> against_words({**rates, "within_strata": True}), against_words(rates)
    ('25 % in the same strata', '25 % overall')
    >>> against_words({"overall_rate": 24.0, "unit": "days", "reference": "the mean of sex = M"})
    '24 days, the mean of sex = M'
    """
    rate = figure(subgroup["overall_rate"], subgroup.get("unit"))
    if "rate" in subgroup:  # with as many digits as that needs beside it
        rate = compared_rates(subgroup).reference
    comma = "," if subgroup.get("reference") and not is_scored(subgroup) else ""
    return f"{rate}{comma} {reference_noun(subgroup)}"


def reference_noun(subgroup: Mapping[str, Any]) -> str:
    """Return what a subgroup is compared with: everyone, those in the same strata, a reference.

    >>> reference_noun({"within_strata": True}), reference_noun({})
    ('in the same strata', 'overall')
    """
    plain = "in the same strata" if subgroup.get("within_strata") else "overall"
    return str(subgroup.get("reference") or plain)


def compared_sentence(overall: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Say what a reference of one's own is; nothing where it is the overall rate."""
    if overall.get("reference") is None:
        return ""
    unit = unit_of(report, overall["notion"])
    if overall["compared_with"] == PREDICTED:
        return (
            "Each group is compared with what was predicted for its own members; over all rows "
            f"that is {figure(overall['reference'], unit)}."
        )
    against = {"overall_rate": overall["reference"], "reference": overall["compared_with"]}
    average = "rate" if unit is None else "mean"
    return (
        f"Groups, and everyone, are compared with {against_words({**against, 'unit': unit})}, and "
        f"not with the overall {average}."
    )


def difference_words(subgroup: Mapping[str, Any]) -> str:
    """Return how far a subgroup's rate is from the overall one, in points and as a ratio.

    There is no ratio to an overall rate of 0, and none of numbers, which have no zero in common.
    """
    ratio = ""
    if subgroup["ratio"] is not None and subgroup.get("unit") is None:
        other = subgroup.get("within_strata") or subgroup.get("reference")
        that_rate = "that rate" if other else "the overall rate"
        ratio = f", {subgroup['ratio']:.2f} times {that_rate}"
    return f"{compared_rates(subgroup).gap}{ratio}"


def summary_words(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Return size, rate, difference and unfairness of a subgroup, for one line of text."""
    value = unfairness(subgroup["unfairness"], report["gamma"])
    rest = rest_words(subgroup)
    return (
        f"{count(subgroup['size'])} rows; {rate_alone(subgroup)}: {difference_words(subgroup)}"
        f"{f' ({rest})' if rest else ''}; "
        f"unfairness {value} {subgroup.get('unit') or ''}".rstrip()
    )


def rate_or_mean(subgroup: Mapping[str, Any]) -> str:
    """Return what is compared, as the name of a fact."""
    return "Rate" if subgroup.get("unit") is None else "Mean"


def unit_of(report: Mapping[str, Any], name: str) -> str | None:
    """Return what a mean is counted in, by the name of its notion; None for a rate.

    >>> unit_of({"notions": [{"name": "delay", "unit": "days"}]}, "delay")
    'days'
    """
    return next((one.get("unit") for one in report["notions"] if one["name"] == name), None)


def fragment_facts(subgroup: Mapping[str, Any]) -> Facts:
    """Return what is known of a subgroup without its report, by name."""
    amount = f"{unfairness(subgroup['unfairness'])} {subgroup.get('unit') or ''}".rstrip()
    return [
        ("Rows", count(subgroup["size"])),
        (rate_or_mean(subgroup), rate_sentence(subgroup)),
        ("Difference", difference_words(subgroup)),
        (
            "Unfairness",
            f"{amount}, the difference times "
            f"{percent(subgroup['share'])}, the share of all rows that are in the group and that "
            f"the {rate_or_mean(subgroup).lower()} is over",
        ),
    ]


def group_rate_sentence(overall: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Say what a rate counts, and what it is overall."""
    name = overall["notion"]
    meaning = notion_meaning(name, report)
    first = "" if meaning is None else f"{capitalised(meaning)}. "
    rate = "not shown"
    if overall["rate"] is not None:
        rate = figure(overall["rate"], unit_of(report, name))
    noun = event_noun(report["notions"], name)
    compared = compared_sentence(overall, report) or _expected(report)
    return f"{first}Overall {rate}, over {count(overall['rows'])} {noun}. {compared}".rstrip()


def _expected(report: Mapping[str, Any]) -> str:
    """Say what groups are compared with in a table; nothing where that is the overall rate."""
    if not (controls := report.get("control_features")):
        return ""
    return (
        "Each group is compared not with that, but with what is expected of it: what all have who "
        f"are alike in {' and '.join(controls)}, averaged over its members."
    )


def who_is_in(subgroup: Mapping[str, Any]) -> str:
    """Return who is in by the values that mark them, each beside everyone's; "" where none does.

    >>> who_is_in({"composition": [
    ...     {"attribute": "sex", "value": "M", "share": 0.999, "at_least": True, "overall": 0.51},
    ...     {"attribute": "age", "median": 54.0, "overall": 41.0}]})
    'more than 99.9 % with sex = M (everyone: 51 %), median age 54 (41)'
    """
    parts: list[str] = []
    for trait in _telling(subgroup["composition"]):
        if "median" in trait:
            own = f"median {trait['attribute']} {number(trait['median'])}"
            overall = number(trait["overall"])
        else:
            more = "more than " if trait["at_least"] else ""
            value = f"{trait['attribute']} = {category_label(trait['value'])}"
            own = f"{more}{percent(trait['share'])} with {value}"
            overall = percent(trait["overall"])
        parts.append(f"{own} ({'' if parts else 'everyone: '}{overall})")
    interval = interval_of(subgroup.get("rule", {}))
    return ", ".join([interval, *parts] if interval and parts else parts)


def mix_words(subgroup: Mapping[str, Any]) -> str:
    """Return who is in a group that takes a formula, as the mix that it is; "" where none is told.

    Without that word the values that mark many of its members would read as a rule for all.
    """
    who = who_is_in(subgroup) if is_formula(subgroup) else ""
    return f"a mix of people, {who}" if who else ""


def _telling(traits: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first traits, without values that few members have, or no more than of everyone.

    Most of a group may speak English, and still fewer than of everyone: that marks nobody in it.
    """
    telling = [
        trait
        for trait in traits
        if ("median" in trait and trait["median"] != trait["overall"])
        or (
            ("share" in trait and trait["share"] >= _COMMON)
            and trait["share"] - trait["overall"] > _LIKE
        )
    ]
    return telling[:_TRAITS]


def who_words(subgroup: Mapping[str, Any]) -> str:
    """Return who is in: in words, or of a formula by the values that mark them first."""
    mix = mix_words(subgroup)
    return f"{mix}; by the rule {rule_words(subgroup)}" if mix else rule_words(subgroup)


def reference_words(subgroup: Mapping[str, Any]) -> str:
    """Say which values have no term in a formula; "" where there is none, or too many."""
    parts = [
        f"{attribute} = {' or '.join(map(category_label, values))}"
        for attribute, values in own_rule(subgroup["rule"]).get("reference", {}).items()
        if 0 < len(values) <= _MOST_VALUES
    ]
    return f"Values without a term count 0: {', '.join(parts)}." if parts else ""


def rule_words(subgroup: Mapping[str, Any]) -> str:
    """Return the rule in words: of a sum of many terms some, and how many are left out.

    >>> terms = [{"attribute": "town", "value": f"t{i}", "coefficient": 1 + i} for i in range(999)]
    >>> rule = {"kind": "linear", "terms": terms, "threshold": 500.0}
    >>> words = rule_words({"subgroup": "2·[town=t1] " * 999, "rule": rule})
    >>> print(words[:53], "…", words[-34:])
    a sum of 999 terms ≥ 500, such as [town=t0], 2·[town= … 979 more are in the report's JSON
    """
    rule = own_rule(subgroup["rule"])
    terms = rule.get("terms", ())
    if is_formula(subgroup) and len(terms) > _MOST_TERMS:
        threshold = number(float(format(rule["threshold"], ".3g")))
        interval = interval_of(subgroup["rule"])
        sum_words = f"{interval}{', and ' * bool(interval)}"
        sum_words += f"a sum of {count(len(terms))} terms ≥ {threshold}"
        return (
            f"{sum_words}, {_first_terms(terms, _SHOWN)}; {count(len(terms) - _SHOWN)} more {_REST}"
        )
    words = str(subgroup["subgroup"])
    if len(words) <= _LONGEST or is_formula(subgroup):
        return words
    return f"{words[:_LONGEST].rstrip()} … ({count(len(words) - _LONGEST)} characters more {_REST})"


def _first_terms(terms: Sequence[Mapping[str, Any]], at_most: int) -> str:
    """Return the first terms: a rule has them in the order of their sizes, units aside."""
    return f"such as {', '.join(map(_term, terms[:at_most]))}"


def short_name(subgroup: Mapping[str, Any]) -> str:
    """Return a subgroup's description, who is in by a formula, or the gist of a long one.

    >>> terms = [{"attribute": "district", "value": f"d{i}", "coefficient": i - 20}
    ...          for i in range(45)]
    >>> rule = {"kind": "linear", "terms": terms, "threshold": 3.0}
    >>> short_name({"subgroup": "20·[district=d0] " * 45, "rule": rule, "composition": []})
    'a sum of 45 terms over district'
    """
    if mix := mix_words(subgroup):
        return mix
    if not is_long(subgroup):
        return str(subgroup["subgroup"])
    if not is_formula(subgroup):
        return f"{subgroup['subgroup'][: LONG - 1].rstrip()}…"
    terms = own_rule(subgroup["rule"])["terms"]
    names = dict.fromkeys(term["attribute"] for term in terms)
    over = ", ".join([*names][:_TRAITS]) + (", …" if len(names) > _TRAITS else "")
    return f"a sum of {count(len(terms))} terms over {over}"


def _term(term: Mapping[str, Any]) -> str:
    """Return a term of a weighted sum, its coefficient to three digits."""
    words = Term(term["attribute"], "value" in term, term.get("value")).describe()
    # A coefficient of 1 is not written.
    coefficient = number(float(format(term["coefficient"], ".3g")))
    return {"1": words, "−1": f"−{words}"}.get(coefficient, f"{coefficient}·{words}")
