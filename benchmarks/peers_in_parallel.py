"""`learning_peers` beside fairlearn with a core for each setting, for machines with many.

`python -m benchmarks.peers_in_parallel [FOLDER]`: both of a comparison run on the same core, one
after the other, pinned to it. Writes peers.json to the folder, or to the results.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.fits import DATASETS, show, standardised, warm_up
from benchmarks.learning_peers import FAIRLEARN, beside, fairlearn_fit, peer_figures
from benchmarks.recording import RESULTS, record

AUDIT_SECONDS = 10.0


def _pin(cores):
    os.sched_setaffinity(0, {cores.get()})
    warm_up()


def compare(name, options):
    """A row of the comparison."""
    data = standardised(name)
    theirs = fairlearn_fit(*data, **options)
    return beside(name, "fairlearn", options, data, theirs, AUDIT_SECONDS)


def main(folder=RESULTS):
    cores = get_context("spawn").Manager().Queue()
    for core in sorted(os.sched_getaffinity(0)):
        cores.put(core)
    n_workers = cores.qsize()
    with ProcessPoolExecutor(n_workers, get_context("spawn"), _pin, (cores,)) as pool:
        asked = [pool.submit(compare, name, options) for name in DATASETS for options in FAIRLEARN]
        rows = [one.result() for one in asked]
    show(peer_figures(rows))
    record("peers", rows, ("fairlearn",), folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
