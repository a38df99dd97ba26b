"""Outcome: what a gate made of a command, as plain data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """Hold what a pipeline shows of a command; its texts may have any letters.

    Parameters
    ----------
    command : str
        The command, as "audit".
    tested : str
        What is true where the gate is passed, in words that stay the same from run to run.
    code : int
        The exit code: 0 passes, 1 fails, and others are undecided.
    heading : str
        How the verdict is headed.
    is_reserved : bool
        Whether the heading has a reservation, so that passing must not look green.
    reason : str
        Why the exit code is not 0, as a sentence; "" where it is.
    sentences : tuple of str
        What was found, in short.
    warnings : tuple of str
        What the report warns of.
    text : str
        The whole report.
    """

    command: str
    tested: str
    code: int
    heading: str
    is_reserved: bool
    reason: str
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    text: str

    @property
    def passes(self) -> bool:
        """Return whether the gate is passed."""
        return self.code == 0

    @property
    def fails(self) -> bool:
        """Return whether the gate is shut for what was shown, and not for what is open."""
        return self.code == 1

    @property
    def brief(self) -> str:
        """Return the heading, what was found and the reason, in one paragraph."""
        return " ".join(filter(None, [f"{self.heading}.", *self.sentences, self.reason]))
