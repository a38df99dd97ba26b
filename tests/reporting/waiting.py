"""Waiting in a browser for what a page has yet to do."""

import time


def wait_until(page, script, arg, seconds=30):
    """Ask a page again and again until a script says yes.

    Not ``page.wait_for_function``: where it has to ask twice it evaluates text within the page,
    which the page's policy forbids.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(script, arg):
        assert time.monotonic() < end, f"Not seen in {seconds} s: {script}"
        page.wait_for_timeout(20)
