"""What each target needs: units of work, each with a configuration and a record of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gerrymend.reproduction import experiments
from gerrymend.reproduction.experiments import CONVENTIONS

GAMMAS = (0.0, 0.001, 0.003, 0.005, 0.009, 0.01, 0.015, 0.02, 0.022, 0.03)
QUICK_GAMMAS = (0.0, 0.001, 0.005, 0.022)
PANELS = (1, 7, 13, 19, 25, 31, 37, 1301)
# Rounds of the long games; the paper let Adult run for about 180,000.
ROUNDS = {"adult": 180_000}


@dataclass(frozen=True)
class Unit:
    """A piece of work: `work(data, **config)`, or `work(**config)` without a dataset."""

    experiment: str
    name: str
    dataset: str | None
    work: Callable[..., Mapping[str, Any]]
    config: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0  # how long it takes, roughly, so that the longest go first


def needed_by(target: str) -> tuple[str, ...]:
    """The experiments whose records a target reads."""
    return {
        "table1": ("table1",),
        "toy": ("toy",),
        "convergence": ("subgroup",),
        "pareto": ("subgroup", "marginal"),
        "surface": ("surface",),
        "trajectory": ("subgroup",),
        "c": ("c",),
        "future": ("subgroup", "learners", "solvers", "held_out"),
    }[target]


def units(experiment: str, datasets: Sequence[str], *, quick: bool) -> list[Unit]:
    """What an experiment has to do on these datasets."""
    if experiment == "toy":
        return [Unit("toy", "toy", None, experiments.toy, {"n_rows": 2000})]
    if experiment == "surface":
        return _surfaces(quick) if "communities" in datasets else []
    per_dataset = {
        "table1": _table_1,
        "subgroup": _subgroup,
        "marginal": _marginal,
        "c": _c,
        "learners": _learners,
        "solvers": _solvers,
        "held_out": _held_out,
    }[experiment]
    return [unit for name in datasets for unit in per_dataset(name, quick)]


def _table_1(name: str, quick: bool) -> list[Unit]:
    # Law School also with its incomplete rows, which the paper's count includes.
    names = ["law_school", "law_school_all"] if name == "law_school" else [name]
    return [Unit("table1", one, one, experiments.table_1) for one in names]


def _subgroup(name: str, quick: bool) -> list[Unit]:
    rounds = 300 if quick else ROUNDS.get(name, 10_000)
    config = {"gammas": QUICK_GAMMAS if quick else GAMMAS, "rounds": rounds}
    return [Unit("subgroup", name, name, experiments.subgroup_game, config, weight=rounds / 1000)]


def _marginal(name: str, quick: bool) -> list[Unit]:
    config = {"gammas": QUICK_GAMMAS if quick else GAMMAS, "rounds": 300 if quick else 3000}
    return [Unit("marginal", name, name, experiments.marginal_game, config, weight=8.0)]


def _surfaces(quick: bool) -> list[Unit]:
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
    """A convention's name as part of a file's."""
    return convention.replace(", ", "_")


def _c(name: str, quick: bool) -> list[Unit]:
    config = {"gammas": (0.0, 0.005, 0.01), "rounds": 300 if quick else 5000}
    return [
        Unit("c", f"{name}_{C:g}", name, experiments.with_c, {**config, "C": C})
        for C in (10.0, 20.0, 50.0, 100.0)
    ]


def _learners(name: str, quick: bool) -> list[Unit]:
    gammas = (0.001, 0.01) if quick else (0.0, 0.001, 0.005, 0.01, 0.02)
    rounds = {"logistic": 10 if quick else 150, "boosted_trees": 5 if quick else 60}
    return [
        Unit(
            "learners",
            f"{name}_{learner}",
            name,
            experiments.learner_game,
            {"learner": learner, "gammas": gammas, "rounds": rounds[learner]},
            weight=5.0,
        )
        for learner in rounds
    ]


def _solvers(name: str, quick: bool) -> list[Unit]:
    rounds, pooled_rounds = (200, 12) if quick else (10_000, 120)
    config = {"gamma": 0.005, "rounds": rounds, "pooled_rounds": pooled_rounds}
    return [Unit("solvers", name, name, experiments.solver_games, config, weight=6.0)]


def _held_out(name: str, quick: bool) -> list[Unit]:
    config = {"gammas": QUICK_GAMMAS if quick else GAMMAS, "rounds": 100 if quick else 1000}
    return [
        Unit("held_out", f"{name}_{split}", name, experiments.held_out, {**config, "split": split})
        for split in range(2 if quick else 8)
    ]
