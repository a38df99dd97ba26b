"""A real browser for the pages: Debian's chromium, driven by playwright."""

import shutil

import pytest


class Opened:
    """A page in the browser, and what it did that it should not have."""

    def __init__(self, page):
        self.page = page
        self.errors, self.requests, self.refused = [], [], {}
        page.on("console", lambda message: self._note(message))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("requestfailed", lambda one: self.refused.update({one.url: one.failure}))

    def _note(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def outside(self):
        """What was asked for, beside the file itself and what it carries."""
        own = (self.page.url, "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]

    def is_wider_than_its_window(self):
        return self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )


@pytest.fixture(scope="session")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed (make browser installs it where apt is at hand)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync", "--no-first-run"],
        )  # fmt: skip
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Opens a file, at a width, in light or dark; screenshots by `opened.page.screenshot`."""
    contexts = []

    def open_file(path, *, width=1280, scheme="light"):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.goto(path.resolve().as_uri())
        return opened

    yield open_file
    for context in contexts:
        context.close()
