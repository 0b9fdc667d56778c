"""How Sphinx builds the site; `make docs` gathers the pages first, and looks at what came out afterwards."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

project = "tacit"
author = "the authors of tacit"
version = release = version_of("tacit")
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_design",
    "docstrings",
]
root_doc = "index"
html_title = "tacit"
html_theme = "pydata_sphinx_theme"
html_static_path = [str(HERE / "static")]
html_css_files = ["tacit.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "tacit"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "show_nav_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}
project_copyright = "the authors of tacit, Apache-2.0"

myst_enable_extensions = ["colon_fence", "tasklist"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # notebooks are committed with what they printed, and a test runs them
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # nothing from outside
nb_mime_priority_overrides = [("html", "text/html", 5), ("html", "image/svg+xml", 6)]

default_role = "py:obj"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}
autodoc_preserve_defaults = True
autosummary_generate = False

intersphinx_mapping = {
    name: (home, str(HERE / "inventories" / f"{name}.inv"))
    for name, home in {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "networkx": "https://networkx.org/documentation/stable/",
        "sklearn": "https://scikit-learn.org/stable/",
    }.items()
}
linkcheck_timeout = 20
suppress_warnings = ["myst.header"]  # a page may begin its sections at any level
