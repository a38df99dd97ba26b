"""The rules that profiles follow, in words: what they are, what they ask, and what they don't."""

from collections.abc import Mapping
from typing import Any, NamedTuple

NO_ADVICE = (
    "This is no legal advice. Whether a rule applies, what it asks today, and what follows from "
    "these figures is for a lawyer to say."
)


class Rule(NamedTuple):
    """A rule in words; `selected` and `rate` are what it calls a good decision, and its rate."""

    title: str
    rule: str
    asks: tuple[str, ...] = ()
    asks_not: tuple[str, ...] = ()
    threshold: str = ""
    selected: str = "selected"
    rate: str = "selection rate"
    ratio: str = "impact ratio"


_RULE_OF_THUMB = (
    "0.8 is the four-fifths rule of thumb of the EEOC's Uniform Guidelines, shown for orientation"
)

PLAIN = Rule(
    title="Impact ratios",
    rule="No rule was named: these are the tables that several ask for.",
    threshold=f"{_RULE_OF_THUMB}.",
)

RULES: Mapping[str, Rule] = {
    "ll144": Rule(
        title="Bias audit tables: New York City Local Law 144",
        rule="Local Law 144 of 2021 (Administrative Code § 20-870 to § 20-874) and the rules for "
        "it (6 RCNY § 5-300 to § 5-304), on automated employment decision tools.",
        asks=(
            "For each category of sex, of race and ethnicity, and of where they meet: the number "
            "of applicants, the selection rate, or the scoring rate of a tool that scores (the "
            "part of the category above the sample's median), and the impact ratio to the most "
            "selected, or highest scoring, category.",
            "The number of people of unknown category, who are in none of these figures.",
            "A category of less than 2 % of the data may be left out of the ratios, with a reason, "
            "and with its number and rate shown.",
            "An independent auditor, historical data as a rule, an audit no older than a year, and "
            "a summary of the results in public.",
        ),
        asks_not=(
            "It sets no threshold: no ratio passes or fails.",
            "It asks for no test of chance, no error rates, and no other attributes.",
            "It asks for no search among groups that nobody named: what follows the tables here is "
            "more than it asks.",
        ),
        threshold=f"Local Law 144 sets no threshold; {_RULE_OF_THUMB}.",
    ),
    "four-fifths": Rule(
        title="Adverse impact tables: the four-fifths rule",
        rule="The Uniform Guidelines on Employee Selection Procedures (29 CFR § 1607.4 D), of the "
        "EEOC and others.",
        asks=(
            "For each race, sex or ethnic group, the selection rate beside that of the group with "
            "the highest rate. One below four fifths of it is generally regarded as evidence of "
            "adverse impact.",
            "A smaller difference may count where it is significant and matters in practice; a "
            "larger one may not where it rests on small numbers and is not significant.",
        ),
        asks_not=(
            "It is a rule of thumb for agencies, and no definition of discrimination: a ratio "
            "below 0.8 proves none, and one above excuses none.",
            "It asks for no search among groups that nobody named: what follows the tables here is "
            "more than it asks.",
        ),
        threshold="A ratio below 0.8 is below four fifths.",
    ),
    "lending": Rule(
        title="Adverse impact ratios: lending",
        rule="Fair lending under the Equal Credit Opportunity Act (Regulation B, 12 CFR part 1002) "
        "and the Fair Housing Act, as lenders commonly test it.",
        asks=(
            "The adverse impact ratio: the approval rate of a group over that of a control group "
            "that is named beforehand.",
            "Where a model has an adverse impact, whether another would serve the same purpose "
            "with less of it: a less discriminatory alternative.",
        ),
        asks_not=(
            "No law sets a threshold for the ratio; 0.8 and 0.9 are both in use.",
            "Nothing here is about prices, terms, marketing or the treatment of single applicants.",
            "Which attributes a lender may use, in a model or to test one, is a question of law; "
            "the tables say nothing of it.",
        ),
        threshold=f"No law sets a threshold here; {_RULE_OF_THUMB}.",
        selected="approved",
        rate="approval rate",
        ratio="adverse impact ratio",
    ),
}


def rule_of(data: Mapping[str, Any]) -> Rule:
    """Return the rule of a table's profile, in the terms of scores where these are compared.

    >>> rule_of({"profile": "lending", "rate": "selection"}).rate
    'approval rate'
    >>> rule_of({"profile": "ll144", "rate": "scoring"}).rate
    'scoring rate'
    """
    rule = PLAIN if data["profile"] is None else RULES[data["profile"]]
    if data["rate"] == "scoring":
        return rule._replace(selected="above the median", rate="scoring rate")
    return rule
