"""Train a Dask-native classifier on costs that lie beside their rows, on the workers."""

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, Future
from sklearn.base import clone

from gerrymend._numeric.arrays import is_dask_array
from gerrymend._numeric.sums import Array
from gerrymend.models.mixture import ConstantPredictor, LabelPredictor, ScorePredictor
from gerrymend.solvers.dask.blocks import DaskBlocks
from gerrymend.solvers.dask.partition_block import PartitionBlock
from gerrymend.solvers.players.block_learners import BlockLearner
from gerrymend.solvers.players.block_rows import LabelCellBlocks
from gerrymend.solvers.regression.array_block import ArrayBlock

# A worker that is lost fails the training that it was in; so often it is begun again.
_ATTEMPTS = 3
# Seconds between two looks at whether all workers are there.
_LOOK = 1.0


class DaskTeacher:
    """Train an estimator on the costs of blocks.

    Parameters
    ----------
    client : distributed.Client
    estimator : a Dask-native classifier
    X : array or frame of Dask
        The rows of the blocks.
    n_rows : how many rows each block has
    blocks : DaskBlocks
    question : method of the blocks
        Returns the labels and weights of a block's rows, given some costs.
    """

    def __init__(
        self,
        client: Client,
        estimator: Any,
        X: Any,
        n_rows: Sequence[int],
        blocks: DaskBlocks,
        question: Callable[..., Any] = ArrayBlock.costs,
    ) -> None:
        self._client = client
        self._estimator = estimator
        self._blocks = blocks
        self._question = question
        self._filled = [number for number, n in enumerate(n_rows) if n]
        self._sizes = [n_rows[number] for number in self._filled]
        X = X.rechunk({1: -1}) if is_dask_array(X) else X.to_dask_array(lengths=tuple(n_rows))
        if len(self._filled) < len(n_rows):
            X = da.concatenate([X.partitions[number] for number in self._filled])
        self._features = X

    def __call__(self, *costs: Any) -> Any:
        """Return a model that is trained on the costs that blocks make of these."""
        for attempt in range(1, _ATTEMPTS + 1):
            workers = self._workers()
            try:
                return self._fit(*costs)
            except Exception:  # whatever a library raises, and Dask, when a worker is gone
                if workers <= self._workers() or attempt == _ATTEMPTS:
                    raise
                # Any question brings back what was lost.
                self._blocks.gather(PartitionBlock.is_there)
        raise AssertionError

    def _fit(self, *costs: Any) -> Any:
        beside = self._blocks.leave(self._question, *costs)
        with self._given_up_with_a_worker(beside):
            return self._fit_on(beside)

    @contextmanager
    def _given_up_with_a_worker(self, beside: Sequence[Future]) -> Iterator[None]:
        """Cancel the costs when a worker goes: no other has them, and training would wait."""
        over = Event()
        workers = self._workers()

        def watch() -> None:
            while not over.wait(_LOOK):
                if not workers <= self._workers():
                    self._client.cancel(list(beside), force=True)
                    return

        watcher = Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _workers(self) -> set[str]:
        return set(self._blocks.workers())

    def _fit_on(self, beside: Sequence[Future]) -> Any:
        labels, weights = (
            da.concatenate(
                [
                    da.from_delayed(dask.delayed(operator.getitem)(beside[i], part), (n,), dtype)
                    for i, n in zip(self._filled, self._sizes, strict=True)
                ]
            )
            for part, dtype in enumerate((np.int8, np.float64))
        )
        model = clone(self._estimator)
        model.fit(self._features, labels, sample_weight=weights)
        return _local(model)


class TaughtByDask(BlockLearner):
    """A Dask-native classifier, trained on the cheaper label, weighted by what that is worth."""

    def __init__(self, teacher: DaskTeacher, blocks: LabelCellBlocks) -> None:
        self._teacher = teacher
        self._blocks = blocks

    def fit(self, cost: Array, *, near_last: bool = False) -> ScorePredictor | LabelPredictor:
        """Train where the rows are; its score is cut where it costs least, as in one process."""
        model = self._teacher(self._blocks.parts(cost))
        if hasattr(model, "predict_proba"):
            return ScorePredictor(model, "predict_proba", 0.5)
        return LabelPredictor(model)

    def constant(self, decision: bool) -> ConstantPredictor:
        """Return the predictor itself."""
        return ConstantPredictor(decision)


def _local(model: Any) -> Any:
    """Return the same model, for rows in one place."""
    if hasattr(model, "to_local"):  # LightGBM's
        return model.to_local()
    if hasattr(model, "get_booster"):  # XGBoost's
        from xgboost import XGBClassifier

        local = XGBClassifier()
        local.load_model(bytearray(model.get_booster().save_raw()))
        return local
    return model
