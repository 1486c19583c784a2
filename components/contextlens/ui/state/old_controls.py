"""The choices of views of 0.1.0, under the names that they have today. No streamlit in here.

In 0.1.0 each text page named its own collection, word, label and file, and the search was a part of
Sentence vectors. Today the text pages share these choices, under `TEXTS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from contextlens.ui.state.controls import TEXTS
from contextlens.ui.state.view import Value

Choices = dict[str, Value]

_FILE = {name: name for name in ("file", "file_name", "text", "labels")}
_SHARED: Mapping[str, Mapping[str, str]] = {
    "map": {**_FILE, "source": "collection", "kept": "", "word": "word"},
    "senses": {"corpus": "collection", "word": "word", "labels": "label"},
    "probe": {**_FILE, "source": "collection", "kept": "", "label": "label"},
    "pairs": {
        "source": "collection",
        "file": "pairs",
        "file_name": "file_name",
        "columns": "pair_columns",
    },
    "search": {"corpus": "collection"},
    "corpora": {"corpus": "collection", "word": "word"},
}
"""For each page, its old choices that the text pages share now, and their names today."""
_SOURCES = {
    "map": ("ambiguous", "sentences", "file", "kept"),
    "probe": ("sentiment", "ambiguous", "file", "kept"),
    "pairs": ("file",),
}
"""The values of an old "source"; where it was "kept", "kept" named the collection."""
_OF_SEARCH = ("query", "by", "corpus")


def renamed_controls(
    controls: Mapping[str, Mapping[str, Value]], page: str = ""
) -> dict[str, dict[str, Value]]:
    """Return the choices of a view with those of 0.1.0 under today's names.

    Args:
        controls: for each page, its choices.
        page: the page that is opened. Where old pages named different texts, its own count.
    """
    renamed = {name: dict(choices) for name, choices in controls.items()}
    sentences = renamed.get("sentences", {})
    if sentences.get("show") == "search":
        moved = {name: sentences.pop(name) for name in _OF_SEARCH if name in sentences}
        renamed["search"] = {**moved, **renamed.get("search", {})}
    found = {name: _taken(name, renamed.get(name, {})) for name in _SHARED}
    own = found[page] if page in found else next(filter(None, found.values()), {})
    if own and TEXTS not in renamed:
        renamed[TEXTS] = own
    return {name: own for name, own in renamed.items() if own or not controls.get(name, own)}


def _taken(page: str, choices: Choices) -> Choices:
    """Take a page's old choices out of its choices; return them under today's names."""
    old = {name: choices.pop(name) for name in _SHARED[page] if name in choices}
    if page in _SOURCES and "source" in old and old["source"] not in _SOURCES[page]:
        del old["source"]
    if old.get("source") == "kept":
        old["source"] = old.get("kept", "")
    if page == "map" and old.get("word") == "all":
        old["word"] = "*"
    old.pop("kept", None)
    return {_SHARED[page][name]: value for name, value in old.items()}
