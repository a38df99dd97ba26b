"""Return the outcome of a command's gate, for pipelines that show tests and annotations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gerrymend.changes.comparison import Comparison
from gerrymend.changes.look import Look
from gerrymend.cli.exit_codes import Decision
from gerrymend.impact.table import ImpactTable
from gerrymend.reporting.audit.lead import brief_sentences
from gerrymend.reporting.audit.text import audit_text
from gerrymend.reporting.audit.verdict import Look as Shown
from gerrymend.reporting.audit.verdict import look, warning_sentences
from gerrymend.reporting.changes import words as changes
from gerrymend.reporting.changes.look import alarm_sentence, leading_words
from gerrymend.reporting.impact.beyond import beyond_lead
from gerrymend.reporting.impact.words import lead_sentences
from gerrymend.reporting.pipeline.outcome import Outcome
from gerrymend.reporting.uncertain import words as uncertain
from gerrymend.uncertain.report import UncertainReport


def audit_outcome(
    command: str, file: Path, report: Mapping[str, Any], decision: Decision
) -> Outcome:
    """Return the outcome of an audit, from the plain data of its report."""
    return Outcome(
        command=command,
        tested=f"{_name(file)}: no subgroup exceeds gamma",
        code=decision.code,
        reason=decision.sentence,
        **_headed(look(report)),
        sentences=tuple(brief_sentences(report)),
        warnings=tuple(warning_sentences(report)),
        text=audit_text(report),
    )


def comparison_outcome(file: Path, found: Comparison, decision: Decision) -> Outcome:
    """Return the outcome of a comparison."""
    data = found.to_dict()
    return Outcome(
        command="compare",
        tested=f"{_name(file)}: not worse than before",
        code=decision.code,
        reason=decision.sentence,
        **_headed(changes.look(data)),
        sentences=tuple(changes.verdict_sentences(data)),
        warnings=tuple(changes.warnings(data)),
        text=str(found),
    )


def uncertain_outcome(file: Path, found: UncertainReport, decision: Decision) -> Outcome:
    """Return the outcome of an audit where an attribute is known as probabilities."""
    data = found.to_dict()
    return Outcome(
        command="uncertain",
        tested=f"{_name(file)}: no subgroup exceeds gamma, whoever is who",
        code=decision.code,
        reason=decision.sentence,
        **_headed(uncertain.look(data)),
        sentences=tuple(uncertain.lead_sentences(data)),
        warnings=tuple(uncertain.warnings(data)),
        text=str(found),
    )


def watch_outcome(state: Path, found: Look, decision: Decision) -> Outcome:
    """Return the outcome of a batch that a watch took in."""
    data = found.to_dict()
    against = leading_words(data)
    return Outcome(
        command="watch",
        tested=f"{_name(state)}: no alarm",
        code=decision.code,
        reason=decision.sentence,
        heading="Alarm" if found.alarm else "No alarm",
        is_reserved=False,
        sentences=(alarm_sentence(data), *([f"Most against {against}."] if against else [])),
        warnings=(),
        text=str(found),
    )


def impact_outcome(file: Path, table: ImpactTable, part: float, decision: Decision) -> Outcome:
    """Return the outcome of tables of impact ratios, of which none is to be below a part."""
    data = table.to_dict()
    who = "Groups" if table.below(part) else "No group"
    # Who is in no table passes the gate all the same.
    beyond = beyond_lead(data)
    return Outcome(
        command="impact",
        tested=f"{_name(file)}: no group has a ratio below {part:g}",
        code=decision.code,
        reason=decision.sentence,
        heading=f"{who} with a ratio below {part:g}",
        is_reserved=bool(beyond),
        sentences=(*lead_sentences(data), *beyond),
        warnings=(),
        text=str(table),
    )


def _headed(shown: Shown) -> dict[str, Any]:
    """Return a heading, and whether it must not look green."""
    return {"heading": shown.heading, "is_reserved": shown.kind != "within"}


def _name(file: Path) -> str:
    """Return the name of a file: folders of this machine concern no reader of a pipeline."""
    return "standard input" if str(file) == "-" else file.name
