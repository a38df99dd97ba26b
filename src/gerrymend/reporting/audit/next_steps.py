"""Say what to do after an audit: in sentences, and as commands to type."""

import shlex
from collections.abc import Mapping
from typing import Any

from gerrymend._runtime.command_lines import option_words
from gerrymend.notions import NOTION_NAMES
from gerrymend.reporting.audit.direction import in_unit, of_numbers
from gerrymend.reporting.audit.formulas import is_sentence
from gerrymend.reporting.audit.permutations import too_few
from gerrymend.reporting.audit.score_words import of_scores
from gerrymend.reporting.audit.standing_out import stands_out
from gerrymend.reporting.audit.subgroup_words import rate_alone
from gerrymend.reporting.audit.who_leads import headline, may_be_chance, sharpest
from gerrymend.reporting.wording import unfairness
from gerrymend.subgroups import CLASS_NAMES, as_subgroup_class

Report = Mapping[str, Any]

# A model that is trained to mend what chance made is no fairer to anyone else.
CHANCE_FIRST = (
    "First rule out chance: audit more rows, or rows that were not searched (--holdout, "
    "--test-size). To mend what chance made on these rows makes nothing fairer on others."
)

MORE_DRAWS = (
    "First rule out chance: audit again with more time or more shuffles (budget, n_permutations; "
    "--budget, --permutations)."
)


def next_sentences(report: Report) -> list[str]:
    """Say what to do about it, and what an audit can't know.

    What a fairer model costs, and whether that is worth it, is not the audit's to say.
    """
    if report["verdict"] == "within gamma":
        again = "Audit again when the model or the people change; new rows can differ."
        if stands_out(report):
            return [*look_sentences(report), again]
        return [
            "Nothing has to be mended to keep what is allowed, for the subgroups that were "
            f"searched and on these rows. {again}",
        ]
    cost = (
        "What a fairer model would cost in accuracy is not known from an audit. A frontier of "
        "models for several allowed levels shows the error of each beside its unfairness; which to "
        "take is a question of policy."
    )
    if of_scores(report):
        mend = (
            "Scores that are off for a subgroup can be corrected there, by what they are off on "
            "rows that the model was not trained on; corrections of what chance alone makes would "
            "make them worse."
        )
        return [*first_steps(report), mend]
    sentences = [*first_steps(report), cost]
    if of_numbers(report):
        how = (
            "A model that decides between 0 and 1 can be trained for a mean of what its decisions "
            "bring about, by SubgroupParityClassifier(notion=...); for other numbers none can be."
        )
        return [*sentences[:-1], how]
    if _needs_merging(report):
        how = (
            "Models are trained for two labels: merge all classes but the one that matters most "
            "into another, in a column of its own, and train for that."
        )
    elif not report.get("is_labelled", True):
        how = (
            "Models are trained on labels, of which there are none here: with a column of what was "
            "right to decide, gerrymend frontier trains such models, and gerrymend fit one."
        )
    elif _has_reference(report):
        how = (
            "Models are trained to treat groups as everyone, or as everyone in their stratum, and "
            "not as a reference of one's own: audit without it to see what there is to mend."
        )
    elif _options(report) is None:
        how = (
            "These subgroups and rates are for Python alone: SubgroupParityClassifier(...) takes "
            "them as subgroups= and notion=, and pareto_frontier(...) takes such a classifier."
        )
    else:
        how = "The first of these commands trains such models, the second trains one."
    return [*sentences, how]


def look_sentences(report: Report) -> list[str]:
    """Say what to do about who stands out, which gamma does not decide about."""
    one = sharpest(report)
    who = "Who that is would tell of a group of few rows, and is not said."
    own = "this group's"
    if one is not None:
        who = f"Look at {one['subgroup']} ({rate_alone(one)})"
        who += " before signing off: find out what sets these people apart, and whether that is "
        who += "justified."
        own = f"{own}, {in_unit(unfairness(one['unfairness'], report['gamma']), report)},"
    allowed = in_unit(f"{report['gamma']:g}", report)
    return [
        who,
        f"Unfairness counts how many people are hit, so that {own} is within the {allowed} that is "
        "allowed, however far its members are off. If that is not to pass, set a smaller gamma "
        "(--gamma), or have a gate fail for whoever stands out (report.stands_out, --fail-on "
        "stands-out).",
    ]


def first_steps(report: Report) -> list[str]:
    """Say what comes before a model is mended: to decide what is not, and to rule out chance."""
    if report["verdict"] == "undecided":
        look = look_sentences(report) if stands_out(report) else []
        return [*look, decide_sentence(report)]
    if too_few(report) and not stands_out(report):
        return [MORE_DRAWS]
    if may_be_chance(report) and not stands_out(report):
        return [CHANCE_FIRST]
    return [f"Do not sign this off as it is. {_look_at(report)}"]


def _look_at(report: Report) -> str:
    """Say to look at who leads, and for what; "" where nobody is told."""
    one = headline(report)
    if one is None:
        return "Find out who the people are of whom this report may not tell."
    name = "the group that is told first" if not is_sentence(one) else one["subgroup"]
    return (
        f"Look at {name} ({rate_alone(one)}): find out what sets these people apart, and whether "
        "that is justified."
    )


def decide_sentence(report: Report) -> str:
    """Say what can decide an audit that is undecided."""
    # Where nothing was proven, more time may change nothing: the proof's sentence says why.
    what = "More time (budget, --budget)" if report["no_bound"] is None else "Fewer attributes"
    return f"{what}, or a smaller class of subgroups, can decide it."


def next_commands(report: Report) -> list[str]:
    """Return what to type for it in a POSIX shell; nothing where no command can say it.

    A class with other parameters than the command's, or a notion of the user's own, has no option.
    """
    options = _options(report)
    if report["verdict"] == "within gamma" or options is None:
        return []
    # The report knows no file, and columns only where its author names them. A model that is
    # trained must not decide by the decisions that were audited.
    columns = report.get("columns", {})
    label = columns.get("label") or "LABEL"
    audited = [columns["decision"]] if columns.get("decision") else []
    first = ["FILE", *option_words("--label", label), *options, *option_words("--drop", audited)]
    gamma = option_words("--gamma", report["gamma"])
    return [
        shlex.join(["gerrymend", "frontier", *first, "--test-size", "0.3"]),
        shlex.join(["gerrymend", "fit", *first, *gamma, "--test-size", "0.3", "--out", "MODEL"]),
    ]


def _options(report: Report) -> list[str] | None:
    """Return protected columns, rates and class as options; None where no option says them."""
    notions = [one["name"] for one in report["notions"]]
    searched = _class_options(report["class"])
    if searched is None or not set(notions) <= set(NOTION_NAMES) or _needs_merging(report):
        return None
    if not report.get("is_labelled", True):
        return None
    if _has_reference(report):
        return None
    return [
        *option_words("--protected", report["attributes"]),
        *option_words("--control", report.get("control_features") or []),
        *option_words("--notion", ",".join(notions)),
        *searched,
        *(option_words("--favourable", report["favourable"]) if report["favourable"] else []),
    ]


def _has_reference(report: Report) -> bool:
    return any(one.get("reference") is not None for one in report["notions"])


def _needs_merging(report: Report) -> bool:
    """Return whether the data have more than two labels, also if one is compared with the rest."""
    labels = report["labels"]
    return len(labels) > 2 or labels[0] == f"not {labels[1]}"


def _class_options(searched: Mapping[str, Any]) -> list[str] | None:
    """Return a class as options; None for one that is set in another way.

    >>> _class_options(as_subgroup_class("trees").to_dict())
    ['--subgroups', 'trees']
    >>> _class_options(as_subgroup_class("trees").set_params(max_depth=5).to_dict())
    ['--subgroups', 'trees', '--depth', '5']
    >>> _class_options({"name": "Trees", "parameters": {"leaves": 5}}) is None
    True
    """
    for name in CLASS_NAMES:
        usual = as_subgroup_class(name).to_dict()
        if usual["name"] == searched["name"]:
            depth = searched["parameters"].get("max_depth")
            own = {"random_state": None, "max_depth": None}  # --seed and --depth set them
            if usual["parameters"] | own != {**searched["parameters"]} | own:
                return None
            deep = [] if depth == usual["parameters"].get("max_depth") else ["--depth", str(depth)]
            return [*option_words("--subgroups", name), *deep]
    return None
