"""The looks of the Why alike? page, and the elements under each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from components.analysis.baseline import Band
from components.content.language import say
from components.content.wording import bold, escape, two
from components.core.words import split_words
from components.features.why.compute import (
    EditsShown,
    Head,
    Integrated,
    IntegratedSide,
    LeftOut,
    LeftWord,
    RankedEdit,
    SharesShown,
    SwappedIn,
    SwitchedOff,
)
from components.features.why.controls import FIRST, PICKED, SECOND, SIDE, UNIT, WORDS
from components.features.why.figures import (
    LEAST_SHARE,
    Bar,
    signed_end,
    signed_matrix,
    swap_heatmap,
    switched_off,
    word_bars,
)
from components.features.why.links import on_head
from components.features.why.measures import Doubles, is_word
from components.features.why.reading import edits_reading, title_of
from components.features.why.score import Score, Side
from components.features.why.widgets import Row, Said, Word, word_lines
from components.figures.theme import color_of
from components.ui.frame import navigation
from components.ui.state import session
from components.ui.state.view import MAX_SENTENCES, ViewState, letter, retyped
from components.ui.widgets import kit

__all__ = [
    "CHART",
    "HEIGHT",
    "draw_edits",
    "draw_integrated",
    "draw_left_out",
    "draw_shares",
    "draw_swapped_in",
    "draw_switched_off",
]


# --- Edits of the first sentence

_MOST = 12
_AROUND, _CHANGED = 80, 160  # characters on either side of a change, and of the change itself


def draw_edits(shown: EditsShown, band: Band | None) -> None:
    """The effect of the edits in words, and each edit with a button that compares it."""
    said = edits_reading(shown, band)
    kit.reading(said.sentences, sure=said.sure, key="reading_edits")
    for i, ranked in enumerate(shown.edits[:_MOST]):
        _edit(shown, ranked, i)
    if len(shown.edits) > _MOST:
        st.caption(say("why.edits.more", most=_MOST, n=len(shown.edits)))


def _edit(shown: EditsShown, ranked: RankedEdit, place: int) -> None:
    second = shown.score.second
    own = shown.side.sentence
    with st.container(horizontal=True, vertical_alignment="center", gap="small",
                      key=f"why_edit_{place}"):  # fmt: skip
        st.markdown(bold(ranked.cosine), width=48)
        with st.container(gap=None):
            st.markdown(_marked(own.text, ranked.edit.text))
            st.caption(escape(ranked.edit.description))
        st.button(
            say("why.work.compare_as", letter=second.letter)
            if second.index != shown.side.index
            else say("why.work.compare"),
            key=f"why_edit_use_{place}",
            disabled=(ranked.edit.text, own.pair) == (second.sentence.text, second.sentence.pair),
            on_click=_use,
            args=(shown.side.index, second.index, ranked.edit.text),
        )


def _use(first: int, second: int, text: str) -> None:
    """Replace the second sentence by an edit; if both are the same sentence, append it."""
    view = session.current()
    if not 0 <= first < len(view.sentences):
        return
    own, rows = view.sentences[first], list(view.sentences)
    if second == first:
        second = len(rows) if len(rows) < MAX_SENTENCES else int(first == 0)
    rows[second : second + 1] = [replace(retyped(own, text, None), pair=own.pair)]
    view = replace(view, sentences=tuple(rows))
    for control, index in ((FIRST, first), (SECOND, second)):
        view = control.put(view, letter(index))
    session.write(PICKED.put(view, PICKED.default))


def _marked(before: str, after: str) -> str:
    """The edited text as Markdown with its new words marked; a long one is cut around them."""
    ours, theirs = _pieces(before), _pieces(after)
    start = _n_alike(ours, theirs)
    end = _n_alike(ours[start:][::-1], theirs[start:][::-1])
    old, new = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    head, tail = "".join(theirs[:start]), "".join(theirs[len(theirs) - end :])
    return "".join(
        [
            escape(head if len(head) <= _AROUND else f"…{head[-_AROUND:]}"),
            *_changed(old, new),
            escape(tail if len(tail) <= _AROUND else f"{tail[:_AROUND]}…"),
        ]
    )


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The text between two unchanged parts; if it is long, its beginning."""
    n_characters = 0
    for i, piece in enumerate(new):
        is_new = len(old) != len(new) or old[i] != piece
        yield f":blue-background[{escape(piece)}]" if is_new and piece.strip() else escape(piece)
        n_characters += len(piece)
        if n_characters > _CHANGED:
            yield "…"
            return


def _n_alike(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of pieces that both share at their beginnings."""
    both = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))


def _pieces(text: str) -> list[str]:
    """Words, and the text between them, on one line."""
    cuts = sorted({0, len(text), *(cut for span in split_words(text) for cut in span)})
    return [text[a:b] if text[a:b].strip() else " " for a, b in pairwise(cuts)]


# --- Sizes and keys that all looks share

CHART = "why_chart"
HEIGHT = 300


# --- The two sentences as rows of words or tokens


def row(side: Side, unit: str, values: Doubles | None = None) -> Row:
    """One sentence, with a value for each of its words (or tokens).

    Args:
        side: the sentence.
        unit: "words" or "tokens".
        values: (n_units,) or (n_tokens,); None for none, NaN for a word without one.
    """
    items = _words(side) if unit == WORDS else _tokens(side)
    numbers = [None] * len(items) if values is None else values.tolist()
    return Row(
        side.letter,
        color_of(side.index),
        [
            Word(label, position, "word" if own else "special", _number(value), joined)
            for (label, position, own, joined), value in zip(items, numbers, strict=True)
        ],
    )


def names(side: Side, unit: str) -> list[str]:
    """The text written on each word or token."""
    return [label for label, *_ in (_words(side) if unit == WORDS else _tokens(side))]


def compared(side: Side, unit: str) -> NDArray[np.bool_]:
    """(n_units,) or (n_tokens,) bool, those that are compared."""
    counts: NDArray[np.bool_] = side.weights != 0
    if unit != WORDS:
        return counts
    return np.array([counts[list(own.positions)].any() for own in side.units], dtype=bool)


def are_of_text(side: Side, unit: str) -> NDArray[np.bool_]:
    """(n_units,) or (n_tokens,) bool, those of the text, without special tokens."""
    items = _words(side) if unit == WORDS else _tokens(side)
    return np.array([own for _, _, own, _ in items], dtype=bool)


def picked(view: ViewState, score: Score, unit: str) -> tuple[str, int] | None:
    """The side of the picked word and its index among the side's words or tokens; None for none."""
    name, position = SIDE.of(view), PICKED.of(view)
    side = score.first if name == SIDE.default else score.second
    if not 0 <= position < side.encoding.n_tokens:
        return None
    if unit != WORDS:
        return name, position
    places = [i for i, own in enumerate(side.units) if position in own.positions]
    return (name, places[0]) if places else None


def pick(side: str, position: int) -> None:
    """Write a picked word into the view; -1 for none."""
    view = session.current()
    view = SIDE.put(view, side if position >= 0 else SIDE.default)
    session.write(PICKED.put(view, position))


def _words(side: Side) -> list[tuple[str, int, bool, bool]]:
    return [(unit.label, unit.positions[0], is_word(unit), False) for unit in side.units]


def _tokens(side: Side) -> list[tuple[str, int, bool, bool]]:
    """Each token: label, position, True if it is of the text, True if it continues a word."""
    inner = {i for unit in side.units for i in unit.positions[1:]}
    own = {i for unit in side.words for i in unit.positions}
    return [(label, i, i in own, i in inner) for i, label in enumerate(side.labels)]


def _number(value: float | None) -> float | None:
    return None if value is None or value != value else value


# --- Leave out: the change of the score without each word

_SAID = Said(
    quantity=say("why.leave_out.quantity"),
    between="",
    low=say("why.leave_out.low"),
    high=say("why.leave_out.high"),
    hint=say("why.leave_out.hint"),
)


def draw_left_out(shown: LeftOut) -> None:
    """Both sentences coloured by the effect of each left-out word, with bars or a pair matrix."""
    left, right = st.columns([6, 5], gap="medium")
    with left:
        changes = [_changes(shown, i) for i in (0, 1)]
        word_lines(
            row(shown.score.first, WORDS, changes[0]),
            row(shown.score.second, WORDS, changes[1]),
            key="why_words",
            end=signed_end(*changes),
            said=_SAID,
        )
    with right:
        _bars(shown) if shown.pairs is None else _pairs(shown, shown.pairs)


def _changes(shown: LeftOut, which: int) -> Doubles:
    """(n_units,) changes of one side; NaN for words that were not left out."""
    side = shown.score.sides[which]
    known = {own.unit.positions: own.change for own in shown.words if own.side == which}
    return np.array([known.get(unit.positions, np.nan) for unit in side.units], dtype=np.float64)


def _bars(shown: LeftOut) -> None:
    title = str(title_of(shown))
    is_known = shown.order is not None
    figure = word_bars(
        [
            _bar(shown, own, -float(share) if is_known else None)
            for own, share in zip(shown.words, shown.shares, strict=True)
        ],
        quantity=say("why.leave_out.quantity"),
        beside=say("why.leave_out.predicted") if is_known else "",
        title=title,
        height=HEIGHT,
    )
    alt = say("why.leave_out.alt", title=title)
    kit.chart(figure, key=CHART, alt=alt)


def _bar(shown: LeftOut, own: LeftWord, beside: float | None) -> Bar:
    return Bar(own.unit.label, _side(shown, own.side).letter, own.change, beside)


def _pairs(shown: LeftOut, pairs: Doubles) -> None:
    title = str(title_of(shown))
    names = [f"{own.unit.label} · {_side(shown, own.side).letter}" for own in shown.words]
    figure = signed_matrix(pairs, names, names, quantity="change", title=title, height=HEIGHT)
    alt = say("why.leave_out.alt_pairs", title=title)
    kit.chart(figure, key=CHART, alt=alt)


def _side(shown: LeftOut, which: int) -> Side:
    return shown.score.sides[which]


# --- Shares: the score as a sum over pairs of words

_SHARES_SAID = Said(
    quantity=say("why.shares.quantity"),
    between=say("why.shares.between"),
    low=say("why.shares.low"),
    high=say("why.shares.high"),
    hint=say("why.shares.hint"),
)
_INTEGRATED = replace(_SHARES_SAID, between="", hint=say("why.inputs.hint"))


def draw_shares(view: ViewState, shown: SharesShown) -> None:
    """Both sentences with lines, and the matrix of all pairs."""
    unit, score = UNIT.of(view), shown.score
    first, second = (compared(side, unit) for side in score.sides)
    shares = shown.shares(unit)
    cells = np.where(np.outer(first, second), shares.cells, np.nan)
    chosen = picked(view, score, unit)
    left, right = st.columns([6, 5], gap="medium")
    with left:
        word_lines(
            row(score.first, unit, np.where(first, shares.rows, np.nan)),
            row(score.second, unit, np.where(second, shares.columns, np.nan)),
            key="why_words",
            end=signed_end(shares.rows, shares.columns, least=LEAST_SHARE),
            said=_SHARES_SAID
            if score.what == "mean"
            else replace(_SHARES_SAID, hint=say("why.shares.hint_one")),
            cells=shares.cells,
            picked=chosen,
            on_pick=pick,
        )
    with right:
        _matrix(unit, shown, cells, chosen)


def _matrix(unit: str, shown: SharesShown, cells: Doubles, chosen: tuple[str, int] | None) -> None:
    score, title = shown.score, str(title_of(shown))
    side, place = chosen or ("", None)
    figure = signed_matrix(
        cells,
        names(score.first, unit),
        names(score.second, unit),
        quantity=say("why.shares.quantity"),
        title=title,
        axes=_axes(score),
        marked=(place if side == "first" else None, place if side == "second" else None),
        height=HEIGHT,
        least=LEAST_SHARE,
    )
    kit.chart(figure, key=CHART, alt=say("why.shares.alt", title=title, unit=unit))


def _axes(score: Score) -> tuple[str, str]:
    first, second = (say("why.shares.axis", letter=side.letter) for side in score.sides)
    return first, second


def draw_integrated(view: ViewState, shown: Integrated) -> None:
    """Both sentences coloured by the shares of their typed words, and the strongest as bars."""
    unit, score = UNIT.of(view), shown.score
    values = [_typed(side, unit) for side in shown.sides]
    left, right = st.columns([6, 5], gap="medium")
    with left:
        word_lines(
            row(score.first, unit, values[0]),
            row(score.second, unit, values[1]),
            key="why_words",
            end=signed_end(*values),
            said=_INTEGRATED,
        )
    with right:
        title = str(title_of(shown))
        figure = word_bars(
            [
                Bar(name, side.side.letter, float(value))
                for side, own in zip(shown.sides, values, strict=True)
                for name, value in zip(names(side.side, unit), own, strict=True)
                if not np.isnan(value)
            ],
            quantity=say("why.inputs.quantity"),
            title=title,
            height=HEIGHT,
        )
        kit.chart(figure, key=CHART, alt=say("why.inputs.alt", title=title))


def _typed(own: IntegratedSide, unit: str) -> Doubles:
    """The shares of words or tokens; special tokens do not change on the path and have none."""
    values = own.by_word if unit == WORDS else own.shares
    return np.where(are_of_text(own.side, unit), values, np.nan)


# --- Swap in: the effect by token and layer

_SWAP_IN_SAID = Said(
    quantity="",
    between=say("why.swap_in.between"),
    low="",
    high="",
    hint=say("why.swap_in.hint"),
)
_TOKENS = "tokens"


def draw_swapped_in(shown: SwappedIn) -> None:
    """The aligned tokens, and the effect of each on the result at each layer."""
    left, right = st.columns([5, 6], gap="medium")
    with left:
        _alignment(shown)
    with right:
        if shown.problem is not None:
            st.info(str(shown.problem), icon=":material/info:")
            return
        title, ends = str(title_of(shown)), (shown.receiver.letter, shown.donor.letter)
        figure = swap_heatmap(
            shown.fractions, shown.names, shown.layers, ends=ends, title=title, height=HEIGHT
        )
        alt = say("why.swap_in.alt", title=title, a=ends[0], b=ends[1])
        kit.chart(figure, key=CHART, alt=alt)


def _alignment(shown: SwappedIn) -> None:
    is_turned = shown.receiver is not shown.score.first
    own = shown.alignment.turned if is_turned else shown.alignment
    word_lines(
        _alone(row(shown.score.first, _TOKENS), own.first_alone),
        _alone(row(shown.score.second, _TOKENS), own.second_alone),
        key="why_words",
        end=1.0,
        said=_SWAP_IN_SAID,
        links=own.pairs,
    )


def _alone(row: Row, places: tuple[int, ...]) -> Row:
    """The row with tokens marked that have no partner."""
    words = [
        replace(word, kind="alone") if i in places else word for i, word in enumerate(row.words)
    ]
    return replace(row, words=words)


# --- Switch off: the effect of each head

_STRONGEST = 10


def draw_switched_off(view: ViewState, shown: SwitchedOff) -> None:
    """All heads as a grid, whole parts as bars, and the strongest heads as links to Attention."""
    if not shown.layers:
        st.info(say("why.switch_off.empty"), icon=":material/layers:")
        return
    left, right = st.columns([8, 3], gap="medium")
    with left:
        title = str(title_of(shown))
        figure = switched_off(
            shown.heads, shown.attention, shown.feed_forward, title=title, height=HEIGHT
        )
        kit.chart(figure, key=CHART, alt=say("why.switch_off.alt", title=title))
    with right, st.container(key="why_heads", gap="xsmall"):
        st.caption(say("why.switch_off.strongest"))
        for head in shown.strongest(_STRONGEST):
            opened = on_head(view, shown.score.first.letter, head.layer, head.head)
            navigation.link(
                navigation.row("attention"), opened, label=_label(shown, head),
                icon=":material/hub:",
            )  # fmt: skip


def _label(shown: SwitchedOff, head: Head) -> str:
    """A head, its change and, if that is a mean over pairs, the number of pairs with its sign."""
    change = two(head.change).replace("-", "\N{MINUS SIGN}")
    sign = "+" if head.change > 0 and change != "0.00" else ""
    agreed = f" · {head.n_alike} of {shown.n_pairs}" if shown.n_pairs > 1 else ""
    return f"layer {head.layer}, head {head.head}: {sign}{change}{agreed}"
