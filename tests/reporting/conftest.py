"""A real browser for the pages: Debian's chromium, driven by playwright."""

import shutil

import pytest


class Opened:
    """A page in the browser, and what it did that it should not have."""

    def __init__(self, page):
        self.page = page
        self.errors, self.requests, self.refused = [], [], {}
        self._heard = {
            "console": self._note,
            "pageerror": lambda error: self.errors.append(str(error)),
            "request": lambda request: self.requests.append(request.url),
            "requestfailed": lambda one: self.refused.update({one.url: one.failure}),
        }
        for event, hear in self._heard.items():
            page.on(event, hear)

    def leave(self):
        """Listen no more: the next test has the page."""
        for event, hear in self._heard.items():
            self.page.remove_listener(event, hear)

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


@pytest.fixture(scope="session")
def tab(chromium):
    """The one page of all tests: a process of its own for each takes longer than to draw it."""
    context = chromium.new_context(offline=True)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def shown_file(tmp_path_factory):
    """One place for the file that is open: a browser compiles plotly anew for each address."""
    return tmp_path_factory.mktemp("shown") / "page.html"


@pytest.fixture
def open_page(tab, shown_file):
    """Opens a file, at a width, in light or dark; screenshots by `opened.page.screenshot`."""
    at_hand = []

    def open_file(path, *, width=1280, scheme="light"):
        assert not at_hand, "a test opens one file: there is one page"
        tab.mouse.move(0, 0)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(media="null", color_scheme=scheme)
        at_hand.append(Opened(tab))
        tab.goto(shutil.copy(path, shown_file).as_uri())
        return at_hand[0]

    yield open_file
    for opened in at_hand:
        opened.leave()
