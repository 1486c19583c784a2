"""The documents: every link and every path in them leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "deploy" / "README.md"]


def test_links_lead_to_files_and_headings() -> None:
    wrong = []
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and anchor not in headings(target)):
                wrong.append(f"{page.relative_to(ROOT)}: {link}")
    assert wrong == []


def headings(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_named_files_are_there() -> None:
    """Paths in backticks from the root; in architecture.md also from the package on."""
    inside = "|".join(p.name for p in (ROOT / "components" / "contextlens").iterdir() if p.is_dir())
    wrong = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        paths = re.findall(r"`((?:components|docs|pages|tests)/[\w./-]+)", text)
        if page.name == "architecture.md":
            paths += [
                f"components/contextlens/{path}"
                for path in re.findall(rf"`((?:{inside})/[\w./-]+)", text)
            ]
        named = [path for path in paths if not re.search("NAME|PAGE", path)]
        wrong += [f"{page.name}: {path}" for path in named if not (ROOT / path).exists()]
    assert wrong == []


def test_every_page_is_in_the_readmes_list() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = sorted(page.name for page in ROOT.glob("docs/*.md"))
    assert [name for name in pages if f"(docs/{name})" not in readme] == []


def test_every_page_is_on_the_site_and_the_site_has_no_other() -> None:
    """`make docs` says so too, but is no part of `make test`."""
    nav = (ROOT / ".ci" / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    there = {page.name for page in ROOT.glob("docs/*.md")}
    there |= {"index.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
    assert sorted(re.findall(r"(\w+\.md)$", nav, re.MULTILINE)) == sorted(there)
