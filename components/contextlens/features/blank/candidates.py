"""A visitor's own words for the blanks, each with the token that it would be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextlens.analysis.tokens import labels
from contextlens.core import EncoderService
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.features.blank.blanks import Blank, BlankedSentence
from contextlens.features.blank.controls import CANDIDATES, MAX_CANDIDATES
from contextlens.ui.state.view import ViewState

_SIGN = "▁"  # a token of its own where a word that follows a space has none with it


@dataclass(frozen=True)
class Candidate:
    """A word at one blank.

    Attributes:
        text: as typed.
        token_id: the ID of its token; None if it is not one token.
        pieces: the labels of its tokens if it is not one; itself if no token of that text
            continues a word; none if the tokenizer does not know it.
    """

    text: str
    token_id: int | None
    pieces: tuple[str, ...] = ()


def typed_candidates(view: ViewState) -> list[str]:
    """Return the words in the field, each once."""
    parts = (" ".join(part.split()) for part in CANDIDATES.of(view).split(","))
    return list(dict.fromkeys(filter(None, parts)))[:MAX_CANDIDATES]


def candidates_of(
    view: ViewState,
    sentences: Sequence[BlankedSentence],
    service: EncoderService,
    vocabulary: Vocabulary,
) -> dict[tuple[int, int], tuple[Candidate, ...]]:
    """Return the typed words at every blank, by its sentence and its position.

    A word is cut as it would be in the blank's place: the characters beside it decide about its
    sign for a space, and about its case where it begins the text.
    """
    words = typed_candidates(view)
    if not words:
        return {}
    blanks = [(s, blank) for s in sentences for blank in s.blanks]
    around = {(s.index, blank.position): _around(s, blank) for s, blank in blanks}
    texts = list(dict.fromkeys(a + word + b for a, b in around.values() for word in words)) or words
    cut = dict(zip(texts, service.tokenize(view.model, texts), strict=True))
    plain = dict(zip(words, service.normalize(view.model, words), strict=True))
    continuing = _continuations(vocabulary) if not all(b.is_start for _, b in blanks) else {}
    found: dict[tuple[int, int], tuple[Candidate, ...]] = {}
    for sentence, blank in blanks:
        key = sentence.index, blank.position
        before, after = around[key]
        candidates = []
        for word in words:
            tokens = cut[before + word + after]
            token_id = vocabulary.ids.get(word) if _is_piece(word, vocabulary) else None
            if token_id is None and not blank.is_start:
                token_id = continuing.get(plain[word].strip())
            if token_id is None:
                candidates.append(_as_cut(word, tokens, len(before), blank, vocabulary))
            else:
                candidates.append(Candidate(word, token_id))
        found[key] = tuple(candidates)
    return found


def _around(sentence: BlankedSentence, blank: Blank) -> tuple[str, str]:
    """Return the characters before and after a blank's word."""
    text = (sentence.sentence.text, sentence.sentence.pair or "")[blank.text_id]
    start, end = blank.span
    return text[max(0, start - 1) : start], text[end : end + 1]


def _is_piece(word: str, vocabulary: Vocabulary) -> bool:
    """True if a word is written as the tokenizer writes a piece that has a sign: "##ing"."""
    token_id = vocabulary.ids.get(word)
    return token_id is not None and vocabulary.texts[token_id] != word


def _continuations(vocabulary: Vocabulary) -> Mapping[str, int]:
    pieces = enumerate(zip(vocabulary.texts, vocabulary.kinds, strict=True))
    return {text: i for i, (text, kind) in pieces if kind == "continuation"}


def _as_cut(
    word: str, tokens: Tokens, start: int, blank: Blank, vocabulary: Vocabulary
) -> Candidate:
    """Return a word as the tokenizer cuts it."""
    if not blank.is_start:
        return Candidate(word, None, (word,))
    inside = [
        i
        for i, (a, b) in enumerate(tokens.offsets.tolist())
        if tokens.text_ids[i] >= 0 and a < start + len(word) and b > start
    ]
    if inside and inside[0] > 0 and tokens.tokens[inside[0] - 1] == _SIGN:
        inside = [inside[0] - 1, *inside]
    ids = [int(tokens.token_ids[i]) for i in inside]
    if len(ids) == 1 and ids[0] != vocabulary.unknown_id:
        return Candidate(word, ids[0])
    if not ids or vocabulary.unknown_id in ids:
        return Candidate(word, None)
    names = labels(tokens, vocabulary)
    return Candidate(word, None, tuple(names[i] for i in inside))
