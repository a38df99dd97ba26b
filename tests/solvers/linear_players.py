"""The paper's two players over rows in memory: least squares on both sides."""

from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import as_notions
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import LinearLearner
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups import LinearThresholds


def linear_players(X, A, y, weight, notion):
    """The rows with their Learner, and the Auditor of a notion, a name or several."""
    order, cells = distinct_rows(read_columns(A)).sorted_by(y)
    label_cells = LabelCells.of_rows(cells, y[order], weight[order])
    auditor = Auditor(as_notions(notion), LinearThresholds("regression"), label_cells)
    learner = LinearLearner(X, weight[order], auditor.base_cost, auditor.pressed, order)
    return MemoryRows(learner, label_cells), auditor
