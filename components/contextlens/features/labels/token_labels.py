"""The labels of the words of a sentence, by a head for tokens, and the names that they make up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from contextlens.analysis.snippet_start import literal
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, isolated, listed_names, quoted, shortened
from contextlens.core.schema import Classification, ModelCard, Vocabulary
from contextlens.core.words import Span
from contextlens.features.labels.controls import MAX_NAMED_PARTS
from contextlens.features.labels.script import pipeline_lines
from contextlens.figures.theme import color_of
from contextlens.figures.word_rows import Captions, LinkedSentence, LinkedWord, WordRows
from contextlens.ui.panel import Arrays, Panel, Rows
from contextlens.ui.state.view import letter

FORMULA = r"""
With $z_{tk}$ the number that the head computes for label $k$ at token $t$ (its logit), the score is
$e^{z_{tk}} / \sum_j e^{z_{tj}}$, and each token gets the label with the highest score. A word has
the label of its first token. Words in a row with labels of one kind are one part: B- begins a part,
I- goes on with it (`aggregation_strategy="first"`). Words with the label O are in no part.
""".strip()
OUTSIDE = "O"


@dataclass(frozen=True)
class LabelledWord:
    """A word of the text, as the tokenizer cuts them.

    Attributes:
        span: in the text, in code points.
        positions: of its tokens, in order.
        label: of its first token.
        score: of that label.
        are_equal: True if all its tokens have that label.
    """

    span: Span
    positions: tuple[int, ...]
    label: str
    score: float
    are_equal: bool


@dataclass(frozen=True)
class LabelledPart:
    """A row of words with labels of one kind: their kind, place and average score."""

    kind: str
    span: Span
    score: float


@dataclass(frozen=True, eq=False)
class TokenLabels(Panel):
    """The labels of one sentence's words.

    Attributes:
        card: the model's card.
        index: the sentence's index in the view.
        result: what the head says of each token.
        words: the words, in order.
        has_pair: True if the sentence has a second text, which is not labelled.
    """

    formula = FORMULA

    card: ModelCard
    index: int
    result: Classification
    words: tuple[LabelledWord, ...]
    has_pair: bool = False

    @property
    def text(self) -> str:
        """The sentence."""
        return self.result.tokens.text

    @cached_property
    def parts(self) -> tuple[LabelledPart, ...]:
        """The parts that have a label other than O, and are not white space."""
        parts = (part for part in parts_of(self.words) if part.kind != OUTSIDE)
        return tuple(part for part in parts if self.text[slice(*part.span)].strip())

    def title(self) -> Claim:
        """Return the parts that the model finds."""
        named = letter(self.index)
        if not self.words:
            return claim("labels.tokens.unread", letter=named)
        names = [
            say(
                "labels.tokens.part",
                text=isolated(escape(shortened(self.text[slice(*part.span)], 40))),
                label=isolated(escape(shortened(part.kind, 24))),
            )
            for part in self.parts[:MAX_NAMED_PARTS]
        ]
        n_more = len(self.parts) - len(names)
        if n_more:
            names.append(say("labels.tokens.more", n=n_more))
        given = listed_names(names)
        return claim("labels.tokens.finds", n=len(self.parts), letter=named, given=given)

    def claims(self) -> Sequence[Claim]:
        """Return the headline."""
        return (self.title(),)

    def notes(self) -> Sequence[Claim]:
        """Return remarks on words whose tokens differ, and on what was not read."""
        claims = []
        uneven = [w for w in self.words if not w.are_equal]
        if uneven:
            word = quoted(self.text[slice(*uneven[0].span)])
            claims.append(claim("labels.tokens.uneven", n=len(uneven), word=word))
        if self.has_pair:
            claims.append(claim("labels.tokens.pair", letter=letter(self.index)))
        if self.result.tokens.n_truncated:
            numbers = {"letter": letter(self.index), "most": self.card.max_length}
            claims.append(claim("labels.note.cut", **numbers))
        return claims

    @cached_property
    def visible_words(self) -> tuple[LabelledWord, ...]:
        """The words that are not white space alone."""
        return tuple(word for word in self.words if self.text[slice(*word.span)].strip())

    def word_rows(self, picked: int | None = None) -> WordRows:
        """Return the sentence as words with the label under each; O is left out.

        Args:
            picked: the position of the word with a ring; None for none.
        """
        words = [
            LinkedWord(
                self.text[slice(*word.span)].strip(),
                word.positions[0],
                tag="" if word.label == OUTSIDE else shortened(word.label, 24),
            )
            for word in self.visible_words
        ]
        row = LinkedSentence(letter(self.index), color_of(self.index), words)
        captions = Captions("", "", "", "", "")
        at = next((i for i, word in enumerate(words) if word.position == picked), None)
        ring = None if at is None else ("first", at)
        return WordRows(row, None, captions, end=1.0, is_pickable=True, picked=ring)

    def rows(self) -> Rows:
        """Return a row for each token."""
        tokens, scores = self.result.tokens, self.result.scores
        return [
            {
                "position": i,
                "token": tokens.tokens[i],
                "text": self.text[slice(*tokens.offsets[i].tolist())],
                "label": self.result.labels[int(scores[i].argmax())],
                "score": float(scores[i].max()),
                "word": n,
                "begins the word": i == word.positions[0],
            }
            for n, word in enumerate(self.words)
            for i in word.positions
        ]

    def arrays(self) -> Arrays:
        """Return scores and logits, (n_tokens, n_labels), and the labels."""
        return {
            "scores": self.result.scores,
            "logits": self.result.logits,
            "labels": np.array(self.result.labels),
            "tokens": np.array(self.result.tokens.tokens),
        }

    def snippet(self) -> str:
        """Return a script that computes `parts`, and `tokens` with the score of each."""
        start = pipeline_lines(self.card, "token-classification")
        return f"""{start}
text = {literal(self.text)}
tokens = label(text, ignore_labels=[])
parts = label(text, aggregation_strategy="first")
for row in [*tokens, *parts]:
    print(row)
"""


def token_labels(
    card: ModelCard, index: int, result: Classification, vocabulary: Vocabulary, *, has_pair: bool
) -> TokenLabels:
    """Return the labels of a sentence's words."""
    return TokenLabels(card, index, result, words_of(result, vocabulary), has_pair)


def words_of(result: Classification, vocabulary: Vocabulary) -> tuple[LabelledWord, ...]:
    """Return the words of a text as transformers' pipeline for tokens puts them together.

    A tokenizer of word pieces marks the pieces that go on with a word; they are longer than their
    text. For all others, a token goes on with a word unless a space stands at its beginning.
    """
    tokens = result.tokens
    groups: list[list[int]] = []
    for i in np.flatnonzero(tokens.special_tokens_mask == 0).tolist():
        start, end = tokens.offsets[i].tolist()
        if int(tokens.token_ids[i]) == vocabulary.unknown_id:
            goes_on = False
        elif vocabulary.method == "WordPiece":
            goes_on = len(vocabulary.pieces[int(tokens.token_ids[i])]) != end - start
        else:
            goes_on = start > 0 and " " not in tokens.text[start - 1 : start + 1]
        if goes_on and groups:
            groups[-1].append(i)
        else:
            groups.append([i])
    best = result.scores.argmax(axis=-1)
    return tuple(
        LabelledWord(
            span=(int(tokens.offsets[group[0], 0]), int(tokens.offsets[group[-1], 1])),
            positions=tuple(group),
            label=result.labels[int(best[group[0]])],
            score=float(result.scores[group[0]].max()),
            are_equal=len({int(best[i]) for i in group}) == 1,
        )
        for group in groups
    )


def parts_of(words: Sequence[LabelledWord]) -> list[LabelledPart]:
    """Return rows of words with labels of one kind, O included, as transformers groups them."""
    groups: list[list[LabelledWord]] = []
    for word in words:
        begins, kind = _tag(word.label)
        if groups and kind == _tag(groups[-1][-1].label)[1] and not begins:
            groups[-1].append(word)
        else:
            groups.append([word])
    return [
        LabelledPart(
            group[0].label.split("-", 1)[-1],
            (group[0].span[0], group[-1].span[1]),
            float(np.mean([word.score for word in group])),
        )
        for group in groups
    ]


def _tag(label: str) -> tuple[bool, str]:
    """Return True for a label that begins a part, and its kind."""
    return label.startswith("B-"), label[2:] if label.startswith(("B-", "I-")) else label
