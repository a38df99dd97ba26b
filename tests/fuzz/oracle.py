"""The oracle: whether what a call came to is a result or an error that helps.

A call of the package may return, warn in its own words, or raise an error of its own that names
what was wrong. All else is a finding: an error or a warning from a library below, an error that
names no argument, a result that depends on how the same values were passed.
"""

import dis
import math
import os
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from sklearn.exceptions import ConvergenceWarning, NotFittedError

import gerrymend
from gerrymend import CheckpointError, FrontierInterrupted, ModelFileError

PACKAGE = str(Path(gerrymend.__file__).parent) + os.sep

# What an error may be: its type says whose fault it is. OSError is for files that are named.
ALLOWED_ERRORS = (ValueError, TypeError, OSError, ModelFileError, CheckpointError)
_NEVER = (UnicodeError, FrontierInterrupted)

# scikit-learn's checks of X and of parameters, which name what they check.
CHECKS = ("sklearn/utils/validation.py", "sklearn/utils/_param_validation.py")

# By how much sums over the same values may differ when these come in another form.
TOLERANCE = 1e-9


@dataclass
class Case:
    """A call, what its errors may name, and what must come of it.

    `expect` is "error" where an answer would be a guess, "result" where an error would be one, and
    "either" elsewhere. `plain` is the same call with the same values in their plainest form, and
    `figures` what the two results have to agree in.
    """

    entry: str
    told: str
    call: Callable[[], Any]
    names: Iterable[str]
    expect: str = "either"
    plain: Callable[[], Any] | None = None
    figures: Callable[[Any], Any] | None = None


@dataclass
class Outcome:
    """What a call came to: a value or an error, and the warnings from below."""

    value: Any = None
    error: BaseException | None = None
    from_below: list[str] = field(default_factory=list)


class FromBelow:
    """Collect the warnings that other libraries gave while the context was open.

    The package's own come through `warnings.warn`, called from one of its files. An estimator's
    ConvergenceWarning is about the estimator, which the user chose; scikit-learn's checks say of X
    what they would for any other estimator.
    """

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._own = threading.local()

    def __enter__(self) -> "FromBelow":
        self._context = warnings.catch_warnings()
        self._context.__enter__()
        warnings.simplefilter("always")
        self._warn = warnings.warn
        warnings.warn = self._wrapped
        warnings.showwarning = self._show
        return self

    def __exit__(self, *_: object) -> None:
        warnings.warn = self._warn
        self._context.__exit__(None, None, None)

    def _wrapped(self, *arguments: Any, **options: Any) -> None:
        caller = sys._getframe(1).f_code.co_filename
        self._own.now = caller.startswith(PACKAGE)
        options["stacklevel"] = options.get("stacklevel", 1) + 1
        try:
            self._warn(*arguments, **options)
        finally:
            self._own.now = False

    def _show(self, message: Any, category: type[Warning], file: str, line: int, *_: Any) -> None:
        own = getattr(self._own, "now", False)
        of_a_check = file.endswith(CHECKS) and is_named(str(message), ("X",))
        if not (own or of_a_check or issubclass(category, ConvergenceWarning)):
            where = "/".join(Path(file).parts[-2:])
            self.heard.append(f"{category.__name__}: {message} ({where}:{line})")


def outcome_of(call: Callable[[], Any]) -> Outcome:
    """Call, and keep whatever comes of it."""
    with FromBelow() as warned:
        try:
            outcome = Outcome(value=call())
        except Exception as error:
            outcome = Outcome(error=error)
    outcome.from_below = warned.heard
    return outcome


def judge(case: Case) -> list[str]:
    """Return what is wrong with a case, in words; nothing where all is well."""
    outcome = outcome_of(case.call)
    wrong = [f"warning from below: {text}" for text in dict.fromkeys(outcome.from_below)]
    if isinstance(outcome.error, AssertionError):
        return [*wrong, str(outcome.error)]
    if outcome.error is not None:
        wrong += fault(outcome.error, case.names)
        if case.expect == "result":
            wrong.append(f"refused what is valid: {shortly(outcome.error)}")
        return wrong
    if case.expect == "error":
        wrong.append(f"accepted what can only be guessed at: {str(outcome.value)[:200]!r}")
    elif case.figures is not None:
        wrong += _disagreement(case, outcome.value)
    return wrong


def _disagreement(case: Case, value: Any) -> list[str]:
    assert case.figures is not None
    got = case.figures(value)
    if not _all_finite(got):
        return [f"figures that are no numbers: {got}"]
    if case.plain is None:
        return []
    plainly = outcome_of(case.plain)
    if plainly.error is not None:
        return [f"a result {got}, and for the plain values {shortly(plainly.error)}"]
    wanted = case.figures(plainly.value)
    return [] if alike(got, wanted) else [f"silent cast: {got}, and of the plain values {wanted}"]


def _all_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return all(map(_all_finite, value)) if isinstance(value, list | tuple) else True


def alike(one: Any, other: Any) -> bool:
    """Compare nested figures; floats to within what rounding can do."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(one == other)


def fault(error: BaseException, names: Iterable[str]) -> list[str]:
    """Return what is wrong with an error; nothing where it helps whoever reads it."""
    wrong = []
    if not isinstance(error, ALLOWED_ERRORS) or isinstance(error, _NEVER):
        wrong.append(f"no ValueError or TypeError: {located(error)}")
    elif not (is_own(error) or is_of_a_check(error)):
        wrong.append(f"bare error from below: {located(error)}")
    elif not (is_named(str(error), names) or isinstance(error, NotFittedError)):
        wrong.append(f"names no argument: {located(error)}")
    return wrong + _handed_on(error, names)


def _handed_on(error: BaseException, names: Iterable[str]) -> list[str]:
    """An error that repeats another's words is no better than that one."""
    below = error.__cause__ or error.__context__
    words = str(below)
    if below is None or len(words) < 12 or words not in str(error):
        return []
    if isinstance(below, OSError) or "can't be" in str(error):  # a reason, after words of its own
        return []
    return [f"hands on: {one}" for one in fault(below, names)]


def is_named(words: str, names: Iterable[str]) -> bool:
    """Whether a message names one of the arguments; "" is named by any."""
    return "" in names or any(
        re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", words) for name in names
    )


def is_own(error: BaseException) -> bool:
    """Whether a `raise` of the package raised it, not a call that failed in one of its lines."""
    frame = _innermost(error.__traceback__)
    if frame is None or not frame.tb_frame.f_code.co_filename.startswith(PACKAGE):
        return False
    return dis.opname[frame.tb_frame.f_code.co_code[frame.tb_lasti]] == "RAISE_VARARGS"


def is_of_a_check(error: BaseException) -> bool:
    """Whether a check of scikit-learn's raised it."""
    frame = _innermost(error.__traceback__)
    return frame is not None and frame.tb_frame.f_code.co_filename.endswith(CHECKS)


def _innermost(frame: TracebackType | None) -> TracebackType | None:
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame


def located(error: BaseException) -> str:
    """Say an error in a line, with the last line of the package that it passed through."""
    passed = [
        f"{Path(line.filename).relative_to(PACKAGE)}:{line.lineno}"
        for line in traceback.extract_tb(error.__traceback__)
        if line.filename.startswith(PACKAGE)
    ]
    return f"{shortly(error)} [{passed[-1] if passed else 'outside the package'}]"


def shortly(error: BaseException) -> str:
    """Say an error in a line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


@contextmanager
def told_errors(console: type) -> Iterator[list[BaseException]]:
    """Keep the errors that were being handled when the console printed something."""
    handled: list[BaseException] = []
    before = console.print

    def printing(*arguments: Any, **options: Any) -> Any:
        if (error := sys.exception()) is not None:
            handled.append(error)
        return before(*arguments, **options)

    console.print = printing
    try:
        yield handled
    finally:
        console.print = before
