"""The `gerrymend fit` command that trains one point of `gerrymend frontier`."""

import shlex
from dataclasses import fields

from gerrymend._runtime.command_lines import option_words
from gerrymend.cli.training_request import TrainingRequest

# Fields that are no options of the request: the point has its own, and the file comes first.
_OWN = {"file", "gammas", "notion", "drop", "prediction", "score", "threshold"}


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
    file = str(request.file)
    words = ["gerrymend", "fit", f"./{file}" if file.startswith("-") else file]
    for field in fields(request):
        value = getattr(request, field.name)
        if field.name not in _OWN and value != field.default:
            words += option_words(f"--{field.name.replace('_', '-')}", value)
    if request.features is None:
        words += option_words("--drop", [*(request.drop or []), *request.decided.values()])
    for name, value in {"notion": notion, "estimator": estimator, "gamma": gamma}.items():
        words += option_words(f"--{name}", value)
    return shlex.join([*words, "--out", "model.skops"])
