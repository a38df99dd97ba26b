"""Games of several gammas over one pool, one after another: what the loop plays."""

from collections.abc import Iterable, Sequence
from typing import Any

from gerrymend.solvers.base import CannotResumeError, Equilibrium, Round, State
from gerrymend.solvers.cell_play import CellPlay
from gerrymend.solvers.loop import Stopwatch
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.rows import Rows
from gerrymend.solvers.pool.game import PoolGame
from gerrymend.solvers.pool.pool import Pool
from gerrymend.solvers.pool.progress import Stage, Step


class PoolPath:
    """Play one gamma after the other, the largest first, and then look at all but the last again.

    Parameters
    ----------
    rows, auditor :
        Who answers costs, and who answers decisions.
    known : sequence of predictors
        What is in the pool from the start, beside the constants.
    gammas : sequence of float
    certify : bool
        Whether each game ends with a proof; then no mixture is looked at again.
    rules :
        Other parameters of `PoolGame`, the same for all games.
    """

    def __init__(
        self,
        rows: Rows,
        auditor: Auditor,
        known: Sequence[Any],
        gammas: Sequence[float],
        *,
        certify: bool,
        **rules: Any,
    ) -> None:
        self._rows = rows
        self._auditor = auditor
        self._gammas = gammas
        self._certify = certify
        self._rules = rules
        self._pool = Pool(rows, auditor)
        self._cell_play = CellPlay(auditor)
        for decision in (False, True):
            self._pool.add_classifier(rows.constant(decision))
        for predictor in known:
            self._pool.add_classifier(rows.recall(predictor))
        self._games: dict[float, PoolGame] = {}
        self._playing: PoolGame | None = None
        self._keep()

    @property
    def n_rounds(self) -> int:
        """Return the number of rounds of the game that is played."""
        return 0 if self._playing is None else self._playing.n_rounds

    @property
    def clock(self) -> Stopwatch:
        """Return the clock of the game that is played: each has a budget of its own."""
        return Stopwatch() if self._playing is None else self._playing.clock

    @property
    def over(self) -> bool:
        """Return whether nothing is left to play."""
        return self._turn() is None

    def _turn(self) -> float | None:
        """Return the gamma whose turn it is."""
        open_stages = (Stage.ROUNDS, Stage.LOOKING, *((Stage.PLAYED,) if self._certify else ()))
        for gamma in sorted(set(self._gammas), reverse=True):
            if gamma not in self._games or self._games[gamma].stage in open_stages:
                return gamma
        # Smaller gammas have brought into the pool what larger ones had not.
        again = [] if self._certify else sorted(self._games)[1:]
        return next((one for one in again if self._games[one].stage == Stage.PLAYED), None)

    def _begin(self, gamma: float) -> PoolGame:
        game = PoolGame(
            self._rows, self._auditor, self._pool, self._cell_play, gamma,
            certify=self._certify, **self._rules,
        )  # fmt: skip
        self._games[gamma] = game
        return game

    def prepare_round(self) -> Step:
        """Work out the next step of the game whose turn it is."""
        gamma = self._turn()
        assert gamma is not None
        self._playing = self._games.get(gamma) or self._begin(gamma)
        return self._playing.prepare()

    def finish_round(self, prepared: Step) -> None:
        """Take the step in."""
        assert self._playing is not None
        self._playing.finish(prepared)
        self._keep()

    def _keep(self) -> None:
        """Remember what a state has of rows and pool, which a step changes as it goes."""
        self._kept = {"learner": self._rows.state(), "pool": self._pool.state()}

    def look(self, *, last: bool, heard: bool) -> list[Round]:
        """End the rounds of the game that is played, if it is time to, and tell of the last one."""
        assert self._playing is not None
        return self._playing.look(last=last, heard=heard)

    def equilibria(self, *, cut_short: bool = False) -> list[Equilibrium]:
        """Return what the games have come to, but for those that have no mixture yet."""
        games = [self._games[gamma] for gamma in self._gammas if gamma in self._games]
        return [game.equilibrium() for game in games if game.stands]

    def state(self) -> State:
        """Return where the games stood after the last whole step."""
        return {
            "max_iter": self._rules["max_iter"],
            "cell_play": self._cell_play.state(),
            "games": {gamma: game.state() for gamma, game in self._games.items()},
            **self._kept,
        }

    def restore(self, state: State, max_iter: int) -> None:
        """Go on from a state."""
        games = state["games"]
        if max_iter != state["max_iter"]:
            _check_independent(games.values(), state["max_iter"], max_iter)
        self._rows.restore(state["learner"])
        self._pool.restore(state["pool"])
        self._cell_play.restore(state["cell_play"])
        for gamma, kept in games.items():
            self._begin(gamma).restore(kept)
        turn = self._turn()
        self._playing = None if turn is None else self._games.get(turn)
        self._keep()


def _check_independent(games: Iterable[State], kept: int, max_iter: int) -> None:
    """Raise unless the games so far would have been the same with another max_iter."""
    number = max(game["number"] for game in games)
    if any(game["stage"] != Stage.ROUNDS for game in games):
        raise CannotResumeError(
            f"has a game that was played to its end with max_iter={kept}, and max_iter is "
            f"{max_iter}; set it back"
        )
    if number >= min(kept, max_iter):
        raise CannotResumeError(
            f"has {number} rounds of at most {kept}, and max_iter is {max_iter}; set it to {kept}"
            + ("" if number >= kept else ", or more")
        )
