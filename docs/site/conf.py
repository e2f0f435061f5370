"""Settings of the documentation site, which `make docs` builds from the pages in docs/."""

import sys
from pathlib import Path

import rankwise

SITE = Path(__file__).parent
sys.path.insert(0, str(SITE))

project = "rankwise"
copyright = "the authors of rankwise"
version = release = rankwise.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "commands",
    "diagrams",
    "links",
    "members",
]
exclude_patterns = ["site"]
templates_path = [str(SITE / "templates")]
nitpicky = True
default_role = "code"
smartquotes = False  # which would make one dash of the two in --help
toc_object_entries_show_parents = "hide"

# Pages are Markdown that also reads well without the site.
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 4

# Docstrings name types in the section of parameters, so that signatures stay short.
autodoc_typehints = "none"
# As the source has them: alphas=DEFAULT_ALPHAS, not 31 numbers.
autodoc_preserve_defaults = True
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "nested_sections": True,
    "filename_pattern": "/plot_",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "rankwise"
html_static_path = [str(SITE / "static")]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_favicon = str(SITE / "static" / "favicon.svg")
html_additional_pages = {"404": "404.html"}
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "tutorial": []}
