"""The label that is explained, of a sentence or of one of its words, and its edited texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.leaving_out import cut_out
from contextlens.analysis.shares import Unit, is_word, units_of
from contextlens.content.language import say
from contextlens.content.wording import listed_names, percent, quoted, two
from contextlens.core import EncoderService
from contextlens.core.schema import Classification, Counted, FloatArray, Labels, ModelCard
from contextlens.core.words import Span, token_of_word
from contextlens.features.labels.text_labels import LabelledText, answer_of, label_name
from contextlens.features.labels.token_labels import LabelledWord

_AT_ONCE = 16  # texts


@dataclass(frozen=True)
class EditedText:
    """A text and its pair after an edit, and where the labelled word now is; None for the text."""

    text: str
    pair: str | None
    at: Span | None = None


@dataclass(frozen=True, eq=False)
class Explained:
    """One label of one sentence, or of one of its words.

    Attributes:
        card: the model's card.
        text: the sentence, and what the head says of it.
        label: the index of the label.
        word: the word that has the label, by a head for tokens; None by one for texts.
    """

    card: ModelCard
    text: LabelledText
    label: int
    word: LabelledWord | None = None

    @property
    def result(self) -> Classification:
        """What the head says of the sentence."""
        return self.text.result

    @property
    def labels(self) -> Labels:
        """The labels of the head."""
        return self.card.labels

    @property
    def token(self) -> int | None:
        """The position whose label is explained; None for the text's own."""
        return None if self.word is None else self.word.positions[0]

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies the sentence, and the word in it, in this model."""
        tokens = self.result.tokens
        return (self.card.id, self.card.checksum, tokens.text, tokens.pair, self.token)

    @property
    def scores(self) -> FloatArray:
        """(n_labels,) the scores of the sentence, or of the word."""
        scores: FloatArray = self.result.scores[... if self.token is None else self.token]
        return scores

    @property
    def score(self) -> float:
        """The label's score."""
        return float(self.scores[self.label])

    @property
    def span(self) -> Span | None:
        """Where the labelled word is, without white space."""
        if self.word is None:
            return None
        start, end = self.word.span
        own = self.result.tokens.text[start:end]
        start += len(own) - len(own.lstrip())
        return start, start + len(own.strip())

    @property
    def subject(self) -> str:
        """The name of what has the label: the sentence's letter, or the word."""
        span = self.span
        return self.text.letter if span is None else quoted(self.result.tokens.text[slice(*span)])

    @property
    def name(self) -> str:
        """The label's name, for a sentence in Markdown."""
        return label_name(self.labels, self.label)

    def told(self, value: float) -> str:
        """Return a score as people say it: in per cent, but for a regression."""
        return two(value) if self.labels.scores == "none" else percent(min(max(value, 0.0), 1.0))

    def answer(self, scores: FloatArray | None = None) -> tuple[int, ...]:
        """Return the labels that are the answer by some scores; by default by its own."""
        return answer_of(self.scores if scores is None else scores, self.labels)

    def named(self, scores: FloatArray) -> str:
        """Return the answer by some scores with their numbers; "" if no label is given."""
        names = [
            say("labels.texts.named", label=label_name(self.labels, i), score=percent(scores[i]))
            for i in self.answer(scores)
        ]
        return listed_names(names)

    # Edits

    def words(self, *, all_words: bool = False) -> tuple[Unit, ...]:
        """Return the words of the sentence; the labelled one only if all are asked for."""
        words = tuple(unit for unit in units_of(self.result.tokens) if is_word(unit))
        if self.span is None or all_words:
            return words
        start, end = self.span
        return tuple(
            unit
            for unit in words
            if unit.span is not None and (unit.span[1] <= start or end <= unit.span[0])
        )

    def without(self, unit: Unit) -> EditedText:
        """Return the text, or its pair, without a word."""
        tokens, span = self.result.tokens, _span_of(unit)
        if unit.text_id == 1:
            pair = cut_out(tokens.pair or "", [span]).text
            return EditedText(tokens.text, pair if pair.strip() else None)
        rest = cut_out(tokens.text, [span])
        return EditedText(
            rest.text, tokens.pair, None if self.span is None else rest.moved(self.span)
        )

    def replaced(self, unit: Unit, word: str) -> EditedText:
        """Return the text, or its pair, with another word in the place of one."""
        tokens, (start, end) = self.result.tokens, _span_of(unit)
        if unit.text_id == 1:
            pair = tokens.pair or ""
            return EditedText(tokens.text, pair[:start] + word + pair[end:])
        at, moved = self.span, len(word) - (end - start)
        if at is not None and start < at[0]:
            at = at[0] + moved, at[1] + moved
        return EditedText(tokens.text[:start] + word + tokens.text[end:], tokens.pair, at)

    def read(
        self,
        edits: Sequence[EditedText],
        service: EncoderService,
        *,
        progress: Counted | None = None,
    ) -> FloatArray:
        """(n_edits, n_labels) scores of edited texts; NaN where the labelled word is cut off."""
        rows: list[FloatArray] = []
        for first in range(0, len(edits), _AT_ONCE):
            batch = edits[first : first + _AT_ONCE]
            found = service.classify(
                self.card.id, [edit.text for edit in batch], pairs=[edit.pair for edit in batch]
            )
            rows += [_scores(result, edit.at) for result, edit in zip(found, batch, strict=True)]
            if progress is not None:
                progress(len(rows), len(edits))
        return np.stack(rows) if rows else np.zeros((0, len(self.labels.names)), np.float32)


def _span_of(unit: Unit) -> Span:
    return unit.span or (0, 0)


def _scores(result: Classification, at: Span | None) -> FloatArray:
    if at is None:
        return result.scores
    row: FloatArray = result.scores[token_of_word(result.tokens, at)]
    is_read = at[0] < int(result.tokens.offsets[:, 1].max(initial=0))
    return row if is_read else np.full_like(row, np.nan)
