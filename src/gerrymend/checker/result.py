"""CheckResult: what a check of a report found."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CheckResult:
    """What a check found.

    Attributes
    ----------
    problems : list of str
        What is not as the report states; `ok` where there is none.
    checked : list of str
        What was verified, and over what.
    not_checked : list of str
        What the report states and the checker can't verify, and why.
    """

    problems: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing was found to be other than stated."""
        return not self.problems

    def raise_for_problems(self) -> None:
        """Raise a ValueError that names the problems, if there are any."""
        if self.problems:
            raise ValueError(str(self))

    def __str__(self) -> str:
        parts = {
            "The report is wrong:": self.problems,
            "Checked:": self.checked,
            "Not checked:": self.not_checked,
        }
        lines = [
            f"{title}\n" + "\n".join(f"- {one}" for one in p) for title, p in parts.items() if p
        ]
        return "\n".join(([] if self.problems else ["The report holds."]) + lines)
