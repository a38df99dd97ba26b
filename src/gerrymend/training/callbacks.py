"""Who hears of rounds: the log, and scikit-learn's callbacks, where it has them, as tasks of fit.

`sklearn.callback` is experimental. Without it classifiers have no `set_callbacks`, and all else is
the same.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gerrymend.solvers import Round
from gerrymend.solvers.loop import Listener

logger = logging.getLogger("gerrymend")

Method = TypeVar("Method", bound=Callable[..., Any])

if TYPE_CHECKING:

    class CallbackSupportMixin:
        """What scikit-learn's has."""

    def with_callbacks(method: Method) -> Method:
        """Tear callbacks down after a method, however it ends."""
        return method
else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:

        class CallbackSupportMixin:
            """Nothing to support."""

        def with_callbacks(method):
            """Nothing to tear down."""
            return method


class Rounds:
    """Tells callbacks of each round: it is a task that begins where the last one ends.

    Rounds are told of when they end, so that one begins after the last; the last look is its work.
    """

    def __init__(self, estimator: Any, context: Any) -> None:
        self._estimator, self._context = estimator, context
        self._begin_round()

    @classmethod
    def begin(cls, estimator: Any, most: int | None) -> "Rounds | None":
        """Begin to fit, in at most so many rounds; None where nobody listens."""
        if not hasattr(estimator, "_init_callback_context"):
            return None
        context = estimator._init_callback_context(max_subtasks=None if most is None else most + 1)
        context.call_on_fit_task_begin(estimator=estimator)
        return cls(estimator, context) if getattr(estimator, "_skl_callbacks", None) else None

    def __call__(self, played: Round) -> None:
        """A round has ended, and another begins."""
        self._round.call_on_fit_task_end(estimator=self._estimator)
        self._begin_round()

    def _begin_round(self) -> None:
        self._round = self._context.subcontext(task_name="round")
        self._round.call_on_fit_task_begin(estimator=self._estimator)

    def end(self) -> None:
        """No round follows."""
        self._round.call_on_fit_task_end(estimator=self._estimator)


def end_fit(estimator: Any, **training_data: Any) -> None:
    """Fit has ended, and the estimator is ready to predict."""
    if hasattr(estimator, "_callback_fit_ctx"):
        estimator._callback_fit_ctx.call_on_fit_task_end(
            estimator=estimator, reconstruction_attributes={}, **training_data
        )


def everyone(listeners: Sequence[Callable[[Round], None]]) -> Listener | None:
    """Return one listener for several who need no votes; None for none, as telling takes time."""

    def tell(played: Round) -> None:
        for listener in listeners:
            listener(played)

    return Listener(tell, needs_votes=False) if listeners else None


class Progress:
    """Logs where the game stands, about once a second."""

    def __init__(self, max_iter: int) -> None:
        self._max_iter = max_iter
        self._last = time.monotonic()

    def __call__(self, played: Round) -> None:
        """Log the round, if it is time to."""
        if time.monotonic() - self._last < 1.0 and played.number < self._max_iter:
            return
        self._last = time.monotonic()
        logger.info(
            "round %d of at most %d: error %.4f, unfairness %.4f",
            played.number, self._max_iter, played.error.mean(), played.unfairness.max(),
        )  # fmt: skip
