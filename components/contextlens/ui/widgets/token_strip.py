"""A text with its tokens under it as a page component; hovering over either highlights the other.

Python splits the text at the tokens' offsets, in code points; the browser only displays it. User
text travels as JSON and is shown as text, never as HTML. Must not import torch or transformers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TypedDict

from contextlens.analysis.tokens import TokenKind, kinds, labels, lost_spans, marked_span
from contextlens.content.language import say
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.core.words import Span
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.component import component


class _Segment(TypedDict):
    text: str
    tokens: list[int]
    lost: bool
    chosen: bool


class _Text(TypedDict):
    name: str
    segments: list[_Segment]


class _Token(TypedDict):
    position: int
    mark: str
    text: str
    id: int
    kind: TokenKind
    joined: bool
    chosen: bool
    says: str


def token_strip(
    tokens: Tokens,
    vocabulary: Vocabulary,
    *,
    key: str,
    name: str,
    color: str,
    word: Span | None = None,
    reasons: Mapping[int, str] = MappingProxyType({}),
    special: bool = True,
    picked: int | None = None,
    large: bool = False,
    on_pick: Callable[[int], None] | None = None,
) -> None:
    """Show a text (and pair) and its tokens with their IDs; call `on_pick` with a picked position.

    Args:
        tokens: the tokens of the text.
        vocabulary: the tokenizer's vocabulary, which gives the kind of each token.
        key: the component's own key.
        name: the name of the texts for screen readers, "sentence A".
        color: the palette colour of the chosen word.
        word: the chosen word of the text, in code points.
        reasons: for positions of unknown tokens, why they are unknown.
        special: True to show added tokens.
        picked: the position whose token has a ring.
        large: True if the strip is the picture of a page, with a caption for each of its lines.
        on_pick: a callback in Streamlit's sense; without it the tokens are only highlighted.
    """

    n_tokens = tokens.n_tokens  # sessions keep the callback, which must not keep the tokens

    def receive(position: object) -> None:
        if type(position) is int and 0 <= position < n_tokens and on_pick is not None:
            on_pick(position)

    visible_tokens = _tokens(tokens, vocabulary, word, reasons, special=special)
    is_cut = any(token["mark"] == "##" for token in visible_tokens)
    below = say(f"page.strip.{'tokens_cut' if is_cut else 'tokens'}")
    data: Mapping[str, object] = {
        "texts": _texts(tokens, name, word),
        "tokens": visible_tokens,
        "color": color,
        "picked": picked,
        "pickable": on_pick is not None,
        "captions": [say("page.strip.text"), below] if large else [],
        "name": name,
    }
    component("contextlens.ui.widgets", "tokens", data, key=key, on_pick=receive)


def _texts(tokens: Tokens, name: str, word: Span | None) -> list[_Text]:
    texts = [tokens.text, *([tokens.pair] if tokens.pair is not None else [])]
    names = [name] if len(texts) == 1 else [f"{name}, first text", f"{name}, second text"]
    return [
        {
            "name": text_name,
            "segments": _segments(tokens, which, text, word if which == 0 else None),
        }
        for which, (text, text_name) in enumerate(zip(texts, names, strict=True))
    ]


def _segments(tokens: Tokens, which: int, text: str, word: Span | None) -> list[_Segment]:
    """Return the text, split at the ends of tokens, of the chosen word and of lost parts."""
    lost = lost_spans(tokens)[which]
    own = [i for i in range(tokens.n_tokens) if tokens.text_ids[i] == which]
    owners = [(i, marked_span(tokens, i)) for i in own]
    edges = {0, len(text), *(lost or ()), *(word or ())}
    edges |= {edge for _, span in owners for edge in span}
    cuts = sorted(edge for edge in edges if 0 <= edge <= len(text))
    return [
        {
            "text": visible(text[a:b]),
            "tokens": owned,
            "lost": lost is not None and a >= lost[0],
            "chosen": word is not None and word[0] <= a and b <= word[1],
        }
        for (a, b), owned in zip(pairwise(cuts), _owned(cuts, owners), strict=True)
    ]


def _span(tokens: Tokens, i: int) -> Span:
    return int(tokens.offsets[i, 0]), int(tokens.offsets[i, 1])


def _owned(cuts: Sequence[int], owners: Sequence[tuple[int, Span]]) -> list[list[int]]:
    """Return the positions of the tokens that cover each piece between cuts."""
    place = {cut: i for i, cut in enumerate(cuts)}
    owned: list[list[int]] = [[] for _ in pairwise(cuts)]
    for position, (start, end) in owners:
        for piece in range(place.get(start, 0), place.get(end, 0)):
            owned[piece].append(position)
    return owned


def _tokens(
    tokens: Tokens,
    vocabulary: Vocabulary,
    word: Span | None,
    reasons: Mapping[int, str],
    *,
    special: bool,
) -> list[_Token]:
    token_labels = labels(tokens, vocabulary)
    spans = list(zip(tokens.text_ids.tolist(), map(tuple, tokens.offsets.tolist()), strict=True))
    sharing = Counter(spans)
    visible_tokens: list[_Token] = []
    for i, kind in enumerate(kinds(tokens, vocabulary)):
        if not special and kind in ("special", "padding"):
            continue
        start, end = _span(tokens, i)
        inside = word is not None and tokens.text_ids[i] == 0 and start < word[1] and end > word[0]
        mark = _mark(token_labels[i], kind)
        visible_tokens.append(
            {
                "position": i,
                "mark": mark,
                "text": visible(token_labels[i].removeprefix(mark)),
                "id": int(tokens.token_ids[i]),
                "kind": kind,
                "joined": kind == "continuation",
                "chosen": bool(inside),
                "says": _says(kind, (start, end), sharing[spans[i]], reasons.get(i, "")),
            }
        )
    return visible_tokens


def _mark(label: str, kind: TokenKind) -> str:
    """Return a label's sign for its position in a word, drawn muted; "" if nothing follows it."""
    sign = "##" if kind == "continuation" else "▁"
    return sign if label.startswith(sign) and label != sign else ""


def _says(kind: TokenKind, span: Span, n_sharing: int, reason: str) -> str:
    """Return the text for hovers and screen readers about a token, beside its name and ID."""
    if kind == "padding":
        return "padding: the mask hides it"
    if kind == "special":
        return "added by the tokenizer"
    if kind == "typed special":
        return "typed, and read as the special token"
    start, end = span
    where = f"characters {start + 1} to {end}" if end > start + 1 else f"character {end}"
    where += f" (one of {n_sharing} tokens for it)" if n_sharing > 1 and end > start else ""
    if kind == "unknown":
        return f"{where}: unknown. {reason}".strip()
    return where + (", continues the word" if kind == "continuation" else "")
