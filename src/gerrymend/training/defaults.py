"""The defaults of every fit: what both classifiers, a frontier and the command line begin with.

The tolerance is that of `solvers/convergence.py`, which decides when a game has converged.
"""

from gerrymend.solvers.convergence import TOLERANCE as TOLERANCE

NOTION = "false_positive_rate"
GAMMA = 0.01  # the largest unfairness to allow
SOLVER = "exponentiated_gradient"  # by its name in `solvers`
C = 10.0  # what unfairness above gamma costs, in units of error
MAX_ITER = 120
SECONDS_BETWEEN_CHECKPOINTS = 60.0
