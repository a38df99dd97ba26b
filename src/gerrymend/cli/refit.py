"""Commands that train what was seen: a point of `gerrymend frontier`, or after an audit."""

import shlex
import warnings
from collections.abc import Sequence, Set
from dataclasses import fields

from gerrymend._runtime.command_lines import option_words
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.cli.protected_dates import dates_of
from gerrymend.cli.table_encoding import is_trainable
from gerrymend.cli.table_files import first_rows
from gerrymend.cli.table_request import TableRequest
from gerrymend.cli.training_request import TrainingRequest

# Fields that are no options of the request: the point has its own, and the file comes first.
_OWN = {"file", "gammas", "notion", "drop", "prediction", "score", "threshold"}
# What the model of today decides: `gerrymend frontier` takes it, and `gerrymend fit` doesn't.
_DECIDED = {"prediction", "score", "threshold"}
# An id shows in so many rows.
_LOOKED_AT = 10_000


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


def untrainable_columns(request: AuditRequest) -> list[str]:
    """Return the columns that the commands drop, such as an id or a date, by the first rows.

    Each day of a date would be a value of its own, and be learnt by heart. None are known of
    standard input, which is read once, nor of parts on workers: no row is brought here.
    """
    if str(request.file) == "-" or request.engine == "dask" or request.features is not None:
        return []
    with warnings.catch_warnings():  # of how the file is written the audit has told
        warnings.simplefilter("ignore")
        try:
            rows = first_rows(request.file, request.reading, _LOOKED_AT)
        except (OSError, ValueError):  # it is gone by now, say, and the report is not
            return []
    named = {request.label, request.weight, *request.decided.values()}
    there = [name for name in rows.columns if name not in named]
    return [
        name
        for name in there
        if not is_trainable(rows[name]) or dates_of(rows.lazy(), name) is not None
    ]


def training_commands(request: AuditRequest, untrainable: Sequence[str] = ()) -> list[str]:
    """Return what shows the cost of a fairer model than the one audited, and what trains one.

    Columns that are `untrainable` are dropped.

    >>> from pathlib import Path
    >>> request = AuditRequest(Path("people.csv"), "y", ["sex"], prediction="d", drop_missing=True)
    >>> for command in training_commands(request):
    ...     print(command)
    gerrymend frontier people.csv --label y --protected sex --prediction d --drop-missing \
--test-size 0.3
    gerrymend fit people.csv --label y --protected sex --drop-missing --drop d --gamma 0.01 \
--test-size 0.3 --out model.skops
    """
    own = {"file", "test_size", "budget"}
    # A probability is no option there, and nothing to train on.
    drawn = [request.probability] if request.probability else []
    decided = list(request.decided.values())
    drops = (
        [] if request.features else option_words("--drop", [*names, *untrainable])
        for names in (drawn, decided)
    )
    drawn_too, decided_too = drops
    frontier = [*_table_words(request, own), *drawn_too]
    fit = [*_table_words(request, own | _DECIDED), *decided_too]
    fit += option_words("--gamma", request.gamma)
    out = ["--out", "model.skops"]
    tested = ["--test-size", "0.3"]
    commands = [["frontier", *frontier, *tested], ["fit", *fit, *tested, *out]]
    if request.engine == "dask":  # which a frontier does not read, and no rows are kept out of
        commands = [["fit", *fit, *out]]
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
