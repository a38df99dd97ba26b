"""Verdicts on what the paper claims of its games and frontiers, from our records.

Each function judges one claim by one measure, which the reason names, and by the records alone; it
returns None where the records that it needs are missing. The thresholds of the measures are ours,
as the paper states most claims in words, and each is printed with its verdict.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from gerrymend.reproduction.figures import TITLES, title
from gerrymend.reproduction.records import Records

# The three verdicts. "Only as reported": by the paper's auditor, and not by the strongest search.
HELD = "reproduced"
REPORTED = "reproduced only as reported"
FAILED = "not reproduced"


@dataclass(frozen=True)
class Claim:
    """Hold one claim of the paper, our numbers beside it, and the verdict.

    Attributes
    ----------
    words, theirs : str
        The claim, and the number that the paper gives for it.
    ours, strongest : str
        What came out by the paper's own auditor, and by our strongest search.
    verdict, reason : str
        Whether it was reproduced, and the measure that decided it.
    """

    words: str
    theirs: str
    ours: str
    strongest: str
    verdict: str
    reason: str


def curves(records: Records, name: str, experiment: str = "subgroup") -> list[dict[str, Any]]:
    """Return the curves of a game, one for each gamma; an empty list without a record."""
    result = records.result(experiment, name)
    return result["curves"] if result else []


def _frontier(records: Records, name: str, experiment: str = "subgroup") -> Any:
    """Return the errors and the unfairness along a frontier, by increasing error, as two arrays."""
    result = records.result(experiment, name)
    points = result["frontier"] if result else []
    return (
        np.array([point["error"] for point in points]),
        np.array([point["unfairness"] for point in points]),
    )


def _cheapest(error: Any, unfairness: Any, below: float) -> float:
    """Return the least error with unfairness below a value, infinite if there is none.

    >>> _cheapest(np.array([0.1, 0.2, 0.3]), np.array([0.05, 0.004, 0.001]), below=0.005)
    0.2
    """
    return float(np.min(error[unfairness < below], initial=np.inf))


def _all(records: Records, *experiments: str) -> bool:
    """Return whether SUBGROUP's and the other experiments have records on all four datasets."""
    wanted = ("subgroup", *experiments)
    return all(records.result(experiment, name) for experiment in wanted for name in TITLES)


def _list(records: Records, values: Mapping[str, str]) -> str:
    """Return values by dataset as a list in words."""
    return ", ".join(f"{title(name, records)} {value}" for name, value in values.items())


def _percent(value: float) -> str:
    """Return a share in percent, to one decimal."""
    return f"{100 * value:.1f} %"


def _least_strongest(records: Records) -> str:
    """Return the least unfairness of each dataset's last mixtures, by the strongest search."""
    least = {name: min(c["strongest"] for c in curves(records, name)) for name in TITLES}
    return "last mixtures never below " + _list(records, {n: f"{v:.4f}" for n, v in least.items()})


def error_spans(records: Records) -> Claim | None:
    """Judge how much error each frontier spans.

    Held if Communities spans more than 8 points and Student less than 2.
    """
    if not _all(records):
        return None
    span = {}
    for name in TITLES:
        error, _ = _frontier(records, name)
        # A frontier is in the order of its errors, from the least-error model to the fairest.
        span[name] = float(error[-1] - error[0])
    held = span["communities"] > 0.08 and span["student"] < 0.02
    return Claim(
        "The errors that the frontiers span go from nearly 10 % (Communities) to under 2 % "
        "(Student)",
        "10 %, < 2 %",
        _list(records, {name: _percent(value) for name, value in span.items()}),
        _least_strongest(records),
        HELD if held else FAILED,
        "From the least error to where reported unfairness is least. Communities spans the most "
        "and Student the least, as in the paper, but the ends depend on how long one plays.",
    )


def _below_chord(error: Any, unfairness: Any) -> float:
    """Return the mean distance of a curve below the line between its ends, over its first value.

    >>> _below_chord([0.0, 1.0], [1.0, 0.0])
    0.0
    """
    # On an even grid, since points crowd where many rounds were close together.
    grid = np.linspace(error[0], error[-1], 200)
    chord = np.interp(grid, [error[0], error[-1]], [unfairness[0], unfairness[-1]])
    return float((chord - np.interp(grid, error, unfairness)).mean() / unfairness[0])


def convexity(records: Records) -> Claim | None:
    """Judge whether frontiers lie below their chords.

    Held if three of four lie below by more than 5 % of the unfairness at their left end.
    """
    if not _all(records):
        return None
    below = {name: _below_chord(*_frontier(records, name)) for name in TITLES}
    return Claim(
        "Most frontiers lie well below the line between their ends",
        "–",
        _list(records, {name: _percent(value) for name, value in below.items()}),
        "–",
        HELD if sum(value > 0.05 for value in below.values()) >= 3 else FAILED,
        "Mean distance below the chord, over the unfairness at its left end: above 5 % on three.",
    )


def law_linear(records: Records) -> Claim | None:
    """Judge whether Law School's frontier is linear, and the most so of the four.

    Measured on a grid of errors, since a frontier's points crowd where rounds were slow.
    """
    if not _all(records):
        return None
    fit = {}
    for name in TITLES:
        error, unfairness = _frontier(records, name)
        grid = np.linspace(error[0], error[-1], 200)
        fit[name] = float(np.corrcoef(grid, np.interp(grid, error, unfairness))[0, 1] ** 2)
    return Claim(
        "Law School's frontier is nearly linear",
        "–",
        _list(records, {name: f"{value:.3f}" for name, value in fit.items()}),
        "–",
        HELD if fit["law_school"] == max(fit.values()) and fit["law_school"] > 0.95 else FAILED,
        "R² of a line through the frontier: above .95, and the largest of the four.",
    )


def law_converges(records: Records) -> Claim | None:
    """Judge whether Law School converges, and whether more gamma buys less error.

    Held if the last unfairness is within .002 of gamma in the median over gammas that bind, and the
    error rises with gamma at most once.
    """
    found = curves(records, "law_school")
    if not found:
        return None
    # A gamma above the first unfairness constrains nothing, and can't be saturated.
    binding = [c for c in found if 0 < c["gamma"] < c["unfairness"][0]]
    off = [abs(c["unfairness"][-1] - c["gamma"]) for c in binding]
    errors = [c["error"][-1] for c in found]
    rises = sum(b > a for a, b in itertools.pairwise(errors))
    rounds = records.result("subgroup", "law_school")["t"][-1]  # type: ignore[index]
    return Claim(
        "Law School converges in thousands of rounds: more gamma, less error and more unfairness, "
        "typically saturating gamma",
        "thousands",
        f"after {rounds:,} rounds unfairness is within {np.median(off):.4f} of gamma (median); "
        f"error rises with gamma {rises} times of {len(errors) - 1}",
        "–",
        HELD if np.median(off) < 0.002 and rises <= 1 else FAILED,
        "Median distance below .002, and at most one rise.",
    )


def communities_drop(records: Records) -> Claim | None:
    """Judge the paper's headline example, on Communities at gamma = .005.

    It holds as reported if the numbers agree to the paper's digits, and holds altogether only if
    the strongest search finds no more than .005 in the last mixture.
    """
    found = {c["gamma"]: c for c in curves(records, "communities")}
    if 0.005 not in found:
        return None
    first = found[0.005]
    error, unfairness = _frontier(records, "communities")
    cheapest = _cheapest(error, unfairness, below=0.005)
    reached = round(first["unfairness"][0], 3) == 0.026 and round(cheapest, 2) <= 0.16
    seen = first["strongest"]
    return Claim(
        "Communities: unfairness from .026 to below .005 for error .12 to .16",
        ".026 → < .005, .12 → .16",
        f"{first['unfairness'][0]:.4f} → < .005, {first['error'][0]:.4f} → {cheapest:.4f}",
        f"{seen:.4f} in the last mixture at gamma .005, reported as {first['unfairness'][-1]:.4f}",
        (HELD if seen < 0.005 else REPORTED) if reached else FAILED,
        "By the paper's digits; held only if the stronger search agrees.",
    )


def _marginal_points(records: Records, name: str) -> Any:
    """Return MARGINAL's errors, marginal and subgroup unfairness over rounds and gammas."""
    found = curves(records, name, "marginal")
    return tuple(
        np.concatenate([curve[what] for curve in found])
        for what in ("error", "marginal", "subgroup")
    )


def _excess(records: Records, name: str, what: str) -> float:
    """Return the median by which MARGINAL's last models lie above SUBGROUP at the same error.

    `what` is "subgroup" for the paper's auditor, compared with SUBGROUP's frontier, or "strongest"
    for our search, compared with SUBGROUP's last mixtures.
    """
    if what == "subgroup":
        error, unfairness = _frontier(records, name)
        last = [(c["error"][-1], c["subgroup"][-1]) for c in curves(records, name, "marginal")]
    else:
        own = sorted((c["error"][-1], c["strongest"]) for c in curves(records, name))
        error, unfairness = np.array(own).T
        last = [(c["error"][-1], c["strongest"]) for c in curves(records, name, "marginal")]
    return float(np.median([u - np.interp(e, error, unfairness) for e, u in last]))


def marginal_worse(records: Records) -> Claim | None:
    """Judge how MARGINAL's models fare when audited for subgroups.

    It compares them with SUBGROUP's at the same error: by the paper's auditor, and by the strongest
    search. If only the first agrees with the paper, the claim holds as reported.
    """
    if not _all(records, "marginal"):
        return None
    reported = {name: _excess(records, name, "subgroup") for name in TITLES}
    strongest = {name: _excess(records, name, "strongest") for name in TITLES}

    def as_claimed(excess: dict[str, float]) -> bool:
        """Return whether the excess is small on Law School, and above .002 on the other three."""
        others = [value for name, value in excess.items() if name != "law_school"]
        return abs(excess["law_school"]) < 0.002 < min(others)

    return Claim(
        "MARGINAL fares much worse on subgroup fairness on three datasets, and is close on Law "
        "School",
        "–",
        _list(records, {name: f"{value:+.4f}" for name, value in reported.items()}),
        _list(records, {name: f"{value:+.4f}" for name, value in strongest.items()}),
        (HELD if as_claimed(strongest) else REPORTED) if as_claimed(reported) else FAILED,
        "Median of MARGINAL's unfairness above SUBGROUP's at the same error: above .002 on three, "
        "within it on Law School.",
    )


def marginal_far_left(records: Records) -> Claim | None:
    """Judge whether the two frontiers begin at the same model, where nothing is constrained.

    The first plays of both games are the same least-error model.
    """
    if not _all(records, "marginal"):
        return None
    apart = {}
    for name in TITLES:
        error, unfairness = _frontier(records, name)
        x, _, u = _marginal_points(records, name)
        left = int(np.argmin(x))
        apart[name] = (float(x[left] - error[0]), float(u[left] - unfairness[0]))
    close = all(abs(x) < 0.002 and abs(u) < 0.003 for x, u in apart.values())
    return Claim(
        "MARGINAL's curve meets SUBGROUP's at the far left, on all datasets",
        "equal",
        _list(records, {name: f"{x:+.4f}, {u:+.4f}" for name, (x, u) in apart.items()}),
        "–",
        HELD if close else FAILED,
        "Error and unfairness of MARGINAL's least-error model less those of the frontier's left "
        "end: within .002 and .003. The first plays are the same; a frontier over many rounds also "
        "holds mixtures that happen to be fairer at no more error.",
    )


def dominated_points(records: Records) -> Claim | None:
    """Judge how many of MARGINAL's models lie below SUBGROUP's frontier.

    A distance of 1e-4 or less is taken for a tie: records keep seven digits.
    """
    if not _all(records, "marginal"):
        return None
    share = {}
    for name in TITLES:
        error, unfairness = _frontier(records, name)
        x, _, u = _marginal_points(records, name)
        share[name] = float(np.mean(u < np.interp(x, error, unfairness) - 1e-4))
    return Claim(
        "A handful of MARGINAL's models dominate SUBGROUP's frontier",
        "a handful of points",
        _list(records, {name: _percent(value) for name, value in share.items()}),
        "–",
        HELD if 0 < max(share.values()) < 0.1 else FAILED,
        "Share of MARGINAL's rounds below the frontier by more than 1e-4: some, and under 10 % "
        "everywhere.",
    )


def rank_correlation(records: Records) -> Claim | None:
    """Judge whether marginal and subgroup unfairness go together.

    Spearman's correlation, above .5 on three datasets and below .3 on Student.
    """
    if not _all(records, "marginal"):
        return None
    reported = {}
    strongest = {}
    for name in TITLES:
        _, marginal, subgroup = _marginal_points(records, name)
        reported[name] = float(spearmanr(marginal, subgroup).statistic)
        last = [(c["marginal"][-1], c["strongest"]) for c in curves(records, name, "marginal")]
        own, seen = np.array(last).T
        strongest[name] = float(spearmanr(own, seen).statistic)
    others = [value for name, value in reported.items() if name != "student"]
    return Claim(
        "Less marginal unfairness goes with less subgroup unfairness, except on Student",
        "Student: none",
        _list(records, {name: f"{value:.2f}" for name, value in reported.items()}),
        _list(records, {name: f"{value:.2f}" for name, value in strongest.items()}),
        HELD if reported["student"] < 0.3 < 0.5 < min(others) else FAILED,
        "Rank correlation over MARGINAL's rounds and gammas (strongest: over its last models): "
        "above .5 on three and below .3 on Student.",
    )


def marginal_drop(records: Records) -> Claim | None:
    """Judge whether MARGINAL's frontiers begin with a steep drop.

    Held if half a point of error saves a fifth of marginal unfairness on each dataset.
    """
    if not _all(records, "marginal"):
        return None
    drop = {}
    for name in TITLES:
        error, unfairness = _frontier(records, name, "marginal")
        drop[name] = 1 - float(unfairness[error <= error[0] + 0.005].min() / unfairness[0])
    return Claim(
        "MARGINAL's own frontiers all begin with a steep drop",
        "–",
        _list(records, {name: f"−{_percent(value)}" for name, value in drop.items()}),
        "–",
        HELD if min(drop.values()) > 0.2 else FAILED,
        "Marginal unfairness saved by half a point of error: above a fifth everywhere.",
    )


def student_zero(records: Records) -> Claim | None:
    """Judge what it costs SUBGROUP to reach an unfairness of 0 on Student.

    An average over thousands of rounds is never 0 exactly: below 1e-5 counts.
    """
    found = curves(records, "student")
    if not found:
        return None
    error, unfairness = _frontier(records, "student")
    start = float(found[0]["error"][0])
    zero, near = (_cheapest(error, unfairness, below) - start for below in (1e-5, 1e-3))
    fairest = min(found, key=lambda curve: curve["fairest"]["unfairness"])["fairest"]
    reached = zero <= 0.025
    return Claim(
        "Student: SUBGROUP reaches unfairness 0 for 2 % more error",
        "0 at +2 %",
        f"0 at +{_percent(zero)}, below .001 at +{_percent(near)}",
        f"{fairest['strongest']:.4f} at the fairest point",
        (HELD if fairest["strongest"] < 0.001 else REPORTED) if reached else FAILED,
        "0 is below 1e-5, at most +2.5 %; held only if the stronger search agrees.",
    )


def student_marginal(records: Records) -> Claim | None:
    """Judge the least subgroup unfairness that MARGINAL reaches on Student.

    Held if it is from .001 to .003, whatever the error there.
    """
    if not _all(records, "marginal"):
        return None
    error, _, subgroup = _marginal_points(records, "student")
    best = int(np.argmin(subgroup))
    start = float(curves(records, "student")[0]["error"][0])
    seen = min(curve["strongest"] for curve in curves(records, "student", "marginal"))
    return Claim(
        "Student: MARGINAL's subgroup unfairness is .002 at its best, for over 3 % more error",
        ".002 at +3 %",
        f"{subgroup[best]:.4f} at +{_percent(error[best] - start)}",
        f"{seen:.4f}, the least of its last models",
        HELD if 0.001 <= subgroup[best] < 0.003 else FAILED,
        "The least that the paper's auditor reports over MARGINAL's rounds and gammas.",
    )


def adult_converges(records: Records) -> Claim | None:
    """Judge whether Adult still moves at the end of its rounds.

    Held, as the paper says that it has not converged, if unfairness ranges over more than .003 in
    the last tenth of rounds at some gamma, and the error rises with gamma more than once.
    """
    found = curves(records, "adult")
    if not found:
        return None
    # Unfairness that has settled hardly moves in the last tenth of the rounds.
    tenth = [curve["last_tenth_unfairness"] for curve in found]
    moves = max(spread["most"] - spread["least"] for spread in tenth)
    errors = [curve["error"][-1] for curve in found]
    rises = sum(b > a for a, b in itertools.pairwise(errors))
    rounds = records.result("subgroup", "adult")["t"][-1]  # type: ignore[index]
    return Claim(
        "Adult has not converged after about 180,000 rounds: noisy unfairness, and error not "
        "monotone in gamma",
        "180,000 rounds",
        f"in the last tenth of {rounds:,} rounds unfairness still ranges over {moves:.4f}; error "
        f"rises with gamma {rises} times of {len(errors) - 1}",
        "–",
        HELD if moves > 0.003 and rises > 1 else FAILED,
        "A range above .003 at some gamma, and more than one rise.",
    )


def larger_c(records: Records) -> Claim | None:
    """Judge whether the bound on the duals matters.

    Compares the least error with a reported unfairness below .005 over four values of C.
    """
    # By dataset, for each C in turn: the least error that is fair enough.
    cheapest: dict[str, list[float]] = {}
    for name in TITLES:
        for C in (10, 20, 50, 100):
            if not records.result("c", f"{name}_{C}"):
                return None
            error, unfairness = _frontier(records, f"{name}_{C}", "c")
            cheapest.setdefault(name, []).append(_cheapest(error, unfairness, below=0.005))
    spread = max(float(np.ptp(values)) for values in cheapest.values())
    return Claim(
        "Larger C changes nothing of note",
        "–",
        _list(records, {n: "/".join(f"{v:.3f}" for v in vs) for n, vs in cheapest.items()}),
        "–",
        HELD if spread < 0.02 else FAILED,
        "Cheapest error at reported unfairness below .005, for C = 10/20/50/100: within 2 points.",
    )


CLAIMS = (
    error_spans, convexity, law_converges, adult_converges, larger_c, communities_drop,
    marginal_worse, marginal_far_left, dominated_points, rank_correlation, marginal_drop,
    law_linear, student_zero, student_marginal,
)  # fmt: skip
