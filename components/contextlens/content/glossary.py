"""The field's terms, and text in which each term is explained at its first use.

The meanings are in `english.toml`, one plain sentence each, the same on every page.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from markdown_it import MarkdownIt
from markdown_it.token import Token

from contextlens.content.language import table

__all__ = ["GLOSSARY", "explained", "unmarked"]

GLOSSARY: Mapping[str, str] = MappingProxyType(dict(table("glossary")))

_PARSER = MarkdownIt("zero").enable(["escape", "emphasis", "backticks"])
_TERM = re.compile(
    "|".join(rf"(?<!\w){re.escape(t)}s?(?!\w)" for t in sorted(GLOSSARY, key=len, reverse=True)),
    re.IGNORECASE,
)
_WORD_JOINER = "\u2060"  # keeps Markdown's plugins from drawing icons and links
_QUOTED = re.compile("(“[^”]*”)")  # a visitor's words are not terms
_BY_FOLDED = {term.casefold(): term for term in GLOSSARY}


@lru_cache(maxsize=1_000)
def explained(sentences: str) -> str:
    """HTML of a few sentences of Markdown; the first use of each term carries its meaning.

    Only Markdown's emphasis, code and escapes are interpreted; other markup is shown as typed.
    """
    explained_terms: set[str] = set()
    (inline,) = _PARSER.parseInline(sentences)
    return "".join(_html(token, explained_terms) for token in inline.children or [])


def unmarked(sentences: str) -> str:
    """Return a few sentences of Markdown as plain text, as a reader sees them."""
    (inline,) = _PARSER.parseInline(sentences)
    text = "".join(token.content for token in inline.children or [])
    return text.replace(_WORD_JOINER, "")


def _html(token: Token, explained_terms: set[str]) -> str:
    if token.type.startswith("text"):
        parts = _QUOTED.split(token.content)
        return "".join(
            html.escape(part) if i % 2 else _with_terms(part, explained_terms)
            for i, part in enumerate(parts)
        )
    if token.type == "code_inline":
        return f"<code>{html.escape(token.content)}</code>"
    return f"<{'/' if token.nesting < 0 else ''}{token.tag}>"


def _with_terms(text: str, explained_terms: set[str]) -> str:
    pieces, end = [], 0
    for match in _TERM.finditer(text):
        folded = match[0].casefold()
        term = _BY_FOLDED.get(folded) or _BY_FOLDED.get(folded.removesuffix("s"))
        if term is None or term in explained_terms:  # ı and İ match as i
            continue
        explained_terms.add(term)
        meaning = html.escape(GLOSSARY[term])
        pieces.append(html.escape(text[end : match.start()]))
        pieces.append(
            f'<span class="term" tabindex="0" role="note" data-meaning="{meaning}" '
            f'aria-label="{html.escape(match[0])}: {meaning}">{html.escape(match[0])}</span>'
        )
        end = match.end()
    return "".join(pieces) + html.escape(text[end:])
