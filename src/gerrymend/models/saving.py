"""save_model() and load_model(): files for models, without pickle.

A file is one line of text, followed by an archive that skops made of plain data and scikit-learn
estimators (`saved_form.py`). The line has the name of the format, its version, and the sha256 of
the line up to there and the archive, so that every byte of the file is checked.
"""

import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gerrymend._runtime.errors import Argument, Message
from gerrymend._runtime.extras import need
from gerrymend._runtime.files import check_path, write_whole
from gerrymend._runtime.sealed import opened, sealed
from gerrymend._runtime.versions import versions
from gerrymend.models.mixture_classifier import MixtureClassifier, MixtureTrainer
from gerrymend.models.saved_form import model_of_plain, plain_of_model

FORMAT_VERSION = 1

_NAME = b"gerrymend model"

# Imputers hold a dtype, which skops rebuilds from an empty array, without pickle.
_HARMLESS = ("numpy.dtype",)


class ModelFileError(Message, ValueError):
    """Error for a file that can't be loaded as a model, with the path, the cause and a remedy.

    See Also
    --------
    load_model : Load a model that save_model() saved.
    save_model : Save all that a model needs to decide, without pickle.
    """

    untrusted: Sequence[str] = ()
    """Types in the file that would have to be trusted."""


def save_model(model: Any, path: str | os.PathLike[str]) -> list[str]:
    """Save all that a model needs to decide, without pickle.

    The file has the predictors, their weights and the seed of the draws, so that the loaded model
    predicts the same; and, as plain data, gamma, notions and the figures of the training. It has
    no data of a row, unless an estimator itself keeps rows, as nearest neighbours do. It is written
    whole or not at all, and replaces an existing file.

    Parameters
    ----------
    model : SubgroupParityClassifier, MarginalParityClassifier or MixtureClassifier, fitted
        Of the first two, `mixture_` is saved. Or a Pipeline that ends in one of them, whose other
        steps are saved too.
    path : str or path-like
        By convention it ends in ".skops".

    Returns
    -------
    list of str
        Types in the file that load_model() has to be told to trust, since skops doesn't trust them
        by itself; trees are among them. Empty for linear classifiers.

    See Also
    --------
    load_model : Load a model that save_model() saved.
    types_to_trust
        List the types of this package in a fitted model, for tools that store it with skops.
    MixtureClassifier
        A fitted classifier that decides by one of its predictors, drawn with known probabilities.

    Examples
    --------
    >>> import tempfile
    >>> from gerrymend import SubgroupParityClassifier, load_model, save_model
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(500, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> clf = SubgroupParityClassifier(gamma=0.05, random_state=0)
    >>> clf = clf.fit(data.data, data.target, sensitive_features=data.sensitive_features)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_trust = save_model(clf, f"{folder}/model.skops")
    ...     loaded = load_model(f"{folder}/model.skops")
    >>> to_trust, bool((loaded.predict(data.data) == clf.predict(data.data)).all())
    ([], True)
    """
    skops_io = _skops_io()
    target = check_path(path)
    steps, mixture = _deployable(model)
    plain = plain_of_model(mixture)
    plain["training"] = plain["training"] | {"saved_with": versions()}
    plain["steps"] = steps
    try:
        archive = skops_io.dumps(plain)
        untrusted = list(skops_io.get_untrusted_types(data=archive))
        # skops writes some objects, such as a lambda, that it can't read; fail now, not in a year.
        _rebuilt(skops_io.loads(archive, trusted=untrusted))
    except Exception as error:  # skops walks any estimator, and any estimator can object
        raise TypeError(
            "The model can't be saved: skops can't write an estimator in it, or not so that it can "
            f"be read ({type(error).__name__}: {error}). Pass an estimator of scikit-learn, with "
            "no lambda or local function in it."
        ) from error
    try:
        write_whole(target, sealed(_NAME, FORMAT_VERSION, archive))
    except OSError as error:
        raise type(error)(
            f"path={str(path)!r} can't be written to: {error}. Choose a file in a folder that "
            "exists and that you may write to."
        ) from error
    return [name for name in untrusted if name not in _HARMLESS]


def load_model(
    path: str | os.PathLike[str], *, trusted: Sequence[str | type] = ()
) -> MixtureClassifier | Pipeline:
    """Load a model that save_model() saved.

    A malicious file can build nothing but plain data and types that skops trusts, or that `trusted`
    names. The checksum detects accidents and changes by hand; it is no protection from someone who
    rewrites the file, and its checksum with it.

    Parameters
    ----------
    path : str or path-like
        A file that save_model() wrote.
    trusted : list of str or type, default=()
        Further types to load, as save_model() returned them, or as the error names them. List only
        those that you know to be needed, from a file that you know. Trees of scikit-learn, for
        example, are not trusted because a forged one can crash the process.

    Returns
    -------
    MixtureClassifier or Pipeline
        What was saved; a Pipeline ends in a MixtureClassifier.

    Raises
    ------
    ModelFileError
        If the file isn't a model, is damaged, is of a newer format, or has types that aren't
        trusted. Nothing has been built then.

    See Also
    --------
    save_model : Save all that a model needs to decide, without pickle.
    types_to_trust
        List the types of this package in a fitted model, for tools that store it with skops.

    Examples
    --------
    >>> from gerrymend import load_model
    >>> load_model(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gerrymend.models.saving.ModelFileError: path='...saving.py' is no model of gerrymend. ...
    """
    if isinstance(trusted, str) or not isinstance(trusted, Sequence):
        raise TypeError(f"trusted must be a list of types or of their names; got {trusted!r}.")
    if strange := [item for item in trusted if not isinstance(item, str | type)]:
        raise TypeError(f"trusted must be types or their names, as text; got {strange[0]!r}.")
    skops_io = _skops_io()
    archive = _check_archive(path, read_file(path, "save_model()"))
    try:
        untrusted = set(skops_io.get_untrusted_types(data=archive))
    except Exception as error:  # a forged archive can fail in any way
        raise _unreadable(path, error) from error
    named = [t if isinstance(t, str) else f"{t.__module__}.{t.__name__}" for t in trusted]
    names = [*_HARMLESS, *named]
    # By their names in the archive, before anything of it is built.
    _check_trusted(path, untrusted - set(names))
    try:
        return _rebuilt(skops_io.loads(archive, trusted=names))
    except Exception as error:
        raise _unreadable(path, error) from error


def types_to_trust(model: Any) -> list[str]:
    """List the types of this package in a fitted model, for tools that store it with skops.

    MLflow's default format asks for them. Types of other packages are not listed: look at what the
    tool's error names before you trust these.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        What is to be stored; a Pipeline ends in a classifier of this package.

    Returns
    -------
    list of str
        Their full names.

    See Also
    --------
    save_model : Save all that a model needs to decide, without pickle.
    load_model : Load a model that save_model() saved.

    Examples
    --------
    >>> from gerrymend import SubgroupParityClassifier, types_to_trust
    >>> from gerrymend.datasets import make_gerrymandered
    >>> toy = make_gerrymandered(80)
    >>> clf = SubgroupParityClassifier().fit(
    ...     toy.data, toy.target, sensitive_features=toy.sensitive_features)
    >>> types_to_trust(clf.mixture_)[-1]
    'gerrymend.models.mixture_classifier.MixtureClassifier'

    With MLflow: ``mlflow.sklearn.log_model(clf.mixture_, name="model",
    skops_trusted_types=types_to_trust(clf.mixture_))``.
    """
    skops_io = _skops_io()
    _deployable(model)  # raises for anything else
    untrusted = skops_io.get_untrusted_types(data=skops_io.dumps(model))
    return [name for name in untrusted if name.startswith("gerrymend.")]


def _skops_io() -> ModuleType:
    return need("skops.io", "Saving and loading models needs")


def _deployable(model: Any) -> tuple[list[tuple[str, Any]], MixtureClassifier]:
    """Return the steps of a pipeline and the mixture at its end; no steps without a pipeline.

    The last step is kept as its name and None, since the mixture is saved on its own.
    """
    steps: list[tuple[str, Any]] = []
    if isinstance(model, Pipeline):
        # The last step is the classifier itself, which is replaced by its mixture.
        *before, (name, model) = model.steps
        steps = [*before, (name, None)]
    if isinstance(model, MixtureTrainer):
        check_is_fitted(model, "mixture_")
        model = model.mixture_
    if not isinstance(model, MixtureClassifier):
        raise TypeError(
            "model must be a fitted SubgroupParityClassifier or MarginalParityClassifier, or a "
            f"MixtureClassifier, or a Pipeline that ends in one; got {type(model).__name__}. Steps "
            "of a pipeline are saved with the model if they are in its estimator, too: "
            "SubgroupParityClassifier(make_pipeline(...))."
        )
    return steps, model


def _rebuilt(plain: dict[str, Any]) -> MixtureClassifier | Pipeline:
    """Make the model, or the pipeline that it ends, from plain data."""
    steps = plain.pop("steps")
    model = model_of_plain(plain)
    # In place of the None that _deployable() left there.
    return Pipeline([*steps[:-1], (steps[-1][0], model)]) if steps else model


def read_file(path: Any, writer: str) -> bytes:
    """Return the content of a file; `writer` is what should have written it, for messages."""
    file = check_path(path)
    if os.path.isdir(file):  # False, too, for a name that is too long to be one
        raise IsADirectoryError(
            f"path={str(path)!r} is a folder; pass the file that {writer} wrote."
        )
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"path={str(path)!r} does not exist; pass the file that {writer} wrote."
        ) from None
    except OSError as error:
        raise type(error)(f"path={str(path)!r} can't be read: {error}.") from error


def _check_archive(path: Any, content: bytes) -> bytes:
    """Check the first line of a file and the checksum in it, and return the archive."""
    file = opened(_NAME, content)
    if file is None:
        raise ModelFileError(
            _named(path),
            "is no model of gerrymend. Pass a file that save_model() wrote; "
            "pickled models are not loaded, as a pickle can run anything.",
        )
    if file.version > FORMAT_VERSION:
        raise ModelFileError(
            _named(path),
            f"has format {file.version}, and this gerrymend reads up to "
            f"{FORMAT_VERSION}; install a newer one: pip install -U 'gerrymend[save]'.",
        )
    # After the version: a newer format may seal its content in another way.
    if not file.is_whole:
        raise ModelFileError(
            _named(path),
            "is not as it was saved: its content doesn't have the sha256 in "
            "its first line, so that it was changed or cut short. Copy it again from where it was "
            "saved, or save the model again.",
        )
    return file.content


def _check_trusted(path: Any, untrusted: set[str]) -> None:
    if untrusted:
        names = sorted(untrusted)
        error = ModelFileError(
            _named(path),
            f"has types that are not trusted: {', '.join(names)}. Nothing of it was loaded. If you "
            "know where the file comes from, and that its model has such parts, pass ",
            Argument("trusted", value=repr(names)),
            ".",
        )
        error.untrusted = names
        raise error


def _named(path: Any) -> Argument:
    return Argument("path", value=repr(str(path)))


def _unreadable(path: Any, error: Exception) -> ModelFileError:
    return ModelFileError(
        _named(path),
        f"is not as save_model() writes it ({type(error).__name__}: {error}). "
        "Save the model again, with the versions of gerrymend and scikit-learn that load it.",
    )
