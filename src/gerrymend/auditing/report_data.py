"""Return a report as plain data: what JSON, Markdown, pages and text are made from."""

from typing import Any

from gerrymend.auditing.inference.permutation_result import PERMUTED
from gerrymend.auditing.report import AuditReport
from gerrymend.reporting.audit.lead import lead_data


def report_data(report: AuditReport) -> dict[str, Any]:
    """Return all of a report that may be told; nothing of a row is in it.

    What most reports don't have is left out of those that don't: names are added to, not changed.
    """
    data = {
        "warnings": [doubt.to_dict() for doubt in report.warnings],
        "verdict": report.verdict,
        "gamma": report.gamma,
        "unfairness": report.unfairness,
        "upper_bound": report.upper_bound,
        "exact": report.exact,
        "covers": report.covers,
        "no_bound": report.no_bound,
        "partial": [{"covers": part, "upper_bound": most} for part, most in report.partial],
        "n_rows": report.n_rows,
        "weighted": report.weighted,
        "min_group_size": report.min_group_size,
        "withheld": report.withheld,
        "missing": report.missing.to_dict(),
        "rare_values": [{"attribute": one, "values": n} for one, n in report.rare_values],
        "kept_back": list(report.kept_back),
        "subgroups": repr(report.subgroups),
        "labels": list(report.labels),
        "is_labelled": report.is_labelled,
        "attributes": list(report.attributes),
        "class": report.subgroups.to_dict(),
        "notions": [notion.to_dict() for notion in report.notions],
        "favourable": report.favourable,
        "side": report.side,
        "worst": _plain(report.worst),
        "disadvantaged": _plain(report.disadvantaged),
        "favoured": _plain(report.favoured),
        "favoured_is_rest": report.favoured_is_rest,
        "in_a_sentence": _plain(report.in_a_sentence),
        "core": _plain(report.core),
        "top": [subgroup.to_dict() for subgroup in report.top],
        "why_fewer": list(report.why_fewer),
        "p_value": report.p_value,
        "n_permutations": report.n_permutations,
        "detectable": report.detectable,
        "searched_unfairness": report.permutation_test and report.permutation_test.searched,
        **_null(report),
        **_p_values(report),
        **_cut_short(report),
        "no_p_value": (report.permutation_test and report.permutation_test.reason) or None,
        "sharpest": _plain(report.sharpest),
        "stands_out": report.stands_out,
        "held_out": _plain(report.held_out),
        "intervals": [group.to_dict() for group in report.intervals],
        "population": _plain(report.population),
        "discovery": _plain(report.discovery),
        "overall_rates": [overall.to_dict() for overall in report.overall_rates],
        "control_features": list(report.control_features),
        "strata": [stratum.to_dict() for stratum in report.strata],
        "strata_left_out": report.strata_left_out,
        "empty_strata": [one.to_dict() for one in report.empty_strata],
        "marginal_unfairness": report.marginal_unfairness,
        "single_unfairness": report.single_unfairness,
        "single_interval": _plain(report.single_interval),
        "marginals": [group.to_dict() for group in report.marginals],
        "marginals_left_out": report.marginals_left_out,
        "intersected": list(report.intersections.attributes),
        "intersections": [group.to_dict() for group in report.intersections.groups],
        "intersections_left_out": report.intersections.left_out,
        "protected_used": None if report.protected_used is None else list(report.protected_used),
        "provenance": _plain(report.provenance),
    }
    if report.calibration is not None:
        data["calibration"] = report.calibration.to_dict()
    return {**data, "lead": lead_data(data)}


def _cut_short(report: "AuditReport") -> dict[str, Any]:
    """Return how many permutations were asked for, where there was no time for all of them."""
    test = report.permutation_test
    return {} if test is None or test.n_asked is None else {"permutations_asked": test.n_asked}


def _null(report: AuditReport) -> dict[str, str]:
    """Return what the p-value is of; nothing where outcomes are permuted, or it was not tested."""
    test = report.permutation_test
    return {} if test is None or test.null == PERMUTED else {"null": test.null}


def _p_values(report: AuditReport) -> dict[str, Any]:
    """Return the test of each family of notions; nothing where there is one, or none."""
    test = report.permutation_test
    if test is None or len(test.families) < 2:
        return {}
    names = {i: notion.name for i, notion in enumerate(report.notions)}
    return {"p_values": test.by_family(names)}


def _plain(part: Any) -> dict[str, Any] | None:
    return None if part is None else part.to_dict()
