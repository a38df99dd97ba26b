"""Blocks on the workers of a Dask cluster: made there, asked there, made again if a worker dies.

Rows never come to the client. A block and its state stay on the worker that made it, and change in
place; only the sums that the game asks for travel. What changes blocks is written down, so that one
that is lost with its worker can be made again from its rows, wherever they come from, and brought
to where it was. Sums are added in the order of the blocks: the result is the same to the last bit,
wherever the blocks lie and however often they were lost.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from distributed import Client, Future, futures_of, wait
from distributed.client import FutureCancelledError, FuturesCancelledError

from gerrymend.solvers.blocks import ByBlock
from gerrymend.solvers.dask.partition_block import PartitionBlock
from gerrymend.solvers.dask.slots import CHANGES, Call, Slot, SlotKey, do
from gerrymend.solvers.regression.array_block import ArrayBlock

T = TypeVar("T")

# Seconds between two looks at whether the workers that are waited for are still there.
_LOOK = 1.0
# Seconds to wait for a worker where there is none, or for one that is paused.
_PATIENCE = 60.0


@dataclass(eq=False)
class _Place:
    """A slot, on which worker it is, which blocks it has, and how far they are."""

    worker: str
    slot: Future
    numbers: list[int] = field(default_factory=list)
    taken: list[Future] = field(default_factory=list)  # until it has answered once
    n_changes: int = 0


class DaskBlocks:
    """Blocks of which each is made, on a worker, of one partition of the rows.

    Parameters
    ----------
    client : distributed.Client
    make : callable
        Makes a block of the parts of a partition.
    partitions : sequence of lists of Delayed
        The parts of each partition, such as its features and its labels.
    """

    def __init__(
        self, client: Client, make: Callable[..., Any], partitions: Sequence[Sequence[Any]]
    ) -> None:
        self._client = client
        self._make = make
        self._partitions = partitions
        self._changes: list[Call] = []
        self._places: list[_Place] = []
        self._n_paused = 0
        held = futures_of(partitions[0][0])
        self._held_by = client.who_has(held) if held else {}

    def gather(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Return what a method of each block answers, in the order of the blocks."""
        call = _call(method, arguments)
        answers: dict[int, Any] = {}
        while missing := set(range(len(self._partitions))) - answers.keys():
            self._place(missing.difference(*(place.numbers for place in self._places)))
            asking = [place for place in self._places if missing.intersection(place.numbers)]
            for place, answer in self._ask(asking, call):
                if answer.keys() == set(place.numbers):
                    answers |= answer
                else:
                    self._places.remove(place)
        if call[0] in CHANGES:
            self._changes.append(call)
            for place in self._places:
                place.n_changes = len(self._changes)
        return [answers[number] for number in range(len(self._partitions))]

    def ask(self, number: int, method: Callable[..., T], *arguments: Any) -> T:
        """Return what one block answers to a method that doesn't change it."""
        call = _for_place(_call(method, arguments), [number])
        while True:
            place = next((place for place in self._places if number in place.numbers), None)
            if place is None or place.n_changes < len(self._changes):
                # Any question of all brings back what was lost.
                self.gather(PartitionBlock.is_there)
                continue
            asked = self._submit(place, Slot.ask_if_there, number, call)
            (answer,) = self._answers([place], [asked])
            if answer:
                found: T = answer[number]
                return found
            self._places.remove(place)

    def leave(self, method: Callable[..., Any], *arguments: Any) -> list[Future]:
        """Leave what a method of each block answers where it is; it must not change the block."""
        call = _call(method, arguments)
        places = {number: place for place in self._places for number in place.numbers}
        return [
            self._submit(places[number], Slot.ask_one, number, _for_place(call, [number]))
            for number in range(len(self._partitions))
        ]

    def _ask(self, places: Sequence[_Place], call: Call) -> list[tuple[_Place, dict[int, Any]]]:
        """Bring places to where all should be, and ask them; nothing comes from a lost one."""
        now = len(self._changes)
        asked = []
        for place in places:
            changes = _together(self._changes[place.n_changes :])
            theirs = [_for_place(change, place.numbers) for change in changes]
            arguments = place.n_changes, theirs, now, _for_place(call, place.numbers)
            asked.append(self._submit(place, Slot.ask, *arguments, after=place.taken))
        answers = self._answers(places, asked)
        for place, future in zip(places, asked, strict=True):
            for done in (future, *place.taken):
                done.release()
            place.taken = []
            place.n_changes = now
        return list(zip(places, answers, strict=True))

    def _answers(self, places: Sequence[_Place], asked: Sequence[Future]) -> list[dict[int, Any]]:
        """Return the answers; none of places whose worker is gone, which never will answer."""
        answers: list[dict[int, Any]] = [{} for _ in places]
        waiting = dict(enumerate(places))
        while waiting:
            try:
                answered = self._fetch(list(waiting.values()), [asked[i] for i in waiting])
            except TimeoutError:
                present = self._workers()
                waiting = {i: place for i, place in waiting.items() if place.worker in present}
                self._check_paused(place.worker for place in waiting.values())
            except (FutureCancelledError, FuturesCancelledError):  # the slot itself is gone
                waiting = {
                    i: place
                    for i, place in waiting.items()
                    if not any(future.cancelled() for future in (asked[i], *place.taken))
                }
            else:
                for i, answer in zip(waiting, answered, strict=True):
                    answers[i] = answer
                break
        return answers

    def _check_paused(self, workers: Iterable[str]) -> None:
        """Raise if workers have been paused for long, as Dask does where memory is short."""
        told = self.workers()
        paused = [worker for worker in workers if told.get(worker, {}).get("status") == "paused"]
        self._n_paused = self._n_paused + 1 if paused else 0
        if self._n_paused * _LOOK > _PATIENCE:
            raise MemoryError(
                f"Dask has paused worker {paused[0]} for {_PATIENCE:.0f} seconds, as its memory is "
                "full. Use more workers, or workers with more memory; smaller partitions; or "
                "fewer gammas at once."
            )

    def _fetch(self, places: Sequence[_Place], futures: list[Future]) -> list[Any]:
        """Wait for the results, but not for long: a worker may go before they are fetched."""
        # A place fails with its first bad block; a lower one may still be on its way.
        taken = [future for place in places for future in place.taken]
        wait([*taken, *futures], timeout=_LOOK)
        _raise_lowest(places, futures)
        gather = partial(self._client.gather, futures, asynchronous=True)
        results: list[Any] = self._client.sync(gather, callback_timeout=_LOOK)
        return results

    def _place(self, numbers: Iterable[int]) -> None:
        """Make blocks, in new slots, one for each thread that is to have some."""
        made: dict[tuple[str, int], _Place] = {}
        for number in sorted(numbers):
            worker, thread = self._free_thread(number)
            if (worker, thread) not in made:
                slot = self._client.submit(SlotKey, workers=[worker], pure=False)
                made[worker, thread] = _Place(worker, slot)
                self._places.append(made[worker, thread])
            place = made[worker, thread]
            place.numbers.append(number)
            # Others may have to make these rows, and must be allowed to, if this worker dies.
            rows = self._client.compute(
                list(self._partitions[number]), workers=[worker], allow_other_workers=True
            )
            place.taken.append(self._submit(place, Slot.take, number, self._make, *rows))

    def _free_thread(self, number: int) -> tuple[str, int]:
        """Choose the worker that has the rows, or else the one with the fewest blocks a thread."""
        workers = self._workers() or self._wait_for_workers()
        blocks = {
            worker: sum(len(place.numbers) for place in self._places if place.worker == worker)
            for worker in workers
        }
        near = self._holders(self._partitions[number][0]).intersection(workers)
        worker = min(near or workers, key=lambda name: blocks[name] / workers[name])
        return worker, blocks[worker] % workers[worker]

    def _holders(self, part: Any) -> set[str]:
        """Return the workers that hold what a part is made of."""
        if not self._held_by:
            return set()
        needed = part.__dask_graph__().cull(part.__dask_keys__())
        return {worker for key in needed for worker in self._held_by.get(key, ())}

    def _submit(
        self, place: _Place, method: Callable[..., Any], *arguments: Any, after: Sequence[Any] = ()
    ) -> Future:
        return self._client.submit(
            do, place.slot, after, method, *arguments, workers=[place.worker], pure=False
        )

    def _workers(self) -> dict[str, int]:
        """Return how many threads each worker has."""
        return {address: worker["nthreads"] for address, worker in self.workers().items()}

    def workers(self) -> dict[str, Any]:
        """Return what the scheduler knows of each worker."""
        workers: dict[str, Any] | None = self._client.scheduler_info(n_workers=-1).get("workers")
        if workers is None:
            raise RuntimeError(
                "The Dask scheduler is gone, and the blocks with it. Connect to a cluster, and fit "
                "again; with checkpoint= a fit goes on where it was."
            )
        return workers

    def _wait_for_workers(self) -> dict[str, int]:
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise RuntimeError(
                f"The Dask cluster has had no worker for {_PATIENCE:.0f} seconds. Start "
                "workers (cluster.scale(2), say), and fit again."
            ) from None
        return self._workers()


def _raise_lowest(places: Sequence[_Place], asked: Sequence[Future]) -> None:
    """Raise the error of the block with the lowest number, where any has failed.

    Dask's own choice among several errors changes from run to run. A block that could not be made
    goes before a place that could not answer: the latter follows from the former.
    """
    made = {
        number: future
        for place in places
        for number, future in zip(place.numbers, place.taken, strict=False)  # none once answered
    }
    answered = {min(place.numbers): future for place, future in zip(places, asked, strict=True)}
    for futures in (made, answered):
        failed = [number for number, future in futures.items() if future.status == "error"]
        if failed:
            futures[min(failed)].result(timeout=_LOOK)


def _call(method: Callable[..., Any], arguments: tuple[Any, ...]) -> Call:
    """Return a question as it can be asked again: the game's arrays change in place."""
    copied = (part.copy() if isinstance(part, np.ndarray) else part for part in arguments)
    return method, tuple(copied)


def _for_place(call: Call, numbers: Sequence[int]) -> Call:
    """Return a question with what these blocks need of it, which is all that travels."""
    method, arguments = call
    return method, tuple(
        part.only(numbers) if isinstance(part, ByBlock) else part for part in arguments
    )


def _together(changes: Sequence[Call]) -> list[Call]:
    """Merge changes into fewer calls, as messages cost more than what they ask for."""
    fewer: list[Call] = []
    rounds: list[tuple[Any, ...]] = []

    def flush() -> None:
        if rounds:
            parts = zip(*rounds, strict=True)
            fewer.append((ArrayBlock.replay, tuple(np.stack(part) for part in parts)))
            rounds.clear()

    left = list(reversed(changes))
    while left:
        change = left.pop()
        if change[0] is ArrayBlock.decide and left and left[-1][0] is ArrayBlock.find:
            rounds.append(change[1] + left.pop()[1])
        else:
            flush()
            fewer.append(change)
    flush()
    return fewer
