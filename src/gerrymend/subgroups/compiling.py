"""Have proofs compiled before a clock starts: numba takes seconds, once in an environment."""

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gerrymend._runtime.compiling import expected
from gerrymend.inputs.protected import Column
from gerrymend.subgroups._tree_kernel import second_splits, sorted_by
from gerrymend.subgroups.base import SubgroupClass
from gerrymend.subgroups.conjunctions import Conjunctions
from gerrymend.subgroups.linear import LinearThresholds
from gerrymend.subgroups.products._product_kernel import (
    add_by,
    add_by_two,
    continue_search,
    start_search,
)
from gerrymend.subgroups.proofs import cone_bounds, planar
from gerrymend.subgroups.proofs.chains import MOST_NUMBERS
from gerrymend.subgroups.proofs.gap_boxes import take_place
from gerrymend.subgroups.proofs.gap_kernel import explore
from gerrymend.subgroups.proofs.offset_ascent import climb
from gerrymend.subgroups.proofs.threshold_proofs import FEWEST_BOXED
from gerrymend.subgroups.thresholds.great_circles import ascend
from gerrymend.subgroups.trees import Trees
from gerrymend.subgroups.value_sets import ValueSets


class Algorithm(NamedTuple):
    """A class, compiled loops that its proofs may need, and attributes with which they need all.

    Attributes are given by their number of values.
    """

    kind: type[SubgroupClass]
    loops: tuple[Any, ...]
    numbers: tuple[int, ...] = ()
    categories: tuple[int, ...] = ()


_ON_A_LINE = (ascend, cone_bounds.best_thresholds, cone_bounds.values_in, cone_bounds.profile_bound)
_OF_CONES = (
    *_ON_A_LINE,
    cone_bounds.dominance_bound,
    cone_bounds.longest_edge,
    cone_bounds.rows_in_question,
    cone_bounds.sides,
    cone_bounds.first_ambiguous,
)
_OF_BOXES = (ascend, climb, explore, take_place)

LINE = Algorithm(LinearThresholds, _ON_A_LINE, (3,), (3,))
PLANE = Algorithm(LinearThresholds, (ascend, planar.turn_about), (3, 3))
CONES = Algorithm(LinearThresholds, _OF_CONES, (8,), (3, 2))
BOXES = Algorithm(LinearThresholds, _OF_BOXES, (3,), (3, 3))
# So many numbers that they share no block of a table with the categories.
PRODUCTS = Algorithm(Conjunctions, (add_by, add_by_two, start_search, continue_search), (22,), (3,))
TREES = Algorithm(Trees, (sorted_by, second_splits), (3,), (3,))


def compile_proofs(classes: Sequence[SubgroupClass], columns: Sequence[Column]) -> None:
    """Prove something small of the classes over such attributes: numba compiles or loads."""
    needed = dict.fromkeys(
        algorithm for subgroups in classes for algorithm in _algorithms(subgroups, columns)
    )
    with expected(loop for algorithm in needed for loop in algorithm.loops):
        for algorithm in needed:
            _prove_small(algorithm)


def _algorithms(subgroups: SubgroupClass, columns: Sequence[Column]) -> Iterator[Algorithm]:
    if isinstance(subgroups, Conjunctions | ValueSets):
        yield PRODUCTS
    elif isinstance(subgroups, Trees):
        yield TREES
    elif isinstance(subgroups, LinearThresholds) and _is_searched(subgroups):
        yield from _of_thresholds(columns)


def _is_searched(subgroups: LinearThresholds) -> bool:
    """Return whether thresholds are searched and proven; an odd `search` is told of by `bind`."""
    return isinstance(subgroups.search, str) and subgroups.search == "search"


def _of_thresholds(columns: Sequence[Column]) -> Iterator[Algorithm]:
    """Yield what `ThresholdProofs` chooses for such attributes; other searches have no proof."""
    levels = [len(np.unique(column.values)) for column in columns]
    is_discrete = [
        column.is_categorical or size <= 2 for column, size in zip(columns, levels, strict=True)
    ]
    widths = [size - 1 for size, discrete in zip(levels, is_discrete, strict=True) if discrete]
    n_numbers = len(columns) - len(widths)
    dimensions = n_numbers + sum(widths) - max(widths, default=0)
    if dimensions <= 1:
        yield LINE
    elif n_numbers == 2 and not any(widths):
        yield PLANE
    elif n_numbers == 1 and dimensions >= FEWEST_BOXED:
        yield BOXES
        (number,) = itertools.compress(columns, np.logical_not(is_discrete))
        if not _is_whole(number):  # boxes of pooled numbers leave something to cones
            yield CONES
    else:
        yield CONES


def _is_whole(column: Column) -> bool:
    """Say whether numbers are whole and few enough not to be pooled."""
    values = column.values
    return bool((values == np.rint(values)).all() and np.ptp(values) < MOST_NUMBERS)


@functools.cache
def _prove_small(algorithm: Algorithm) -> None:
    """Prove something over a grid of the algorithm's attributes."""
    sizes = algorithm.numbers + algorithm.categories
    grid = np.array(list(itertools.product(*map(range, sizes))), dtype=np.float64)
    names: list[tuple[str, ...] | None] = [None for _ in algorithm.numbers]
    names += [tuple("xyz")[:size] for size in algorithm.categories]
    columns = tuple(Column(f"{j}", grid[:, j], words) for j, words in enumerate(names))
    residual = np.where(grid.sum(axis=1) % 2 == 0, 1.0, -1.0)  # a checkerboard: many ties
    residual -= residual.mean()
    weight = np.ones(len(grid))
    algorithm.kind().bind(columns, weight, weight).prove(residual)
