"""CheckResult, the outcome of a check of a report."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CheckResult:
    """List what a check of a report found to be wrong, what it verified and what it could not.

    Each field of the report was checked, or is named as not checked.

    Attributes
    ----------
    problems : list of str
        What is not as the report states; `ok` where there is none.
    checked : list of str
        What was verified, and over what.
    not_checked : list of str
        What the report states and the checker can't verify, and why.
    fields_not_checked : list of str
        The fields behind `not_checked`, by their path in the JSON without places in lists:
        "provenance.date", for example. "provenance.versions.*" is all that is in one.
    subject : str
        What was checked, as the text calls it.

    See Also
    --------
    check_report
        Verify a report against the data that it was made from, in exact rational arithmetic.
    check_patches
        Verify patches against the rows that they were learnt on, in exact rational arithmetic.

    Examples
    --------
    >>> from gerrymend import audit, check_report
    >>> data = dict(y_true=[0] * 40, y_pred=[1, 1, 0, 1] * 10,
    ...             sensitive_features={"race": ["blue", "blue", "green", "green"] * 10})
    >>> result = check_report(audit(**data), **data)
    >>> result.ok, "gamma" in result.fields_not_checked
    (True, True)
    """

    problems: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    fields_not_checked: list[str] = field(default_factory=list)
    subject: str = field(default="The report", repr=False)

    @property
    def ok(self) -> bool:
        """True if no problem was found."""
        return not self.problems

    def leave(self, fields: str, why: str) -> None:
        """Note that fields were not checked, and why.

        Parameters
        ----------
        fields : str
            Their paths in the JSON of the report, separated by blanks. One that ends in ".*" is
            recorded, but not printed.
        why : str
            The reason, as the end of a sentence without its full stop.
        """
        names = fields.split()
        self.fields_not_checked.extend(names)
        # "x.*" stands beside "x", and says no more to a reader.
        in_words = [name for name in names if not name.endswith(".*")]
        self.not_checked.append(f"{', '.join(in_words)}: {why}.")

    def raise_for_problems(self) -> None:
        """Raise a ValueError that names the problems, if there are any."""
        if self.problems:
            raise ValueError(str(self))

    def __str__(self) -> str:
        first = "is wrong:" if self.problems else "holds, as far as checked."
        first = f"{self.subject} {first}"
        lines = [first, *(f"- {sentence}" for sentence in self.problems)]
        for title, sentences in (("Checked:", self.checked), ("Not checked:", self.not_checked)):
            if sentences:
                lines += [title, *(f"- {sentence}" for sentence in sentences)]
        return "\n".join(lines)
