"""Displays of reports, frontiers, trainings and surfaces, drawn with matplotlib.

Like scikit-learn's displays they are made by class methods (`from_report`, `from_estimator`, …)
that take an Axes or make one, hold the data, and can draw it again on another (`plot`). Matplotlib
is imported when something is drawn.
"""

from gerrymend.plotting.audit_display import AuditDisplay
from gerrymend.plotting.calibration_display import SubgroupCalibrationDisplay
from gerrymend.plotting.frontier_display import FrontierDisplay
from gerrymend.plotting.surface_display import SurfaceDisplay
from gerrymend.plotting.training_displays import ConvergenceDisplay, TrajectoryDisplay

__all__ = [
    "AuditDisplay",
    "ConvergenceDisplay",
    "FrontierDisplay",
    "SubgroupCalibrationDisplay",
    "SurfaceDisplay",
    "TrajectoryDisplay",
]
