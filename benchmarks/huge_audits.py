"""Audits of 10⁸ rows that nobody keeps: part of `python -m benchmarks audits`.

Rows are made where they are counted, in DuckDB or on two workers of Dask, the same ones by either.
Each figure is of a process of its own: the peak of its memory, imports and all, and the time of the
audit over that of the engine's own GROUP BY. DuckDB runs within the process, so that its memory is
counted; the workers of Dask are other processes, its scheduler is not.
"""

import json
import logging
import subprocess
import sys
import time

from benchmarks.memory import peak_mb

SIZES = (10**6, 10**7, 10**8)
ENGINES = ("duckdb", "dask")
MOST_MB = 500
ROWS_OF_A_BLOCK = 1_000_000

# A whole number below `many` from the number i of the row: of i·factor the 16 bits from the 20th,
# which take all values in turn (Weyl), times `many`, over 2¹⁶.
PROTECTED = {"race": (2_654_435_769, 4), "sex": (2_246_822_519, 2), "age": (3_266_489_917, 12),
             "schooling": (668_265_263, 3), "veteran": (374_761_393, 2)}  # fmt: skip
LABEL, LUCK = (2_869_860_233, 2), (1_540_483_477, 100)
RACES = ("blue", "green", "grey", "red")
# Of 100, so many are decided positive, and so many more of blue men.
DECIDED, MORE = 40, 4


def in_sql(factor, many):
    """The number as DuckDB makes it."""
    return f"(((((i * {factor}) >> 20) & 65535) * {many}) >> 16)"


def of_duckdb(n):
    """The rows as a relation of DuckDB's, within a memory that it is given."""
    import duckdb

    codes = {name: in_sql(*how) for name, how in PROTECTED.items()}
    races = " ".join(f"WHEN {i} THEN '{race}'" for i, race in enumerate(RACES))
    chosen = [f"{code} AS {name}" for name, code in codes.items()]
    chosen[0] = f"CASE {codes['race']} {races} END AS race"
    harm = f"{MORE} * ({codes['race']} = 0 AND {codes['sex']} = 1)::INTEGER"
    chosen += [f"{in_sql(*LABEL)} AS y", f"({in_sql(*LUCK)} < {DECIDED} + {harm})::INTEGER AS d"]
    connection = duckdb.connect(config={"threads": 2, "memory_limit": "200MB"})
    return connection.sql(f"SELECT {', '.join(chosen)} FROM range({n}) AS rows(i)")


def block(start, stop):
    """Some rows as a frame of pandas."""
    import numpy as np
    import pandas as pd

    i = np.arange(start, stop, dtype=np.int64)

    def number(factor, many):
        return ((i * factor >> 20 & 65535) * many) >> 16

    frame = pd.DataFrame({name: number(*how) for name, how in PROTECTED.items()})
    blue_men = (frame["race"] == 0) & (frame["sex"] == 1)
    frame["race"] = pd.array(np.array(RACES)[frame["race"]], dtype="string[pyarrow]")
    frame["y"] = number(*LABEL)
    frame["d"] = (number(*LUCK) < DECIDED + MORE * blue_men).astype(np.int64)
    return frame


def of_dask(n):
    """The rows as a frame of Dask's, in blocks that workers make."""
    import dask.dataframe as dd

    starts = range(0, n, ROWS_OF_A_BLOCK)
    stops = [min(start + ROWS_OF_A_BLOCK, n) for start in starts]
    return dd.from_map(block, list(starts), stops, meta=block(0, 0))


def bare(engine, rows):
    """The engine's own GROUP BY."""
    names = [*PROTECTED, "y", "d"]
    if engine == "duckdb":
        return rows.aggregate(", ".join([*names, "count(*)"]), ", ".join(names)).fetchall()
    return rows.groupby(names).size().compute()


def audited(rows):
    from gerrymend import audit

    report = audit("y", "d", sensitive_features=list(PROTECTED), data=rows, budget=5)
    return {"worst": str(report.worst), "unfairness": report.unfairness, "n_rows": report.n_rows}


def work(engine, n, what):
    """One figure, in this process."""
    start = time.perf_counter()
    rows = of_duckdb(n) if engine == "duckdb" else of_dask(n)
    found = bare(engine, rows) if what == "bare" else audited(rows)
    return {
        "seconds": time.perf_counter() - start,
        "peak_mb": peak_mb(),
        "found": len(found) if what == "bare" else found,
    }


def in_child(engine, n, what):
    """The same for its own sake: where the workers of Dask are started, and are gone afterwards."""
    if engine == "duckdb":
        return work(engine, n, what)
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster),
    ):
        return work(engine, n, what)


def measured(engine, n, what):
    """One figure, in a process of its own."""
    asked = [sys.executable, "-m", "benchmarks.huge_audits", engine, str(n), what]
    run = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def figures(folder, sizes=SIZES):
    """Every engine at every size, recorded; and the lines of a table."""
    from benchmarks.recording import record  # not in the processes whose memory is measured

    cases = []
    print("engine          rows  audit s   bare s   ratio   peak MB  bare MB   unfairness")
    for engine in ENGINES:
        for n in sizes:
            # Before and after, as the machine may have had other things to do.
            alone, whole, again = (measured(engine, n, what) for what in ("bare", "audit", "bare"))
            seconds = (alone["seconds"] + again["seconds"]) / 2
            ratio = whole["seconds"] / seconds
            print(
                f"{engine:<8}{n:>12,}{whole['seconds']:>9.1f}{seconds:>9.1f}{ratio:>8.2f}"
                f"{whole['peak_mb']:>10.0f}{alone['peak_mb']:>9.0f}{whole['found']['unfairness']:>13.6f}",
                flush=True,
            )
            cases.append({"engine": engine, "n_rows": n, "audit": whole, "bare": [alone, again],
                          "ratio": ratio, "most_mb": MOST_MB})  # fmt: skip
    record("huge_audits", cases, ("duckdb", "dask", "distributed", "narwhals"), folder)
    return [line for case in cases for line in _lines(case)]


def _lines(case):
    at = f"{case['engine']}, {case['n_rows']:.0e} rows"
    return [
        (f"{at}: audit / GROUP BY alone, seconds", case["ratio"], None),
        (f"{at}: driver's peak memory, MB", case["audit"]["peak_mb"], f"under {MOST_MB}"),
    ]


if __name__ == "__main__":
    print(json.dumps(in_child(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
