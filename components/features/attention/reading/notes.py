"""What is not there on the Attention page, and why: hidden, padded, unknown, cut off, no pair."""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.content.wording import escape, quoted
from components.features.attention.compute import PAGE, AttentionView
from components.features.attention.reading.weights import special_note
from components.ui.state.view import ViewState

__all__ = ["notes"]


def notes(view: ViewState, what: AttentionView) -> None:
    """What was hidden, padded, cut off or is not there, in a sentence each."""
    hidden = [what.encoding.tokens[i] for i in what.grid.hidden]
    asked = what.special != "show"
    said = [
        special_note(what.grid, hidden, asked=asked),
        _text_note(what),
        _pair_note(view, what),
        _padding_note(what),
        _unknown_note(what),
        _cut_note(what),
    ]
    together = " ".join(sentence for sentence in said if sentence)
    if together:
        st.caption(together)


def _text_note(what: AttentionView) -> str:
    n_own = int((what.encoding.text_ids >= 0).sum())
    if n_own:
        return "" if n_own > 1 else "This text has one token of its own."
    added = ", ".join(dict.fromkeys(what.encoding.tokens))
    return f"This text has no token of its own: the model sees only {escape(added)}."


def _pair_note(view: ViewState, what: AttentionView) -> str:
    if what.sentence.pair is None:
        asked = str(view.control(PAGE, "direction", "All")) != "All"
        return "There is no second text, so there is no direction to choose." if asked else ""
    both = {item.text_id for item in what.grid.rows + what.grid.columns}
    if what.direction != "all" and {0, 1} <= both and not what.grid.is_square:
        return "Rows are one text and columns the other; what is missing to 1 went elsewhere."
    if what.direction != "all":
        return "One of the two texts has no token, so all tokens are shown."
    return "" if what.card.has_segments else "This model has no segments to tell the texts apart."


def _padding_note(what: AttentionView) -> str:
    if what.pad_to is None:
        asked = what.pad_asked and what.pad_asked != what.encoding.n_tokens
        n = what.encoding.n_tokens
        return f"There are {n} tokens already: nothing to pad to {what.pad_asked}." if asked else ""
    padding = np.flatnonzero(what.encoding.attention_mask == 0)
    real = np.flatnonzero(what.encoding.attention_mask)
    most = float(what.attention[np.ix_(real, padding)].max(initial=0.0))
    nothing = "exactly 0" if most == 0 else f"at most {most:.1e}"
    return (
        f"{len(padding)} positions are padding: what the text's tokens give them is {nothing}. "
        "Their own rows are computed too, and used by nothing."
    )


def _unknown_note(what: AttentionView) -> str:
    unknown = [i for i, kind in enumerate(what.kinds) if kind == "unknown"]
    if not unknown:
        return ""
    start, end = what.encoding.offsets[unknown[0]].tolist()
    which = what.encoding.text if what.encoding.text_ids[unknown[0]] == 0 else what.encoding.pair
    what_stood = quoted((which or "")[start:end])
    if len(unknown) == 1:
        return f"One token is unknown: the model cannot see {what_stood}."
    return f"{len(unknown)} tokens are unknown, the first for {what_stood}: the model sees none."


def _cut_note(what: AttentionView) -> str:
    lost = what.encoding.n_truncated
    return f"The text is longer than the model takes; its last {lost} tokens are left out." * bool(
        lost
    )
