"""Plans: the units of work of each target, each with a configuration and a record of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gerrymend.reproduction import experiments
from gerrymend.reproduction.experiments import AUTHORS, CONVENTIONS
from gerrymend.reproduction.records import Records

GAMMAS = (0.0, 0.001, 0.003, 0.005, 0.009, 0.01, 0.015, 0.02, 0.022, 0.03)
# Enough for the claims that name a gamma: .005 on Communities, .001 and .022 in trajectories.
QUICK_GAMMAS = (0.0, 0.001, 0.005, 0.022)
# The rounds of the paper's Figure 4.
PANELS = (1, 7, 13, 19, 25, 31, 37, 1301)
# Rounds of SUBGROUP where they are not 10,000; the paper let Adult run for about 180,000.
ROUNDS = {"adult": 180_000}


@dataclass(frozen=True)
class Unit:
    """Describe a piece of work: `work(data, **config)`, or `work(**config)` without a dataset.

    Attributes
    ----------
    experiment, name : str
        The place of its record.
    dataset : str or None
        The name of its dataset.
    work : callable
        A function of `experiments`.
    config : mapping
        Its settings, which the record has too.
    weight : float
        Its time, in no unit.
    """

    experiment: str
    name: str
    dataset: str | None
    work: Callable[..., Mapping[str, Any]]
    config: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0  # the longest are started first, so that no process is left with one


def needed_by(target: str) -> tuple[str, ...]:
    """Return the experiments whose records a target reads.

    >>> needed_by("pareto")
    ('subgroup', 'marginal')
    """
    return {
        "table1": ("table1",),
        "toy": ("toy",),
        "convergence": ("subgroup",),
        "pareto": ("subgroup", "marginal"),
        "surface": ("surface",),
        "trajectory": ("subgroup",),
        "c": ("c",),
        "authors": ("subgroup_by_authors", "c_by_authors", "surface"),
        "future": ("subgroup", "learners", "solvers", "held_out"),
    }[target]


def units(experiment: str, datasets: Sequence[str], *, quick: bool) -> list[Unit]:
    """Return the units of an experiment on these datasets; `quick` ones take a few rounds each.

    The toy example needs no dataset, and the surface only Communities.
    """
    if experiment == "toy":
        return [Unit("toy", "toy", None, experiments.toy, {"n_rows": 2000})]
    if experiment == "surface":
        return _surfaces(quick) if "communities" in datasets else []
    plans: dict[str, Callable[[str, bool], list[Unit]]] = {
        "table1": _table_1,
        "subgroup": _subgroup,
        "marginal": _marginal,
        "c": _c,
        "subgroup_by_authors": partial(_by_authors, _subgroup),
        "c_by_authors": partial(_by_authors, _c),
        "learners": _learners,
        "solvers": _solvers,
        "held_out": _held_out,
    }
    return [unit for name in datasets for unit in plans[experiment](name, quick)]


def _table_1(name: str, quick: bool) -> list[Unit]:
    """Plan a count of the dataset."""
    # Law School also with its incomplete rows, which the paper's count includes.
    names = ["law_school", "law_school_all"] if name == "law_school" else [name]
    return [Unit("table1", dataset, dataset, experiments.table_1) for dataset in names]


def _subgroup(name: str, quick: bool) -> list[Unit]:
    """Plan SUBGROUP's games."""
    rounds = 300 if quick else ROUNDS.get(name, 10_000)
    config = {"gammas": QUICK_GAMMAS if quick else GAMMAS, "rounds": rounds}
    return [Unit("subgroup", name, name, experiments.subgroup_game, config, weight=rounds / 1000)]


def _marginal(name: str, quick: bool) -> list[Unit]:
    """Plan MARGINAL's games."""
    config = {"gammas": QUICK_GAMMAS if quick else GAMMAS, "rounds": 300 if quick else 3000}
    return [Unit("marginal", name, name, experiments.marginal_game, config, weight=8.0)]


def _surfaces(quick: bool) -> list[Unit]:
    """Plan the surface by each reading of the algorithm; a quick run leaves out the last panel."""
    panels = [panel for panel in PANELS if not quick or panel <= 300]
    return [
        Unit(
            "surface",
            slug(convention),
            "communities",
            experiments.surface,
            {"panels": panels, "convention": convention},
        )
        for convention in CONVENTIONS
    ]


def slug(convention: str) -> str:
    """Return a convention's name as part of a file's.

    >>> slug("body, t-1, predicted")
    'body_t-1_predicted'
    """
    return convention.replace(", ", "_")


def _c(name: str, quick: bool) -> list[Unit]:
    """Plan SUBGROUP's games for each bound on the duals."""
    config = {"gammas": (0.0, 0.005, 0.01), "rounds": 300 if quick else 5000}
    return [
        Unit("c", f"{name}_{C:g}", name, experiments.frontier_game, {**config, "C": C})
        for C in (10.0, 20.0, 50.0, 100.0)
    ]


def _by_authors(plan: Callable[[str, bool], list[Unit]], name: str, quick: bool) -> list[Unit]:
    """Plan the same games by the reading that the paper's last surface was made by."""
    return [
        replace(
            unit,
            experiment=f"{unit.experiment}_by_authors",
            config={**unit.config, "convention": AUTHORS},
        )
        for unit in plan(name, quick)
    ]


def by_authors(records: Records) -> Records:
    """Return the records as they are where the authors' reading is asked for as if it were ours."""
    surface = {f"surface/{slug('body')}": f"surface/{slug(AUTHORS)}"}
    games = {name: f"{name}_by_authors" for name in ("subgroup", "c")}
    return Records(records.folder, {**games, **surface})


def _learners(name: str, quick: bool) -> list[Unit]:
    """Plan a game for each richer Learner, with fewer rounds the longer it takes to train.

    Its own rounds are few, since each trains the Learner once for every gamma.
    """
    gammas = (0.001, 0.01) if quick else (0.0, 0.001, 0.005, 0.01, 0.02)
    rounds = {"logistic": 10 if quick else 150, "boosted_trees": 5 if quick else 60}
    return [
        Unit(
            "learners",
            f"{name}_{learner}",
            name,
            experiments.frontier_game,
            {"learner": learner, "gammas": gammas, "rounds": rounds[learner]},
            weight=5.0,
        )
        for learner in rounds
    ]


def _solvers(name: str, quick: bool) -> list[Unit]:
    """Plan the games of the three solvers."""
    rounds, pooled_rounds = (200, 12) if quick else (10_000, 120)
    config = {"gamma": 0.005, "rounds": rounds, "pooled_rounds": pooled_rounds}
    return [Unit("solvers", name, name, experiments.solver_games, config, weight=6.0)]


def _held_out(name: str, quick: bool) -> list[Unit]:
    """Plan the games on each split."""
    config = {"gammas": QUICK_GAMMAS if quick else GAMMAS, "rounds": 100 if quick else 1000}
    return [
        Unit("held_out", f"{name}_{split}", name, experiments.held_out, {**config, "split": split})
        for split in range(2 if quick else 8)
    ]
