"""The blanks of a view's sentences: which words are hidden, and the texts that the model reads.

A word of one piece is hidden by the mask token in the place of its own token. A word of several
pieces is hidden piece by piece, or as one blank: then the text is read with the mask token typed
in the word's place. A mask token that a visitor typed is a blank, too.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from contextlens.analysis.tokens import labels
from contextlens.core import EncoderService
from contextlens.core.schema import IntArray, Tokens, Vocabulary
from contextlens.core.words import Span, split_words
from contextlens.features.blank.controls import (
    CUT,
    HIDDEN,
    HIDE,
    MAX_BLANKS,
    MAX_HIDDEN_WORDS,
    MAX_PIECES,
    ONE,
    READ,
    REPLACE,
    WORD,
    Read,
)
from contextlens.ui.state.view import (
    MAX_SENTENCES,
    MAX_VALUE_CHARACTERS,
    Sentence,
    ViewState,
    last_content_word,
)

_ENTRY = re.compile(r"(\d):((?:\d{1,4},){0,20}(?:\d{1,4})?)(?:~([0-9a-f]{4}))?", re.ASCII)


@dataclass(frozen=True)
class Blank:
    """One place that is predicted.

    Attributes:
        position: of its token in the text that the model reads.
        text_id: 0 for a sentence's first text, 1 for its second.
        span: what it covers of the text as written.
        written: what is written there; "" if that is the mask token.
        written_id: the ID of that, if it is one token.
        read_id: the ID of another word's token that the model reads there instead, if any.
        n_pieces: the number of tokens of what is written there.
        is_start: True if it is the first token of its word.
    """

    position: int
    text_id: int
    span: Span
    written: str
    written_id: int | None
    read_id: int | None = None
    n_pieces: int = 1
    is_start: bool = True


@dataclass(frozen=True, eq=False)
class BlankedSentence:
    """One sentence with its blanks.

    Attributes:
        index: of the sentence in the view.
        sentence: as written.
        tokens: the tokens of the sentence as written.
        read: the tokens of the text that the model reads, before tokens are hidden.
        words: for each word of the text, True if it can be hidden.
        hidden: the indices of the chosen words.
        blanks: those that are shown, in order.
        places: all positions that are predicted; those of `blanks` are the first.
        n_left_out: blanks that are not shown.
    """

    index: int
    sentence: Sentence
    tokens: Tokens
    read: Tokens
    words: tuple[bool, ...]
    hidden: tuple[int, ...]
    blanks: tuple[Blank, ...]
    places: tuple[int, ...]
    n_left_out: int

    def with_gaps(self, gap: str) -> str:
        """Return the text with its hidden words replaced by a gap."""
        text, spans = self.sentence.text, split_words(self.sentence.text)
        for start, end in (spans[word] for word in reversed(self.hidden)):
            text = text[:start] + gap + text[end:]
        return text


# --- The words that a visitor chose to hide


def chosen_words(view: ViewState) -> dict[int, tuple[int, ...]]:
    """Return the words that the view names for sentences, if it was written for their texts."""
    chosen: dict[int, tuple[int, ...]] = {}
    for match in map(_ENTRY.fullmatch, HIDDEN.of(view)[:MAX_VALUE_CHARACTERS].split()):
        if match is None or int(match[1]) >= len(view.sentences):
            continue
        index = int(match[1])
        if match[3] in (None, _stamp(view.sentences[index])):
            words = sorted({int(word) for word in match[2].split(",") if word})
            chosen[index] = tuple(words[:MAX_HIDDEN_WORDS])
    return chosen


def with_chosen_words(view: ViewState, index: int, words: Iterable[int]) -> ViewState | None:
    """Return the view in which these words of a sentence are hidden; None if that is too long."""
    chosen = {**chosen_words(view), index: tuple(sorted(set(words)))}
    if len(chosen[index]) > MAX_HIDDEN_WORDS or not 0 <= index < MAX_SENTENCES:
        return None
    text = written_choice(view, chosen)
    return HIDDEN.put(view, text) if len(text) <= MAX_VALUE_CHARACTERS else None


def written_choice(view: ViewState, chosen: Mapping[int, Iterable[int]]) -> str:
    """Return hidden words as the control holds them: "0:3~9f2a 1:4,5~03bc".

    Before the colon stands the sentence, then its words, counted from 0. The four digits belong to
    the text and its chosen word: when these change, the chosen word is hidden again.
    """
    return " ".join(
        f"{index}:{','.join(map(str, words))}~{_stamp(view.sentences[index])}"
        for index, words in sorted(chosen.items())
        if index < len(view.sentences)
    )


def _stamp(sentence: Sentence) -> str:
    content = repr((sentence.text, sentence.word)).encode("utf-8", "backslashreplace")
    return f"{zlib.crc32(content) & 0xFFFF:04x}"


# --- The texts that the model reads


@dataclass(frozen=True, eq=False)
class _Draft:
    """A sentence before the model's tokenizer has read its blanks.

    Attributes:
        words: for each word of the text, True if it can be hidden.
        hidden: the indices of the hidden words.
        edits: the new text for spans of the text.
    """

    sentence: Sentence
    written: Tokens
    words: tuple[bool, ...]
    hidden: tuple[int, ...]
    edits: Mapping[Span, str]

    @property
    def text(self) -> str:
        """The text that the model reads."""
        text = self.sentence.text
        for (start, end), new in sorted(self.edits.items(), reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def moved(self, span: Span) -> Span:
        """Return where a span of the text stands in the text that the model reads."""
        before = [(len(new) - (b - a)) for (a, b), new in self.edits.items() if b <= span[0]]
        start = span[0] + sum(before)
        return start, start + len(self.edits.get(span, " " * (span[1] - span[0])))


@dataclass(frozen=True)
class _Place:
    """One blank or the blanks of one word: its span in the text as written, and as read."""

    span: Span
    read_span: Span
    text_id: int
    is_typed: bool


def blanked_sentences(
    view: ViewState, service: EncoderService, vocabulary: Vocabulary
) -> list[BlankedSentence]:
    """Return every sentence of a view with its blanks, in order."""
    pairs = [sentence.pair for sentence in view.sentences]
    written = service.tokenize(view.model, [s.text for s in view.sentences], pairs=pairs)
    drafts = [_draft(view, i, tokens, vocabulary) for i, tokens in enumerate(written)]
    read = written
    if any(draft.edits for draft in drafts):
        read = service.tokenize(view.model, [draft.text for draft in drafts], pairs=pairs)
    is_hidden = what_is_read(view) == HIDE
    return [
        _blanked(i, draft, tokens, vocabulary, is_hidden=is_hidden)
        for i, (draft, tokens) in enumerate(zip(drafts, read, strict=True))
    ]


def what_is_read(view: ViewState) -> Read:
    """Return what the model reads at the blanks; without another word, words are hidden."""
    how = cast(Read, READ.of(view))
    return "hidden" if how == REPLACE and not WORD.of(view).strip() else how


def _draft(view: ViewState, index: int, tokens: Tokens, vocabulary: Vocabulary) -> _Draft:
    sentence, how = view.sentences[index], what_is_read(view)
    spans, typed = split_words(sentence.text), _typed(tokens, vocabulary, 0)
    words = tuple(
        bool(_overlapping(tokens, span, 0).size)
        and not any(a < span[1] and span[0] < b for a, b in typed)
        for span in spans
    )
    hidden = _hidden(sentence, words, chosen_words(view).get(index), has_typed=bool(typed))
    edits: dict[Span, str] = {}
    for span in (spans[word] for word in hidden):
        n_pieces = len(_overlapping(tokens, span, 0))
        is_one = n_pieces > 1 and (CUT.of(view) == ONE or n_pieces > MAX_PIECES)
        if how == REPLACE:
            edits[span] = WORD.of(view).strip()
        elif how == HIDE and is_one and vocabulary.mask_id is not None:
            edits[span] = vocabulary.pieces[vocabulary.mask_id]
    return _Draft(sentence, tokens, words, hidden, edits)


def _hidden(
    sentence: Sentence, words: Sequence[bool], chosen: Sequence[int] | None, *, has_typed: bool
) -> tuple[int, ...]:
    """Return the words to hide: the visitor's, the chosen one, or the last that the model reads."""
    can_be = [i for i, can in enumerate(words) if can]
    if chosen is not None:
        return tuple(i for i in chosen if i in can_be)
    if has_typed:
        return ()
    spans = split_words(sentence.text)
    if sentence.word is not None:
        start, end = sentence.word
        inside = [i for i in can_be if spans[i][0] < end and start < spans[i][1]]
        if inside:
            return tuple(inside[:MAX_HIDDEN_WORDS])
    last = last_content_word(sentence.text[: spans[can_be[-1]][1]]) if can_be else None
    return tuple(i for i in can_be if last is not None and spans[i] == last)


def _blanked(
    index: int, draft: _Draft, read: Tokens, vocabulary: Vocabulary, *, is_hidden: bool
) -> BlankedSentence:
    spans = split_words(draft.sentence.text)
    places = [_Place(spans[i], draft.moved(spans[i]), 0, is_typed=False) for i in draft.hidden]
    for text_id in (0, 1):
        for span in _typed(draft.written, vocabulary, text_id):
            moved = draft.moved(span) if text_id == 0 else span
            places.append(_Place(span, moved, text_id, is_typed=True))
    blanks: dict[int, Blank] = {}
    typed: set[int] = set()
    for place in places:
        for blank in _at(place, draft, read, vocabulary, is_hidden=is_hidden):
            blanks.setdefault(blank.position, blank)
            typed |= {blank.position} if place.is_typed else set()
    ordered = sorted(blanks.values(), key=lambda blank: blank.position)
    left_out = ordered[MAX_BLANKS:]
    # All tokens of hidden words must be hidden; what is typed is so in any case.
    more = [b.position for b in left_out if is_hidden and b.position not in typed]
    return BlankedSentence(
        index=index,
        sentence=draft.sentence,
        tokens=draft.written,
        read=read,
        words=draft.words,
        hidden=draft.hidden,
        blanks=tuple(ordered[:MAX_BLANKS]),
        places=(*(blank.position for blank in ordered[:MAX_BLANKS]), *more),
        n_left_out=len(left_out),
    )


def _at(
    place: _Place, draft: _Draft, read: Tokens, vocabulary: Vocabulary, *, is_hidden: bool
) -> list[Blank]:
    """Return the blanks of one place: none if the model does not read it."""
    written = draft.written
    before = _overlapping(written, place.span, place.text_id)
    now = _overlapping(read, place.read_span, place.text_id)
    is_edited = place.text_id == 0 and place.span in draft.edits
    if place.is_typed or (is_edited and is_hidden):
        # A tokenizer may count the space before its mask token as part of it.
        now = now[read.token_ids[now] == vocabulary.mask_id][:1]
    if place.is_typed:
        return [Blank(int(p), place.text_id, place.span, "", None) for p in now]
    ids = [int(i) if i != vocabulary.unknown_id else None for i in written.token_ids[before]]
    text = written.text[slice(*place.span)]
    if is_edited:
        is_one = len(before) == 1 == len(now)
        return [
            Blank(
                position,
                0,
                place.span,
                text,
                ids[0] if is_one else None,
                read_id=None if is_hidden else int(read.token_ids[position]),
                n_pieces=len(before),
                is_start=n == 0,
            )
            for n, position in enumerate(now.tolist())
        ]
    if len(before) != len(now):
        return []
    names = labels(written, vocabulary)
    return [
        Blank(
            position,
            0,
            place.span,
            text if len(before) == 1 else names[old],
            token_id,
            is_start=n == 0,
        )
        for n, (old, position, token_id) in enumerate(
            zip(before.tolist(), now.tolist(), ids, strict=True)
        )
    ]


def _overlapping(tokens: Tokens, span: Span, text_id: int) -> IntArray:
    """Return the positions of the tokens that overlap a span."""
    inside = (tokens.offsets[:, 0] < span[1]) & (tokens.offsets[:, 1] > span[0])
    positions: IntArray = np.flatnonzero(inside & (tokens.text_ids == text_id))
    return positions


def _typed(tokens: Tokens, vocabulary: Vocabulary, text_id: int) -> list[Span]:
    """Return the spans of the mask tokens that a visitor typed, without spaces before them."""
    text, mask_id = (tokens.text, tokens.pair or "")[text_id], vocabulary.mask_id
    if mask_id is None:
        return []
    at = np.flatnonzero((tokens.token_ids == mask_id) & (tokens.text_ids == text_id))
    spans = []
    for start, end in tokens.offsets[at].tolist():
        own = text[start:end]
        spans.append((start + len(own) - len(own.lstrip()), end))
    return spans
