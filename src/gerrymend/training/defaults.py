"""The defaults of every fit: what both classifiers, a frontier and the command line begin with."""

NOTION = "false_positive_rate"
GAMMA = 0.01  # the largest unfairness to allow
SOLVER = "exponentiated_gradient"  # by its name in `solvers`
C = 10.0  # what unfairness above gamma costs, in units of error
MAX_ITER = 120
TOLERANCE = 2e-3  # a game has converged when its gap and its penalty are at most this
SECONDS_BETWEEN_CHECKPOINTS = 60.0
