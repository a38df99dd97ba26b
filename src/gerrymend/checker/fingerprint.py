"""Check of a report's provenance: the fingerprint follows from the rows, all else does not."""

import json
import re
from hashlib import sha256
from struct import pack
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import Attribute, Table

# Intervals of pandas, whose order is that of their ends and not that of these words.
INTERVAL = re.compile(r"[\[(].*, .*[\])]")


def check_provenance(case: Case) -> None:
    """Check the fingerprint of the rows, and note the rest as not checked."""
    stated = case.stated["provenance"]
    case.leave(
        "protected_used protected_used.* provenance provenance.date provenance.versions "
        "provenance.versions.* provenance.random_state provenance.budget provenance.top",
        "what the model decides by, and when, by what and with which seed, budget and number of "
        "subgroups the report was made",
    )
    if stated is None:
        return
    if not re.fullmatch("[0-9a-f]{64}", stated["fingerprint"]):
        case.problem(f"provenance: {stated['fingerprint']!r} is no sha256.")
    if (why := _not_known(case)) is not None:
        case.leave("provenance.fingerprint", why)
    # The labels as they are stated, which are checked to be equal: 0.0 is the 0 of the report.
    elif stated["fingerprint"] != fingerprint_of(case.table, case.stated["labels"]):
        case.problem("provenance: the fingerprint is that of other rows.")
    if len(case.stated["top"]) > stated.get("top", 1):
        case.problem(
            f"provenance.top is stated as {stated.get('top', 1)}, and {len(case.stated['top'])} "
            "subgroups are described."
        )


def _not_known(case: Case) -> str | None:
    """Return why the fingerprint of the rows is not known here, or None where it is."""
    table = case.table
    if case.parted:
        return "rows were held out of the same data, and their categories are in it"
    if not all(one.is_count for one in (table, *table.by_class.values())) or table.views:
        return "sums of weights, probabilities or numbers are in it as float64 rounds them"
    texts = (value for one in table.attributes.values() for value in one.values)
    if any(isinstance(value, str) and INTERVAL.fullmatch(value) for value in texts):
        return "categories that are intervals have an order of their own"
    return None


def fingerprint_of(table: Table, stated_labels: list[Any]) -> str:
    """Return the sha256 of rows that count 1 each and are decided 0 or 1.

    It is over names, kinds and categories of the attributes, the labels, and then numbers of rows,
    weights and positive decisions by label and by protected values in their order, as 8 bytes each,
    the least first.
    """
    columns = list(map(_coded, table.attributes.values()))
    order = sorted(range(len(table)), key=lambda cell: [codes[cell] for _, codes in columns])
    labels = list(map(str, stated_labels))
    digest = sha256(json.dumps([[head for head, _ in columns], labels, [2, len(table)]]).encode())
    for _, codes in columns:
        digest.update(b"".join(pack("<d", codes[cell]) for cell in order))
    for one in (table, *table.by_class.values()):
        for sums, form in ((one.rows, "<q"), (one.weight, "<d"), (one.positive, "<d")):
            digest.update(b"".join(pack(form, sums[cell][y]) for y in (0, 1) for cell in order))
    return digest.hexdigest()


def _coded(attribute: Attribute) -> tuple[list[Any], list[Any]]:
    """Return name, kind and categories of an attribute, and the number or code of each cell."""
    if attribute.is_number:
        return [attribute.name, "number", None], list(attribute.values)
    known = attribute.categories
    kinds = [type(value).__name__ for value in known if value is not None]
    texts = [None if value is None else str(value) for value in known]
    code = {value: i for i, value in enumerate(known)}
    return (
        [attribute.name, kinds[0] if kinds else "any", texts],
        [code[value] for value in attribute.values],
    )
