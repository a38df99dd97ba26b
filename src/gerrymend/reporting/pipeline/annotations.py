"""Write an outcome as GitHub's workflow commands, which show as annotations of a run.

A runner reads commands from the lines of a step's output. In the data of one `%` and the ends of
lines are escaped, in a property also what ends it: `:` and `,`.
"""

from gerrymend.reporting.pipeline.outcome import Outcome
from gerrymend.reporting.wording import visible


def annotation_lines(outcome: Outcome) -> str:
    """Return a command for the verdict and one for each warning, a line each.

    >>> from gerrymend.reporting.pipeline.outcome import Outcome
    >>> told = {"is_reserved": False, "reason": "", "warnings": ("100 %: 1, 2",), "text": ""}
    >>> print(annotation_lines(Outcome("audit", "", 1, "Too much", sentences=(), **told)))
    ::error title=gerrymend audit%3A Too much::Too much.
    ::warning title=gerrymend audit%3A a warning::100 %25: 1, 2
    """
    level = "notice" if outcome.passes and not outcome.is_reserved else "warning"
    if outcome.fails:
        level = "error"
    lines = [_command(level, f"gerrymend {outcome.command}: {outcome.heading}", outcome.brief)]
    for warning in outcome.warnings:
        lines.append(_command("warning", f"gerrymend {outcome.command}: a warning", warning))
    return "\n".join(lines)


def _command(level: str, title: str, message: str) -> str:
    """Return a command in one line, of which no text is a part of the command.

    >>> _command("notice", "a::b, c", "::error::x\\n%0A##[error]y\\rz")
    '::notice title=a%3A%3Ab%2C c::::error::x%0A%250A##[error]y⟨U+000D⟩z'
    """
    escaped = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={escaped}::{_escaped(message)}"


def _escaped(text: str) -> str:
    """Return the data of a command; what else acts on a terminal is written out before."""
    return visible(text).replace("%", "%25").replace("\n", "%0A")
