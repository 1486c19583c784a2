"""Edits of a sentence, from a score to what is shown: each with its cosine, ranked."""

from __future__ import annotations

from dataclasses import dataclass

from components.core import EncoderService
from components.core.schema import Counted, Vocabulary
from components.core.words import Span
from components.features.why.compute.running import Run, vectors_of
from components.features.why.compute.score import Score, Side
from components.features.why.edits.edit import FUNCTION_WORDS, Edit
from components.features.why.edits.english import is_english
from components.features.why.edits.names import other_names
from components.features.why.edits.negation import negations
from components.features.why.edits.neighbours import case_shape, with_neighbours
from components.features.why.edits.order import swapped_order
from components.features.why.edits.writing import other_cases, typo
from components.features.why.measures.target import What, cosine, vector_of, weights_of
from components.features.why.measures.units import Unit

__all__ = ["EditsShown", "RankedEdit", "edits_of", "neighbours_of"]

_MOST = 6
"""Words that are replaced by a neighbour at most, the chosen one first."""
_SHARED = 3
"""Letters that two words may not begin with alike; of long words, all but two of the shorter."""
_LOOKED_AT = 40
"""Rows of the word table among which a neighbour is looked for."""


@dataclass(frozen=True)
class RankedEdit:
    """An edit, and the cosine of what it gives with the sentence as it is."""

    edit: Edit
    cosine: float


@dataclass(frozen=True, eq=False)
class EditsShown:
    """The edits of the first sentence, the least alike first.

    Attributes:
        score: whose first sentence is edited.
        what: the vector compared: "mean" or "cls" ("mean" where words are chosen).
        edits: ranked by their cosine, the lowest first.
        is_english: True if the sentence is; there are no edits of others.
    """

    score: Score
    what: What
    edits: tuple[RankedEdit, ...]
    is_english: bool

    @property
    def side(self) -> Side:
        """The sentence that is edited."""
        return self.score.first


def edits_of(
    score: Score, service: EncoderService, *, progress: Counted | None = None
) -> EditsShown:
    """All ready edits of the first sentence, with the cosine of each at the score's layer.

    They follow the rules of English: of what is not clearly English there are none.

    Args:
        score: whose first sentence is edited; its second text, where it has one, stays.
        service: runs the model, and knows its word table.
        progress: told how many runs are done; what it raises ends the work.
    """
    side, what = score.first, score.what if score.what != "word" else "mean"
    text, pair = side.encoding.text, side.encoding.pair
    if not is_english(text):
        return EditsShown(score.lean, what, (), is_english=False)
    found = [
        *negations(text),
        *swapped_order(text),
        *with_neighbours(text, neighbours_of(side, service, score.card.id)),
        *other_names(text),
        *typo(text),
        *other_cases(text),
    ]
    edits = list({edit.text: edit for edit in reversed(found) if edit.text != text}.values())
    runs = [Run(edit.text, pair, lambda tokens: weights_of(tokens, what)) for edit in edits]
    vectors = vectors_of(runs, service, score.card, layer=score.layer, progress=progress)
    whole = vector_of(side.encoding.layer(score.layer), weights_of(side.encoding, what))
    ranked = [
        RankedEdit(edit, cosine(whole, own)) for edit, own in zip(edits, vectors, strict=True)
    ]
    order = tuple(sorted(ranked, key=lambda each: (each.cosine, each.edit.text)))
    return EditsShown(score.lean, what, order, is_english=True)


def neighbours_of(side: Side, service: EncoderService, model: str) -> dict[Span, str]:
    """For some words of a sentence, the nearest word of the table that is written alike.

    Only words that are one token of the vocabulary, and no function words.
    """
    vocabulary = service.vocabulary(model)
    words = [u for u in side.words if u.text_id == 0 and _is_whole(u, side, vocabulary)]
    chosen = side.sentence.word
    words.sort(key=lambda unit: (unit.span != chosen, -len(unit.label), unit.positions))
    found: dict[Span, str] = {}
    for unit in words[:_MOST]:
        new = _neighbour(unit, side, service, model)
        if unit.span is not None and new:
            found[unit.span] = new
    return found


def _is_whole(unit: Unit, side: Side, vocabulary: Vocabulary) -> bool:
    """Whether a word is one token of the vocabulary, of letters, and worth replacing."""
    if len(unit.positions) > 1 or not unit.label.isalpha():
        return False
    token = int(side.encoding.token_ids[unit.positions[0]])
    plain = unit.label.casefold()
    return vocabulary.texts[token].casefold() == plain and plain not in FUNCTION_WORDS


def _neighbour(unit: Unit, side: Side, service: EncoderService, model: str) -> str:
    """The nearest other word that is written alike; "" for none."""
    vocabulary = service.vocabulary(model)
    token = int(side.encoding.token_ids[unit.positions[0]])
    row = service.word_rows(model, [token])[0]
    shape, plain = case_shape(unit.label), unit.label.casefold()
    small = vocabulary.texts[token] == plain != unit.label  # the model does not know capitals
    for other, _, _ in service.nearest_rows(model, row, _LOOKED_AT):
        new = vocabulary.texts[other]
        if small and shape == "Title":
            new = new[:1].upper() + new[1:]
        elif small and shape == "CAPITALS":
            new = new.upper()
        if _is_other_word(new, plain, shape) and vocabulary.kinds[other] == vocabulary.kinds[token]:
            return new
    return ""


def _is_other_word(new: str, plain: str, shape: str) -> bool:
    """Whether it is written alike and no other form of the same word, as its beginning tells."""
    if not new.isalpha() or case_shape(new) != shape:
        return False
    n = max(_SHARED, min(len(new), len(plain)) - 2)
    return new.casefold()[:n] != plain[:n]
