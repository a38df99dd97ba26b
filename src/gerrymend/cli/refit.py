"""Commands that train what was seen: a point of `gerrymend frontier`, or after an audit."""

import shlex
from collections.abc import Set
from dataclasses import fields

from gerrymend._runtime.command_lines import option_words
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.cli.table_request import TableRequest
from gerrymend.cli.training_request import TrainingRequest

# Fields that are no options of the request: the point has its own, and the file comes first.
_OWN = {"file", "gammas", "notion", "drop", "prediction", "score", "threshold"}
# What the model of today decides: `gerrymend frontier` takes it, and `gerrymend fit` doesn't.
_DECIDED = {"prediction", "score", "threshold"}


def fit_command(request: TrainingRequest, gamma: float, notion: str, estimator: str) -> str:
    """Return a command line for a POSIX shell, with the options that were given.

    Options that have their default are left out. A column with the decisions of today, which the
    frontier trains nothing on, is dropped.

    >>> from pathlib import Path
    >>> request = TrainingRequest(Path("my people.csv"), "y", ["race,sex"], seed=7)
    >>> fit_command(request, 0.01, "error_rate", "tree")  # doctest: +NORMALIZE_WHITESPACE
    "gerrymend fit 'my people.csv' --label y --protected race,sex --seed 7 --notion error_rate
    --estimator tree --gamma 0.01 --out model.skops"
    """
    words = ["gerrymend", "fit", *_table_words(request, _OWN)]
    if request.features is None:
        words += option_words("--drop", [*(request.drop or []), *request.decided.values()])
    for name, value in {"notion": notion, "estimator": estimator, "gamma": gamma}.items():
        words += option_words(f"--{name}", value)
    return shlex.join([*words, "--out", "model.skops"])


def training_commands(request: AuditRequest) -> list[str]:
    """Return what shows the cost of a fairer model than the one audited, and what trains one.

    >>> from pathlib import Path
    >>> request = AuditRequest(Path("people.csv"), "y", ["sex"], prediction="d", drop_missing=True)
    >>> for command in training_commands(request):
    ...     print(command)
    gerrymend frontier people.csv --label y --protected sex --prediction d --drop-missing \
--test-size 0.3
    gerrymend fit people.csv --label y --protected sex --drop-missing --drop d --gamma 0.01 --out \
model.skops
    """
    own = {"file", "test_size", "budget"}
    # A probability is no option there, and nothing to train on.
    drawn = option_words("--drop", [request.probability] if request.probability else [])
    drop = option_words("--drop", [] if request.features else list(request.decided.values()))
    # Which reads files in memory alone.
    frontier = [*_table_words(request, own), *([] if request.features else drawn)]
    fit = [*_table_words(request, own | _DECIDED), *drop, *option_words("--gamma", request.gamma)]
    commands = [
        ["frontier", *frontier, "--test-size", "0.3"],
        ["fit", *fit, "--out", "model.skops"],
    ]
    if request.engine == "dask":
        del commands[0]
    return [shlex.join(["gerrymend", *command]) for command in commands]


def _table_words(request: TableRequest, without: Set[str]) -> list[str]:
    """Return the file, and the options of a training that a request has with another value."""
    file = str(request.file)
    words = [f"./{file}" if file.startswith("-") and file != "-" else file]
    for field in fields(TrainingRequest):
        value = getattr(request, field.name, field.default)
        if field.name not in without and value != field.default:
            words += option_words(f"--{field.name.replace('_', '-')}", value)
    return words
