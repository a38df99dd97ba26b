"""Check arrays of torch and CuPy, and play with them on the device where they are."""

from typing import Any

from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._numeric.arrays import check_held, in_words, is_device_array, on_host
from gerrymend._numeric.sums import MODEST, MODEST_SINGLE, modest_scale
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.fit_identity import array_digests
from gerrymend.inputs.validation import check_labels, check_same_length
from gerrymend.inputs.weights import check_extremes, no_weight, too_far_apart
from gerrymend.notions import FairnessNotion, nothing_counts
from gerrymend.solvers.regression.array_block import ArrayBlock
from gerrymend.solvers.regression.game import RegressionGame
from gerrymend.solvers.regression.rows import RowsRead, SummedBlocks
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.subgroups.linear_rule import Term


def device_game(
    X: Any, y: Any, sensitive_features: Any, sample_weight: Any, notion: FairnessNotion
) -> RowsRead:
    """Check rows on a device; X was read already.

    Parameters
    ----------
    X, y, sensitive_features, sample_weight : arrays of torch or CuPy
        As in `fit`, all on one device. Without protected attributes X has them, without weights
        each row weighs 1.
    notion : FairnessNotion
        The one whose unfairness is restrained.

    Returns
    -------
    RowsRead
        It has no protected columns: those of arrays have neither names nor categories.

    Raises
    ------
    ArgumentError
        For arrays elsewhere, of other lengths, with values that are not finite, or where no row
        counts for the notion.
    """
    xp = array_namespace(X)
    like = device(X)
    protected = X if sensitive_features is None else sensitive_features
    arrays = {"y": y, "sensitive_features": protected, "sample_weight": sample_weight}
    for argument, data in arrays.items():
        if data is not None:
            check_beside(X, data, argument)
    protected = protected[:, None] if protected.ndim == 1 else protected
    if y.ndim != 1 or protected.ndim != 2:
        raise ArgumentError(
            "y",
            f"must have one dimension and sensitive_features one or two; got shapes "
            f"{tuple(y.shape)} and {tuple(protected.shape)}.",
        )
    if protected.shape[1] == 0:
        raise ArgumentError(
            "sensitive_features", "has no columns; pass at least one protected attribute."
        )
    check_same_length(X=X.shape[0], y=y.shape[0], sensitive_features=protected.shape[0])
    for argument, data in arrays.items():
        if data is not None and not bool(xp.all(xp.isfinite(data))):
            raise ArgumentError(argument, "has NaN or infinite values; fill in or drop these rows.")
    remedy = "Subtract or divide by a constant, or pass X in a wider type."
    # Attributes are cast to X's type, in which a large value may overflow or two merge into one.
    check_held(protected, X.dtype, "sensitive_features", remedy)
    classes = check_labels(on_host(xp.unique_values(y)), "y")
    weight = xp.ones((X.shape[0],), dtype=X.dtype, device=like)
    if sample_weight is not None:
        weight = _check_weight(sample_weight, X)
    labels = xp.astype(y == classes[1].item(), xp.int8)
    # event is (for label 0, for label 1), and where() takes them in the other order.
    if not bool(xp.any((weight > 0) & xp.where(labels == 1, *notion.event[::-1]))):
        raise nothing_counts(notion)

    names = [f"attribute_{j}" for j in range(protected.shape[1])]
    # Arrays on a device have no categories and no names: every column is a number.
    terms = tuple(Term(name, categorical=False) for name in names)
    encoding = LinearEncoding(terms, dict.fromkeys(names))

    def digests() -> dict[str, str]:
        return array_digests(X=X, y=y, sensitive_features=protected, sample_weight=weight)

    def begin(_: Any, solver: Any, gammas: list[float], C: float) -> RegressionGame:
        rows = SummedBlocks.of(ArrayBlock(X, protected, labels, weight, notion))
        return RegressionGame(rows, notion, encoding, solver, gammas, C, dtype=str(X.dtype))

    return RowsRead(classes, (), {}, digests, begin)


def check_beside(X: Any, data: Any, argument: str) -> None:
    """Raise unless data is of X's library, on X's device, and of numbers."""
    same = is_device_array(data) and type(data) is type(X) and device(data) == device(X)
    if not same:
        raise ArgumentError(
            argument,
            f"is {in_words(data)}. Arrays must be on one device: pass {argument} as an array of "
            "the same library on that of X.",
            lead=f"X is {in_words(X)}, and ",
        )
    xp = array_namespace(data)
    if xp.isdtype(data.dtype, "complex floating"):
        raise ArgumentError(argument, "is an array of complex numbers; pass real ones.")
    if xp.isdtype(data.dtype, "bool"):
        raise ArgumentError(
            argument, "is an array of booleans; on a device it must be numbers: convert it."
        )


def _check_weight(weight: Any, X: Any) -> Any:
    """Return weights in the type of X; only ratios matter, so extreme ones are scaled for it."""
    if tuple(weight.shape) != (X.shape[0],):
        raise ArgumentError(
            "sample_weight",
            f"has shape {tuple(weight.shape)} for {X.shape[0]} rows; pass one weight a row.",
        )
    xp = array_namespace(weight)
    # Scaled in double precision, and rounded to X's type once.
    weight = xp.astype(weight, xp.float64)
    largest = float(xp.max(weight))
    check_extremes(float(xp.min(weight)), largest)
    if largest == 0:
        raise no_weight()
    modest = MODEST if X.dtype == xp.float64 else MODEST_SINGLE
    scaled = xp.astype(weight * modest_scale(largest, modest), X.dtype)
    # The cast may have turned a small weight into 0, which would drop its row in silence.
    if bool(xp.any((scaled == 0) & (weight > 0))):
        raise too_far_apart(float(xp.min(weight[weight > 0])), largest)
    return scaled
