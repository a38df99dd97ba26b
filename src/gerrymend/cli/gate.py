"""Decide the exit code of `gerrymend audit` and `gerrymend fit`, by the options of a gate."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gerrymend.auditing.report import AuditReport
from gerrymend.cli.exit_codes import OPTIONS, Decision, gate_decision
from gerrymend.inputs.settings import check_choice
from gerrymend.reporting.audit.chance import too_few_words, why_not_tested
from gerrymend.reporting.audit.lead import leads_by_chance
from gerrymend.reporting.audit.permutations import fewest_draws, too_few


class Gate(NamedTuple):
    """How a verdict becomes an exit code, as the options of these names say.

    >>> Gate(if_chance="undecided").check(permutations=5)
    Traceback (most recent call last):
    ValueError: --if-chance undecided needs a p-value of 0.05 or less, and --permutations 5 can \
give none below 0.167; ask for 199, and for 19 at least.
    """

    accepts_warnings: bool = False
    if_chance: str = "fail"
    fail_on: str = "exceeds"

    def check(self, permutations: int) -> None:
        """Raise a ValueError for a choice that does not exist, or that nothing could tell."""
        check_choice(self.if_chance, "--if-chance", ("fail", "undecided"))
        check_choice(self.fail_on, "--fail-on", ("exceeds", "stands-out"))
        needs = {
            "--if-chance undecided": self.if_chance == "undecided",
            "--fail-on stands-out": self.asks_who_stands_out,
        }
        fewest = fewest_draws()
        for option_given, is_given in needs.items():
            if is_given and 0 <= permutations < fewest:
                least = 1 / (1 + permutations)
                can = f"can give none below {least:.3g}" if permutations else "makes none"
                raise ValueError(
                    f"{option_given} needs a p-value of 0.05 or less, and --permutations "
                    f"{permutations} {can}; ask for 199, and for {fewest} at least."
                )

    def decide(
        self,
        report: AuditReport,
        verdict: str | None = None,
        warnings: Sequence[Any] | None = None,
        *,
        names: Mapping[str, str] = OPTIONS,
    ) -> Decision:
        """Return the code to exit with, and why.

        `report` tells whether a group stands out. The verdict and the warnings are its own, or
        those of several samples. `names` are those that arguments have in the reason.
        """
        is_asked = self.asks_who_stands_out
        data = report.to_dict()
        by_chance = self.if_chance == "undecided" and leads_by_chance(data)
        is_untold = is_asked and report.stands_out is None
        return gate_decision(
            report.verdict if verdict is None else verdict,
            report.warnings if warnings is None else warnings,
            accepted=self.accepts_warnings,
            by_chance=by_chance,
            too_few=too_few_words(data) if by_chance and too_few(data) else "",
            stands_out=report.stands_out if is_asked else False,
            untold=why_not_tested(data) if is_untold else "",
            names=names,
        )

    @property
    def asks_who_stands_out(self) -> bool:
        """Return whether the gate fails for who stands out from chance, too."""
        return self.fail_on == "stands-out"
