"""The claims of the paper in REPRODUCTION.md: a table of verdicts, then figure by figure."""

import functools
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gerrymend.reproduction import claims, claims_dynamics, claims_marginal
from gerrymend.reproduction.claim import BY_SOME, FAILED, HELD, REPORTED, Claim
from gerrymend.reproduction.experiments import AUTHORS
from gerrymend.reproduction.plans import by_authors, slug
from gerrymend.reproduction.records import MissingRecordError, Records

_RANK = {FAILED: 0, REPORTED: 1, BY_SOME: 1, HELD: 2}
# These set readings side by side themselves; they are told which.
OF_ALL_READINGS: dict[Callable[..., Claim], Callable[[Records], Claim]] = {
    make: functools.partial(make, readings=(AUTHORS,))
    for make in (
        claims_dynamics.surface_flip,
        claims_dynamics.surface_flattens,
        claims_dynamics.surface_end,
    )
}


@dataclass(frozen=True)
class Figure:
    """Hold a figure of the paper, and what it is said to show.

    Attributes
    ----------
    heading, shows : str
        Its number and subject, and what is in our picture of it.
    picture : str
        The name of our picture, as `figures` draws it.
    claims : tuple of callable
        Functions that judge a claim by records.
    """

    heading: str
    shows: str
    picture: str
    claims: tuple[Callable[[Records], Claim], ...] = ()


FIGURES = (
    Figure(
        "Figure 1: a toy example",
        "False positive rates by race and gender, and the worst subgroup that each auditor finds",
        "figure_1_toy",
    ),
    Figure(
        "Figure 2: convergence",
        "Error and unfairness by round, for each gamma, on four datasets",
        "figure_2_convergence",
        (claims.law_converges, claims.adult_converges),
    ),
    Figure(
        "Figure 3: frontiers",
        "SUBGROUP's frontier with MARGINAL's models, and MARGINAL's own frontier, on four datasets",
        "figure_3_pareto",
        (
            claims.error_spans, claims.convexity, claims.communities_drop,
            claims_marginal.marginal_worse, claims_marginal.marginal_far_left,
            claims_marginal.dominated_points, claims_marginal.rank_correlation,
            claims_marginal.marginal_drop, claims.law_linear, claims.student_zero,
            claims_marginal.student_marginal,
        ),
    ),
    Figure(
        "Figure 4: the surface",
        "Unfairness of 400 groups of two attributes by round, by the authors' reading",
        f"figure_4_flat_{slug(AUTHORS)}",
        (claims_dynamics.surface_start, claims_dynamics.surface_prose, *OF_ALL_READINGS),
    ),
    Figure(
        "Figure 5: trajectories",
        "Error against unfairness by round on Communities, for four gammas",
        "figure_5_trajectory",
        (claims_dynamics.trajectories, claims_dynamics.panel_d),
    ),
    Figure(
        "The bound on the duals",
        "Frontiers for C = 10, 20, 50 and 100, on four datasets",
        "sensitivity_to_c",
        (claims.larger_c,),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """Hold a claim as the paper's text has its algorithm, and as its authors probably ran it.

    Attributes
    ----------
    as_written : Claim
    by_authors : Claim or None
        None where that was not run.
    """

    as_written: Claim
    by_authors: Claim | None


def judge(records: Records) -> dict[str, list[Judged]]:
    """Return the claims that records decide, by the picture that they are about."""
    return {figure.picture: list(_judged(figure, records)) for figure in FIGURES}


def n_claims() -> int:
    """Return the number of all claims, those without records included."""
    return sum(len(figure.claims) for figure in FIGURES)


def _judged(figure: Figure, records: Records) -> Iterator[Judged]:
    """Yield the claims about a figure that records decide."""
    for make in figure.claims:
        with suppress(MissingRecordError):
            found = make(records)
            other = None
            with suppress(MissingRecordError):
                other = OF_ALL_READINGS.get(make, make)(by_authors(records))
            yield Judged(found, other)


def verdict_lines(judged: list[Judged], *, quick: bool) -> Iterator[str]:
    """Yield a table of all verdicts, and who holds by which reading in a sentence."""
    yield "## Claims"
    yield ""
    yield "| the paper says | its number | as its text has it | by the authors' reading |"
    yield "|---|---|---|---|"
    for claim in judged:
        one = claim.as_written
        yield (
            f"| {one.words} | {one.theirs} | {_verdict(one, quick)} | "
            f"{_verdict(claim.by_authors, quick)} |"
        )
    yield ""
    yield (
        "*The authors' reading* is the appendix's order of play, duals over t − 1, and the side "
        "penalised that the regression predicted. The text leaves all three open, and of the four "
        "readings that were tried it is the one that gives the numbers of Figure 4. MARGINAL is "
        "another algorithm, and the same in both columns."
    )
    if not quick and any(claim.by_authors for claim in judged):
        yield ""
        yield _what_the_reading_changes(judged)


def _verdict(claim: Claim | None, quick: bool) -> str:
    """Return a verdict in bold, a dash without one."""
    if claim is None:
        return "–"
    return f"**{'withheld' if quick else claim.verdict}**"


def _what_the_reading_changes(judged: list[Judged]) -> str:
    """Return in words which claims come out otherwise by the authors' reading."""
    both = [(claim.as_written, claim.by_authors) for claim in judged if claim.by_authors]
    failed = [(one, other) for one, other in both if one.verdict != HELD]
    held = [one.words for one, other in failed if other.verdict == HELD]
    worse = [one.words for one, other in both if _RANK[other.verdict] < _RANK[one.verdict]]
    return (
        f"Of the {len(failed)} claims that were run by both and don't hold as the text has it, "
        "or only as reported or by some readings, "
        f"{_counted(held, 'holds', 'hold')} by the authors' reading{_listed(held)} "
        f"{_counted(worse, 'comes', 'come').capitalize()} out worse{_listed(worse)}"
    )


def _counted(words: list[str], one: str, several: str) -> str:
    """Return how many there are, with the verb that goes with it.

    >>> _counted([], "holds", "hold"), _counted(["a"], "holds", "hold")
    ('none holds', '1 holds')
    """
    return f"{len(words) or 'none'} {several if len(words) > 1 else one}"


def _listed(words: list[str]) -> str:
    """Return the end of a sentence, with the claims in quotation marks.

    >>> _listed([]), _listed(["a", "b"])
    ('.', ': “a”; “b”.')
    """
    return (": " + "; ".join(f"“{each}”" for each in words) if words else "") + "."


def figure_lines(judged: dict[str, list[Judged]], pictures: Path, *, quick: bool) -> Iterator[str]:
    """Yield a section for each figure: our picture, where it was drawn, and the claims about it."""
    yield "## Figure by figure"
    for figure in FIGURES:
        picture = pictures / f"{figure.picture}.png"
        if not (judged[figure.picture] or picture.exists()):
            continue
        yield ""
        yield f"### {figure.heading}"
        if picture.exists():
            yield ""
            yield f"![{figure.shows}]({pictures.name}/{picture.name})"
        for claim in judged[figure.picture]:
            yield ""
            yield from _claim_lines(claim, quick=quick)


def _claim_lines(judged: Judged, *, quick: bool) -> Iterator[str]:
    """Yield a claim, and what came out of it."""
    one = judged.as_written
    other = judged.by_authors
    number = "" if one.theirs == "–" else f" ({one.theirs})"
    yield f"**{one.words}**{number}"
    yield ""
    yield f"- Ours: {one.ours}: {_verdict(one, quick)}"
    if one.strongest != "–":
        yield f"- Strongest search: {one.strongest}"
    if other is not None:
        yield f"- By the authors' reading: {other.ours}: {_verdict(other, quick)}"
    if other is not None and other.strongest not in ("–", one.strongest):
        yield f"- Strongest search there: {other.strongest}"
    yield f"- Decided by: {one.reason}"
