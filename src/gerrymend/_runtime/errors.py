"""Errors and warnings about an argument, in sentences that the command line can retell.

A message is its subject, the argument, and the words that follow. Other arguments among the words
are marked as such, so that a caller who knows them by other names need not search the sentence.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple

from gerrymend._runtime.reprs import shortened


class Argument(NamedTuple):
    """An argument as a part of a message, with a column of it or a value, as text, if it is told.

    >>> print(Argument("sensitive_features", column="'age'"), Argument("threshold", value="0.5"))
    Column 'age' of sensitive_features threshold=0.5
    """

    name: str
    value: str = ""
    column: str = ""

    def __str__(self) -> str:
        return self.in_terms({})

    def in_terms(self, names: Mapping[str, str]) -> str:
        """Return the argument by its name in `names`, which may also have "argument=value"."""
        if self.value:
            whole = f"{self.name}={self.value}"
            name = names.get(self.name, self.name)
            return names.get(whole, f"{name}={self.value}")
        name = names.get(self.name, self.name)
        return f"Column {self.column} of {name}" if self.column else name


Subject = str | Argument
# Modules whose lines are not the user's.
_OURS = ("gerrymend.", "sklearn.callback.")

# Signs that a terminal obeys: names and values come from data, and tell it nothing.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code != ord("\n")}


# Quoted, or without a blank, so many signs are a value of the data.
_MOST = 300
_VERY_LONG = re.compile(rf"'[^'\n]{{{_MOST},}}'|\"[^\"\n]{{{_MOST},}}\"|\S{{{_MOST},}}")


def inert(text: str) -> str:
    """Return a text with its control signs in letters, so that a terminal obeys none of them.

    >>> inert("\\x1b[31mred")
    '\\\\x1b[31mred'
    """
    return text.translate(_CONTROLS)


class Message:
    """Share between errors and warnings a sentence about an argument.

    Parameters
    ----------
    subject : str or Argument
        The argument that can't be used, which `argument` names.
    words : str or Argument
        The sentence after it; a blank is put between them unless it begins with a sign.
    lead : str
        The sentence before it, where there is any.
    """

    def __init__(self, subject: Subject, *words: str | Argument, lead: str = "") -> None:
        self.subject = subject if isinstance(subject, Argument) else Argument(subject)
        self.words = words
        self.lead = lead
        self.args = (subject, *words)  # for pickle, which makes an exception of its args again

    @property
    def argument(self) -> str:
        """Name of the argument."""
        return self.subject.name

    def __str__(self) -> str:
        return self.in_terms({})

    def in_terms(self, names: Mapping[str, str]) -> str:
        """Return the message with other names for arguments, such as options of a command."""
        words = "".join(
            word.in_terms(names) if isinstance(word, Argument) else word for word in self.words
        )
        blank = "" if words.startswith((".", ",", ":", ";")) else " "
        message = inert(f"{self.lead}{self.subject.in_terms(names)}{blank}{words}")
        # Values of the data may be whole documents; a path is not so long.
        return _VERY_LONG.sub(lambda found: shortened(found[0], _MOST), message)


class ArgumentError(Message, ValueError, TypeError):
    """Report an argument that can't be used; `argument` is its name.

    It is both a ValueError and a TypeError, as scikit-learn's own error for parameters is.

    >>> error = ArgumentError("y_true", "has 3 missing values; fill in or drop these rows.")
    >>> print(error)
    y_true has 3 missing values; fill in or drop these rows.
    >>> error.argument, error.in_terms({"y_true": "--label y"})
    ('y_true', '--label y has 3 missing values; fill in or drop these rows.')
    """


@contextmanager
def as_of(argument: str) -> Iterator[None]:
    """Name another argument in an error: the one with what is checked among its values.

    >>> with as_of("gammas"):
    ...     raise ArgumentError("gamma", "must be a number.")
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: gammas must be a number.
    """
    try:
        yield
    except ArgumentError as error:
        error.subject = error.subject._replace(name=argument)
        error.args = (error.subject, *error.words)
        raise


class ArgumentWarning(Message, UserWarning):
    """Warn of an argument that can be used, and is probably not what was meant."""


def users_line() -> int:
    """Return the stacklevel by which a warning of the caller points at who calls the package.

    Frames of the package are passed by, and those of scikit-learn's decorators in between.
    """
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and f"{frame.f_globals.get('__name__')}.".startswith(_OURS):
        frame = frame.f_back
        level += 1
    return level
