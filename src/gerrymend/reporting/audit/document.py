"""A report as a document: its title, whose model it is about, what for, and an earlier report."""

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.numbers import is_missing
from gerrymend.reporting.wording import json_text

# The parts that come on top, in their order, with the names that they are shown under.
_NAMES = {"model": "Model", "owner": "Owner", "purpose": "Purpose", "date": "Date"}
# What an earlier report must have to be compared with.
_COMPARED = ("verdict", "gamma", "unfairness", "upper_bound", "exact", "covers", "n_rows", "worst")


@dataclass(frozen=True)
class Document:
    """Hold facts that a report can't know of itself, as its author says them; all are optional.

    `date` is as it is to be shown, and `since` the plain data of an earlier report. `label` and
    `decision` are the names of their columns; decisions that are scores are cut at `threshold`.
    `decisions` are words for the two, the negative one first: ("refused", "granted").
    `commands` are what to type next, where the command that made the report knows its file, and
    `file` is the name of that.

    >>> Document.of(model="Loans 4.2", date=datetime.date(2025, 1, 31)).facts
    [('Model', 'Loans 4.2'), ('Date', '31 January 2025')]
    """

    title: str | None = None
    model: str | None = None
    owner: str | None = None
    purpose: str | None = None
    date: str | None = None
    since: Mapping[str, Any] | None = None
    label: str | None = None
    decision: str | None = None
    threshold: float | None = None
    decisions: tuple[str, str] | None = None
    commands: tuple[str, ...] = ()
    file: str | None = None

    @classmethod
    def of(
        cls,
        *,
        title: str | None = None,
        model: str | None = None,
        owner: str | None = None,
        purpose: str | None = None,
        date: str | datetime.date | None = None,
        since: Any = None,
        label: str | None = None,
        decision: str | None = None,
        threshold: float | None = None,
        decisions: Sequence[str] | None = None,
        commands: Sequence[str] = (),
        file: str | None = None,
    ) -> "Document":
        """Check what a caller says; raise ArgumentError for what can't be shown.

        `since` is a report, its plain data, or a path to its JSON.
        """
        if isinstance(date, datetime.date) and not is_missing(date):
            date = f"{date.day} {date:%B %Y}"
        given: dict[str, Any] = {
            "title": title, "model": model, "owner": owner, "purpose": purpose, "date": date,
            "label": label, "decision": decision, "file": file,
        }  # fmt: skip
        for name, value in given.items():
            if value is not None and not isinstance(value, str):
                raise ArgumentError(
                    name, f"must be text; got {value!r} of type {type(value).__name__}."
                )
        # Words of blanks alone would be an empty line.
        shown = {name: value for name, value in given.items() if value and value.strip()}
        if threshold is not None and not isinstance(threshold, int | float):
            raise ArgumentError("threshold", f"must be a number; got {threshold!r}.")
        words = None if decisions is None else _two_words(decisions)
        earlier = None if since is None else _earlier(since)
        return cls(
            **shown, since=earlier, threshold=threshold, decisions=words, commands=tuple(commands)
        )

    @property
    def facts(self) -> list[tuple[str, str]]:
        """List what was said of the model, by name, in the order of reading."""
        return [(name, getattr(self, key)) for key, name in _NAMES.items() if getattr(self, key)]

    def with_columns(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return the plain data of a report with the columns behind its labels and decisions.

        Sentences then say "granted = 1" in place of “1”.
        """
        names = ("label", "decision", "threshold")
        columns = {name: getattr(self, name) for name in names}
        if self.decisions is not None and len(report["labels"]) == 2:  # of more there are more
            columns["decisions"] = self.decisions
        return {**report, "columns": columns}

    def to_dict(self) -> dict[str, str]:
        """Return what was said of the model and the report, as plain data."""
        names = ("title", *_NAMES)
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


# A report of which nothing more is said.
PLAIN = Document()


def audit_json(report: Mapping[str, Any], document: Document = PLAIN) -> str:
    """Return `AuditReport.to_dict()` as JSON, with what its author says in "about"."""
    about = document.to_dict()
    data = {**report, **({"about": about} if about else {})}
    return json_text(data, indent=2)


def _two_words(given: Any) -> tuple[str, str]:
    """Return the words for the two decisions; raise ArgumentError unless they are two."""
    words = given if isinstance(given, list | tuple) else ()
    negative, positive = words if len(words) == 2 else ("", "")
    are_texts = isinstance(negative, str) and isinstance(positive, str)
    if not are_texts or not negative.strip() or not positive.strip() or negative == positive:
        raise ArgumentError(
            "decisions",
            f"must be two words, for the negative decision and the positive one, such as refused "
            f"and granted; got {given!r}.",
        )
    return negative.strip(), positive.strip()


def _earlier(since: Any) -> Mapping[str, Any]:
    """Return the plain data of an earlier report; raise ArgumentError if it is none."""
    data = since.to_dict() if hasattr(since, "to_dict") else since
    where = "is"
    if isinstance(since, str | Path):
        where = f"{str(since)!r} is"
        try:
            data = json.loads(Path(since).read_text("utf-8"))
        except OSError as error:
            why = f"{str(since)!r} can't be read: {error.strerror}."
            raise ArgumentError("since", why) from None
        except ValueError:
            data = None
    if not isinstance(data, Mapping):
        raise ArgumentError("since", f"{where} no report; pass the JSON that an audit wrote.")
    missing = [name for name in _COMPARED if name not in data]
    if missing:
        raise ArgumentError(
            "since",
            f"{where} no report of an audit: {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; pass the JSON that an audit wrote.",
        )
    return data
