"""Check of a report's scope: labels, attributes, notions, and the class of subgroups in words."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.classes import PARAMETERS
from gerrymend.checker.disclosed import rare_values, wrong_kept_back
from gerrymend.checker.exact import Table
from gerrymend.checker.figures import TOLERANCE, same_notion
from gerrymend.checker.fingerprint import check_provenance
from gerrymend.checker.many import wrong_classes
from gerrymend.checker.scores import is_of_scores, within_words, wrong_score_notion
from gerrymend.checker.warned import check_warnings


def check_scope(case: Case) -> None:
    """Check the scope of a report, and note the settings that are taken as stated.

    gamma and min_group_size are what the user asked for: no data can confirm or refute them.
    """
    stated = case.stated
    result = case.result
    before = len(result.problems)
    case.leave("gamma min_group_size", "settings of the audit, taken as stated")
    case.problem(*_wrong_data(stated, case.table), *wrong_kept_back(case))
    case.problem(*_wrong_missing(case))
    case.problem(*_wrong_notions(case))
    check_class(case)
    check_warnings(case)
    if len(result.problems) == before:
        result.checked.append(
            f"What it is about: {case.table.n_rows:,} rows, their labels and attributes, the "
            "notions, and the class of subgroups in words."
        )
    check_provenance(case)
    case.problem(*_wrong_used(stated))


def _wrong_data(stated: Mapping[str, Any], table: Table) -> Iterator[str]:
    """Yield what is wrong with the stated number of rows, labels, attributes and weights.

    Rows count as weighted where the weight of some cell and label is not its number of rows.
    """
    if table.n_rows != stated["n_rows"]:
        yield f"n_rows is stated as {stated['n_rows']}, and the data has {table.n_rows} rows."
    if not _same_labels(stated["labels"], table.labels):
        yield f"labels are stated as {stated['labels']!r}, and are {list(table.labels)!r}."
    if stated["is_labelled"] != table.is_labelled:
        have = "have labels" if table.is_labelled else "have none: y_true is None"
        yield f"is_labelled is stated as {stated['is_labelled']!r}, and the rows {have}."
    if stated["attributes"] != list(table.attributes):
        yield (
            f"attributes are stated as {stated['attributes']!r}, and the data has "
            f"{list(table.attributes)!r}."
        )
    pairs = [
        (weight, count)
        for weights, counts in zip(table.weight, table.rows, strict=True)
        for weight, count in zip(weights, counts, strict=True)
    ]
    weighted = any(weight != count for weight, count in pairs)
    # Audits sum on a grid, where a weight that is hardly other than 1 may be 1.
    doubtful = all(abs(weight - count) <= TOLERANCE * count for weight, count in pairs)
    if stated["weighted"] != weighted and not (weighted and doubtful):
        rows = "differ" if weighted else "are their number, by attributes and label"
        yield f"weighted is stated as {stated['weighted']!r}, and the weights of rows {rows}."
    rare = [
        {"attribute": name, "values": len(values)}
        for name, values in rare_values(table, stated["min_group_size"]).items()
    ]
    if stated["rare_values"] != rare:
        yield f"rare_values are stated as {stated['rare_values']!r}, and are {rare!r}."
    if stated["min_group_size"] < 1:
        yield f"min_group_size is stated as {stated['min_group_size']}, and is 1 or more."


def _wrong_missing(case: Case) -> Iterator[str]:
    """Yield what is wrong with the rows that lack a value: those that are there, or were dropped.

    Rows that were dropped are not at hand; their numbers have to agree with each other.
    """
    stated = case.stated["missing"]
    table = case.table
    absent = {
        name: sum(sum(n) for v, n in zip(one.values, table.rows, strict=True) if v is None)
        for name, one in table.attributes.items()
    }
    there = [{"column": name, "rows": rows} for name, rows in absent.items() if rows]
    if case.stated["held_out"] is not None:
        case.leave("missing.dropped_of_holdout", "rows that were dropped are not at hand")
    elif stated["dropped_of_holdout"]:
        yield "missing has rows that were dropped of a second sample, and there is none."
    if stated["dropped"] == 0:
        if (stated["columns"], stated["of"]) != (there, table.n_rows):
            yield f"missing is stated as {stated!r}; of {table.n_rows} rows {there!r} are."
        return
    case.leave(
        "missing.columns missing.columns.* missing.of missing.dropped",
        "rows that were dropped are not at hand",
    )
    if there:
        yield f"missing states that rows were dropped, and {there!r} are missing in those audited."
    rows = [one["rows"] for one in stated["columns"]] or [0]
    if not 0 < max(rows) <= stated["dropped"] <= sum(rows):
        yield f"missing: {stated['dropped']} rows can't have been dropped for {rows!r}."
    if stated["of"] < stated["dropped"] + table.n_rows:
        yield f"missing: {stated['of']} rows can't have been {stated['dropped']} more than audited."


def _same_labels(stated: list[Any], labels: tuple[Any, ...]) -> bool:
    """Return whether labels are the same, with true and 1 told apart.

    >>> _same_labels([0, 1], (0, 1)), _same_labels([False, True], (0, 1))
    (True, False)
    """

    def told_apart(label: Any) -> tuple[bool, Any]:
        return isinstance(label, bool), label

    return list(map(told_apart, stated)) == list(map(told_apart, labels))


def _wrong_notions(case: Case) -> Iterator[str]:
    """Yield what is wrong with the stated notions, and note those that are not known here.

    A notion of the user's own is what its coefficients say; one with a known name has to have the
    coefficients of that name, at least for the labels in its event.
    """
    notions = case.stated["notions"]
    names = [notion["name"] for notion in notions]
    if len(set(names)) < len(names):
        yield f"notions are stated as {names!r}, and one is there twice."
    yield from wrong_classes(case.stated, case.table)
    for notion in notions:
        if not any(notion["event"]):
            yield f"The notion {notion['name']} counts no row of either label."
        elif is_of_scores(notion):
            case.leave("notions.unit notions.cuts notions.score", "settings, taken as stated")
            yield from wrong_score_notion(notion, case.table)
        elif notion["unit"] is not None:
            case.leave("notions.unit", f"what the {notion['name']} is counted in")
            if (notion["event"], notion["a"], notion["b"]) != ([False, True], [0, 0], [1, 1]):
                yield f"The mean {notion['name']} is stated to be a rate of labels."
        elif same_notion(notion) is None:
            case.leave(
                "notions.name notions.event notions.a notions.b",
                f"{notion['name']} is a notion of one's own, taken as stated",
            )
        elif not same_notion(notion):
            yield f"The notion {notion['name']} is stated to be another rate than it is."
        # In known notions the coefficients are equal for both labels.
        elif sum(notion["event"]) == 1 and any(len(set(notion[part])) > 1 for part in ("a", "b")):
            case.leave(
                "notions.a notions.b",
                f"of {notion['name']}, for the label that it does not count: no figure depends on "
                "them",
            )


def _wrong_used(stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence unless `protected_used` is some of the attributes, in their order."""
    used = stated["protected_used"]
    if used is not None and used != [name for name in stated["attributes"] if name in used]:
        yield (
            f"protected_used is stated as {used!r}, and is some of the attributes, in their order."
        )


# The class of subgroups, which a report states in three ways: as data, as code and in words.


def check_class(case: Case) -> None:
    """Check that the class of subgroups is the same as data, as code and in words.

    The code is parsed, and never run. A class that is not known here is left unchecked.
    """
    stated = case.stated
    name = stated["class"]["name"]
    parameters = stated["class"]["parameters"]
    shown = _keywords(stated["subgroups"], name)
    if not stated["subgroups"].startswith(f"{name}("):
        case.problem(f"subgroups is stated as {stated['subgroups']!r}, and the class is {name}.")
    elif shown is None:
        case.leave("subgroups", "the class as code, which is not read beyond its name")
    else:
        for keyword, value in shown.items():
            if keyword == "groups":
                value = _plain_groups(value)
            if keyword not in parameters or parameters[keyword] != value:
                case.problem(
                    f"subgroups is stated as {stated['subgroups']!r}, and {keyword} of the class "
                    f"is {parameters.get(keyword)!r}."
                )
    _check_parameters(name, parameters, case)
    expected = class_in_words(name, parameters, case.table)
    if expected is None:
        case.leave("covers", "the class in words, for a class that the checker doesn't know")
    # The cuts of bins were chosen from the data, and the report has them only in words.
    elif expected.endswith("bins") and stated["covers"].startswith(expected):
        case.leave("covers", "at which numbers its bins are cut")
    elif stated["covers"] != expected:
        case.problem(f"covers is stated as {stated['covers']!r}, and the class is {expected!r}.")


def _check_parameters(name: str, parameters: Mapping[str, Any], case: Case) -> None:
    """Check that a known class has all of its parameters, with possible values.

    How linear thresholds were searched is noted as not checked: it leaves no trace in the result,
    and neither does `intercept` where they are those of the grid.
    """
    known = PARAMETERS.get(name)
    if known is None:
        case.leave("class class.parameters class.parameters.*", f"what the class {name} is")
        return
    for parameter in known.keys() - parameters.keys():
        case.problem(f"The class {name} is stated without its {parameter}.")
    for parameter, value in parameters.items():
        if parameter not in known:
            case.leave(
                f"class.parameters.{parameter} class.parameters.{parameter}.*",
                f"a parameter of {name} that the checker doesn't know",
            )
        elif not known[parameter](value):
            case.problem(f"{parameter} of the class {name} can't be {value!r}.")
    if name == "LinearThresholds":
        case.leave(
            "class.parameters.search class.parameters.restarts class.parameters.random_state",
            "how the class was searched",
        )
        if parameters.get("search") == "grid":
            case.leave("class.parameters.intercept", "the grid has none, whatever is stated")


def _keywords(code: str, name: str) -> dict[str, Any] | None:
    """Return the arguments of a call, or None where it is not one of plain values.

    >>> _keywords("Trees(max_depth=2)", "Trees"), _keywords("Trees(depth())", "Trees")
    ({'max_depth': 2}, None)
    """
    try:
        # Parsed and read as literals, never evaluated: the report may come from anyone.
        call = ast.parse(code, mode="eval").body
        if not isinstance(call, ast.Call) or call.args or ast.unparse(call.func) != name:
            return None
        return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (SyntaxError, ValueError):
        return None


def _plain_groups(groups: Any) -> Any:
    """Return the conditions of named groups as a rule has them.

    A pair is an interval, anything else one value or several.

    >>> _plain_groups({"old": {"age": (65, None)}})
    {'old': {'age': {'low': 65, 'high': None}}}
    >>> _plain_groups({"warm": {"colour": ["red", "orange"]}})
    {'warm': {'colour': {'values': ['orange', 'red']}}}
    """

    def plain(wanted: Any) -> dict[str, Any]:
        """Return one condition as plain data."""
        if isinstance(wanted, tuple) and len(wanted) == 2:
            return {"low": wanted[0], "high": wanted[1]}
        several = isinstance(wanted, list | set | frozenset)
        return {"values": sorted(wanted, key=str) if several else [wanted]}

    if not isinstance(groups, dict) or not all(isinstance(one, dict) for one in groups.values()):
        return groups
    return {
        str(name): {attribute: plain(wanted) for attribute, wanted in conditions.items()}
        for name, conditions in groups.items()
    }


def class_in_words(name: str, parameters: Mapping[str, Any], table: Table) -> str | None:
    """Return the class in words, as a report states it, or None for a class that is not known.

    Where numbers are in bins it ends at "bins": the cuts that follow are not known here.
    """
    words = _in_words(name, parameters, table)
    return words if words is None or words.endswith("bins") else f"{words}{within_words(table)}"


def _in_words(name: str, parameters: Mapping[str, Any], table: Table) -> str | None:
    """Return the class in words, at all scores."""
    names = ", ".join(table.attributes)
    depth = parameters.get("max_depth")
    numbers = any(attribute.is_number for attribute in table.attributes.values())
    cuts = "; numbers cut at every value" if numbers else ""
    if numbers and parameters.get("bins") is not None:
        cuts = f"; numbers cut into at most {parameters['bins']} bins"
    if name == "LinearThresholds":
        return _linear_in_words(parameters, table)
    if name == "Conjunctions":
        conditions = "one condition" if depth == 1 else f"at most {depth} conditions"
        if numbers and parameters.get("numeric") == "half_lines" and not cuts.endswith("bins"):
            cuts += ", on one side of a cut"
        return f"every conjunction of {conditions} on {names}{cuts}"
    if name == "ValueSets":
        few = "one attribute" if depth == 1 else f"at most {depth} attributes"
        return f"every product of value sets of {few}, of {names}{cuts}"
    if name == "Trees":
        return f"every union of leaves of a decision tree of depth {depth} on {names}{cuts}"
    if name == "Marginals":
        return "each value of a category, and both sides of the mean of each number"
    if name == "ExplicitGroups":
        return f"the {len(parameters.get('groups', ()))} groups that were named"
    return None


def _linear_in_words(parameters: Mapping[str, Any], table: Table) -> str:
    """Return the class of linear thresholds in words."""
    if parameters.get("search") == "grid":
        return "the 400 linear thresholds of the paper's grid"
    if not parameters.get("intercept", True):
        return f"every linear threshold of {' and '.join(table.attributes)} through their mean"
    return f"every linear threshold of {', '.join(table.attributes)}"
