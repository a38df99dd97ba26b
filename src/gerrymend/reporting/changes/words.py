"""Word a comparison, from its plain data: a heading, sentences, and facts by name."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.direction import direction_sentences, in_unit
from gerrymend.reporting.audit.subgroup_words import (
    against_words,
    compared_rates,
    rate_alone,
    rule_words,
    short_name,
)
from gerrymend.reporting.audit.verdict import LOOKS, Look
from gerrymend.reporting.wording import (
    bound,
    count,
    figure,
    p_equals,
    signed_unfairness,
    unfairness,
)

Data = Mapping[str, Any]

TITLE = "What changed"
_LOOKS = {
    "worse": Look("Worse than before", "✕", "exceeds", "bold red"),
    "same": Look("The same as before", "✓", "within", "bold green"),
    "better": Look("Better than before", "✓", "within", "bold green"),
    "can't tell": Look("It can't be told whether it changed", "?", "undecided", "bold yellow"),
}
_SIDES = {
    "report": ("in the old report", "on the new rows"),
    "samples": ("on the old rows", "on the new rows"),
    "models": ("by the old model", "by the new model"),
}
_KEPT_BACK = {
    "old_worst": "how the old worst subgroup is treated now",
    "moved": "which subgroup moved most",
}


def look(data: Data) -> Look:
    """Return how a comparison looks; one that warns of its rows must not be green.

    >>> look({"verdict": "same", "warnings": ["constant_decisions"]}).heading
    'The same as before, with warnings'
    """
    plain = _LOOKS[data["verdict"]]
    if not data["warnings"]:
        return plain
    kind, style = plain[2:] if data["verdict"] == "worse" else _LOOKS["can't tell"][2:]
    return Look(f"{plain.heading}, with warnings", "!", kind, style)


def sides(data: Data) -> tuple[str, str]:
    """Return where the old figures are from, and the new ones."""
    return _SIDES[data["basis"]]


def made_on(data: Data) -> str:
    """Return the day on which a comparison was made."""
    date = datetime.fromisoformat(data["provenance"]["date"])
    return f"{date.day} {date:%B %Y}"


def verdict_sentences(data: Data) -> list[str]:
    """Say how the largest unfairness moved, by which rule that is the verdict, and who moved."""
    before, after = sides(data)
    old, new = (in_unit(unfairness(data[side]["unfairness"]), data) for side in ("old", "new"))
    verb = "rose" if data["change"] > 0 else "fell"
    moved = f"The largest unfairness of a subgroup {verb} from {old} {before} to {new} {after}"
    if old == new:
        moved = f"The largest unfairness of a subgroup is {new} {after}, as it was {before}"
    return [f"{moved}. {_why(data)}", *moved_sentences(data)[:1]]


def _why(data: Data) -> str:
    """Say why the verdict is what it is."""
    allowed = in_unit(unfairness(data["tolerance"]), data)
    if abs(data["change"]) <= data["tolerance"]:
        limit = in_unit(bound(data["new"]["upper_bound"]), data)
        if data["verdict"] == "same":
            return f"A change by {allowed} or less is none, and none has more than {limit} now."
        return (
            f"A change by {allowed} or less is none; but it is not proven that none has more now, "
            f"only that none exceeds {limit}. A larger budget may prove it."
        )
    more = f"That is a change by more than {allowed}"
    if data["beyond_chance"] is None:
        return f"{more}; whether chance alone makes as much is not known: {data['no_p_value']}."
    if not data["beyond_chance"]:
        return f"{more}, and chance may have made it ({_chance_figure(data)})."
    if data["verdict"] == "can't tell":
        return (
            f"{more}, which chance hardly makes ({_chance_figure(data)}); but it is not proven "
            "that no subgroup has more now: none exceeds "
            f"{in_unit(bound(data['new']['upper_bound']), data)}. A larger budget may prove it."
        )
    return f"{more}, and chance hardly makes as much ({_chance_figure(data)})."


def _chance_figure(data: Data) -> str:
    """Return the figure that chance is told by, in a few words."""
    if data["basis"] != "report":
        return p_equals(data["p_value"])
    people = data["population"]
    low, high = (unfairness(people[end]) for end in ("lower_bound", "upper_bound"))
    return f"among the people it is between {low} and {high}, with 95 % confidence"


def standing_rows(data: Data) -> list[tuple[str, str, str]]:
    """Return a table of what was and what is, by name."""
    return [
        (name, show(data["old"], data), show(data["new"], data))
        for name, show in (
            ("Rows", lambda one, _: count(one["n_rows"])),
            ("Verdict", lambda one, _: LOOKS[one["verdict"]].heading),
            ("Unfairness", _largest),
            ("Worst subgroup", _named),
            ("Its rate", _rate),
        )
    ]


def _largest(one: Data, data: Data) -> str:
    value = in_unit(unfairness(one["unfairness"], data["gamma"]), data)
    if one["exact"]:
        return f"{value}, exact"
    limit = in_unit(bound(one["upper_bound"], data["gamma"]), data)
    return f"{value}, a lower bound; none above {limit}"


def _named(one: Data, data: Data) -> str:
    return "none to tell" if one["worst"] is None else short_name(one["worst"])


def _rate(one: Data, data: Data) -> str:
    worst = one["worst"]
    return "–" if worst is None else f"{rate_alone(worst)}; {count(worst['size'])} rows"


def facts(data: Data) -> list[tuple[str, list[str]]]:
    """Return what was found, a name and its sentences each."""
    found = [
        ("Old worst now", old_worst_sentences(data)),
        ("Moved most", moved_sentences(data)),
        ("Chance", chance_sentences(data)),
        ("Verdict", rule_sentences(data)),
        ("Labels", direction_sentences(data)),
    ]
    if data["kept_back"]:
        few = data["min_group_size"]
        parts = " and ".join(_KEPT_BACK[name] for name in data["kept_back"])
        told = f"It is not told {parts}: fewer than {few} rows would follow."
        found.append(("Kept back", [told]))
    return [(name, sentences) for name, sentences in found if sentences]


def old_worst_sentences(data: Data) -> list[str]:
    """Say how the old side's worst subgroup is treated on the new rows."""
    then = data["old"]["worst"]
    if then is None:
        return []
    now = data["old_worst_now"]
    if now["subgroup"] is None:
        return [f"{rule_words(then)}: too few of the new rows to tell."]
    group = now["subgroup"]
    _, after = sides(data)
    sentence = (
        f"{rule_words(then)}: {_then_and_now(then, group)} {after}. {_moved(then, group, data)}"
    )
    interval = now["unfairness_interval"]
    if now["same_rows"] and data["basis"] != "models":
        return [f"{sentence}. These are the very rows that it was found on."]
    if interval is None or data["basis"] == "models":
        return [f"{sentence}."]
    low, high = (in_unit(signed_unfairness(end), data) for end in interval)
    return [
        f"{sentence}, for the people behind the rows between {low} and {high} "
        f"({figure(now['level'])} interval; it was not chosen on these rows)."
    ]


def moved_sentences(data: Data) -> list[str]:
    """Say which subgroup moved most, by what, and that none moved by more; who first."""
    moved = data["moved"]
    if moved is None or not moved["moved"]:
        return []
    limit = in_unit(bound(moved["upper_bound"]), data)
    none_more = f"No subgroup's unfairness moved by more than {limit} on these rows."
    now, was = moved["now"], moved["was"]
    if now is None:
        return [none_more]
    sentences = [
        f"The subgroup that moved most, beside everyone, is {rule_words(now)}: "
        f"{_then_and_now(was, now)}.",
        f"{_moved(was, now, data)}.",
    ]
    if moved["by_share"]:
        by_rate, by_share = (signed_unfairness(moved[part]) for part in ("by_rate", "by_share"))
        sentences.append(
            f"Of that, {by_rate} comes from how far its {in_words(now['notion'])} is off, and "
            f"{by_share} from how many of the rows it is."
        )
    return [*sentences, none_more]


def _then_and_now(was: Data, now: Data) -> str:
    """Return a subgroup's rate on either side, beside what it is compared with."""
    then, today = compared_rates(was), compared_rates(now)
    return (
        f"its {in_words(now['notion'])} was {then.rate}, against {against_words(was)}, and is "
        f"{today.rate}, against {against_words(now)}"
    )


def _moved(was: Data, now: Data, data: Data) -> str:
    """Return a subgroup's unfairness on either side."""
    then, today = (in_unit(signed_unfairness(one["unfairness"]), data) for one in (was, now))
    return f"Its unfairness was {then} and is {today}"


def chance_sentences(data: Data) -> list[str]:
    """Say what chance alone would have made of it."""
    if data["basis"] == "report":
        people = data["population"]
        if people is None or people["lower_bound"] is None:
            reason = None if people is None else people["reason"]
            return [f"What holds of the people behind the new rows is not known: {reason}."]
        low, high = (
            in_unit(unfairness(people[end]), data) for end in ("lower_bound", "upper_bound")
        )
        return [
            "Among the people that the new rows were drawn from the largest unfairness is between "
            f"{low} and {high}, with {figure(people['confidence'])} confidence. The old figure is "
            "taken as it stands: with the old rows both sides' chance would be counted."
        ]
    if data["no_p_value"]:
        return [f"Whether chance alone makes such a change was not tested: {data['no_p_value']}."]
    dealt = (
        "the two decisions of each row were swapped at random"
        if data["basis"] == "models"
        else "it was dealt at random which of the rows are the new ones"
    )
    sentences = [
        f"In {count(data['n_permutations'])} permutations {dealt}, and all was searched again: "
        f"{p_equals(data['p_value'])} for the change of the largest unfairness"
    ]
    moved = data["moved"]
    if moved is not None and moved["p_value"] is not None:
        sentences[0] += f", {p_equals(moved['p_value'])} for what moved most"
    sentences[0] += "."
    if data["basis"] == "samples":
        sentences.append(
            "A small p-value says that the two were not drawn alike: in who is in them, or in how "
            "these are treated."
        )
    return sentences


def rule_sentences(data: Data) -> list[str]:
    """Say the verdict by the name that programs compare with, and its rule."""
    allowed = in_unit(unfairness(data["tolerance"]), data)
    gamma = in_unit(f"{data['gamma']:g}", data)
    return [
        f"{data['verdict']}; gamma is {gamma}.",
        f"“Worse” and “better” are a change of the largest unfairness by more than {allowed}, "
        "beyond chance at 5 %; “same” is one by no more. For “better” and “same” it has to be "
        f"proven that no subgroup of the class has more now: {data['covers']}.",
    ]


def warnings(data: Data) -> list[str]:
    """Say why it may say nothing of fairness."""
    return [one["sentence"] for one in data["warnings"]]
