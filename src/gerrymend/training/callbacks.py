"""Progress reports: to the logger, and to scikit-learn's callbacks, one task per round.

`sklearn.callback` is experimental. Without it classifiers have no `set_callbacks`, and everything
else is the same.
"""

import logging
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gerrymend.solvers import Round
from gerrymend.solvers.loop import Listener

logger = logging.getLogger("gerrymend")

LAST_LOOK = "looking at the model of round %d once more, as thoroughly as an audit"

Method = TypeVar("Method", bound=Callable[..., Any])

if TYPE_CHECKING:

    class CallbackSupportMixin:
        """Stand in for scikit-learn's class while types are checked."""

    def with_callbacks(method: Method) -> Method:
        """Tear callbacks down after a method, however it ends."""
        return method
else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:

        class CallbackSupportMixin:
            """Stand in for scikit-learn's class where it has none: callbacks can't be set."""

        def with_callbacks(method):
            """Return the method as it is: there are no callbacks to tear down."""
            return method


class Rounds:
    """Report each round to callbacks, as a task that begins where the last one ends.

    The game reports a round when it ends, so that the next task begins at once. The last task is
    what follows the last round, the final audit; a fit of n rounds therefore has n + 1 tasks.

    Parameters
    ----------
    estimator : CallbackSupportMixin
        The classifier that is fitted.
    context : CallbackContext
        That of its fit, as scikit-learn makes it.
    """

    def __init__(self, estimator: Any, context: Any) -> None:
        self._estimator = estimator
        self._context = context
        self._begin_round()

    @classmethod
    def begin(cls, estimator: Any, most: int | None) -> "Rounds | None":
        """Report that fit begins, with at most `most` rounds; return None where nobody listens.

        `most` is None where the number of rounds is not known in advance.
        """
        if not hasattr(estimator, "_init_callback_context"):
            return None
        # One task more than rounds: see the class.
        context = estimator._init_callback_context(max_subtasks=None if most is None else most + 1)
        context.call_on_fit_task_begin(estimator=estimator)
        # The context has to begin and end in any case, as scikit-learn tears it down; rounds are
        # only told to callbacks that were set.
        return cls(estimator, context) if getattr(estimator, "_skl_callbacks", None) else None

    def __call__(self, played: Round) -> None:
        """Report that a round has ended and that another begins."""
        self._round.call_on_fit_task_end(estimator=self._estimator)
        self._begin_round()

    def _begin_round(self) -> None:
        """Begin the task of the next round."""
        self._round = self._context.subcontext(task_name="round")
        self._round.call_on_fit_task_begin(estimator=self._estimator)

    def end(self) -> None:
        """Report that the last task has ended."""
        self._round.call_on_fit_task_end(estimator=self._estimator)


def end_fit(estimator: Any, **training_data: Any) -> None:
    """Report that fit has ended and that the estimator is ready to predict.

    `training_data` is handed on to callbacks that ask for it.
    """
    # Absent without sklearn.callback, and where fit has not got as far as Rounds.begin().
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
    """Tell the round, the error and the largest unfairness, about once a second.

    To the log where anyone listens to it; else, as scikit-learn does, to the standard output.
    """

    def __init__(self, max_iter: int) -> None:
        self._max_iter = max_iter
        self._last = time.monotonic()

    def __call__(self, played: Round) -> None:
        """Tell the round, if a second has passed or it may be the last, and what then follows."""
        # A round may take microseconds, and a line in the log for each would take longer than the
        # game.
        may_be_last = played.before_last_look or played.number >= self._max_iter
        if time.monotonic() - self._last < 1.0 and not may_be_last:
            return
        self._last = time.monotonic()
        words = "round %d of at most %d: error %.4f, unfairness %.4f"
        _tell(words, played.number, self._max_iter, played.error.mean(), played.unfairness.max())
        if played.before_last_look:
            _tell(LAST_LOOK, played.number)


def _tell(words: str, *figures: float) -> None:
    """Log a line, or write it where nobody listens to the log."""
    # Both: a level may be set with nobody to write it, and Python's last resort shows warnings
    # only.
    if logger.isEnabledFor(logging.INFO) and logger.hasHandlers():
        logger.info(words, *figures)
    else:
        sys.stdout.write(f"{words % figures}\n")
        sys.stdout.flush()
