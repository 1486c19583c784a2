"""Closer look "Other words": one word replaced by another that turns the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np

from contextlens.analysis.shares import Unit
from contextlens.analysis.snippet_start import literal
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import placed, quoted
from contextlens.core import EncoderService
from contextlens.core.schema import FloatArray
from contextlens.features.labels.controls import (
    MAX_CHANGED_WORDS,
    MAX_SCRIPT_EDITS,
    MAX_TRIED_EDITS,
    TRIED_FOR_EACH_WORD,
)
from contextlens.features.labels.explained import Explained
from contextlens.features.labels.word_effects import task_of
from contextlens.jobs import Task
from contextlens.ui.panel import Arrays, Panel, Rows

FORMULA = r"""
**Other words** (HotFlip, Ebrahimi et al. 2018). With $e_i$ the word vector at position $i$, $z$ the
logarithm of the label's score (or its logit, where labels do not add up to 1) and $v$ the vector of
another whole word of the vocabulary, the label is expected to change by

$$(v - e_i) \cdot \frac{\partial z}{\partial e_i}$$

This ranks all words with one gradient. Those with the largest expected change are then put into the
text and read by the model, so every score shown is the model's own. A word of several pieces is
ranked at its first piece and replaced as a whole. **Similarity** is the cosine of the rows of the
two words in the word table, the mean over the pieces of the old one.
""".strip()


@dataclass(frozen=True, eq=False)
class TriedEdit:
    """One word in the place of another: their similarity, and the scores of the edited text."""

    unit: Unit
    word: str
    similarity: float
    scores: FloatArray


@dataclass(frozen=True, eq=False)
class OtherWords(Panel):
    """What single replaced words make of a label.

    Attributes:
        of: the label, and the sentence or word that has it.
        tried: every edit that the model read.
    """

    formula = FORMULA

    of: Explained
    tried: tuple[TriedEdit, ...]

    @property
    def is_given(self) -> bool:
        """True if the label is in the model's answer, so that edits are to take it away."""
        return self.of.label in self.of.answer()

    @cached_property
    def turned(self) -> tuple[TriedEdit, ...]:
        """The edits that turn the label, those with the most similar word first."""
        return tuple(
            edit
            for edit in self.listed
            if (self.of.label in self.of.answer(edit.scores)) != self.is_given
        )

    @cached_property
    def listed(self) -> tuple[TriedEdit, ...]:
        """All edits, those with the most similar word first."""
        return tuple(sorted(self.tried, key=lambda edit: -edit.similarity))

    # Claims

    def claims(self) -> Sequence[Claim]:
        """Return the smallest edit that turns the label, or the one that comes nearest."""
        of, letter = self.of, self.of.text.letter
        if not self.tried:
            return (claim("labels.edits.nothing", letter=letter),)
        numbers = {"n": len(self.tried), "label": of.name, "subject": of.subject}
        if self.turned:
            first = self.turned[0]
            answer = of.named(first.scores)
            case = "another" if answer else "none_left"
            found = claim(f"labels.edits.{case}", answer=answer, **self._told(first), **numbers)
            n = len(self.turned)
            return (found, claim("labels.edits.turned", n=n, tried=len(self.tried)))
        sign = -1 if self.is_given else 1
        nearest = max(self.tried, key=lambda edit: sign * float(edit.scores[of.label]))
        score = of.told(float(nearest.scores[of.label]))
        told = {"score": score, "own": of.told(of.score), **self._told(nearest)}
        case = "keeps" if self.is_given else "withheld"
        return (
            claim(f"labels.edits.{case}", **numbers),
            claim("labels.edits.nearest", **told, **numbers),
        )

    def _told(self, edit: TriedEdit) -> dict[str, str]:
        labels = [unit.label for unit in self.of.words(all_words=True)]
        old = placed(edit.unit.label, edit.unit.positions[0], labels)
        return {"old": old, "new": quoted(edit.word)}

    def sure(self) -> Sequence[Claim]:
        """Return how the words were chosen."""
        most = {
            "words": MAX_CHANGED_WORDS,
            "each": TRIED_FOR_EACH_WORD,
            "most": MAX_TRIED_EDITS,
        }
        return (claim("labels.edits.chosen", **most),) if self.tried else ()

    # Files

    def rows(self) -> Rows:
        """Return a row for each edit, those that turn the label first."""
        turned = set(map(id, self.turned))
        edits = [*self.turned, *(edit for edit in self.listed if id(edit) not in turned)]
        return [
            {
                "word": edit.unit.label,
                "replaced by": edit.word,
                "answer": ", ".join(self.of.labels.names[i] for i in self.of.answer(edit.scores)),
                "turns the label": id(edit) in turned,
                "score": float(edit.scores[self.of.label]),
                "similarity": edit.similarity,
                "position": edit.unit.positions[0],
            }
            for edit in edits
        ]

    def arrays(self) -> Arrays:
        """Return the scores of each edited text, in the order of `tried`."""
        names = [(edit.unit.label, edit.word) for edit in self.tried]
        scores = np.array([edit.scores for edit in self.tried], np.float32)
        return {
            "edit_scores": scores.reshape(len(names), len(self.of.labels.names)),
            "edit_words": np.array(names, dtype=np.str_).reshape(-1, 2),
        }

    def snippet(self) -> str:
        """Return lines that go on from the script of the labels: `edited`, by text."""
        edits = (*self.turned, *(e for e in self.listed if e not in self.turned))[:MAX_SCRIPT_EDITS]
        texts = [self.of.replaced(edit.unit, edit.word) for edit in edits]
        if self.of.span is not None:
            given = "\n".join(
                f"    ({literal(text.text)}, {text.at[0]})," for text in texts if text.at
            )
            return _WORD_SCRIPT.format(given=given)
        given = "\n".join(
            f"    {literal(text.text)},"
            if text.pair is None
            else f'    {{"text": {literal(text.text)}, "text_pair": {literal(text.pair)}}},'
            for text in texts
        )
        return _TEXT_SCRIPT.format(given=given)


_TEXT_SCRIPT = """
edits = [
{given}
]
edited = [label([text], top_k=None, truncation=True)[0] for text in edits]
for text, rows in zip(edits, edited):
    print(text, {{row["label"]: round(row["score"], 4) for row in rows}})
"""

_WORD_SCRIPT = """
edits = [  # the edited text, and where the labelled word is
{given}
]
edited = []
for text, start in edits:
    rows = label(text, ignore_labels=[])
    edited.append(next(row for row in rows if row["end"] > start))
    print(text, edited[-1]["entity"], round(float(edited[-1]["score"]), 4))
"""


# --- The work


def task(of: Explained, service: EncoderService, *, token_seconds: float) -> Task:
    """Return the job that tries other words; its result is an `OtherWords`."""
    n = min(MAX_TRIED_EDITS, TRIED_FOR_EACH_WORD * len(_changed_words(of)))
    seconds = (n + 4) * of.result.tokens.n_tokens * token_seconds
    work = partial(other_words, of, service)
    return task_of(("edits", *of.key, of.label), say("labels.work.edits"), work, seconds)


def other_words(of: Explained, service: EncoderService, **more: Any) -> OtherWords:
    """Return what the words that are expected to turn a label make of it."""
    words = _changed_words(of)
    if not words:
        return OtherWords(of, ())
    tokens, id_ = of.result.tokens, of.card.id
    given = of.label in of.answer()
    ranked = service.label_replacements(
        id_,
        tokens.text,
        of.label,
        pair=tokens.pair,
        token=of.token,
        raises=not given,
        n_best=TRIED_FOR_EACH_WORD,
    )
    texts, chosen = service.vocabulary(id_).texts, []
    for unit in words:
        at = unit.positions[0]
        for token_id, estimate in zip(ranked.ids[at], ranked.estimates[at], strict=True):
            word = texts[token_id]
            if word.casefold() != unit.label.casefold():
                chosen.append((float(estimate), unit, word, int(token_id)))
    chosen.sort(key=lambda row: row[0] if given else -row[0])
    chosen = chosen[:MAX_TRIED_EDITS]
    scores = of.read([of.replaced(unit, word) for _, unit, word, _ in chosen], service, **more)
    similarities = _similarities(of, chosen, service)
    edits = (
        TriedEdit(unit, word, similarity, row)
        for (_, unit, word, _), similarity, row in zip(chosen, similarities, scores, strict=True)
        if np.isfinite(row).all()
    )
    return OtherWords(of, tuple(edits))


def _changed_words(of: Explained) -> tuple[Unit, ...]:
    words = (unit for unit in of.words() if any(map(str.isalnum, unit.label)))
    return tuple(islice(words, MAX_CHANGED_WORDS))


def _similarities(
    of: Explained, chosen: Sequence[tuple[float, Unit, str, int]], service: EncoderService
) -> list[float]:
    """The cosine of the word-table rows of the old word and of the new one, for each edit."""
    rows = service.word_rows(of.card.id, of.result.tokens.token_ids)
    new = service.word_rows(of.card.id, [token_id for *_, token_id in chosen])
    old = np.array([rows[list(unit.positions)].mean(axis=0) for _, unit, *_ in chosen])
    lengths = np.linalg.norm(old, axis=-1) * np.linalg.norm(new, axis=-1)
    products = (old * new).sum(axis=-1)
    cosines: list[float] = np.divide(
        products, lengths, out=np.zeros(len(chosen)), where=lengths > 0
    ).tolist()
    return cosines
