"""Parquet files on the workers of Dask, for `--engine dask`: one file, or all of a folder.

A part of the rows is read by Polars on a worker, and goes through the steps that the whole file
goes through in memory: dates, ranges and what is dropped are written once, for both.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gerrymend._runtime.extras import need
from gerrymend.cli.file_contents import check_there
from gerrymend.inputs.validation import check_column

if TYPE_CHECKING:
    import polars as pl

ENGINES = ("memory", "dask")
# Rows that one part has at most: some hundred MB of a table with many columns.
_MOST_ROWS = 1_000_000
# Where workers tell of parts that they have read.
_TOPIC = "gerrymend-parts"

Step = tuple[str, tuple[Any, ...]]
"""A method of a lazy frame, and its expressions."""


@dataclass(frozen=True)
class Part:
    """Some rows of a Parquet file, from `first` on."""

    file: Path
    first: int
    n_rows: int


@dataclass(frozen=True, eq=False)
class PartsFrame:
    """A lazy frame of Parquet files that remembers its steps, to be done part by part.

    It has what commands ask of a lazy frame of Polars before rows are read. What is asked of all
    rows, such as whether all texts are dates, Polars streams here.
    """

    frame: "pl.LazyFrame"
    parts: tuple[Part, ...]
    steps: tuple[Step, ...] = ()

    def with_columns(self, *expressions: Any) -> "PartsFrame":
        """Add columns, as a lazy frame does."""
        return self._after("with_columns", expressions)

    def filter(self, *predicates: Any) -> "PartsFrame":
        """Leave rows out, as a lazy frame does."""
        return self._after("filter", predicates)

    def _after(self, method: str, given: tuple[Any, ...]) -> "PartsFrame":
        frame = getattr(self.frame, method)(*given)
        return replace(self, frame=frame, steps=(*self.steps, (method, given)))

    def select(self, *expressions: Any) -> "pl.LazyFrame":
        """Return a query of the whole, as of a lazy frame."""
        return self.frame.select(*expressions)

    def collect_schema(self) -> "pl.Schema":
        """Return the types of the columns, from the footer of a file alone."""
        return self.frame.collect_schema()

    def on_dask(self, columns: Sequence[str]) -> Any:
        """Return these columns as a frame of Dask, one partition a part."""
        import dask.dataframe as dd
        import polars as pl

        types = _types_of(self, columns)
        none = pl.LazyFrame(schema=pl.scan_parquet(self.parts[0].file, glob=False).collect_schema())
        meta = _in_pandas(_stepped(none, self.steps).select(columns).collect(), types)
        given = self.steps, list(columns), types
        return dd.from_map(_read_part, list(self.parts), args=given, meta=meta)


def open_parts(path: Path, categorical: Sequence[str] = ()) -> PartsFrame:
    """Return a Parquet file, or those of a folder in the order of their names, to be read in parts.

    Raises a ValueError for a folder without any, and for files of other columns than the first.
    """
    pl = need("polars", "Reading a file needs")
    need("distributed", "--engine dask needs")
    files = [file.resolve() for file in _files_of(path)]
    try:
        frame = pl.scan_parquet(files, glob=False)
        schema = frame.collect_schema()
        parts: list[Part] = []
        for file in files:
            one = pl.scan_parquet(file, glob=False)
            if one.collect_schema() != schema:
                raise ValueError(
                    f"FILE {path}: {file.name} has other columns, or other types, than "
                    f"{files[0].name}; --engine dask takes a folder of files that have the same."
                )
            n_rows = one.select(pl.len()).collect().item()  # from the footer
            starts = range(0, n_rows, _MOST_ROWS)
            parts += [Part(file, at, min(_MOST_ROWS, n_rows - at)) for at in starts]
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            f"FILE {path} can't be read as Parquet, which --engine dask takes: {reason}. Write it "
            "as Parquet, or leave --engine out."
        ) from None
    if not parts:
        raise ValueError(f"FILE {path} has no rows.")
    found = PartsFrame(frame, tuple(parts))
    for name in categorical:
        check_column(name, "--categorical", schema.names(), str(path))
    if categorical:
        codes = pl.col(list(categorical)).cast(pl.String).cast(pl.Categorical)
        found = found.with_columns(codes)
    return found


def _files_of(path: Path) -> list[Path]:
    """Return the Parquet files that a path names."""
    if not path.is_dir():
        check_there(path)
        if str(path) == "-":
            raise ValueError("FILE - is standard input, which workers can't read; name a file.")
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise ValueError(
            f"FILE {path} is a folder without a file that ends in .parquet; name the folder that "
            "has them. Those of folders within it are not read."
        )
    return files


def _stepped(frame: "pl.LazyFrame", steps: Sequence[Step]) -> "pl.LazyFrame":
    """Return a lazy frame after the steps."""
    for method, given in steps:
        frame = getattr(frame, method)(*given)
    return frame


def _types_of(frame: PartsFrame, columns: Sequence[str]) -> dict[str, Any]:
    """Return the types of pandas that all parts need, where a part alone can't tell them.

    Categories are those of all rows, and whole numbers of which any is missing are floats.
    """
    import pandas as pd
    import polars as pl

    schema = frame.collect_schema()
    chosen = {name: schema[name] for name in columns}
    whole = [name for name, dtype in chosen.items() if dtype.is_integer()]
    types: dict[str, Any] = {}
    if whole:
        n_missing = frame.select(pl.col(whole).null_count()).collect().row(0)
        missing = zip(whole, n_missing, strict=True)
        types |= {name: "float64" for name, number in missing if number}
    for name, dtype in chosen.items():
        if isinstance(dtype, pl.Categorical | pl.Enum):
            texts = frame.select(pl.col(name).cast(pl.String).drop_nulls().unique()).collect()
            types[name] = pd.CategoricalDtype(sorted(texts[name].to_list()))
    return types


def _read_part(
    part: Part, steps: Sequence[Step], names: Sequence[str], types: Mapping[str, Any]
) -> Any:
    """Read a part on a worker, and tell of it.

    Dask would take an argument called `columns` for its own.
    """
    import polars as pl
    from distributed import get_worker

    rows = pl.scan_parquet(part.file, glob=False).slice(part.first, part.n_rows)
    table = _in_pandas(_stepped(rows, steps).select(names).collect(), types)
    with suppress(ValueError):  # in no worker, of which nobody hears
        get_worker().log_event(_TOPIC, part.n_rows)
    return table


def _in_pandas(table: "pl.DataFrame", types: Mapping[str, Any]) -> Any:
    """Return a part as Dask has it."""
    import polars as pl

    texts = pl.col(pl.Categorical, pl.Enum).cast(pl.String)
    return table.with_columns(texts).to_pandas().astype(dict(types))


@contextmanager
def on_cluster() -> Iterator[Any]:
    """Yield the current client, or one that ends with the command.

    Its workers are those of the scheduler that Dask is configured for, or on this machine, one for
    each core.
    """
    distributed = need("distributed", "--engine dask needs")
    import dask
    import polars as pl

    with ExitStack() as opened:
        # What is asked of all rows here, as whether texts are dates, must not bring them all.
        opened.enter_context(pl.Config(engine_affinity="streaming"))
        try:
            client = distributed.default_client()
        except ValueError:
            cluster = dask.config.get("scheduler-address", None)
            if cluster is None:
                cluster = opened.enter_context(
                    distributed.LocalCluster(
                        threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
                    )
                )
            client = opened.enter_context(distributed.Client(cluster))
        yield client


@contextmanager
def parts_told(client: Any, n_parts: int, say: Callable[[str, int, int], None]) -> Iterator[None]:
    """Say how many parts workers have read, each time that they read all of them."""
    n_read = 0

    def heard(_: Any) -> None:
        nonlocal n_read
        n_read += 1
        say("parts of the rows read by Dask", (n_read - 1) % n_parts + 1, n_parts)

    client.subscribe_topic(_TOPIC, heard)
    try:
        yield
    finally:
        client.unsubscribe_topic(_TOPIC)
