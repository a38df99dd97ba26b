"""Members of a group by the plain data of its rule, and the numbers in it that a row might equal.

Only the documented parts of a rule are accepted: an unknown one could change who is in.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from typing import Any

from gerrymend.checker.exact import ZERO, Attribute, Table, exact
from gerrymend.checker.form import is_number

_ENDS = ("low", "high")
# Between an interval of the score and the rule that holds there.
_JOINED = ", and "


class RuleError(ValueError):
    """Raised for a rule that is not of the documented form, or not about these columns."""


def members(rule: Mapping[str, Any], table: Table) -> list[bool]:
    """Return whether each cell is in, without rounding.

    Raises a RuleError where the rule can't be read.

    >>> ages = Attribute("age", True, (exact(20), exact(40)))
    >>> table = Table({"age": ages}, [[1, 0]] * 2, [], [])
    >>> members({"kind": "linear", "terms": [{"attribute": "age", "coefficient": -1.0}],
    ...          "threshold": -30.0}, table)
    [True, False]
    """
    kind = rule.get("kind")
    try:
        if kind == "conjunction":
            _check_parts(rule, {"kind", "conditions"})
            held = [condition_holds(one, table) for one in _distinct(rule["conditions"])]
            return [all(holds[cell] for holds in held) for cell in range(len(table))]
        if kind == "linear":
            _check_parts(rule, {"kind", "terms", "threshold"} | ({"reference"} & set(rule)))
            threshold = _number(rule["threshold"])
            return [score >= threshold for score in scores(rule, table)]
        if kind == "tree":
            _check_parts(rule, {"kind", "tree"})
            return _tree(rule["tree"], table)
        if kind == "within":
            _check_parts(rule, {"kind", "interval", "rule"})
            there = condition_holds(rule["interval"], table)
            pairs = zip(there, members(own_rule(rule), table), strict=True)
            return [held and member for held, member in pairs]
    # A forged rule can have anything in any place; what it trips over is in the message.
    except (KeyError, TypeError, AttributeError) as problem:
        raise RuleError(f"its rule of kind {kind!r} can't be read ({problem!r})") from None
    raise RuleError(f"its rule is of the unknown kind {kind!r}")


def condition_holds(condition: Mapping[str, Any], table: Table) -> list[bool]:
    """Return whether each cell's value is in `values`, not in `other_than`, or low ≤ value < high.

    >>> ages = Attribute("age", True, (exact(20), exact(40)))
    >>> table = Table({"age": ages}, [[1, 0]] * 2, [], [])
    >>> condition_holds({"attribute": "age", "low": 20, "high": 40}, table)
    [True, False]
    """
    attribute = attribute_of(condition, table)
    if "values" in condition:
        _check_parts(condition, {"attribute", "values"})
        values = _plain(_listed(condition["values"]))  # one that comes twice is as the user had it
        wanted = [_number(value) if attribute.is_number else value for value in values]
        return [value in wanted for value in attribute.values]
    if "other_than" in condition:
        _check_parts(condition, {"attribute", "other_than"})
        told = _plain(_distinct(condition["other_than"]))
        return [value not in told for value in attribute.values]
    _check_parts(condition, {"attribute", "low", "high"})
    _check_number(attribute)
    low, high = (end if end is None else _number(end) for end in map(condition.get, _ENDS))
    if attribute is table.score and not {low, high} <= {None, *table.cuts}:
        raise RuleError(f"its interval of {attribute.name!r} has an end that is no cut of it")
    return [
        (low is None or low <= value) and (high is None or value < high)
        for value in attribute.values
    ]


def scores(rule: Mapping[str, Any], table: Table) -> list[Fraction]:
    """Return Σ coefficient·term for each cell of the table, without rounding."""
    total = [ZERO] * len(table)
    for term in _distinct(rule["terms"]):
        _check_parts(term, {"attribute", "coefficient"} | ({"value"} & set(term)))
        coefficient = _number(term["coefficient"])
        values = _term(term, table)
        # Most values are those of many cells.
        product = {value: coefficient * value for value in set(values)}
        total = [score + product[value] for score, value in zip(total, values, strict=True)]
    return total


def members_in_floats(rule: Mapping[str, Any], table: Table) -> list[bool]:
    """Return the members by a linear rule whose terms are added in float64, in their order."""
    total = [0.0] * len(table)
    for term in rule["terms"]:
        # In the order of the terms, as deployed code would add them: another order may round
        # otherwise.
        coefficient = float(term["coefficient"])
        values = map(float, _term(term, table))
        total = [score + coefficient * value for score, value in zip(total, values, strict=True)]
    return [score >= float(rule["threshold"]) for score in total]


def own_rule(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a rule without the interval of the score that it is within."""
    if rule["kind"] != "within":
        return rule
    if not isinstance(rule["rule"], Mapping) or rule["rule"].get("kind") == "within":
        raise RuleError("its rule is within an interval, and is no rule there")
    own: Mapping[str, Any] = rule["rule"]
    return own


def own_words(text: str, rule: Mapping[str, Any]) -> str:
    """Return the words of a rule without those of the interval that it is within.

    >>> own_words("0.5 ≤ score < 0.7, and x + y ≥ 3", {"kind": "within", "rule": {}})
    'x + y ≥ 3'
    """
    _, joined, after = text.partition(_JOINED)
    return after if rule["kind"] == "within" and joined else text


def cuts(rule: Mapping[str, Any], table: Table) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Yield the name and the number of each cut, and the values by cell that it divides.

    Where a score is cut is no row's number: its notion says so.
    """
    rule = own_rule(rule)
    if rule["kind"] == "linear":
        yield "the threshold", rule["threshold"], tuple(scores(rule, table))
        return
    for condition in parts_of(rule):
        attribute = attribute_of(condition, table)
        for end in _ENDS if attribute is not table.score else ():
            if condition.get(end) is not None:
                yield f"the cut of {attribute.name!r}", condition[end], attribute.values


def equals_one(cut: Any, values: Collection[Any]) -> bool:
    """Tell if a cut equals one of the values, though there is a number to cut at below it.

    There is none if the number before it in float64 is a value too.

    >>> equals_one(30.5, [30, 31]), equals_one(31, [30, 31]), equals_one(5e-324, [0, exact(5e-324)])
    (False, True, False)
    """
    below = math.nextafter(cut, -math.inf)
    return exact(cut) in values and exact(below) not in values


def attribute_of(part: Mapping[str, Any], table: Table) -> Attribute:
    """Return the attribute of a condition or a term; raise a RuleError for an unknown one."""
    name = part["attribute"]
    if name not in table.columns:
        raise RuleError(
            f"its rule uses the attribute {name!r}, which is no column of sensitive_features: "
            f"{', '.join(table.attributes)}"
        )
    return table.columns[name]


def _term(term: Mapping[str, Any], table: Table) -> list[Fraction | int]:
    """Return the value of a term by cell: a number, or the indicator of a category."""
    attribute = attribute_of(term, table)
    if "value" in term:
        return [int(value == term["value"]) for value in attribute.values]
    _check_number(attribute)
    return list(attribute.values)


def _check_number(attribute: Attribute) -> None:
    """Raise a RuleError if an attribute has categories."""
    if not attribute.is_number:
        raise RuleError(f"its rule takes {attribute.name!r} for a number, and it has categories")


def _check_parts(part: Mapping[str, Any], wanted: set[str]) -> None:
    """Raise a RuleError unless a part of a rule has exactly the wanted keys."""
    # No more and no less: an unknown key could mean that the rule selects others.
    if set(part) != wanted:
        raise RuleError(
            f"its rule has a part with {', '.join(map(repr, part)) or 'nothing'}, where "
            f"{', '.join(map(repr, sorted(wanted)))} are wanted"
        )


def _listed(parts: Any) -> list[Any]:
    """Return the parts as a list, or raise a RuleError if they are none."""
    if not isinstance(parts, list | tuple):
        raise RuleError(f"its rule has {parts!r}, where a list is wanted")
    return list(parts)


def _distinct(parts: Any) -> list[Any]:
    """Return the parts as a list, or raise a RuleError if one is there twice."""
    parts = _listed(parts)
    if any(part in parts[:i] for i, part in enumerate(parts)):
        raise RuleError("its rule has the same part twice")
    return parts


def _plain(values: list[Any]) -> list[Any]:
    """Return the values, or raise a RuleError if one is a list or a mapping."""
    for value in values:
        if isinstance(value, list | tuple | Mapping):
            raise RuleError(f"its rule has {value!r}, where a category or a number is wanted")
    return values


def _number(value: Any) -> Fraction:
    """Return a number as a fraction, or raise a RuleError if it is none."""
    # Fraction() would also take text such as "1/3", which no report has.
    if not is_number(value):
        raise RuleError(f"its rule has {value!r}, where a finite number is wanted")
    return exact(value)


def _tree(node: Any, table: Table) -> list[bool]:
    """Return whether each cell is in, by a decision tree whose leaves are true and false.

    >>> ages = Attribute("age", True, (exact(20), exact(40)))
    >>> table = Table({"age": ages}, [[1, 0]] * 2, [], [])
    >>> young = {"attribute": "age", "low": None, "high": 30}
    >>> _tree({"condition": young, "yes": False, "no": True}, table)
    [False, True]
    """
    if isinstance(node, bool):
        return [node] * len(table)
    _check_parts(node, {"condition", "yes", "no"})
    holds = condition_holds(node["condition"], table)
    yes = _tree(node["yes"], table)
    no = _tree(node["no"], table)
    return [a if held else b for held, a, b in zip(holds, yes, no, strict=True)]


def parts_of(rule: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return every condition or term of a rule, in order.

    >>> parts_of({"kind": "conjunction", "conditions": [{"attribute": "age"}]})
    [{'attribute': 'age'}]
    """
    if rule["kind"] == "within":
        return [rule["interval"], *parts_of(own_rule(rule))]
    if rule["kind"] == "tree":
        return list(_nodes(rule["tree"]))
    return list(rule["terms" if rule["kind"] == "linear" else "conditions"])


def _nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the condition of each node of a tree, from its root."""
    if not isinstance(node, bool):
        yield node["condition"]
        yield from _nodes(node["yes"])
        yield from _nodes(node["no"])
