"""Look: what a watch says of a batch."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.subgroup import Subgroup


@dataclass(frozen=True, eq=False, repr=False)
class Look:
    """The state of a watch after a batch.

    Attributes
    ----------
    number : int
        The batch, from 1.
    at : str, float or None
        The time of the batch, as it was passed.
    n_rows : int
        Its rows.
    gamma, level : float
        What is watched for, and the probability of a false alarm over all looks.
    e_value : float
        The evidence that a subgroup exceeds gamma, from all batches so far: the capital to which
        bets on that have grown from 1.
    p_value : float
        1 over the largest evidence so far, which holds however often one looks.
    raised : int or None
        The batch at which the evidence first reached 1/level; None if it has not.
    unfairness : float
        The largest unfairness found in this batch alone, which may be chance.
    worst : Subgroup or None
        The worst subgroup found in this batch, of those large enough to be described.
    leading : str or None
        The group against which there is most of the evidence, in words.
    leading_now : Subgroup or None
        That group in this batch; None if too few rows are in it.
    n_watched : int
        Groups that are watched from the next batch on.

    See Also
    --------
    Watch : Watch a stream of batches for a subgroup that exceeds gamma.

    Examples
    --------
    >>> import numpy as np
    >>> from gerrymend import Watch
    >>> watch = Watch(notion="statistical_parity", subgroups="marginals", gamma=0.02)
    >>> sex = np.array(["F", "M"] * 200)
    >>> for day, decided in enumerate([[0, 0, 1, 1] * 100, [0, 1] * 200, [0, 1] * 200]):
    ...     look = watch.update(None, decided, sensitive_features={"sex": sex}, at=day)
    ...     print(look.alarm, look.leading)
    False None
    False None
    True sex = M
    >>> look.leading_now.rate, look.leading_now.overall_rate
    (1.0, 0.5)
    """

    number: int
    at: str | float | None
    n_rows: int
    gamma: float
    level: float
    e_value: float
    p_value: float
    raised: int | None
    unfairness: float
    worst: Subgroup | None
    leading: str | None
    leading_now: Subgroup | None
    n_watched: int

    @property
    def alarm(self) -> bool:
        """Return whether the alarm is raised, by this batch or one before; it stays."""
        return self.raised is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the look as plain data; nothing of a row is in it."""
        return {
            "kind": "look",
            "number": self.number,
            "at": self.at,
            "n_rows": self.n_rows,
            "gamma": self.gamma,
            "level": self.level,
            "e_value": self.e_value,
            "p_value": self.p_value,
            "alarm": self.alarm,
            "raised": self.raised,
            "unfairness": self.unfairness,
            "worst": None if self.worst is None else self.worst.to_dict(),
            "leading": self.leading,
            "leading_now": None if self.leading_now is None else self.leading_now.to_dict(),
            "n_watched": self.n_watched,
        }

    def to_json(self) -> str:
        """Return the plain data as JSON."""
        from gerrymend.reporting.wording import json_text

        return json_text(self.to_dict(), indent=2)

    def __repr__(self) -> str:
        names = ("number", "alarm", "e_value", "leading", "n_rows")
        return short_repr(self, **{name: getattr(self, name) for name in names})

    def __str__(self) -> str:
        from gerrymend.reporting.changes.look import look_text

        return look_text(self.to_dict())

    def __rich__(self) -> Any:
        """Return the text for rich to print, as wide as its console."""
        from gerrymend.reporting.changes.look import look_spans
        from gerrymend.reporting.text import RichSpans

        return RichSpans(partial(look_spans, self.to_dict()))
