"""Check a built site: every link and anchor inside it exists, and no page loads anything from elsewhere.

python docs/site/check.py build/site
"""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
LOADED_BY_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


class Page(HTMLParser):
    """What a page refers to: the ids it has, the links a reader may follow, the files a browser loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.update(value for name in ("id", "name") if (value := given.get(name)))
        if tag == "a":
            self.links.append(given.get("href") or "")
        elif tag in LOADED:
            self.loaded.append(given.get(LOADED[tag]) or "")


def problems(site: Path) -> list[str]:
    """One sentence for each broken link, and for each thing that is loaded from another place."""
    site = site.resolve()
    read = cache(Page)
    found = []
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.parts:  # templates of the theme
            continue
        page, name = read(path), path.relative_to(site)
        found += [f"{name} loads {link}." for link in page.loaded if urlsplit(link).netloc]
        for link in dict.fromkeys([*page.links, *page.loaded]):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{name} links to {link}, which does not exist.")
            elif parts.fragment and unquote(parts.fragment) not in read(target).ids:
                found.append(f"{name} links to {link}, which has no such anchor.")
    for path in sorted(site.rglob("*.css")):
        urls = LOADED_BY_STYLES.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)} loads {url}." for url in urls]
    return found


if __name__ == "__main__":
    sys.exit("\n".join(problems(Path(sys.argv[1]))) or 0)
