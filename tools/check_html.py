"""Check the built pages for what Sphinx does not see.

    python tools/check_html.py _build/html

Looks for: dead links and anchors, scripts, styles, images and fonts from elsewhere, images without
alternative text, markup that was not rendered, ids used twice.
"""

import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
# Text inside these is not prose: code, and mathematics that the browser typesets.
QUIET_TAGS = {"script", "style", "pre", "code", "textarea", "title"}
QUIET_CLASSES = {"math", "tex2jax_ignore"}
RAW_MARKUP = [
    (re.compile(r"\$\$"), "$$"),
    (re.compile(r"\\(frac|sum|ln|epsilon|mathbb|begin|left|hat)\b"), "LaTeX"),
    (re.compile(r"\{(prf|glue|numref|ref|doc|cite|eq|math|download)[:}]"), "a MyST role"),
    (re.compile(r"\{\{"), "{{"),
    (re.compile(r"^:::"), ":::"),
]
# sphinx-proof repeats this one on every proof; the theme has its search form and switches twice.
REPEATED_IDS = {"proof-content", "search-input", "pst-search-dialog"}
REMOTE = re.compile(r"^(https?:)?//")
IMAGE_NAME = re.compile(r"\.(png|svg|jpe?g)$|/", re.IGNORECASE)


class Page(HTMLParser):
    """What one page contains and refers to."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: list[str] = []
        self.links: list[str] = []
        self.faults: list[str] = []
        self.quiet: list[str] = []  # open elements inside a quiet one
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        classes = set(values.get("class", "").split())
        if tag not in VOID and (self.quiet or tag in QUIET_TAGS or classes & QUIET_CLASSES):
            self.quiet.append(tag)
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        self.check_assets(tag, values)
        if tag == "img":
            self.check_image(values, {name for name, _ in attrs})

    def handle_endtag(self, tag: str) -> None:
        # Unclosed elements (<p>, <li>) inside a quiet one end with it.
        if tag in self.quiet:
            while self.quiet.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self.quiet:
            return
        text = re.sub(r"\\\(.*?\\\)|\\\[.*?\\\]", "", data, flags=re.DOTALL)
        for pattern, name in RAW_MARKUP:
            if match := pattern.search(text):
                shown = " ".join(text[max(0, match.start() - 30) : match.end() + 30].split())
                self.faults.append(f"{name} left in the text: ...{shown}...")

    def check_assets(self, tag: str, values: dict[str, str]) -> None:
        address = values.get("src") or values.get("data") or ""
        if tag == "link":
            kinds = set(values.get("rel", "").lower().split())
            if kinds & {"stylesheet", "preload", "icon", "preconnect", "dns-prefetch", "manifest"}:
                address = values.get("href", "")
        if not address or tag == "a":
            return
        if REMOTE.match(address):
            self.faults.append(f"<{tag}> from elsewhere: {address}")
        elif not address.startswith("data:"):
            self.links.append(address)

    def check_image(self, values: dict[str, str], names: set[str]) -> None:
        where = values.get("src", "?")[:80]
        alt = values.get("alt", "").strip()
        classes = values.get("class", "")
        if "logo" in classes:
            return  # decoration beside the title, which says the same
        if "alt" not in names or not alt:
            self.faults.append(f"image without alternative text: {where}")
        elif " " not in alt and IMAGE_NAME.search(alt):
            self.faults.append(f"alternative text is a file name: {alt}")


def check_style(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    found = re.findall(r"(?:@import\s+|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)", text)
    return [f"style from elsewhere: {address}" for address in found]


def check(site: Path) -> list[str]:
    """Return the faults of all pages, one line each."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.relative_to(site).parts
    }
    faults = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found = list(dict.fromkeys(page.faults))
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(parts.fragment)
            if not target.exists():
                found.append(f"dead link: {link}")
            elif anchor and "=" not in anchor and target in pages:
                # A fragment with `=` is a filter of the claims table, not an anchor.
                if anchor not in pages[target].ids and anchor != "top":
                    found.append(f"dead anchor: {link}")
        for identifier, count in Counter(page.ids).items():
            if count > 1 and identifier not in REPEATED_IDS:
                found.append(f"id used {count} times: {identifier}")
        faults += [f"{name}: {fault}" for fault in found]
    for path in sorted(site.rglob("*.css")):
        faults += [f"{path.relative_to(site)}: {fault}" for fault in check_style(path)]
    return faults


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    faults = check(Path(sys.argv[1]))
    print("\n".join(faults) or "no faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
