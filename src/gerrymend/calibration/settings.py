"""Check what is asked of a repair, before any data is read."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.small_groups import check_min_group_size
from gerrymend.inputs.numbers import LARGEST_WHOLE, short
from gerrymend.inputs.settings import check_budget, check_callable, check_number, check_whole
from gerrymend.notions import SCORE, SCORE_NAMES, Multiaccuracy, Multicalibration, as_notions
from gerrymend.subgroups import SubgroupClass, as_subgroup_class

LEVEL = 0.05
N_DRAWS = 99
MAX_PATCHES = 200
BUDGET = 30.0
# Bins of a protected number, of a class that is named: the search is repeated for every draw.
BINS = 16


@dataclass(frozen=True)
class Settings:
    """The parameters of `calibrate`, checked.

    `bins` is None where intervals of the score don't matter, as for multiaccuracy.
    """

    subgroups: SubgroupClass
    notion: Multiaccuracy
    alpha: float | None
    level: float
    max_patches: int
    n_draws: int
    min_group_size: int
    budget: float
    seed: int
    on_step: Callable[[str, int, int | None], None] | None = field(default=None, compare=False)
    score: str = SCORE

    @classmethod
    def check(
        cls,
        *,
        notion: Any,
        subgroups: Any,
        alpha: Any,
        level: Any,
        max_patches: Any,
        n_draws: Any,
        min_group_size: Any,
        budget: Any,
        random_state: Any,
        on_step: Any = None,
    ) -> "Settings":
        """Return the settings, or raise an ArgumentError for one that can't be used."""
        check_callable(on_step, "on_step", "on_step(words, done, of)")
        return cls(
            subgroups=repaired_class(subgroups),
            notion=_notion(notion),
            alpha=None if alpha is None else _alpha(alpha),
            level=_level(level),
            max_patches=check_whole(max_patches, "max_patches", low=0),
            n_draws=_draws(n_draws, level),
            min_group_size=check_min_group_size(min_group_size),
            budget=check_budget(budget),
            seed=check_whole(random_state, "random_state", low=0),
            on_step=on_step,
        )

    @property
    def bins(self) -> int | tuple[float, ...] | None:
        """Return how scores are cut into bins; None where their intervals don't matter."""
        return self.notion.bins if isinstance(self.notion, Multicalibration) else None

    def check_alpha(self, n_rows: int) -> None:
        """Raise an ArgumentError for an alpha that the label of a single row can exceed."""
        if self.alpha is not None and self.alpha * n_rows < 1:
            raise ArgumentError(
                Argument("alpha", value=f"{self.alpha:g}"),
                f"is below what a single row makes: of {n_rows:,} rows one is {1 / n_rows:.3g}. "
                "Pass that or more; or ",
                Argument("alpha", value="None"),
                ", to go on for as long as chance is exceeded.",
            )

    def to_dict(self, cuts: tuple[float, ...]) -> dict[str, Any]:
        """Return the settings as plain data, with where scores were cut."""
        return {
            "notion": self.notion.name,
            "cuts": None if self.bins is None else list(cuts),
            "subgroups": self.subgroups.to_dict(),
            "alpha": self.alpha,
            "level": self.level,
            "max_patches": self.max_patches,
            "n_draws": self.n_draws,
            "min_group_size": self.min_group_size,
            "random_state": self.seed,
        }


def repaired_class(subgroups: Any) -> SubgroupClass:
    """Return a class of subgroups; one that is named has numbers in a few bins.

    >>> repaired_class("conjunctions")
    Conjunctions(bins=16)
    """
    chosen = as_subgroup_class(subgroups)
    if isinstance(subgroups, str) and "bins" in chosen.get_params():
        chosen.set_params(bins=BINS)
    return chosen


def _notion(notion: Any) -> Multiaccuracy:
    """Return a notion of scores; raise an ArgumentError for another."""
    (first, *_) = as_notions(notion)
    if not isinstance(first, Multiaccuracy):
        raise ArgumentError(
            Argument("notion", value=short(notion)),
            f"is not of scores; choose from {', '.join(SCORE_NAMES)}. Decisions are made fair by "
            "SubgroupParityClassifier.",
        )
    return first


def _alpha(alpha: Any) -> float:
    remedy = "It is the violation that is small enough: 0.01 for most uses, or None."
    return check_number(alpha, "alpha", low=0.0, above=True, remedy=remedy)


def _level(level: Any) -> float:
    remedy = "0.05 leaves right scores alone 19 times of 20; 1 doesn't ask about chance."
    number = check_number(level, "level", low=0.0, above=True, remedy=remedy)
    if number > 1:
        raise ArgumentError("level", f"must be at most 1; got {level!r}. {remedy}")
    if number * LARGEST_WHOLE < 1:  # of so many draws not one in a part of this size
        raise ArgumentError("level", f"must be at least 1.2e-16; got {short(level)}. {remedy}")
    return number


def _draws(n_draws: Any, level: Any) -> int:
    """Return the number of draws; raise an ArgumentError where no violation could exceed enough."""
    number = check_whole(n_draws, "n_draws", low=1)
    # A part `level` of the draws, and of the rows beside them, is one or more: as in Chance.limit.
    fewest = math.ceil((1 - 1e-12) / _level(level)) - 1
    if number < fewest:
        raise ArgumentError(
            "n_draws",
            f"must be at least {fewest:,}: of {number:,} draws none can be above all but ",
            Argument("level", value=f"{level:g}"),
            " of them. 99 are enough for most uses.",
        )
    return number
