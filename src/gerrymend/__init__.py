"""Find, prove and repair fairness gerrymandering.

A classifier can be fair to each protected attribute and unfair to their combinations. `audit`
finds the subgroup that is treated most differently, proves how bad any subgroup can be, and tests
whether chance explains it. `SubgroupParityClassifier` learns a classifier in which no subgroup is
off by more than a limit. The public names, by purpose:

- audit: `audit`, `audit_counts` (a table of counts), `prove` (one question), `bootstrap`; their
  results are `AuditReport`, `Subgroup`, `Proof`, `Bootstrap`
- compare two models or samples: `compare`; watch batches: `Watch`; their results are
  `Comparison`, `Movement`, `Look`
- train: `SubgroupParityClassifier`, `MarginalParityClassifier`; what they learn is a
  `MixtureClassifier`; `DerandomizationCost`, `CheckpointError`
- choose between models: `pareto_frontier`, with `ParetoFrontier`, `FrontierPoint`,
  `FrontierInterrupted`; in scikit-learn's searches `unfairness_scorer`
- choose what is compared, `notion=`: a name such as "false_positive_rate", `FairnessNotion`,
  `OutcomeNotion`, `Multiaccuracy`, `Multicalibration`; and with what, `reference=`: `GroupMean`
- choose the subgroups, `subgroups=`: a name such as "conjunctions", `LinearThresholds`,
  `Conjunctions`, `ValueSets`, `Trees`, `Marginals`, `ExplicitGroups`
- choose how to train, `solver=`: `ExponentiatedGradient` (the default), `FictitiousPlay`,
  `NoRegret`, `MultiplicativeWeights`
- where an attribute is known as probabilities: `audit_uncertain`; `UncertainReport`,
  `UncertainGroup`
- repair scores: `SubgroupCalibrator`, `calibrate`; `ScorePatches`, `Patch`, `save_patches`,
  `load_patches`
- make the tables that regulators ask for: `impact_ratios`, `less_discriminatory_alternatives`;
  `ImpactTable`, `Alternatives`
- save and check: `save_model`, `load_model`, `types_to_trust`, `ModelFileError`, `check_report`,
  `check_patches`, `CheckResult`
- draw: `AuditDisplay`, `FrontierDisplay`, `ConvergenceDisplay`, `TrajectoryDisplay`,
  `SubgroupCalibrationDisplay`, `SurfaceDisplay`, `discrimination_surface`,
  `DiscriminationSurface`

`help(gerrymend.audit)` and so on show parameters and examples; `gerrymend --help` shows the
commands. Assertions for test suites are in `gerrymend.pytest`, and logging to MLflow is in
`gerrymend.mlflow`. Data to try things on is in `gerrymend.datasets`.

Examples
--------
>>> from gerrymend import audit
>>> from gerrymend.datasets import make_gerrymandered
>>> people = make_gerrymandered(2000, random_state=0)
>>> report = audit(people.target, (people.score >= 0.5).astype(int),
...                sensitive_features=people.sensitive_features, favourable="negative")
>>> print(report.lead)
race = blue and gender = man
>>> report.unfairness, report.verdict
(0.0625, 'exceeds gamma')
"""

# Names are loaded when they are first used, so that importing the package takes no time.
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gerrymend.auditing.audit import audit
    from gerrymend.auditing.audit_counts import audit_counts
    from gerrymend.auditing.inference.bootstrap import Bootstrap, bootstrap
    from gerrymend.auditing.prove import Proof, prove
    from gerrymend.auditing.report import AuditReport
    from gerrymend.auditing.subgroup import Subgroup
    from gerrymend.calibration.calibrate import calibrate
    from gerrymend.calibration.calibrator import SubgroupCalibrator
    from gerrymend.calibration.patches import Patch, ScorePatches
    from gerrymend.calibration.saved import load_patches, save_patches
    from gerrymend.changes.compare import compare
    from gerrymend.changes.comparison import Comparison
    from gerrymend.changes.look import Look
    from gerrymend.changes.movement import Movement
    from gerrymend.changes.watch import Watch
    from gerrymend.checker import CheckResult, check_patches, check_report
    from gerrymend.classifiers import MarginalParityClassifier, SubgroupParityClassifier
    from gerrymend.frontier.points import FrontierPoint
    from gerrymend.frontier.sweep import FrontierInterrupted, pareto_frontier
    from gerrymend.frontier.tradeoffs import ParetoFrontier
    from gerrymend.impact.alternatives import Alternatives, less_discriminatory_alternatives
    from gerrymend.impact.impact_ratios import impact_ratios
    from gerrymend.impact.table import ImpactTable
    from gerrymend.models.derandomization_cost import DerandomizationCost
    from gerrymend.models.mixture_classifier import MixtureClassifier
    from gerrymend.models.saving import ModelFileError, load_model, save_model, types_to_trust
    from gerrymend.models.unfairness_scorer import unfairness_scorer
    from gerrymend.notions import (
        FairnessNotion,
        GroupMean,
        Multiaccuracy,
        Multicalibration,
        OutcomeNotion,
    )
    from gerrymend.plotting import (
        AuditDisplay,
        ConvergenceDisplay,
        FrontierDisplay,
        SubgroupCalibrationDisplay,
        SurfaceDisplay,
        TrajectoryDisplay,
    )
    from gerrymend.solvers import (
        ExponentiatedGradient,
        FictitiousPlay,
        MultiplicativeWeights,
        NoRegret,
    )
    from gerrymend.subgroups import (
        Conjunctions,
        ExplicitGroups,
        LinearThresholds,
        Marginals,
        Trees,
        ValueSets,
    )
    from gerrymend.surfaces import DiscriminationSurface, discrimination_surface
    from gerrymend.training.checkpoints import CheckpointError
    from gerrymend.uncertain.audit_uncertain import audit_uncertain
    from gerrymend.uncertain.group import UncertainGroup
    from gerrymend.uncertain.report import UncertainReport

__version__ = "0.1.0"

# The module of each public name, below this package.
_HOME = {
    "audit": "auditing.audit",
    "audit_counts": "auditing.audit_counts",
    "AuditReport": "auditing.report",
    "prove": "auditing.prove",
    "Proof": "auditing.prove",
    "bootstrap": "auditing.inference.bootstrap",
    "Bootstrap": "auditing.inference.bootstrap",
    "compare": "changes.compare",
    "Comparison": "changes.comparison",
    "Look": "changes.look",
    "Movement": "changes.movement",
    "Watch": "changes.watch",
    "check_patches": "checker",
    "check_report": "checker",
    "CheckResult": "checker",
    "Subgroup": "auditing.subgroup",
    "calibrate": "calibration.calibrate",
    "Patch": "calibration.patches",
    "SubgroupCalibrator": "calibration.calibrator",
    "ScorePatches": "calibration.patches",
    "save_patches": "calibration.saved",
    "load_patches": "calibration.saved",
    "SubgroupParityClassifier": "classifiers",
    "MarginalParityClassifier": "classifiers",
    "pareto_frontier": "frontier.sweep",
    "FrontierInterrupted": "frontier.sweep",
    "ParetoFrontier": "frontier.tradeoffs",
    "FrontierPoint": "frontier.points",
    "Alternatives": "impact.alternatives",
    "less_discriminatory_alternatives": "impact.alternatives",
    "impact_ratios": "impact.impact_ratios",
    "ImpactTable": "impact.table",
    "MixtureClassifier": "models.mixture_classifier",
    "DerandomizationCost": "models.derandomization_cost",
    "save_model": "models.saving",
    "load_model": "models.saving",
    "types_to_trust": "models.saving",
    "ModelFileError": "models.saving",
    "unfairness_scorer": "models.unfairness_scorer",
    "CheckpointError": "training.checkpoints",
    "FairnessNotion": "notions.rates",
    "GroupMean": "notions.references",
    "OutcomeNotion": "notions.outcomes",
    "Multiaccuracy": "notions.scores",
    "Multicalibration": "notions.scores",
    "FictitiousPlay": "solvers",
    "NoRegret": "solvers",
    "MultiplicativeWeights": "solvers",
    "ExponentiatedGradient": "solvers",
    "LinearThresholds": "subgroups",
    "Marginals": "subgroups",
    "ExplicitGroups": "subgroups",
    "Conjunctions": "subgroups",
    "ValueSets": "subgroups",
    "Trees": "subgroups",
    "DiscriminationSurface": "surfaces",
    "discrimination_surface": "surfaces",
    "audit_uncertain": "uncertain.audit_uncertain",
    "UncertainGroup": "uncertain.group",
    "UncertainReport": "uncertain.report",
    "AuditDisplay": "plotting",
    "ConvergenceDisplay": "plotting",
    "FrontierDisplay": "plotting",
    "SubgroupCalibrationDisplay": "plotting",
    "SurfaceDisplay": "plotting",
    "TrajectoryDisplay": "plotting",
}

# The public names; each has its module in _HOME.
__all__ = [
    "Alternatives",
    "AuditDisplay",
    "AuditReport",
    "Bootstrap",
    "CheckResult",
    "CheckpointError",
    "Comparison",
    "Conjunctions",
    "ConvergenceDisplay",
    "DerandomizationCost",
    "DiscriminationSurface",
    "ExplicitGroups",
    "ExponentiatedGradient",
    "FairnessNotion",
    "FictitiousPlay",
    "FrontierDisplay",
    "FrontierInterrupted",
    "FrontierPoint",
    "GroupMean",
    "ImpactTable",
    "LinearThresholds",
    "Look",
    "MarginalParityClassifier",
    "Marginals",
    "MixtureClassifier",
    "ModelFileError",
    "Movement",
    "Multiaccuracy",
    "Multicalibration",
    "MultiplicativeWeights",
    "NoRegret",
    "OutcomeNotion",
    "ParetoFrontier",
    "Patch",
    "Proof",
    "ScorePatches",
    "Subgroup",
    "SubgroupCalibrationDisplay",
    "SubgroupCalibrator",
    "SubgroupParityClassifier",
    "SurfaceDisplay",
    "TrajectoryDisplay",
    "Trees",
    "UncertainGroup",
    "UncertainReport",
    "ValueSets",
    "Watch",
    "audit",
    "audit_counts",
    "audit_uncertain",
    "bootstrap",
    "calibrate",
    "check_patches",
    "check_report",
    "compare",
    "discrimination_surface",
    "impact_ratios",
    "less_discriminatory_alternatives",
    "load_model",
    "load_patches",
    "pareto_frontier",
    "prove",
    "save_model",
    "save_patches",
    "types_to_trust",
    "unfairness_scorer",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names, those included that are not loaded yet."""
    return sorted(__all__)
