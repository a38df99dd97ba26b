"""Have proofs compiled before a clock starts: numba takes seconds, once in an environment."""

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import SubgroupClass
from gerrymend.subgroups.conjunctions import Conjunctions
from gerrymend.subgroups.linear import LinearThresholds
from gerrymend.subgroups.proofs.chains import MOST_NUMBERS
from gerrymend.subgroups.proofs.threshold_proofs import FEWEST_BOXED
from gerrymend.subgroups.trees import Trees
from gerrymend.subgroups.value_sets import ValueSets


def compile_proofs(subgroups: SubgroupClass, columns: Sequence[Column]) -> None:
    """Prove something small of the class over such attributes, so that numba compiles or loads."""
    kind = type(subgroups)
    if kind not in (LinearThresholds, Conjunctions, ValueSets, Trees):
        return
    if isinstance(subgroups, LinearThresholds) and subgroups.search != "search":
        return  # these have no proof
    n_categories = sum(column.is_categorical for column in columns)
    n_numbers = min(len(columns) - n_categories, 2 if n_categories else 3)
    n_categories = min(n_categories, 3 - n_numbers)
    if kind is LinearThresholds and (n_numbers, n_categories) == (1, 2):
        # One number meets categories: boxes of gaps, but for few of them; and cones if not whole.
        if not _is_boxed(columns):
            n_categories = 1
        elif not _is_whole(columns):
            _prove_small(kind, 1, 1)
    _prove_small(kind, n_numbers, n_categories)


def _is_boxed(columns: Sequence[Column]) -> bool:
    widths = [len(set(column.values.tolist())) - 1 for column in columns if column.is_categorical]
    return 1 + sum(widths) - max(widths) >= FEWEST_BOXED


def _is_whole(columns: Sequence[Column]) -> bool:
    """Say whether numbers are whole and few enough not to be pooled."""
    values = np.concatenate([column.values for column in columns if not column.is_categorical])
    return bool((values == np.rint(values)).all() and np.ptp(values) < MOST_NUMBERS)


@functools.cache
def _prove_small(kind: type[SubgroupClass], n_numbers: int, n_categories: int) -> None:
    """Prove over so many attributes of each kind: what they need is compiled, and no more.

    Two numbers alone, categories alone and both together have algorithms of their own.
    """
    n = n_numbers + n_categories
    grid = np.array(list(itertools.product((0.0, 1.0, 2.0), repeat=n)))
    columns = tuple(
        Column(f"attribute {j}", grid[:, j], None if j < n_numbers else ("x", "y", "z"))
        for j in range(n)
    )
    residual = np.where(grid.sum(axis=1) % 2 == 0, 1.0, -1.0)  # a checkerboard: many ties
    residual -= residual.mean()
    weight = np.ones(len(grid))
    kind().bind(columns, weight, weight).prove(residual)
