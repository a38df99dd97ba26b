"""Open a frontier: where one starts, and the fairest model that was trained, in a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting import wording
from gerrymend.reporting.audit.levels import level_words

# Models that points are held against, by their kind.
REFERENCES = {"today": "your model today", "unconstrained": "unconstrained"}


def samples(point: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the training rows' figures, and the test rows' if there are any, by name."""
    yield "training", point["train"]
    if point["test"] is not None:
        yield "test", point["test"]


def openings(data: Mapping[str, Any]) -> list[str]:
    """Compare, for each notion, where one starts with the fairest model that was trained.

    And say whose rates rose from the one to the other, and whether any group is better off.
    """
    by_notion: dict[str, list[Any]] = {}
    for point in data["points"]:
        by_notion.setdefault(point["notion"], []).append(point)
    return [
        alike_sentence(points)
        or " ".join([_ends_sentence(data, notion, points), *level_sentences(data, points)])
        for notion, points in by_notion.items()
    ]


def level_sentences(data: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say how rates moved to the fairest point, from today's model or, without, from no constraint.

    Nothing where there is neither.
    """
    place = data["points"].index(_fairest(points))
    held_against = {
        reference["kind"]: reference["levels"][place]
        for reference in data["references"]
        if reference.get("levels") and reference["levels"][place] is not None
    }
    kind = next((kind for kind in REFERENCES if kind in held_against), None)
    if kind is None:
        return []
    start = "your model today" if kind == "today" else "the one without constraint"
    which = "the fairest of them" if len(points) > 1 else "it"
    moved = [level_words(level) for level in held_against[kind]]
    return [f"From {start} to {which}, {wording.visible(one)}." for one in moved]


def _fairest(points: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return min(points, key=lambda one: _figures(one)[::-1])


def _figures(model: Mapping[str, Any]) -> tuple[float, float]:
    """Return error and unfairness on the rows to choose by."""
    (*_, (_, sample)) = samples(model)
    return sample["error"], sample["unfairness"]


def alike_sentence(points: Sequence[Mapping[str, Any]]) -> str | None:
    """Say that all points of a notion are one in their figures, and what to ask for; None if not.

    That is on the rows to choose by.
    """
    figures = {(sample["error"], sample["unfairness"]) for *_, (_, sample) in map(samples, points)}
    if len(points) < 2 or len(figures) > 1:
        return None
    rows = [name for name, _ in samples(points[0])][-1]
    words = (
        f"On the {rows} rows all {len(points)} models that were trained have the same error and "
        "unfairness: in a picture they lie on one spot."
    )
    found = max(point["reported_unfairness"] for point in points)
    if found < min(point["gamma"] for point in points):
        words += (
            f" Every gamma that was asked for allows more than the {wording.unfairness(found)} "
            "that training found without it; ask for smaller ones (gammas=, --gammas)."
        )
    return words


def _ends_sentence(data: Mapping[str, Any], notion: str, points: Sequence[Any]) -> str:
    """Say what today's model, the one without constraint and the fairest have, on the same rows.

    Of several estimators without constraint it is the most accurate; where there is none, the most
    accurate of the points.
    """
    (*_, (rows, _)) = samples(points[0])
    fairest = _fairest(points)
    several = len(points) > 1
    ends = {}
    for kind in REFERENCES:
        of_kind = [
            one for one in data["references"] if (one["kind"], one["notion"]) == (kind, notion)
        ]
        if of_kind:
            best = min(of_kind, key=_figures)
            plain = wording.visible(f"{best['estimator']} without constraint")
            ends[REFERENCES[kind] if kind == "today" else plain] = best
    if not ends and several:
        ends["the most accurate of them"] = min(points, key=_figures)
    ends["the fairest of them" if several else "it"] = fairest
    told: list[str] = []
    for name, model in ends.items():
        error, unfair = _figures(model)
        wrong = wording.percent(error)
        most = wording.unfairness(unfair)
        told.append(
            f"{name} {wrong}, with {most}"
            if told
            else f"{name} decides {wrong} wrongly, with an unfairness of up to {most} in a subgroup"
        )
    trained = f"{wording.count(len(points))} models were" if several else "One model was"
    aside = ", MARGINAL’s aside" if data["marginal_points"] else ""
    about = f", by {in_words(notion)}," if len(data["notions"]) > 1 else ""
    return f"{trained} trained{aside}. On the {rows} rows{about} {'; '.join(told)}."
