"""The settings of a view in words, for the report: model, texts, and the page's choices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from contextlens.content.language import say
from contextlens.content.wording import cut
from contextlens.ui.state.controls import TEXT_PAGES, TEXTS, words_of
from contextlens.ui.state.view import Sentence, Value, ViewState, letter

Texts: TypeAlias = str | Mapping[str, Sentence] | None

_LONGEST = 300  # characters of a text

_ITS_SETTINGS = {"home": "meaning"}
"""Pages that show what another page's choices say."""
_ONE = ("tokens", "embedding_layer", "layers", "attention")
"""Pages that show one sentence of the view."""
_COMPARING = ("meaning", "why")
"""Pages that use the references."""
_AT_A_LAYER = ("masks", "layers", "blank", "meaning", "why", "pairs", "map")
"""Pages that show the layer of the view; others say which layer they show."""


def describe(
    view: ViewState,
    page: str,
    texts: Texts = None,
    *,
    layer: int | None = None,
    unused: Collection[str] = (),
) -> list[tuple[str, str]]:
    """Return pairs of a label and a value: the texts of a page, and its choices beside defaults.

    Choices without a label on the page, such as what is picked in a chart, are left out, and so are
    the names in an address of files and corpora.

    Args:
        view: the view.
        page: the page's name.
        texts: the texts that the page shows: their title, "" for none; or sentences by letter;
            None for the view's own sentences.
        layer: the layer that a page shows where it may be another one than the view's.
        unused: the names of controls that do not matter to what is shown.
    """
    page = _ITS_SETTINGS.get(page, page)
    is_of_file = page in TEXT_PAGES and bool(view.controls.get(TEXTS, {}).get("vectors"))
    rows = [] if is_of_file else [(say("page.settings.model"), view.model)]
    if isinstance(texts, str):
        rows += [(say("page.settings.texts"), texts)] if texts else []
    else:
        chosen = view.controls.get(page, {}).get("sentence", letter(0))
        lettered = {letter(i): sentence for i, sentence in enumerate(view.sentences)}
        if chosen not in lettered:  # that sentence was removed; pages show the first one
            chosen = letter(0)
        for name, sentence in (lettered if texts is None else texts).items():
            if page not in _ONE or name == chosen:
                rows.append((say("page.settings.sentence", letter=name), _text(sentence)))
    if view.references and page in _COMPARING:
        references = " · ".join(_text(reference) for reference in view.references)
        rows.append((say("page.settings.references"), references))
    if page in _AT_A_LAYER:
        layer = view.layer
    if layer is not None:
        rows.append((say("page.settings.layer"), str(layer)))
    for group in (page, *([TEXTS] if page in TEXT_PAGES else [])):
        for name, value in view.controls.get(group, {}).items():
            label, title = _choice(group, name, value)
            if label and title and name not in {"sentence", "collection", *unused}:
                rows.append((label, title))
    return rows


def _choice(page: str, name: str, value: Value) -> tuple[str, str]:
    """Return the label of a control and the title of its value; "" for what has none."""
    words: Any = {}
    with suppress(KeyError):
        words = words_of(page, name)
    label = words.get("label", "")
    if isinstance(value, bool):
        return label, say(f"page.settings.{'on' if value else 'off'}")
    if not isinstance(value, str):
        return label, str(value)
    is_typed = "placeholder" in words
    return label, _cut(value) if is_typed else words.get("options", {}).get(value, "")


def _text(sentence: Sentence) -> str:
    """Return a sentence with its chosen word in brackets, and its pair; long ones cut."""
    text = sentence.text
    if sentence.word is not None:
        start, end = sentence.word
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    parts = [text, sentence.pair] if sentence.pair else [text]
    return " / ".join(map(_cut, parts))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{cut(text, _LONGEST - 1)}…"
