"""Verdicts on what the paper claims of trajectories and of its surface, from our records."""

import itertools
from collections.abc import Iterable, Sized
from typing import Any

import numpy as np

from gerrymend.reproduction.claim import BY_SOME, FAILED, HELD, Claim, curves
from gerrymend.reproduction.experiments import CONVENTIONS, TRAJECTORY_GAMMAS
from gerrymend.reproduction.plans import slug
from gerrymend.reproduction.records import MissingRecordError, Records

# In place of the strongest search's number: on the surface all 400 groups are measured.
EXACT = "exact: all 400 groups"


def _by_gamma(records: Records) -> dict[float, dict[str, Any]]:
    """Return the curves of Communities at the gammas of the trajectories."""
    found = {curve["gamma"]: curve for curve in curves(records, "communities")}
    played = {gamma: found[gamma] for gamma in TRAJECTORY_GAMMAS if gamma in found}
    if not {0.001, 0.022} <= played.keys():
        raise MissingRecordError("Communities was not played at gamma = .001 and .022.")
    return played


def _part(first: dict[str, Any], second: dict[str, Any]) -> int:
    """Return the first round in which two trajectories differ, counted from 1.

    >>> _part({"error": [0.1, 0.2, 0.3]}, {"error": [0.1, 0.2, 0.4]})
    3
    """
    # Records keep seven digits: errors that differ at all differ by more than 10⁻⁹.
    same = np.isclose(first["error"], second["error"], atol=1e-9)
    return len(same) + 1 if same.all() else int(np.argmin(same)) + 1


def trajectories(records: Records) -> Claim:
    """Judge whether two trajectories part as soon as they can once the larger gamma is reached.

    Until then both games have the same violated constraint and the same plays. Every pair of the
    recorded gammas is compared.
    """
    found = _by_gamma(records)
    delay = _rounds_to_answer(records)
    words = []
    held = True
    for (low, tight), (high, loose) in itertools.combinations(found.items(), 2):
        part = _part(tight, loose)
        crossed = int(np.argmax(np.array(loose["unfairness"]) <= high)) + 1
        held &= part == crossed + delay
        words.append(f"{low:g} and {high:g}: {part} ({crossed})")
    return Claim(
        "Trajectories are identical until unfairness falls below gamma",
        "–",
        "; ".join(words),
        "–",
        HELD if held else FAILED,
        "Round in which two gammas part (in which the larger is first reached): it must be the "
        f"{'round after' if delay == 1 else 'second after'}, the first play that can differ by "
        "this order of play.",
    )


def _rounds_to_answer(records: Records) -> int:
    """Return how many rounds after the Auditor's answer the Learner's play can first differ.

    By the body's order the play of round t answers the mixture of round t − 1; by the appendix's
    the Learner lags by one more round.
    """
    record = records.read("subgroup", "communities")
    convention = record["config"].get("convention", "body") if record else "body"
    return 2 if CONVENTIONS[convention]["order"] == "appendix" else 1


def panel_d(records: Records) -> Claim:
    """Judge when the trajectory of the largest gamma parts from the others.

    The paper's second step is the one that leads to round 3.
    """
    found = _by_gamma(records)
    part = _part(found[0.001], found[0.022])
    start = ", ".join(f"{value:.4f}" for value in found[0.022]["unfairness"][:4])
    return Claim(
        "At gamma = .022 the trajectory parts from the others on its second step",
        "second step",
        f"in round {part}; unfairness there is {start}, …",
        "–",
        HELD if part == 3 else FAILED,
        "The second step leads to round 3. Here unfairness is first below gamma in round 3, and no "
        "play can differ before the next.",
    )


def surface_at(records: Records, convention: str, number: int) -> Any:
    """Return the 20 × 20 values of a round and both coordinates of each.

    The coordinates are θ of the white share, then of the black share.
    """
    result = records.need("surface", slug(convention))
    if str(number) not in result["panels"]:
        raise MissingRecordError(f"Round {number} of the surface was not recorded.")
    thetas = np.array(result["thetas"])
    white, black = np.meshgrid(thetas, thetas, indexing="ij")
    return np.array(result["panels"][str(number)]["surface"]), white, black


def _quadrant(records: Records, convention: str, number: int) -> float:
    """Return the mean where θ of the white share is positive and of the black share negative."""
    values, white, black = surface_at(records, convention, number)
    return float(values[(white > 0) & (black < 0)].mean())


def _largest(records: Records, convention: str, number: int) -> float:
    """Return the largest absolute value of a surface."""
    return float(np.abs(surface_at(records, convention, number)[0]).max())


def surface_start(records: Records) -> Claim:
    """Judge the numbers that the paper gives for the surface of the unconstrained model.

    Held if all four agree to the digits that the paper prints.
    """
    values, white, black = surface_at(records, "body", 1)
    first = _quadrant(records, "body", 1)
    second = float(values[(white < 0) & (black > 0)].mean())
    most = float(np.abs(values).max())
    share = float(np.mean(np.abs(values) > 0.02))
    numbers = (round(most, 3), round(share, 4), round(first, 4), round(second, 4))
    return Claim(
        "Surface at t = 1: largest value, share above .02, means of the two quadrants",
        ".028, 61.25 %, −.0242, .0247",
        f"{most:.5f}, {100 * share:.2f} %, {first:.4f}, {second:.4f}",
        EXACT,
        HELD if numbers == (0.028, 0.6125, -0.0242, 0.0247) else FAILED,
        "To the paper's digits.",
    )


def surface_prose(records: Records) -> Claim:
    """Judge the paper's reading of that surface, by the rates of the rows themselves.

    The numbers agree with the paper's and the words don't: it takes the groups for their
    complements.
    """
    rates = records.need("surface", slug("body"))["panels"]["1"]["rates"]
    few = rates["few white, many black"]
    many = rates["many white, few black"]
    return Claim(
        "Communities with many white and few black residents have the much higher false positive "
        "rate, majority black ones the lower",
        "prose of section 3.4",
        f"many white, few black: {many:.4f}; few white, many black: {few:.4f}",
        "exact: rates of these rows",
        HELD if many > few else FAILED,
        "The surface's numbers are right and are read backwards: in it a group is θ·x < 0, not "
        "≥ 0.",
    )


def surface_flip(records: Records, readings: Iterable[str] = CONVENTIONS) -> Claim:
    """Judge whether the surface oscillates early on, under each reading of the algorithm.

    It is measured by the mean of one quadrant at t = 1, 7 and 13, whose sign has to change twice.
    """
    means = {
        convention: [_quadrant(records, convention, number) for number in (1, 7, 13)]
        for convention in readings
    }
    flips = [
        convention
        for convention, (start, then, later) in means.items()
        if start < 0 < then and later < 0
    ]
    return Claim(
        "The surface flips by t = 7 and reverts by t = 13",
        "–",
        "; ".join(
            f"{convention}: " + ", ".join(f"{value:+.4f}" for value in values)
            for convention, values in means.items()
        ),
        EXACT,
        _by_how_many(flips, means),
        "Mean of the first quadrant at t = 1, 7, 13. It flips and reverts with: "
        + ("; ".join(flips) or "none") + ".",
    )  # fmt: skip


def _by_how_many(holding: Sized, readings: Sized) -> str:
    """Return the verdict on a claim that holds by so many of the readings."""
    if len(holding) == len(readings):
        return HELD
    return BY_SOME if len(holding) else FAILED


def surface_flattens(records: Records, readings: Iterable[str] = CONVENTIONS) -> Claim:
    """Judge how much of the surface is left at t = 37."""
    left = {convention: _largest(records, convention, 37) for convention in readings}
    start = _largest(records, "body", 1)
    return Claim(
        "The surface has flattened noticeably by t = 37",
        "–",
        "; ".join(f"{convention}: {value:.4f}" for convention, value in left.items()),
        EXACT,
        HELD if max(left.values()) < start / 2 else FAILED,
        f"Largest of 400 groups below half of that at t = 1 ({start:.4f}), by every reading.",
    )


def surface_end(records: Records, readings: Iterable[str] = CONVENTIONS) -> Claim:
    """Judge how much of the surface is left at the end.

    Readings of the algorithm differ here, so that the claim may hold by some of them only.
    """
    left = {convention: _largest(records, convention, 1301) for convention in readings}
    below = [convention for convention, value in left.items() if value < 0.0028]
    return Claim(
        "At t = 1301 every subgroup is below .0028",
        "< .0028",
        "; ".join(f"{convention}: {value:.5f}" for convention, value in left.items()),
        EXACT,
        _by_how_many(below, left),
        "The text leaves open what the duals are divided by and which side is penalised. Below "
        "with: " + ("; ".join(below) or "none") + ".",
    )
