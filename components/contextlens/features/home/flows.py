"""Context flows: how far each word around the chosen one moves it, at every layer.

A word is hidden from attention and keeps its place (`schema.Block`), so that layer 0 moves nothing.
How far it moves the chosen word is 1 less the cosine of that word's vectors with and without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.shares import Doubles, is_word, units_of
from contextlens.analysis.words import Pooling, pool, token_positions
from contextlens.content.language import Claim, claim
from contextlens.content.wording import isolated, shortened
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import Block, FloatArray
from contextlens.features.home.controls import (
    MAX_HIDDEN_TOKENS,
    MAX_HIDDEN_WORDS,
    MIN_HIDDEN_WORDS,
)
from contextlens.jobs import Report, Task, page_work
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.comparison.compute import Chosen, Meaning

ARCS = page_work("arcs", "Hiding each word in turn")
NOTICEABLE = 0.003
"""The least change that is worth naming: a word that moves another by less moves it hardly."""
_NEARLY = 0.9
"""The share of the largest change from which another word moves the chosen one about as far."""
_STATES_BYTES = 32 * 2**20
"""Bytes of hidden states that are in memory at a time."""
_WORD = 24  # characters of a word on its chip


@dataclass(frozen=True)
class FlowWord:
    """A word of a sentence.

    Attributes:
        text: as written.
        positions: those of its tokens.
        is_chosen: True if it is the chosen word, or a part of it.
        is_glued: True if no space is before it.
    """

    text: str
    positions: tuple[int, ...]
    is_chosen: bool
    is_glued: bool


@dataclass(frozen=True)
class Row:
    """The words of one sentence around its chosen word.

    Attributes:
        label: the sentence's letter.
        color: its index in the palette.
        name: the chosen word.
        words: the drawn words, in order.
        n_words: the number of words in the sentence that the model reads.
        is_cut: True if words before, and after, the drawn ones are left out.
    """

    label: str
    color: int
    name: str
    words: tuple[FlowWord, ...]
    n_words: int
    is_cut: tuple[bool, bool]

    @property
    def hidden(self) -> list[int]:
        """The indices of the words that are hidden in turn."""
        return [i for i, word in enumerate(self.words) if not word.is_chosen]


def rows_of(meaning: Meaning) -> list[Row]:
    """Return the words of each sentence of a comparison that are drawn and hidden in turn."""
    sentences = [chosen for chosen in meaning.chosen if chosen.item.role == "sentence"]
    return [_row(chosen, _most(chosen, len(sentences))) for chosen in sentences]


def _most(chosen: Chosen, n_sentences: int) -> int:
    affordable = MAX_HIDDEN_TOKENS // n_sentences // max(1, chosen.encoding.n_tokens)
    return min(MAX_HIDDEN_WORDS, max(MIN_HIDDEN_WORDS, affordable))


def _row(chosen: Chosen, most: int) -> Row:
    start, end = chosen.span
    words: list[FlowWord] = []
    before = -1
    for unit in filter(is_word, units_of(chosen.encoding)):
        first, last = unit.span or (0, 0)
        is_chosen = first < end and last > start
        words.append(FlowWord(unit.label, unit.positions, is_chosen, first == before))
        before = last
    inside = [i for i, word in enumerate(words) if word.is_chosen]
    low, high = inside[0], inside[-1]
    others = [i for i in range(len(words)) if i < low or i > high]
    nearest = sorted(others, key=lambda i: max(low - i, i - high))[:most]
    low, high = min([low, *nearest]), max([high, *nearest]) + 1
    item = chosen.item
    is_cut = low > 0, high < len(words)
    return Row(item.label, item.color, item.word, tuple(words[low:high]), len(words), is_cut)


# --- The changes


def task_of(
    meaning: Meaning, rows: Sequence[Row], service: EncoderService, card: ModelCard
) -> Task:
    """Return the job that hides each word in turn: for each row, (n_layers, n_words) changes."""
    sentences = [chosen for chosen in meaning.chosen if chosen.item.role == "sentence"]
    drawn = zip(sentences, rows, strict=True)
    key = tuple((chosen.encoding.text, chosen.span, len(row.words)) for chosen, row in drawn)
    pooling = meaning.pooling

    def work(report: Report) -> list[FloatArray]:
        found: list[FloatArray] = []
        for chosen, row in zip(sentences, rows, strict=True):
            report(ARCS.first_words, len(found) / len(rows))
            found.append(changes(chosen, row, service, card, pooling))
        return found

    return Task(("arcs", card.id, card.checksum, pooling, key), ARCS, work)


def changes(
    chosen: Chosen, row: Row, service: EncoderService, card: ModelCard, pooling: Pooling
) -> FloatArray:
    """(n_layers, n_words): how far hiding each word moves the chosen one; 0 for that one itself."""
    encoding = chosen.encoding
    positions = token_positions(encoding, chosen.span)
    whole = _units(pool(encoding.hidden[:, positions], pooling))
    found = np.zeros((len(encoding.layers), len(row.words)), dtype=np.float32)
    portion = max(1, _STATES_BYTES // max(1, encoding.hidden.nbytes))
    for first in range(0, len(row.hidden), portion):
        words = row.hidden[first : first + portion]
        encoded = service.intervene(
            card.id,
            [encoding.text] * len(words),
            [[Block(token=i) for i in row.words[word].positions] for word in words],
        )
        for word, without in zip(words, encoded, strict=True):
            vectors = _units(pool(without.hidden[:, positions], pooling))
            found[:, word] = np.clip(1 - np.einsum("ld,ld->l", whole, vectors), 0, 2)
    return found


def _units(vectors: FloatArray) -> Doubles:
    doubles = vectors.astype(np.float64)
    lengths = np.linalg.norm(doubles, axis=-1, keepdims=True)
    units: Doubles = np.divide(doubles, lengths, out=np.zeros_like(doubles), where=lengths > 0)
    return units


# --- In words


def named(word: str) -> str:
    """Return a visitor's word for a plain text."""
    return isolated(shortened(visible(word), _WORD))


def strongest(row: Row, at_layer: FloatArray) -> list[int]:
    """Return the words that move the chosen one most: the first, and a second about as strong.

    None if no word moves it noticeably, or if more than two are about as strong.

    Args:
        row: the sentence.
        at_layer: (n_words,) the changes at one layer.
    """
    order = sorted(row.hidden, key=lambda i: -float(at_layer[i]))
    if not order or at_layer[order[0]] < NOTICEABLE:
        return []
    top = [i for i in order if at_layer[i] >= _NEARLY * at_layer[order[0]]]
    return top if len(top) <= 2 else []


def movers(row: Row, at_layer: FloatArray | None) -> Claim:
    """Return which word moves the chosen one most at a layer."""
    word = named(row.name)
    if not row.hidden:
        return claim("home.flow.alone", word=word)
    if at_layer is None:
        return claim("home.flow.soon", word=word)
    top = strongest(row, at_layer)
    if not top:
        is_any = float(at_layer.max()) >= NOTICEABLE
        return claim(f"home.flow.{'many' if is_any else 'nothing'}", word=word)
    names = [named(row.words[i].text) for i in top]
    if len(top) == 1:
        return claim("home.flow.one", other=names[0], word=word)
    return claim("home.flow.two", first=names[0], second=names[1], word=word)


def cut_note(rows: Sequence[Row]) -> list[Claim]:
    """Return what is left out of long sentences."""
    return [
        claim("home.flow.cut", label=row.label, n_words=row.n_words, n=len(row.hidden))
        for row in rows
        if any(row.is_cut)
    ]


def hover(row: Row, index: int, at_layer: FloatArray | None) -> str:
    """Return what is said of a word under the pointer."""
    text = named(row.words[index].text)
    if at_layer is None or row.words[index].is_chosen:
        return text
    values = {"other": text, "word": named(row.name), "change": float(at_layer[index])}
    return str(claim("home.flow.hover", **values))
