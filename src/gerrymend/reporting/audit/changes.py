"""Say what changed since an earlier report, and why the two may not be comparable."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.class_words import class_list, rate_names
from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.audit.levels import level_words, levels
from gerrymend.reporting.audit.subgroup_words import short_name
from gerrymend.reporting.audit.verdict import LOOKS
from gerrymend.reporting.wording import bound, capitalised, count, figure, quoted, unfairness

Report = Mapping[str, Any]


def changes_view(now: Report, then: Report) -> dict[str, Any]:
    """Return a table of what was and what is, and sentences to read it by."""
    return {
        "rows": [(name, show(then), show(now)) for name, show in _SHOWN.items()],
        "sentences": [
            _unfairness_sentence(now, then),
            *level_sentences(now, then),
            *_reservations(now, then),
        ],
    }


def level_sentences(now: Report, then: Report) -> list[str]:
    """Say whose rates rose, and whether any group is better off; nothing where that is not known.

    Groups that were made alike by making all of them worse off have less unfairness as well.
    """
    return [f"{capitalised(level_words(one))}." for one in levels(then, now)]


def _made_on(report: Report) -> str:
    made = report.get("provenance")
    if made is None:
        return "not known"
    date = datetime.fromisoformat(made["date"])
    return f"{date.day} {date:%B %Y}"


def _verdict(report: Report) -> str:
    look = LOOKS.get(report["verdict"])
    warned = ", with warnings" if report.get("warnings") else ""
    return f"{report['verdict'] if look is None else look.heading}{warned}"


def _found(report: Report) -> str:
    value = in_unit(unfairness(report["unfairness"], report["gamma"]), report)
    if report["exact"]:
        return f"{value}, exact"
    limit = in_unit(bound(report["upper_bound"], report["gamma"]), report)
    return f"{value}, a lower bound; none above {limit}"


def _worst(report: Report) -> str:
    worst = report["worst"]
    # Reports of earlier versions don't say who is in by composition.
    return (
        "none that may be described" if worst is None else short_name({"composition": [], **worst})
    )


def _rate(report: Report) -> str:
    worst = report["worst"]
    if worst is None:
        return "–"
    return (
        f"{in_words(worst['notion'])} {figure(worst['rate'], worst.get('unit'))}, "
        f"{worst.get('reference', 'overall')} {figure(worst['overall_rate'], worst.get('unit'))}; "
        f"{count(worst['size'])} rows"
    )


_SHOWN: dict[str, Callable[[Report], str]] = {
    "Made on": _made_on,
    "Rows": lambda report: count(report["n_rows"]),
    "Verdict": _verdict,
    "Unfairness allowed": lambda report: in_unit(f"{report['gamma']:g}", report),
    "Largest unfairness found": _found,
    "The subgroup of it": _worst,
    "Its rate": _rate,
}


def _unfairness_sentence(now: Report, then: Report) -> str:
    """Say how the largest unfairness moved, and how sure that is."""
    before = in_unit(unfairness(then["unfairness"]), then)
    after = in_unit(unfairness(now["unfairness"]), now)
    if before == after:
        moved = f"The largest unfairness found is {after}, as it was"
    else:
        verb = "fell" if now["unfairness"] < then["unfairness"] else "rose"
        moved = f"The largest unfairness found {verb} from {before} to {after}"
    if now["exact"] and then["exact"]:
        return f"{moved}. Both are exact for their rows."
    # A search that found less may have missed more.
    return f"{moved}. Not both are exact: a larger one may have been missed, then or now."


def _reservations(now: Report, then: Report) -> list[str]:
    """Say in what the two audits differ beside the model, each in a sentence."""
    sentences = [_rows_sentence(now, then)]
    differ = [
        (name, show(then), show(now))
        for name, show in _SETTINGS.items()
        if show(then) != show(now) and show(then) is not None
    ]
    if differ:
        listed = "; ".join(f"{name}: {before} then, {after} now" for name, before, after in differ)
        sentences.append(
            "They were not made alike, so that part of the difference may come from that: "
            f"{listed}."
        )
    return sentences


def _rows_sentence(now: Report, then: Report) -> str:
    """Say whether both are about the same data."""
    made = [report.get("provenance") or {} for report in (then, now)]
    before, after = (part.get("fingerprint") for part in made)
    if before is None or after is None:
        return "Whether the data are the same is not known, nor if a change is more than chance."
    if before == after:
        return "The data are the same, labels, decisions and attributes, by their fingerprint."
    return (
        "The data are not the same: other people, other decisions, or both. Whether a change is "
        "more than chance was not tested."
    )


def _notions(report: Report) -> str | None:
    notions = report.get("notions")
    return None if notions is None else " and ".join(rate_names(notions))


def _attributes(report: Report) -> str | None:
    names = report.get("attributes")
    return None if names is None else ", ".join(names)


def _version(report: Report) -> str | None:
    made = report.get("provenance") or {}
    return (made.get("versions") or {}).get("gerrymend")


def _labels(report: Report) -> str | None:
    labels = report.get("labels")
    if labels is not None and len(labels) > 2:
        return class_list(report)
    return None if labels is None else f"{quoted(labels[1])} positive, {quoted(labels[0])} negative"


_SETTINGS: dict[str, Callable[[Report], Any]] = {
    "unfairness allowed": lambda report: in_unit(f"{report['gamma']:g}", report),
    "rates": _notions,
    "protected columns": _attributes,
    "labels": _labels,
    "subgroups searched": lambda report: report["covers"],
    "smallest group described": lambda report: report.get("min_group_size"),
    "favourable decision": lambda report: report.get("favourable"),
    "groups that count": lambda report: report.get("side"),
    "gerrymend": _version,
}
