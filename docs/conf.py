"""Build the site with Sphinx: `make docs`. Neither it nor a page loads anything from elsewhere."""

import warnings

import matplotlib

import gerrymend

# A picture is drawn into a page, not into a window.
matplotlib.use("Agg")
# The gallery is as strict as the tests: an example that warns is one that needs mending.
warnings.filterwarnings("error", module="gerrymend")

project = "gerrymend"
author = "The gerrymend developers"
project_copyright = author
version = release = gerrymend.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_templates", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
# Headings are anchors, so that pages link to each other's sections as they do in the repository.
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    # Their page would load scripts from elsewhere.
    "write_computation_times": False,
    "show_signature": False,
    # What is printed is shown, and not the address of an object in memory.
    "capture_repr": (),
    "remove_config_comments": True,
}

# Contributors are shown excerpts of docstrings, which are no Python by themselves.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "pydata_sphinx_theme"
html_title = "gerrymend"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# Pages without pages below them have no use for a list of these.
html_sidebars = {
    page: []
    for page in ("index", "getting_started", "coming_from", "theory", "reproduction", "search")
}
html_theme_options = {
    # A button that says what it does; beside the menu a field would break it in two lines.
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "footer_end": [],
    "navigation_with_keys": False,
}
html_show_sourcelink = False
# Light or dark as the reader's system is; without it the theme logs an error at the first visit.
html_context = {"default_mode": "auto"}


def _link_to_pages(app, docname, source):
    """Let links to files of the repository lead to the pages that show them."""
    pages = {"../REPRODUCTION.md": "reproduction.md", "../CHANGELOG.md": "changelog.md"}
    for file, page in pages.items():
        source[0] = source[0].replace(f"]({file}", f"]({page}")


def _is_documented_above(app, what, name, thing, skip, options):
    """Leave plain attributes out of the tables of members: their class documents them."""
    return True if what == "attribute" else None


def setup(app):
    """Register what Sphinx is to do beside its extensions."""
    app.connect("source-read", _link_to_pages)
    app.connect("autodoc-skip-member", _is_documented_above)
