"""Check of the strata that a report compares within: their values, numbers of rows and rates."""

from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import exact
from gerrymend.checker.figures import NOTIONS, TOLERANCE, Measured, outcomes_of, rate_of, shown
from gerrymend.checker.fingerprint import INTERVAL
from gerrymend.checker.words import label_of


def check_strata(case: Case) -> None:
    """Check the control features, every stratum that is listed, and how many are not."""
    before = len(case.result.problems)
    stated = case.stated
    if stated["control_features"] != list(case.table.controls):
        case.problem(
            f"control_features are stated as {stated['control_features']!r}, and the data has "
            f"{list(case.table.controls)!r}."
        )
        return
    case.problem(*_wrong_strata(case))
    if case.table.strata and len(case.result.problems) == before:
        case.result.checked.append(
            f"The {len(case.table.strata):,} strata that groups are compared within, and the rates "
            "of those that are listed."
        )


def wrong_reference_rate(subgroup: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Yield a sentence if `within_strata` of a subgroup is not whether the audit had strata."""
    if subgroup["within_strata"] != bool(case.table.strata):
        yield f"within_strata is stated as {subgroup['within_strata']!r}."


def _wrong_strata(case: Case) -> Iterator[str]:
    """Yield what is wrong with the strata that are listed, or with their number."""
    listed = {(one["stratum"], one["notion"]): one for one in case.stated["strata"]}
    if len(listed) < len(case.stated["strata"]):
        yield "strata has the same one twice."
    left_out = 0
    for notion in case.stated["notions"]:
        name = notion["name"]
        table = case.table.view(notion)
        outcomes = NOTIONS.get(rate_of(notion)) or outcomes_of(notion)
        strata = {key: Measured.of(outcomes, part) for key, part in table.strata.items()}
        withheld = []
        for key, part in strata.items():
            if not part.active:
                continue
            one = listed.pop((_words(table.controls, key), name), None)
            if one is None:
                withheld.append(part.everyone.rows)
                continue
            if one["rows"] != part.everyone.rows:
                yield f"strata: {one['stratum']} has {part.everyone.rows} rows that count."
            elif abs(exact(one["rate"]) - part.overall_rate) > TOLERANCE * part.scale:
                yield f"strata: the rate of {one['stratum']} is {shown(part.overall_rate)}."
            if one["rows"] < case.stated["min_group_size"]:
                yield f"strata: {one['stratum']} has too few rows to be listed."
        # All strata together have the known number of rows: what is not listed follows by
        # subtraction, and few rows in all of it would be told as if they were listed.
        if (
            withheld
            and 0 < sum(withheld) < case.stated["min_group_size"]
            and len(withheld) < sum(bool(part.active) for part in strata.values())
        ):
            yield f"strata: those that are not listed have {sum(withheld)} rows, too few."
        left_out += len(withheld)
        yield from _wrong_empty(notion, strata, case)
    yield from _wrong_order(case)
    known = {notion["name"] for notion in case.stated["notions"]}
    if any(one["notion"] not in known for one in case.stated["empty_strata"]):
        yield "empty_strata has a notion that is none of the report's."
    for words, name in listed:
        yield f"strata: {words} is no stratum of the {name}."
    if case.stated["strata_left_out"] != left_out:
        yield (
            f"strata_left_out is stated as {case.stated['strata_left_out']}, and {left_out} are "
            "not listed."
        )


def _wrong_order(case: Case) -> Iterator[str]:
    """Yield a sentence unless strata are in the order of the notions, and then of their values.

    Those that are intervals have the order of their ends, which their words don't tell.
    """
    places = []
    for notion in case.stated["notions"]:
        keys = list(case.table.view(notion).strata)
        texts = (value for key in keys for value in key if isinstance(value, str))
        if any(map(INTERVAL.fullmatch, texts)):
            return
        # A missing category is None, and comes last.
        keys.sort(key=lambda key: [(value is None, 0 if value is None else value) for value in key])
        places += [(_words(case.table.controls, key), notion["name"]) for key in keys]
    there = [(one["stratum"], one["notion"]) for one in case.stated["strata"]]
    found = [places.index(place) for place in there if place in places]
    if sorted(found) != found:
        yield "strata are not in the order of the notions and of their values."


def _wrong_empty(
    notion: Mapping[str, Any], strata: Mapping[tuple[Any, ...], Measured], case: Case
) -> Iterator[str]:
    """Yield what is wrong with the strata without a row that counts, which are left out."""
    name = notion["name"]
    empty = {_words(case.table.controls, k): part for k, part in strata.items() if not part.active}
    people = {words: sum(map(sum, part.table.rows)) for words, part in empty.items()}
    told = [one for one in case.stated["empty_strata"] if one["notion"] == name]
    if len(told) != bool(empty):
        yield f"empty_strata of the {name} are {len(empty)}, and are stated {len(told)} times."
        return
    for one in told:
        if one["number"] != len(empty):
            yield f"empty_strata: number is stated as {one['number']}, and is {len(empty)}."
        smallest = case.stated["min_group_size"]
        large = [words for words, rows in people.items() if rows >= smallest]
        if sorted(one["strata"]) != sorted(large):
            yield f"empty_strata of the {name} are {', '.join(large)}, of those that may be named."
        total = sum(people.values())
        if one["rows"] is None:
            case.leave("empty_strata.rows", "that their number would tell of few rows")
        elif one["rows"] != total:
            yield f"empty_strata: rows is stated as {one['rows']}, and is {total}."
        elif min(total, case.table.n_rows - total) < smallest:
            yield "empty_strata: rows tells of fewer than min_group_size."


def _words(controls: Mapping[str, bool], key: tuple[Any, ...]) -> str:
    """Return the values of a stratum as reports write them."""

    def words(value: Any, is_number: bool) -> str:
        if is_number:
            return f"{float(value) + 0.0:.15g}"  # −0 and 0 are the same number
        return f"{value:.15g}" if isinstance(value, float) else label_of(value)

    pairs = zip(controls.items(), key, strict=True)
    return " and ".join(f"{name} = {words(value, number)}" for (name, number), value in pairs)
