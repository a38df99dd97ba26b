"""Look at every page of the site in Chromium, wide and narrow: `make docs-check`.

A page is no wider than its window, asks for nothing from elsewhere, logs no error, and axe finds
nothing in it that keeps people out.
"""

import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from axe_core_python.base import AXE_SCRIPT
from playwright.sync_api import ConsoleMessage, Page, sync_playwright

WIDTHS = (1200, 400)
# The theme hides what is wider than the text's column, so that the window alone tells nothing.
IS_WIDER = """[document.documentElement, ...document.querySelectorAll(".bd-content, article")]
    .some(one => one.scrollWidth > one.clientWidth + 1)"""
BROKEN = "[...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
FINDINGS = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter(found => ["serious", "critical"].includes(found.impact))
    .map(found => `${found.id}: ${found.nodes[0].html}`)"""


class Quiet(SimpleHTTPRequestHandler):
    """Serve files, and log nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of a request."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder to this machine, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def problems(page: Page, address: str, name: str) -> list[str]:
    """Open a page, and return what is wrong with it."""
    said: list[str] = []

    def on_message(message: ConsoleMessage) -> None:
        """Keep errors; that a browser asks for an icon is none."""
        if message.type == "error" and "favicon" not in message.location["url"]:
            said.append(message.text)

    def on_request(request: object) -> None:
        """Keep requests to other places."""
        url = getattr(request, "url", "")
        if not url.startswith((address, "data:", "blob:")):
            said.append(f"asks for {url}")

    page.on("console", on_message)
    page.on("request", on_request)
    page.goto(address + name)
    if page.evaluate(IS_WIDER):
        said.append("is wider than its window")
    said += [f"has no picture {source}" for source in page.evaluate(BROKEN)]
    page.evaluate(AXE_SCRIPT)
    said += page.evaluate(FINDINGS)
    page.remove_listener("console", on_message)
    page.remove_listener("request", on_request)
    return said


def main(folder: Path) -> int:
    """Print what is wrong with the pages of a folder, and return 1 if anything is."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
    names = [name for name in names if not name.startswith("_static")]
    found = []
    with served(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 900})
            for name in names:
                found += [f"{name} at {width} px: {said}" for said in problems(page, address, name)]
        browser.close()
    print("\n".join(found) or f"{len(names)} pages keep nobody out.")
    return bool(found) or not names


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
