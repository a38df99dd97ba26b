"""The exit codes of every command, which a gate in CI reads.

Nothing else defines them; texts of help and the docs name them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from gerrymend._runtime.errors import Argument

# By verdict: proven within gamma, a subgroup exceeds it, and neither could be shown.
EXIT_CODES = {"within gamma": 0, "exceeds gamma": 1, "undecided": 3}

# A group stands out from chance, whatever gamma allows, where the gate was asked to fail for that.
STANDS_OUT = 1

# The call or the data is wrong, a package is missing, or gerrymend has an error of its own, shown
# with its traceback: what was asked for can't be done, and nothing is known of gamma.
CANT_BE_DONE = 2

# What a gate was asked for: arguments in Python, and options on the command line.
_ACCEPTED = Argument("accept_warnings", value="True")
_FAIL_ON_STANDS_OUT = Argument("fail_on", value="'stands-out'")
_FAIL_ON_EXCEEDS = Argument("fail_on", value="'exceeds'")
OPTIONS = {
    str(_ACCEPTED): "--accept-warnings",
    str(_FAIL_ON_STANDS_OUT): "--fail-on stands-out",
    str(_FAIL_ON_EXCEEDS): "--fail-on exceeds",
}

# Why a verdict that is not red leaves a gate undecided.
_OPEN = "neither was shown, that a subgroup exceeds gamma or that none does"
_BY_CHANCE = (
    "a subgroup exceeds gamma, and chance may have made it, which --if-chance undecided leaves open"
)
# What is known of gamma where a gate fails for who stands out.
_BESIDE = {
    "within gamma": "; none is above gamma",
    "exceeds gamma": "",
    "undecided": "; none was found above gamma, and one was not ruled out",
}

# Ctrl-C; 128 + SIGINT, as shells have it.
INTERRUPTED = 130


class Decision(NamedTuple):
    """An exit code, and why it is that; "" where it is 0, which needs no reason."""

    code: int
    why: str = ""

    @property
    def sentence(self) -> str:
        """Return the reason as one sentence; "" where the code is 0."""
        return f"Exit code {self.code}: {self.why}." if self.code else ""


def _warned(names: Mapping[str, str]) -> str:
    """Say that warnings leave a gate undecided, and what lets them pass."""
    accepted = _ACCEPTED.in_terms(names)
    return f"the report warns of what it was given; {accepted} lets the verdict decide"


def gate_decision(
    verdict: str,
    warnings: Sequence[Any],
    *,
    accepted: bool,
    by_chance: bool = False,
    too_few: str = "",
    stands_out: bool | None = False,
    untold: str = "",
    names: Mapping[str, str] = OPTIONS,
) -> Decision:
    """Return the exit code of a verdict; a green one counts as undecided where it is doubtful.

    So does a red one that is `by_chance`: chance alone may make as much, and the gate is not to
    shut for it; `too_few` says why that could not be told, where too few draws were made.
    `stands_out` is for a gate that fails for who stands out: whether a group does, and None where
    that could not be told, so that nothing is cleared by a test that was not made; `untold` says
    why it was not. `names` are those that arguments have in the reason.

    A subgroup that exceeds gamma was found in the columns that were given, whatever else these may
    be: decisions that one attribute makes alone look like its values recoded.

    >>> gate_decision("within gamma", [], accepted=False).code
    0
    >>> gate_decision("within gamma", ["constant_decisions"], accepted=False).code
    3
    >>> gate_decision("exceeds gamma", ["decision_is_protected"], accepted=False).sentence
    'Exit code 1: a subgroup exceeds gamma.'
    >>> gate_decision("exceeds gamma", [], accepted=False, by_chance=True).code
    3
    >>> gate_decision("within gamma", [], accepted=False, stands_out=True).code
    1
    >>> gate_decision("within gamma", [], accepted=False, stands_out=None, untold="no test").code
    3
    >>> gate_decision("exceeds gamma", [], accepted=False, by_chance=True, too_few="no time").why
    "a subgroup exceeds gamma, and whether chance made it can't be told: no time"
    """
    exceeds = verdict == "exceeds gamma"
    if exceeds and not by_chance:
        return Decision(EXIT_CODES[verdict], "a subgroup exceeds gamma")
    if stands_out:
        asked = _FAIL_ON_STANDS_OUT.in_terms(names)
        told = f"a group stands out from chance, and {asked} fails for that"
        return Decision(STANDS_OUT, f"{told}{_BESIDE[verdict]}")
    doubts = []
    if exceeds:
        untold = f"a subgroup exceeds gamma, and whether chance made it can't be told: {too_few}"
        doubts.append(untold if too_few else _BY_CHANCE)
    elif verdict == "undecided":
        doubts.append(_OPEN)
    if warnings and not accepted and not exceeds:
        doubts.append(_warned(names))
    if stands_out is None:
        doubts.append(f"{_FAIL_ON_STANDS_OUT.in_terms(names)} can't be told: {untold}")
    if doubts:
        return Decision(EXIT_CODES["undecided"], "; ".join(doubts))
    return Decision(EXIT_CODES[verdict])


class Changed(Protocol):
    """What a comparison tells a gate."""

    @property
    def verdict(self) -> str:
        """Return "better", "same", "worse" or "can't tell"."""

    @property
    def warnings(self) -> Sequence[Any]:
        """Return what it warns of."""

    @property
    def exceeds(self) -> bool:
        """Return whether a subgroup exceeds gamma now."""


def change_decision(
    found: Changed, fail_on: str, *, accepted: bool, names: Mapping[str, str] = OPTIONS
) -> Decision:
    """Return the exit code of a comparison; one that is warned of is undecided where it is green.

    With `fail_on` "exceeds" it is 1 also where a subgroup exceeds gamma now. `names` are those that
    arguments have in the reason.
    """
    if found.verdict == "worse":
        return Decision(EXIT_CODES["exceeds gamma"], "it is worse than before")
    if fail_on == "exceeds" and found.exceeds:
        why = f"a subgroup exceeds gamma, and {_FAIL_ON_EXCEEDS.in_terms(names)} fails for that"
        return Decision(EXIT_CODES["exceeds gamma"], why)
    doubts = ["whether it is worse can't be told"] if found.verdict == "can't tell" else []
    if found.warnings and not accepted:
        doubts.append(_warned(names))
    return Decision(EXIT_CODES["undecided" if doubts else "within gamma"], "; ".join(doubts))


def alarm_decision(raised: int | None) -> Decision:
    """Return the exit code of a watch: 1 from the batch on at which the alarm was raised.

    >>> alarm_decision(None).code, alarm_decision(3).sentence
    (0, 'Exit code 1: there is an alarm since batch 3.')
    """
    if raised is None:
        return Decision(EXIT_CODES["within gamma"])
    return Decision(EXIT_CODES["exceeds gamma"], f"there is an alarm since batch {raised}")


def repair_decision(alpha: float | None, found: float, at_most: float) -> Decision:
    """Return the exit code of a repair of scores: whether none is proven to exceed alpha.

    `found` is the worst violation that is left, and `at_most` what is proven that none exceeds.
    Without an alpha there is nothing to exceed.

    >>> [repair_decision(alpha, 0.02, 0.03).code for alpha in (None, 0.05, 0.01, 0.025)]
    [0, 0, 1, 3]
    """
    if alpha is None or at_most <= alpha:
        return Decision(EXIT_CODES["within gamma"])
    if found > alpha:
        return Decision(EXIT_CODES["exceeds gamma"], "a subgroup still exceeds --alpha")
    open_words = "neither was shown, that a subgroup exceeds --alpha or that none does"
    return Decision(EXIT_CODES["undecided"], open_words)


def impact_decision(part: float, n_below: int, *, by_chance: bool) -> Decision:
    """Return the exit code of impact ratios that a gate fails for below a part.

    `by_chance` says that chance may have made all of those below, and the gate is not to shut then.

    >>> impact_decision(0.8, 2, by_chance=False).sentence
    'Exit code 1: 2 groups have a ratio below 0.8.'
    >>> impact_decision(0.8, 1, by_chance=True).code, impact_decision(0.8, 0, by_chance=True).code
    (3, 0)
    """
    if not n_below:
        return Decision(EXIT_CODES["within gamma"])
    have = "1 group has" if n_below == 1 else f"{n_below:,} groups have"
    told = f"{have} a ratio below {part:g}"
    if by_chance:
        made = "it, which" if n_below == 1 else "all of them, which"
        why = f"{told}, and chance may have made {made} --if-chance undecided leaves open"
        return Decision(EXIT_CODES["undecided"], why)
    return Decision(EXIT_CODES["exceeds gamma"], told)
