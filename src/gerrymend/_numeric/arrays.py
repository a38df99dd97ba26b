"""Arrays of torch, CuPy and Dask: recognised without an import, and copied to the host."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.externals.array_api_compat import (
    array_namespace,
    device,
    is_cupy_array,
    is_torch_array,
)

from gerrymend._runtime.errors import ArgumentError


def on_host(array: Any) -> NDArray[Any]:
    """Copy an array of any library and device into one of NumPy."""
    if hasattr(array, "get"):  # CuPy
        return np.asarray(array.get())
    if getattr(array, "is_cuda", False):  # torch
        # By way of pinned memory, which the device writes to directly.
        staged = sys.modules["torch"].empty(array.shape, dtype=array.dtype, pin_memory=True)
        return np.array(staged.copy_(array).numpy())
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def beside(array: Any, values: Any) -> Any:
    """Return values of NumPy's where an array is, in its library; as they are beside other data.

    >>> beside(np.zeros(2), np.ones(2)).tolist()
    [1.0, 1.0]
    """
    if not is_device_array(array):
        return values
    return array_namespace(array).asarray(values, device=device(array))


def is_device_array(data: Any) -> bool:
    """Return True for an array of torch or CuPy, on whatever device (also the CPU).

    >>> is_device_array(np.zeros(3))
    False
    """
    return bool(is_torch_array(data) or is_cupy_array(data))


def is_dask_collection(data: Any) -> bool:
    """Return True for an array, a frame or a Series of Dask, which isn't imported for that.

    >>> is_dask_collection(np.zeros(3))
    False
    """
    return type(data).__module__.partition(".")[0] == "dask" and hasattr(data, "__dask_graph__")


def is_dask_array(data: Any) -> bool:
    """Return True for an array of Dask."""
    return is_dask_collection(data) and hasattr(data, "chunks")


def is_dask_frame(data: Any) -> bool:
    """Return True for a DataFrame of Dask, and False for a Series."""
    return is_dask_collection(data) and getattr(data, "ndim", 0) == 2 and hasattr(data, "columns")


def arithmetic_of(data: Any) -> str:
    """Name the library, version and kind of device that compute with arrays like these.

    A checkpoint keeps it, since sums may round differently elsewhere.

    >>> arithmetic_of(np.zeros(3)) == f"numpy {np.__version__} on cpu"
    True
    """
    library = type(data).__module__.partition(".")[0]
    if is_dask_collection(data):
        return library
    where = str(device(data)).partition(":")[0]
    return f"{library} {sys.modules[library].__version__} on {where}"


def check_dispatch(data: Any, argument: str) -> None:
    """Raise TypeError for an array of torch or CuPy unless scikit-learn's dispatch is on."""
    if is_device_array(data) and not get_config()["array_api_dispatch"]:
        raise ArgumentError(
            argument,
            f"is {in_words(data)}. Set the environment variable SCIPY_ARRAY_API=1 "
            "before Python starts and wrap the call in sklearn.config_context("
            "array_api_dispatch=True), so that it stays there; or pass a NumPy array.",
        )


def check_held(values: Any, dtype: Any, argument: str, remedy: str) -> None:
    """Refuse whole numbers of a device that a type lacks: they would be merged with neighbours.

    What is rounded up beyond the largest whole number comes back as that number on some devices,
    and is compared as a float too.
    """
    xp = array_namespace(values)
    if not xp.isdtype(values.dtype, "integral"):
        return
    rounded = xp.astype(values, dtype)
    beyond = xp.astype(rounded, xp.float64) >= float(xp.iinfo(values.dtype).max) + 1
    lost = beyond | (xp.astype(rounded, values.dtype) != values)
    if bool(xp.any(lost)):
        raise ArgumentError(
            argument,
            f"has whole numbers that {dtype} does not hold, such as "
            f"{int(values[lost][0])}: they would be merged with their neighbours. {remedy}",
        )


def in_words(data: Any) -> str:
    """Describe the type of data, and the device of an array, for an error message."""
    if is_device_array(data):
        return f"an array of {type(data).__module__.split('.')[0]} on {device(data)}"
    return f"of type {type(data).__module__.split('.')[0]}.{type(data).__name__}"
