"""What is not there on the Attention page, and why: hidden, padded, unknown, cut off, no pair."""

from __future__ import annotations

import numpy as np

from components.content.wording import escape, quoted
from components.features.attention.compute.attention import AttentionView
from components.features.attention.controls import DIRECTION
from components.features.attention.measures.grid import Grid
from components.ui.state.view import ViewState

__all__ = ["attention_notes"]


def attention_notes(view: ViewState, attention: AttentionView) -> list[str]:
    """What was hidden, padded, cut off or is not there, in a sentence each."""
    notes = [
        _special_note(attention),
        _text_note(attention),
        _pair_note(view, attention),
        _padding_note(attention),
        _unknown_note(attention),
        _cut_note(attention),
    ]
    return [note for note in notes if note]


def _special_note(attention: AttentionView) -> str:
    """What hiding the special tokens did to the numbers; empty where it was not asked."""
    grid = attention.grid
    if attention.arrangement.special == "show":
        return ""
    if not grid.hidden:
        return "Without its special tokens nothing would be left, so they are shown."
    hidden = dict.fromkeys(attention.encoding.tokens[i] for i in grid.hidden)
    gone = escape(", ".join(hidden))
    are = "is" if len(grid.hidden) == 1 else "are"
    if grid.renormalised:
        again = ", so rows sum to 1 again" if _sums_to_one(grid) else ""
        return (
            f"{gone} {are} hidden and each row is divided by what is left of it{again}: these are "
            "shares of the attention among the other tokens."
        )
    went = ": what is missing to 1 went to them" if grid.is_square else ""
    return f"{gone} {are} hidden and rows are as they were{went}."


def _sums_to_one(grid: Grid) -> bool:
    """Whether every row does: not one that gave all to what is hidden, nor a part of a pair's."""
    return bool(np.allclose(grid.weights.sum(axis=1), 1, atol=1e-3))


def _text_note(attention: AttentionView) -> str:
    n_own = int((attention.encoding.text_ids >= 0).sum())
    if n_own > 1:
        return ""
    both = attention.encoding.pair is not None
    have, whose = ("The two texts together have", "their") if both else ("This text has", "its")
    if n_own:
        return f"{have} one token of {whose} own."
    added = ", ".join(dict.fromkeys(attention.encoding.tokens))
    return f"{have} no token of {whose} own: the model sees only {escape(added)}."


def _pair_note(view: ViewState, attention: AttentionView) -> str:
    if attention.sentence.pair is None:
        asked = DIRECTION.of(view) != DIRECTION.default
        return "There is no second text, so there is no direction to choose." if asked else ""
    if attention.arrangement.direction == "all":
        known = attention.card.has_segments
        return (
            ""
            if known
            else ("This model has no segments: only the tokens between the texts tell them apart.")
        )
    if not attention.grid.is_square:
        return "Rows are one text and columns the other; what is missing to 1 went elsewhere."
    return "One of the two texts has no token, so there is no direction to choose."


def _padding_note(attention: AttentionView) -> str:
    encoding, asked = attention.encoding, attention.pad_asked
    if attention.pad_to is None:
        n = encoding.n_tokens
        useless = asked and asked != n
        return f"There are {n} tokens already: nothing to pad to {asked}." if useless else ""
    padding = np.flatnonzero(encoding.attention_mask == 0)
    real = np.flatnonzero(encoding.attention_mask)
    most = float(attention.weights[np.ix_(real, padding)].max(initial=0.0))
    nothing = "exactly 0" if most == 0 else f"at most {most:.1e}"
    if len(padding) == 1:
        what, them, rows = "1 position is", "it", "Its own row is"
    else:
        what, them, rows = f"{len(padding)} positions are", "them", "Their own rows are"
    return (
        f"{what} padding: what the text's tokens give {them} is {nothing}. "
        f"{rows} computed too, and used by nothing."
    )


def _unknown_note(attention: AttentionView) -> str:
    unknown = [i for i, kind in enumerate(attention.kinds) if kind == "unknown"]
    if not unknown:
        return ""
    encoding = attention.encoding
    start, end = encoding.offsets[unknown[0]].tolist()
    text = encoding.text if encoding.text_ids[unknown[0]] == 0 else encoding.pair
    first = quoted((text or "")[start:end])
    if len(unknown) == 1:
        return f"One token is unknown: the model cannot see {first}."
    return f"{len(unknown)} tokens are unknown, the first for {first}: the model sees none."


def _cut_note(attention: AttentionView) -> str:
    lost = attention.encoding.n_truncated
    if not lost:
        return ""
    left = "1 token is" if lost == 1 else f"{lost} tokens are"
    if attention.encoding.pair is not None:
        return f"The two texts are longer than the model takes: {left} left out."
    left = "token is" if lost == 1 else f"{lost} tokens are"
    return f"The text is longer than the model takes; its last {left} left out."
