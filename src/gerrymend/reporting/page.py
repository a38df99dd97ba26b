"""Render self-contained HTML pages, with a policy that keeps them from reaching out.

Every value is escaped by the template engine. Scripts run only if their hash is in the page's own
content-security policy, so text from the data can't become one; nothing may be loaded from
anywhere, so an opened page tells nobody.
"""

import base64
import functools
import hashlib
import importlib.util
import re
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from gerrymend._runtime.files import check_path, write_whole
from gerrymend.reporting import wording

# The blank between a figure and its %, and those between p, its sign and its figure.
_WITHIN_FIGURES = re.compile(r"(?<=\d) (?=%)|(?<=\bp) (?=[=<] )|(?<=\bp [=<]) ")


def render_page(template: str, *, title: str, scripts: Sequence[str] = (), **context: Any) -> str:
    """Render a page by a template that extends `page.html`; `scripts` run at its end, in order."""
    # Text from the data that becomes a script by some mistake has no hash here, and won't run.
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    return render(template, title=title, scripts=scripts, script_policy=allowed, **context)


def render(template: str, **context: Any) -> str:
    """Render a template; everything in the context is escaped."""
    return str(_environment().get_template(template).render(**context))


def visible_data(value: Any) -> Any:
    """Return plain data with its texts made `wording.visible`, for scripts; templates do their own.

    >>> visible_data({"name": ["a\\u202eb", 1.5, None]})
    {'name': ['a⟨U+202E⟩b', 1.5, None]}
    """
    return _texts(value, wording.visible)


def unbroken(value: Any) -> Any:
    """Return plain data whose texts break in no figure: "46.1 %" stays in one line.

    >>> unbroken(["46.1 % of those", "(p = 0.05)"])
    ['46.1\\xa0% of those', '(p\\xa0=\\xa00.05)']
    """
    return _texts(value, lambda text: _WITHIN_FIGURES.sub("\u00a0", text))


def _texts(value: Any, changed: Callable[[str], str]) -> Any:
    """Return plain data with all of its texts changed."""
    if isinstance(value, str):
        return changed(value)
    if isinstance(value, dict):
        return {name: _texts(item, changed) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(item, changed) for item in value]
    return value


def write_page(html: str, path: str | Path) -> Path:
    """Write a page, whole or not at all, and return its path.

    Raises FileNotFoundError where its folder isn't there.
    """
    target = check_path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"path {str(path)!r} is in a folder that does not exist; make it, or name another."
        )
    # Text from data may have halves of characters, which no encoding has.
    write_whole(target, html.encode(errors="backslashreplace"))
    return target


def check_installed(*packages: str) -> None:
    """Raise ImportError that says what to install, before any work is done for a page."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise _missing(package)


def plotly_script() -> str:
    """Return the bundled plotly.js, for pages with a plot to touch."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise _missing("plotly") from None
    return str(get_plotlyjs())


def own_script(name: str) -> str:
    """Return a file from beside the templates."""
    return (resources.files("gerrymend.reporting") / "templates" / name).read_text("utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@functools.cache
def _environment() -> Any:
    """Return jinja2's environment: everything is escaped, and a missing name is an error."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError:
        raise _missing("jinja2") from None
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("gerrymend.reporting"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        # Control characters are written out before anything is escaped.
        finalize=lambda value: wording.visible(value) if type(value) is str else value,
    )
    environment.globals["wording"] = wording
    environment.globals["style_sheet"] = lambda: Markup(own_script("page.css"))
    environment.filters["trusted_script"] = Markup
    return environment


def _missing(package: str) -> ImportError:
    """Return the error that says what to install."""
    return ImportError(
        f"HTML reports need {package}, which is not installed; install it with: "
        "pip install 'gerrymend[report]'."
    )
