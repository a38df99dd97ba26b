"""Experiments of the reproduction: functions from a dataset to findings, as plain data.

Each takes a PaperData and the settings of its unit in `plans`, and returns a mapping that `records`
writes as JSON. A `note` says where data other than the paper's stood in for it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gerrymend.auditing.audit import audit
from gerrymend.datasets import make_gerrymandered
from gerrymend.reproduction.games import (
    AuditListener,
    Fairest,
    PaperData,
    Table,
    frontier_of,
    play_games,
    watched_rounds,
)
from gerrymend.solvers import (
    Equilibrium,
    ExponentiatedGradient,
    FictitiousPlay,
    MultiplicativeWeights,
    NoRegret,
    play,
)
from gerrymend.subgroups import LinearThresholds, Marginals

TRAJECTORY_GAMMAS = (0.001, 0.005, 0.009, 0.022)
SURFACE_ATTRIBUTES = ("racePctWhite", "racepctblack")
# Readings of the algorithm: the paper's body and its appendix differ in the order of play, and
# leave open what the duals are divided by and which side of a subgroup's gap is penalised.
CONVENTIONS = {
    "body": {"order": "body", "divisor": "t", "side": "realised"},
    "appendix": {"order": "appendix", "divisor": "t", "side": "realised"},
    "body, t-1, predicted": {"order": "body", "divisor": "t-1", "side": "predicted"},
    "appendix, t-1, predicted": {"order": "appendix", "divisor": "t-1", "side": "predicted"},
}
# The reading that the paper's last surface was made by, as far as its figures tell.
AUTHORS = "appendix, t-1, predicted"
PAPER_C = 10.0
SEED = 0
# The strongest search over linear thresholds that the package has; still a lower bound.
STRONGEST = LinearThresholds(restarts=800)
# The search as classifiers use it by default, cheap enough to be run in every round.
OWN_SEARCH = LinearThresholds(restarts=None)


def table_1(data: PaperData) -> dict[str, Any]:
    """Count the rows, the columns and the error of deciding by the majority.

    Returns `rows`, one-hot `columns`, the number and names of `protected` columns, and `baseline`,
    the share of the less common label.
    """
    names = [str(name) for name in data.protected]  # values are not read: some may be missing
    return {
        "rows": len(data.y),
        "columns": data.X.shape[1],
        "protected": len(names),
        "protected_names": names,
        "baseline": min(float(data.y.mean()), 1 - float(data.y.mean())),
        "note": data.note,
    }


def toy(n_rows: int) -> dict[str, Any]:
    """Measure Figure 1: rates by race and gender, and the worst that each auditor finds.

    Returns `cells` and `marginals`, false positive rates by group, and `found` by auditor.
    """
    people = make_gerrymandered(n_rows, random_state=SEED)
    decided = (people.score >= 0.5).astype(int)
    attributes = people.sensitive_features
    negatives = people.target == 0

    def rate(**wanted: str) -> float:
        """Return the false positive rate of a group, given by values of its attributes."""
        group = negatives.copy()
        for name, value in wanted.items():
            group &= attributes[name] == value
        return float(decided[group].mean())

    def found(subgroups: Any) -> dict[str, Any]:
        """Return the worst subgroup of a class, and its unfairness."""
        report = audit(people.target, decided, sensitive_features=attributes, subgroups=subgroups)
        words = report.worst.describe() if report.worst else "none"
        return {"unfairness": report.unfairness, "subgroup": words}

    return {
        "cells": {
            f"{race} {gender}": rate(race=race, gender=gender)
            for race in ("blue", "green")
            for gender in ("man", "woman")
        },
        "marginals": {
            **{race: rate(race=race) for race in ("blue", "green")},
            **{gender: rate(gender=gender) for gender in ("man", "woman")},
        },
        "found": {
            "marginals": found("marginals"),
            "regression": found(LinearThresholds(search="regression")),
            "grid": found(LinearThresholds(search="grid")),
        },
    }


def subgroup_game(
    data: PaperData, *, gammas: Sequence[float], rounds: int, convention: str = "body"
) -> dict[str, Any]:
    """Play SUBGROUP at every gamma, by a reading of the algorithm: a key of CONVENTIONS.

    Returns the recorded rounds `t`, a curve for each gamma, and the frontier over all rounds. A
    curve has error and unfairness at the rounds `t`, what the strongest search says of the last
    mixture, the bound that no subgroup exceeds, the fairest mixture and the spread over the last
    tenth of rounds.
    """
    table = Table(data)
    auditor = table.auditor(LinearThresholds(search="regression"))
    fairest = Fairest(len(gammas))
    games = play_games(
        table.rows(auditor), auditor, FictitiousPlay(**CONVENTIONS[convention]),
        gammas=gammas, rounds=rounds, C=PAPER_C, listeners=(fairest,),
    )  # fmt: skip
    at = watched_rounds(rounds)
    strongest = table.auditor(STRONGEST)
    last = strongest.worst(fairest.last.votes, fairest.last.number).unfairness
    best = strongest.worst(fairest.probabilities, None).unfairness
    return {
        "t": at,
        "curves": [
            {
                "gamma": game.gamma,
                "error": game.error[at - 1],
                "unfairness": game.unfairness[at - 1],
                "strongest": last[i],
                "upper_bound": game.upper_bound,
                "fairest": {**fairest.point(i), "strongest": best[i]},
                "last_tenth_unfairness": _spread(game.unfairness[-max(1, rounds // 10) :]),
            }
            for i, game in enumerate(games)
        ],
        "frontier": frontier_of(games),
        "note": data.note,
    }


def _spread(values: Any) -> dict[str, float]:
    """Return the least and the largest value."""
    return {"least": float(np.min(values)), "most": float(np.max(values))}


def marginal_game(data: PaperData, *, gammas: Sequence[float], rounds: int) -> dict[str, Any]:
    """Play MARGINAL at every gamma, and have its mixtures audited for subgroups.

    Returns the recorded rounds `t`, the frontier of its own unfairness, and a curve for each gamma:
    error, marginal and subgroup unfairness at the rounds `t`, and the strongest search's of the
    last.
    """
    table = Table(data)
    auditor = table.auditor(Marginals())
    audits = AuditListener(
        {"subgroup": table.auditor(LinearThresholds(search="regression"))},
        at=watched_rounds(rounds),
    )
    fairest = Fairest(len(gammas))
    games = play_games(
        table.rows(auditor), auditor, MultiplicativeWeights(),
        gammas=gammas, rounds=rounds, C=PAPER_C, listeners=(audits, fairest),
    )  # fmt: skip
    at = audits.at
    last = table.auditor(STRONGEST).worst(fairest.last.votes, fairest.last.number).unfairness
    return {
        "t": at,
        "curves": [
            {
                "gamma": game.gamma,
                "error": game.error[at - 1],
                "marginal": game.unfairness[at - 1],
                "subgroup": audits.of("subgroup", i),
                "strongest": last[i],
            }
            for i, game in enumerate(games)
        ],
        "frontier": frontier_of(games),
        "note": data.note,
    }


def surface(data: PaperData, *, panels: Sequence[int], convention: str) -> dict[str, Any]:
    """Measure Figure 4: the unfairness of 400 groups of two attributes, at gamma = 0.

    Returns the grid `thetas` and, by number of round, a panel: the surface (20, 20), the error, the
    unfairness that the regression reports, and rates of two quadrants.
    """
    table = Table(data, SURFACE_ATTRIBUTES)
    auditor = table.auditor(LinearThresholds(search="regression"))
    grid = table.auditor(LinearThresholds(search="grid")).notions[0]
    listed: Any = grid.subgroups
    # Columns are in the order in which they were passed; the paper's x is the share of whites.
    first = [column.name for column in table.cells.columns].index(SURFACE_ATTRIBUTES[0])
    found: dict[int, Any] = {}

    def on_round(played: Any) -> None:
        """Keep the surface, the rates and the figures of a round that is drawn."""
        if played.number not in panels:
            return
        values = listed.values(grid.residuals(played.votes, played.number))[0]
        # The paper's sign: the overall rate less the group's.
        surface = -values.reshape(20, 20) / auditor.total_weight
        found[played.number] = {
            "rates": _quadrant_rates(table, played.votes[0] / played.number),
            "surface": surface if first == 0 else surface.T,
            "heuristic": float(played.unfairness[0]),
            "error": float(played.error[0]),
        }

    play_games(
        table.rows(auditor), auditor, FictitiousPlay(**CONVENTIONS[convention]),
        gammas=[0.0], rounds=max(panels), C=PAPER_C, listeners=(on_round,),
    )  # fmt: skip
    return {
        "thetas": sorted(set(listed.thetas[:, 0].tolist())),
        "panels": {str(number): found[number] for number in panels},
        "note": data.note,
    }


def _quadrant_rates(table: Table, p: Any) -> dict[str, float]:
    """Return false positive rates where one share is below its mean and the other above.

    `p` has the probability of a positive decision by row, in the order of the table.
    """
    columns = {column.name: column.values for column in table.cells.columns}
    white, black = (columns[name][table.cells.index] for name in SURFACE_ATTRIBUTES)
    negative = table.y == 0
    few_white = (white < white.mean()) & (black > black.mean()) & negative
    many_white = (white > white.mean()) & (black < black.mean()) & negative
    return {
        "few white, many black": float(p[few_white].mean()),
        "many white, few black": float(p[many_white].mean()),
    }


def frontier_game(
    data: PaperData,
    *,
    gammas: Sequence[float],
    rounds: int,
    C: float = PAPER_C,
    learner: str = "linear",
    convention: str = "body",
) -> dict[str, Any]:
    """Play SUBGROUP with another bound on the duals or a richer Learner, and keep its frontier.

    `learner` is "linear", the paper's, "logistic" or "boosted_trees". Trees are small and few, as
    they are trained each round. `convention` is a key of CONVENTIONS.
    """
    table = Table(data)
    auditor = table.auditor(LinearThresholds(search="regression"))
    estimator = {
        "linear": LinearRegression(),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "boosted_trees": HistGradientBoostingClassifier(
            max_iter=20, max_leaf_nodes=8, random_state=SEED
        ),
    }[learner]
    rows = table.rows(auditor, estimator)
    solver = FictitiousPlay(**CONVENTIONS[convention])
    games = play_games(rows, auditor, solver, gammas=gammas, rounds=rounds, C=C)
    return {"frontier": frontier_of(games), "note": data.note}


def solver_games(
    data: PaperData, *, gamma: float, rounds: int, pooled_rounds: int
) -> dict[str, Any]:
    """Play fictitious play and no regret, and the default solver for far fewer rounds.

    All use the paper's oracles; the default solver also plays against its own default auditor.
    Returns, by solver, error and unfairness at the recorded rounds, and the strongest search's of
    some mixtures.
    """
    table = Table(data)
    auditor = table.auditor(LinearThresholds(search="regression"))
    strongest = table.auditor(STRONGEST)
    at = watched_rounds(rounds)
    # The strongest search has 800 restarts: it is asked for few of the mixtures.
    audited = np.array([t for t in (100, 1000) if t < rounds] + [rounds])
    found = {}
    averaging = {"fictitious play": FictitiousPlay(), "no regret": NoRegret(random_state=SEED)}
    for name, solver in averaging.items():
        audits = AuditListener({"strongest": strongest}, at=audited)
        (game,) = play_games(
            table.rows(auditor), auditor, solver,
            gammas=[gamma], rounds=rounds, C=PAPER_C, listeners=(audits,),
        )  # fmt: skip
        found[name] = _by_round(game, at, audited, audits.of("strongest", 0))
    opponents = {
        "exponentiated gradient": auditor,
        "exponentiated gradient, own search": table.auditor(OWN_SEARCH),
    }
    for name, opponent in opponents.items():
        (game,) = ExponentiatedGradient().play(
            table.rows(opponent), opponent,
            gammas=[gamma], C=PAPER_C, max_iter=pooled_rounds, tol=None,
        )  # fmt: skip
        assert game.mixture is not None
        p = game.mixture.positive_probability(table.X[table.order])
        last = strongest.worst(p[None], None).unfairness
        found[name] = _by_round(game, np.arange(1, len(game.rounds) + 1), game.rounds[-1:], last)
    return {"gamma": gamma, "C": PAPER_C, "games": found, "note": data.note}


def _by_round(game: Equilibrium, at: Any, audited: Any, strongest: Any) -> dict[str, Any]:
    """Return a game's figures at some rounds, and the strongest search's of its mixtures."""
    return {
        "t": game.rounds[at - 1],
        "error": game.error[at - 1],
        "unfairness": game.unfairness[at - 1],
        "strongest": {"t": audited, "unfairness": strongest},
    }


def held_out(
    data: PaperData, *, split: int, gammas: Sequence[float], rounds: int
) -> dict[str, Any]:
    """Train on two thirds of the rows, and audit the mixture of every gamma on both parts.

    `split` is the number of the random split, from 0. Returns a point for each gamma: error and
    unfairness by the paper's auditor, on `train` and on `test`.
    """
    # Splits are drawn one after the other, so that number `split` is the same in every unit.
    splitter = StratifiedShuffleSplit(n_splits=split + 1, test_size=1 / 3, random_state=SEED)
    train, test = list(splitter.split(data.X, data.y))[split]
    rows = data.rows(train)
    table = Table(rows)
    auditor = table.auditor(LinearThresholds(search="regression"))
    games = play(
        FictitiousPlay(), table.rows(auditor), auditor,
        gammas=gammas, C=PAPER_C, max_iter=rounds, tol=None,
    )  # fmt: skip
    points = []
    for game in games:
        assert game.mixture is not None
        point: dict[str, Any] = {"gamma": game.gamma}
        for part, which in (("train", train), ("test", test)):
            rows_of_part = data.rows(which)
            p = game.mixture.positive_probability(rows_of_part.X)
            report = audit(
                rows_of_part.y,
                p,
                sensitive_features=rows_of_part.protected,
                decision_probabilities=True,
                subgroups=LinearThresholds(search="regression"),
            )
            point[part] = {
                "error": float(np.mean(np.abs(p - rows_of_part.y))),
                "unfairness": report.unfairness,
            }
        points.append(point)
    return {"points": points, "note": data.note}
