"""save_model() and load_model(): a file for a model, without pickle.

The file is one line of text and then an archive that skops made of plain data and scikit-learn
estimators (`saved_form.py`). The line has the name of the format, its version, and the sha256 of
all that it is about: itself, up to there, and the archive. Every byte of the file is thus checked.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gerrymend._runtime.files import write_whole
from gerrymend._runtime.sealed import opened, sealed
from gerrymend._runtime.versions import versions
from gerrymend.models.mixture_classifier import MixtureClassifier, MixtureTrainer
from gerrymend.models.saved_form import model_of_plain, plain_of_model

FORMAT_VERSION = 1

_NAME = b"gerrymend model"

# Imputers keep types of numbers, which skops reads off empty arrays, without pickle.
_HARMLESS = ("numpy.dtype",)


class ModelFileError(ValueError):
    """A file that can't be loaded as a model; says which, why, and what to do about it."""


def save_model(model: Any, path: str | os.PathLike[str]) -> list[str]:
    """Save what a model needs to decide, without pickle.

    The file has the predictors, their weights and the seed of the draws, so that the loaded model
    predicts the same; and, as plain data, gamma, notions and the figures of the training. It has
    nothing of a row, unless an estimator keeps rows itself, as nearest neighbours do. It is written
    whole or not at all, in place of a file that is there.

    Parameters
    ----------
    model : SubgroupParityClassifier, MarginalParityClassifier or MixtureClassifier, fitted
        Of the first two, `mixture_` is saved. Or a Pipeline that ends in one of them: its other
        steps are saved too.
    path : path
        By convention it ends in ".skops".

    Returns
    -------
    list of str
        Types in the file that load_model() has to be told to trust: those of estimators that skops
        doesn't vouch for, trees among them. None for linear classifiers.

    Examples
    --------
    >>> import tempfile
    >>> from gerrymend import SubgroupParityClassifier, load_model, save_model
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(500, random_state=0)
    >>> clf = SubgroupParityClassifier(gamma=0.05, random_state=0)
    >>> clf = clf.fit(data.data, data.target, sensitive_features=data.sensitive_features)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_trust = save_model(clf, f"{folder}/model.skops")
    ...     loaded = load_model(f"{folder}/model.skops")
    >>> to_trust, bool((loaded.predict(data.data) == clf.predict(data.data)).all())
    ([], True)
    """
    skops_io, target = _skops_io(), _check_path(path)
    steps, mixture = _deployable(model)
    plain = plain_of_model(mixture)
    plain["training"] = plain["training"] | {"saved_with": versions()}
    plain["steps"] = steps
    try:
        archive = skops_io.dumps(plain)
        untrusted = list(skops_io.get_untrusted_types(data=archive))
        # skops writes some things, such as a lambda, that it can't read: better to know it now.
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

    What protects from a file by someone who means harm is that nothing is built but plain data and
    types that skops trusts, or that `trusted` names. The checksum is for accidents and for changes
    by hand: who rewrites a file can write its checksum too.

    Parameters
    ----------
    path : path
    trusted : list of str or type, default=()
        Further types to load, as save_model() returned them, or as the error names them. Only what
        you know to be needed, from a file that you know: scikit-learn's trees, for instance, are
        not trusted because a forged one can crash the process.

    Returns
    -------
    MixtureClassifier, or a Pipeline that ends in one if a Pipeline was saved

    Examples
    --------
    >>> from gerrymend import load_model
    >>> load_model(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gerrymend.models.saving.ModelFileError: path='...saving.py' is no model of gerrymend. ...
    """
    if isinstance(trusted, str) or not isinstance(trusted, Sequence):
        raise TypeError(f"trusted must be a list of types or of their names; got {trusted!r}.")
    if strange := [one for one in trusted if not isinstance(one, str | type)]:
        raise TypeError(f"trusted must be types or their names, as text; got {strange[0]!r}.")
    skops_io = _skops_io()
    archive = _check_archive(path, _read(path))
    try:
        untrusted = set(skops_io.get_untrusted_types(data=archive))
    except Exception as error:  # a forged archive can fail in any way
        raise _unreadable(path, error) from error
    named = [one if isinstance(one, str) else f"{one.__module__}.{one.__name__}" for one in trusted]
    names = [*_HARMLESS, *named]
    _check_trusted(path, untrusted - set(names))
    try:
        return _rebuilt(skops_io.loads(archive, trusted=names))
    except Exception as error:
        raise _unreadable(path, error) from error


def _skops_io() -> ModuleType:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "Saving and loading models needs skops: pip install 'gerrymend[save]'."
        ) from error
    return skops.io


def _deployable(model: Any) -> tuple[list[tuple[str, Any]], MixtureClassifier]:
    """The mixture, and the steps of the pipeline that it ends, of which the last is only named."""
    steps: list[tuple[str, Any]] = []
    if isinstance(model, Pipeline):
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
    steps = plain.pop("steps")
    model = model_of_plain(plain)
    return Pipeline([*steps[:-1], (steps[-1][0], model)]) if steps else model


def _check_path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a path; got {path!r}.")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:  # half of a surrogate pair
        raise ValueError(
            f"path={path!r} has characters that no file's name can have; choose another."
        ) from None
    return Path(path).expanduser()


def _read(path: Any) -> bytes:
    file = _check_path(path)
    if file.is_dir():
        raise IsADirectoryError(
            f"path={str(path)!r} is a folder; pass the file that save_model() wrote."
        )
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"path={str(path)!r} does not exist; pass the file that save_model() wrote."
        ) from None
    except OSError as error:
        raise type(error)(f"path={str(path)!r} can't be read: {error}.") from error


def _check_archive(path: Any, content: bytes) -> bytes:
    """The archive, once the first line is right and its checksum the content's."""
    file = opened(_NAME, content)
    if file is None:
        raise ModelFileError(
            f"path={str(path)!r} is no model of gerrymend. Pass a file that save_model() wrote; "
            "pickled models are not loaded, as a pickle can run anything."
        )
    if file.version > FORMAT_VERSION:
        raise ModelFileError(
            f"path={str(path)!r} has format {file.version}, and this gerrymend reads up to "
            f"{FORMAT_VERSION}; install a newer one: pip install -U 'gerrymend[save]'."
        )
    if not file.is_whole:
        raise ModelFileError(
            f"path={str(path)!r} is not as it was saved: its content doesn't have the sha256 in "
            "its first line, so that it was changed or cut short. Copy it again from where it was "
            "saved, or save the model again."
        )
    return file.content


def _check_trusted(path: Any, untrusted: set[str]) -> None:
    if untrusted:
        raise ModelFileError(
            f"path={str(path)!r} has types that are not trusted: {', '.join(sorted(untrusted))}. "
            "Nothing of it was loaded. If you know where the file comes from, and that its model "
            f"has such parts, pass trusted={sorted(untrusted)!r}."
        )


def _unreadable(path: Any, error: Exception) -> ModelFileError:
    return ModelFileError(
        f"path={str(path)!r} is not as save_model() writes it ({type(error).__name__}: {error}). "
        "Save the model again, with the versions of gerrymend and scikit-learn that load it."
    )
