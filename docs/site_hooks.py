"""Hooks of mkdocs: what `make docs` does beyond the Markdown in this folder.

The README is the site's first page, and the other documents of the root are pages too. Links are
written for the repository; here they are turned to the site's pages, or to copies of the files.
mkdocs then checks that they lead somewhere. The finished site loads nothing from elsewhere.
"""

from __future__ import annotations

import posixpath
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = {
    "README.md": "index.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
}
"""The pages of the site that are not in this folder, by their path in the repository."""
COPIES = ("LICENSE", "deploy/grafana/contextlens.json", "deploy/prometheus/alerts.yml")
"""Files to which documents link."""
LINK = re.compile(r"\[([^\]\n]*)\]\((?!\w+:|#)([^)\s#]+)")
DIAGRAM = re.compile(r"```mermaid\n(.*?)```\n", re.DOTALL)
LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the documents of the root, and copies of the files to which documents link."""
    for path, name in DOCUMENTS.items():
        content = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=content))
    for path in COPIES:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Turn the links of the repository to those of the site, and the diagram into a table.

    A link that is called by its file's name gets the title of the page.
    """
    paths = {name: path for path, name in DOCUMENTS.items()}
    folder = posixpath.dirname(paths.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def on_site(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[2]))
        is_title = link[1].endswith(".md") and (ROOT / path).is_file()
        text = title_of(ROOT / path) if is_title else link[1]
        return f"[{text}]({DOCUMENTS.get(path, path.removeprefix('docs/'))}"

    return DIAGRAM.sub(lambda found: table_of(found[1]), LINK.sub(on_site, markdown))


def title_of(document: Path) -> str:
    """Return a document's first heading."""
    return document.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def table_of(diagram: str) -> str:
    """Return a table with the boxes and arrows of a mermaid flowchart, whose script is not here."""
    boxes = re.findall(r'(\w+)\["(.+?)<br/>(.+?)"\]', diagram)
    names = {box: f"`{name}`" for box, name, _ in boxes}
    targets: dict[str, list[str]] = {box: [] for box in names}
    for line in diagram.splitlines():
        steps = [re.findall(r"\w+", step) for step in line.split("-->")]
        for sources, ends in pairwise(steps):
            for box in sources:
                targets[box] += [names[end] for end in ends if names[end] not in targets[box]]
    rows = [
        f"| `{name}` | {text} | {', '.join(targets[box]) or 'none of these'} |"
        for box, name, text in boxes
    ]
    return "\n".join(["| Package | What it is | Imports |", "|---|---|---|", *rows, ""])


def on_post_build(*, config: MkDocsConfig) -> None:
    """Check that no page loads anything from elsewhere.

    Raises:
        PluginError: a page does.
    """
    site = Path(config.site_dir)
    loads = [
        f"{page.relative_to(site)}: {address}"
        for page in sorted(site.rglob("*.html"))
        for address in _Loads.of(page)
        if re.match(r"\w+:|//", address) and not address.startswith("data:")
    ]
    if loads:
        raise PluginError("Pages load what is not on the site:\n" + "\n".join(loads))


class _Loads(HTMLParser):
    """The addresses that a page loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    @classmethod
    def of(cls, page: Path) -> list[str]:
        parser = cls()
        parser.feed(page.read_text(encoding="utf-8"))
        return parser.addresses

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(LOADED.get(tag, ""))
        if address:
            self.addresses.append(address)
