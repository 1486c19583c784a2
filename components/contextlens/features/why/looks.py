"""The pictures of the Why alike? page's looks, and the list of edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from contextlens.analysis.baseline import Band
from contextlens.analysis.shares import Doubles, is_word
from contextlens.content.language import say
from contextlens.content.wording import bold, escape, two
from contextlens.core.words import split_words
from contextlens.features.why.compute import (
    EditsResult,
    HeadEffect,
    InputShares,
    InputsResult,
    LeaveOutResult,
    RankedEdit,
    SharesResult,
    SwapInResult,
    SwitchOffResult,
)
from contextlens.features.why.controls import FIRST, PICKED, SECOND, SIDE, UNIT, WORDS
from contextlens.features.why.figures import (
    LEAST,
    LEAST_SHARE,
    WordBar,
    signed_end,
    signed_matrix,
    swap_heatmap,
    switched_off,
    word_bars,
    words_svg,
)
from contextlens.features.why.reading import edits_reading, title_of
from contextlens.features.why.score import Score, Side
from contextlens.features.why.widgets import Captions, LinkedSentence, LinkedWord, word_lines
from contextlens.figures.theme import color_of
from contextlens.ui.frame import navigation
from contextlens.ui.state import session
from contextlens.ui.state.controls import Text
from contextlens.ui.state.view import MAX_SENTENCES, ViewState, letter, retyped
from contextlens.ui.widgets import kit

# --- Edits of the first sentence

_MOST_EDITS = 12
_AROUND, _CHANGED = 80, 160  # characters on either side of a change, and of the change itself


def draw_edits(result: EditsResult, band: Band | None) -> None:
    """The effect of the edits in words, and each edit with a button that compares it."""
    reading = edits_reading(result, band)
    kit.reading(reading.sentences, sure=reading.sure, key="reading_edits")
    for i, ranked in enumerate(result.edits[:_MOST_EDITS]):
        _edit(result, ranked, i)
    if len(result.edits) > _MOST_EDITS:
        st.caption(say("why.edits.more", most=_MOST_EDITS, n=len(result.edits)))


def _edit(result: EditsResult, ranked: RankedEdit, place: int) -> None:
    second = result.score.second
    sentence, edited = result.side.sentence, ranked.edit.text
    with st.container(horizontal=True, vertical_alignment="center", gap="small",
                      key=f"why_edit_{place}"):  # fmt: skip
        st.markdown(bold(ranked.cosine), width=48)
        with st.container(gap=None):
            st.markdown(_marked(sentence.text, edited))
            st.caption(escape(ranked.edit.description))
        st.button(
            say("why.work.compare_as", letter=second.letter)
            if second.index != result.side.index
            else say("why.work.compare"),
            key=f"why_edit_use_{place}",
            disabled=(edited, sentence.pair) == (second.sentence.text, second.sentence.pair),
            on_click=_compare_with,
            args=(result.side.index, second.index, edited),
        )


def _compare_with(first: int, second: int, text: str) -> None:
    """Replace the second sentence by an edit; if it is also the first, append the edit instead."""
    view = session.current()
    if not 0 <= first < len(view.sentences):
        return
    sentence, sentences = view.sentences[first], list(view.sentences)
    if second == first:
        second = len(sentences) if len(sentences) < MAX_SENTENCES else int(first == 0)
    sentences[second : second + 1] = [replace(retyped(sentence, text, None), pair=sentence.pair)]
    view = replace(view, sentences=tuple(sentences))
    for control, index in ((FIRST, first), (SECOND, second)):
        view = control.put(view, letter(index))
    session.write(PICKED.put(view, PICKED.default))


def _marked(before: str, after: str) -> str:
    """The edited text as Markdown with its new words marked; a long one is cut around them."""
    old_pieces, new_pieces = _pieces(before), _pieces(after)
    start = _n_common(old_pieces, new_pieces)
    end = _n_common(old_pieces[start:][::-1], new_pieces[start:][::-1])
    old, new = old_pieces[start : len(old_pieces) - end], new_pieces[start : len(new_pieces) - end]
    head, tail = "".join(new_pieces[:start]), "".join(new_pieces[len(new_pieces) - end :])
    return "".join(
        [
            escape(head if len(head) <= _AROUND else f"…{head[-_AROUND:]}"),
            *_changed(old, new),
            escape(tail if len(tail) <= _AROUND else f"{tail[:_AROUND]}…"),
        ]
    )


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the changed part as Markdown, its new words marked; a long part is cut."""
    n_characters = 0
    for i, piece in enumerate(new):
        is_new = len(old) != len(new) or old[i] != piece
        yield f":blue-background[{escape(piece)}]" if is_new and piece.strip() else escape(piece)
        n_characters += len(piece)
        if n_characters > _CHANGED:
            yield "…"
            return


def _n_common(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of equal pieces at the beginnings of both."""
    both = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))


def _pieces(text: str) -> list[str]:
    """The words and the text between them; white space between words becomes one space."""
    cuts = sorted({0, len(text), *(cut for span in split_words(text) for cut in span)})
    return [text[a:b] if text[a:b].strip() else " " for a, b in pairwise(cuts)]


# --- Sizes and keys that all looks share

CHART = "why_chart"
HEIGHT = 300


# --- The two sentences as rows of words or tokens


def row(side: Side, unit: str, values: Doubles | None = None) -> LinkedSentence:
    """One sentence, with a value for each of its words (or tokens).

    Args:
        side: the sentence.
        unit: "words" or "tokens".
        values: (n_units,) or (n_tokens,); None for no values, NaN for a word without one.
    """
    items = _words(side) if unit == WORDS else _tokens(side)
    numbers = [None] * len(items) if values is None else values.tolist()
    return LinkedSentence(
        side.letter,
        color_of(side.index),
        [
            LinkedWord(label, position, "word" if is_of_text else "special", _finite(value), joined)
            for (label, position, is_of_text, joined), value in zip(items, numbers, strict=True)
        ],
    )


def words_drawing(view: ViewState, result: SharesResult | InputsResult | LeaveOutResult) -> str:
    """Both sentences as an SVG, coloured as on the page."""
    *sentences, end = _colored(view, result)
    rows = [
        (each.letter, each.color, [(word.label.strip() or "␣", word.value) for word in each.words])
        for each in sentences
    ]
    return words_svg(rows, end=end, title=str(title_of(result)))


def _colored(
    view: ViewState, result: SharesResult | InputsResult | LeaveOutResult
) -> tuple[LinkedSentence, LinkedSentence, float]:
    """Both sentences with the value of each word, and the value with the strongest colour."""
    unit, score, least = UNIT.of(view), result.score, LEAST
    if isinstance(result, SharesResult):
        shares, least = result.shares(unit), LEAST_SHARE
        values = [
            np.where(compared(side, unit), numbers, np.nan)
            for side, numbers in zip(score.sides, (shares.rows, shares.columns), strict=True)
        ]
    elif isinstance(result, InputsResult):
        values = [_typed(inputs, unit) for inputs in result.sides]
    else:
        unit, values = WORDS, [_changes(result, i) for i in (0, 1)]
    end = signed_end(*values, least=least)
    return row(score.first, unit, values[0]), row(score.second, unit, values[1]), end


def names(side: Side, unit: str) -> list[str]:
    """The text written on each word or token."""
    return [label for label, *_ in (_words(side) if unit == WORDS else _tokens(side))]


def compared(side: Side, unit: str) -> NDArray[np.bool_]:
    """(n_units,) or (n_tokens,) bool, True for those that are compared."""
    is_counted: NDArray[np.bool_] = side.weights != 0
    if unit != WORDS:
        return is_counted
    return np.array([is_counted[list(word.positions)].any() for word in side.units], dtype=bool)


def are_of_text(side: Side, unit: str) -> NDArray[np.bool_]:
    """(n_units,) or (n_tokens,) bool, False for special tokens."""
    items = _words(side) if unit == WORDS else _tokens(side)
    return np.array([is_of_text for _, _, is_of_text, _ in items], dtype=bool)


def picked(view: ViewState, score: Score, unit: str) -> tuple[str, int] | None:
    """The side of the picked word and its index among the side's words or tokens; None for none."""
    name, position = SIDE.of(view), PICKED.of(view)
    side = score.first if name == SIDE.default else score.second
    if not 0 <= position < side.encoding.n_tokens:
        return None
    if unit != WORDS:
        return name, position
    indices = [i for i, word in enumerate(side.units) if position in word.positions]
    return (name, indices[0]) if indices else None


def pick(side: str, position: int) -> None:
    """Write a picked word into the view; -1 for none."""
    view = session.current()
    view = SIDE.put(view, side if position >= 0 else SIDE.default)
    session.write(PICKED.put(view, position))


def _words(side: Side) -> list[tuple[str, int, bool, bool]]:
    """Each word and special token, as `_tokens`; a word that the model cannot read is marked."""
    return [
        (
            f"{unit.label} {side.labels[unit.positions[0]]}"
            if side.unknown.issuperset(unit.positions)
            else unit.label,
            unit.positions[0],
            is_word(unit),
            False,
        )
        for unit in side.units
    ]


def _tokens(side: Side) -> list[tuple[str, int, bool, bool]]:
    """Each token: label, position, True if it is of the text, True if it continues a word."""
    inner = {i for unit in side.units for i in unit.positions[1:]}
    of_text = {i for unit in side.words for i in unit.positions}
    return [(label, i, i in of_text, i in inner) for i, label in enumerate(side.labels)]


def _finite(value: float | None) -> float | None:
    return None if value is None or value != value else value


# --- Leave out: the change of the score without each word

_LEAVE_OUT_CAPTIONS = Captions(
    quantity=say("why.leave_out.quantity"),
    between="",
    low=say("why.leave_out.low"),
    high=say("why.leave_out.high"),
    hint=say("why.leave_out.hint"),
)


def draw_left_out(view: ViewState, result: LeaveOutResult) -> None:
    """Both sentences coloured by the effect of each left-out word."""
    first, second, end = _colored(view, result)
    word_lines(first, second, key="why_words", end=end, captions=_LEAVE_OUT_CAPTIONS)


def left_out_chart(result: LeaveOutResult) -> None:
    """The effect of each left-out word as bars, or of each pair of them as a matrix."""
    _bars(result) if result.pairs is None else _pairs(result, result.pairs)


def _changes(result: LeaveOutResult, index: int) -> Doubles:
    """(n_units,) changes of one side; NaN for words that were not left out."""
    side = result.score.sides[index]
    changes = {word.unit.positions: word.change for word in result.words if word.side == index}
    return np.array([changes.get(unit.positions, np.nan) for unit in side.units], dtype=np.float64)


def _bars(result: LeaveOutResult) -> None:
    title = str(title_of(result))
    is_known = result.order is not None
    figure = word_bars(
        [
            WordBar(
                word.unit.label,
                result.score.sides[word.side].letter,
                word.change,
                -float(share) if is_known else None,
            )
            for word, share in zip(result.words, result.shares, strict=True)
        ],
        quantity=say("why.leave_out.quantity"),
        beside=say("why.leave_out.predicted") if is_known else "",
        title=title,
        height=HEIGHT,
    )
    alt = say("why.leave_out.alt", title=title)
    kit.chart(figure, key=CHART, alt=alt)


def _pairs(result: LeaveOutResult, pairs: Doubles) -> None:
    title = str(title_of(result))
    letters = [side.letter for side in result.score.sides]
    names = [f"{word.unit.label} · {letters[word.side]}" for word in result.words]
    figure = signed_matrix(pairs, names, names, quantity="change", title=title, height=HEIGHT)
    alt = say("why.leave_out.alt_pairs", title=title)
    kit.chart(figure, key=CHART, alt=alt)


# --- Shares: the score as a sum over pairs of words

_SHARES_CAPTIONS = Captions(
    quantity=say("why.shares.quantity"),
    between=say("why.shares.between"),
    low=say("why.shares.low"),
    high=say("why.shares.high"),
    hint=say("why.shares.hint"),
)
_INPUTS_CAPTIONS = replace(_SHARES_CAPTIONS, between="", hint=say("why.inputs.hint"))


def draw_shares(view: ViewState, result: SharesResult) -> None:
    """Both sentences coloured by the share of each word; a word has lines to the other sentence."""
    unit, score = UNIT.of(view), result.score
    first, second, end = _colored(view, result)
    word_lines(
        first,
        second,
        key="why_words",
        end=end,
        captions=_SHARES_CAPTIONS
        if score.vector_kind == "mean"
        else replace(_SHARES_CAPTIONS, hint=say("why.shares.hint_one")),
        cells=result.shares(unit).cells,
        picked=picked(view, score, unit),
        on_pick=pick,
    )


def shares_chart(view: ViewState, result: SharesResult) -> None:
    """The share of each pair of words as a matrix."""
    unit, score = UNIT.of(view), result.score
    first, second = (compared(side, unit) for side in score.sides)
    cells = np.where(np.outer(first, second), result.shares(unit).cells, np.nan)
    _matrix(unit, result, cells, picked(view, score, unit))


def _matrix(
    unit: str, result: SharesResult, cells: Doubles, chosen: tuple[str, int] | None
) -> None:
    score, title = result.score, str(title_of(result))
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


def draw_integrated(view: ViewState, result: InputsResult) -> None:
    """Both sentences coloured by the shares of their typed words."""
    first, second, end = _colored(view, result)
    word_lines(first, second, key="why_words", end=end, captions=_INPUTS_CAPTIONS)


def integrated_chart(view: ViewState, result: InputsResult) -> None:
    """The strongest typed words as bars."""
    unit, title = UNIT.of(view), str(title_of(result))
    figure = word_bars(
        [
            WordBar(name, inputs.side.letter, float(value))
            for inputs in result.sides
            for name, value in zip(names(inputs.side, unit), _typed(inputs, unit), strict=True)
            if not np.isnan(value)
        ],
        quantity=say("why.inputs.quantity"),
        title=title,
        height=HEIGHT,
    )
    kit.chart(figure, key=CHART, alt=say("why.inputs.alt", title=title))


def _typed(inputs: InputShares, unit: str) -> Doubles:
    """The shares of words or tokens; NaN for special tokens, which do not change on the path."""
    values = inputs.by_word if unit == WORDS else inputs.shares
    return np.where(are_of_text(inputs.side, unit), values, np.nan)


# --- Swap in: the effect by token and layer

_SWAP_IN_CAPTIONS = Captions(
    quantity="",
    between=say("why.swap_in.between"),
    low="",
    high="",
    hint=say("why.swap_in.hint"),
)
_TOKENS = "tokens"


def draw_swapped_in(result: SwapInResult) -> None:
    """The aligned tokens, and the effect of each on the result at each layer."""
    left, right = st.columns([5, 6], gap="medium")
    with left:
        _alignment(result)
    with right:
        if result.problem is not None:
            st.info(str(result.problem), icon=":material/info:")
            return
        title, ends = str(title_of(result)), (result.receiver.letter, result.donor.letter)
        figure = swap_heatmap(
            result.fractions, result.names, result.layers, ends=ends, title=title, height=HEIGHT
        )
        alt = say("why.swap_in.alt", title=title, a=ends[0], b=ends[1])
        kit.chart(figure, key=CHART, alt=alt)


def _alignment(result: SwapInResult) -> None:
    is_turned = result.receiver is not result.score.first
    alignment = result.alignment.turned if is_turned else result.alignment
    word_lines(
        _alone(row(result.score.first, _TOKENS), alignment.first_alone),
        _alone(row(result.score.second, _TOKENS), alignment.second_alone),
        key="why_words",
        end=1.0,
        captions=_SWAP_IN_CAPTIONS,
        links=alignment.pairs,
    )


def _alone(sentence: LinkedSentence, places: tuple[int, ...]) -> LinkedSentence:
    """The row, with its tokens that lack a partner marked."""
    words = list(sentence.words)
    for i in places:
        words[i] = replace(words[i], kind="alone")
    return replace(sentence, words=words)


# --- Switch off: the effect of each head

_N_STRONGEST = 10
# The Attention page's controls that a link sets. That page declares them; a test compares both.
_HEAD = Text(page="attention", name="head", label="Head")
_SHOW = Text(page="attention", name="show", default="One head", label="Show")
_SENTENCE = Text(page="attention", name="sentence", default="A", label="Sentence")


def draw_switched_off(view: ViewState, result: SwitchOffResult) -> None:
    """All heads as a grid, whole parts as bars, and the strongest heads as links to Attention."""
    if not result.layers:
        st.info(say("why.switch_off.empty"), icon=":material/layers:")
        return
    left, right = st.columns([8, 3], gap="medium")
    with left:
        title = str(title_of(result))
        figure = switched_off(
            result.heads, result.attention, result.feed_forward, title=title, height=HEIGHT
        )
        kit.chart(figure, key=CHART, alt=say("why.switch_off.alt", title=title))
    with right, st.container(key="why_heads", gap="xsmall"):
        st.caption(say("why.switch_off.strongest"))
        for head in result.strongest(_N_STRONGEST):
            opened = _on_head(view, result.score.first.letter, head.layer, head.head)
            navigation.link(
                navigation.row("attention"), opened, label=_label(result, head),
                icon=":material/hub:",
            )  # fmt: skip


def _on_head(view: ViewState, sentence: str, layer: int, head: int) -> ViewState:
    """The view that opens Attention on a sentence's head (layers from 1, heads from 0)."""
    view = _SENTENCE.put(_SHOW.put(view, _SHOW.default), sentence)
    return _HEAD.put(view, f"{layer}.{head}")


def _label(result: SwitchOffResult, head: HeadEffect) -> str:
    """A head, its change and, if that is a mean over pairs, the number of pairs with its sign."""
    change = two(head.change).replace("-", "\N{MINUS SIGN}")
    sign = "+" if head.change > 0 and change != "0.00" else ""
    agreed = f" · {head.n_alike} of {result.n_pairs}" if result.n_pairs > 1 else ""
    return f"layer {head.layer}, head {head.head}: {sign}{change}{agreed}"
