"""Games of few rounds that are all played, in tests of something other than how they end."""

import pytest

# An unfairness above gamma is warned of where tol=None, too, but without a gap: there it is no
# reason to go on. Such warnings alone are ignored.
MAY_EXCEED_GAMMA = pytest.mark.filterwarnings(
    r"ignore:(MARGINAL, for contrast. )?After \d+ rounds? at gamma.* above gamma; "
    r".* or raise max_iter \(now \d+\); or"
    ":sklearn.exceptions.ConvergenceWarning"
)
