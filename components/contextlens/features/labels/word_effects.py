"""What each word of a sentence adds to a label's score: left out, or by integrated gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from contextlens.analysis.leaving_out import MAX_LEFT_OUT_WORDS, cut_out
from contextlens.analysis.shares import Doubles, Unit, by_unit, is_word, units_of
from contextlens.analysis.snippet_start import literal
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import listed_names, percent, placed, two
from contextlens.core import EncoderService
from contextlens.core.schema import (
    Attribution,
    Classification,
    Counted,
    FloatArray,
    Labels,
    ModelCard,
)
from contextlens.features.labels.controls import LEAVE_OUT
from contextlens.features.labels.text_labels import (
    LabelledText,
    answer_of,
    label_name,
)
from contextlens.figures.frames import signed_end
from contextlens.figures.theme import color_of
from contextlens.figures.word_rows import Captions, LinkedSentence, LinkedWord, WordRows
from contextlens.jobs import Report, Task, page_work
from contextlens.ui.panel import Arrays, Panel, Rows

FORMULA = r"""
**Leave out.** The text is read anew without the word; its effect is the score of the label less the
score without the word.

**Integrated gradients** (Sundararajan, Taly and Yan 2017). With $x$ the output of the embedding
layer and $x^0$ the same with the word vector of padding for every ordinary token, a token adds

$$
(x_i - x_i^0) \cdot \int_0^1 \frac{\partial\, \mathrm{score}}{\partial x_i}
\bigl(x^0 + t\,(x - x^0)\bigr) \, dt
$$

and a word what its tokens add. Together they add the score less that at the start, but for what the
steps of the integral miss.
""".strip()
WORK = page_work("looks into a label", "Running the model")
CONVERGED = 0.001
"""The most that the steps of integrated gradients may miss before a caution says so."""
NOISE = 0.005
"""Effects up to this size do not show in whole per cent."""
_AT_ONCE = 16  # texts
_GRADIENT_RUNS = 200.0
"""The usual cost of integrated gradients, in plain runs."""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What the head says without each word: (n_words, n_labels) scores."""

    scores: FloatArray


@dataclass(frozen=True, eq=False)
class WordEffects(Panel):
    """The effect of each word of one sentence on a label's score.

    Attributes:
        card: the model's card.
        text: the sentence and its own scores.
        label: the index of the label.
        words: the words that were left out, or all.
        n_words: the number of words that the sentence has.
        found: what the job found.
    """

    formula = FORMULA

    card: ModelCard
    text: LabelledText
    label: int
    words: tuple[Unit, ...]
    n_words: int
    found: LeftOut | Attribution

    @property
    def labels(self) -> Labels:
        """The labels of the head."""
        return self.card.labels

    @property
    def score(self) -> float:
        """The label's score of the whole sentence."""
        return float(self.text.result.scores[self.label])

    @property
    def way(self) -> Literal["leave_out", "gradients"]:
        """How the effects were found."""
        return "leave_out" if isinstance(self.found, LeftOut) else "gradients"

    @property
    def effects(self) -> Doubles:
        """(n_words,) what each word adds to the score."""
        if isinstance(self.found, LeftOut):
            without = self.found.scores[:, self.label].astype(np.float64)
            return np.asarray(self.score - without, dtype=np.float64)
        return by_unit(self.found.shares, self.words)

    # Claims

    def claims(self) -> Sequence[Claim]:
        """Return the word with the largest effect, and the word that turns the answer."""
        if not self.words:
            return (claim("labels.words.wordless", letter=self.text.letter),)
        return (self._strongest(), *self._turn(), *self._rough())

    def _strongest(self) -> Claim:
        effects, label = self.effects, label_name(self.labels, self.label)
        i = int(np.abs(effects).argmax())
        effect, numbers = float(effects[i]), {"label": label, "letter": self.text.letter}
        if abs(effect) <= NOISE:
            return claim(f"labels.words.{self.way}.none", **numbers)
        verdict = "raises" if effect > 0 else "lowers"
        numbers |= {"word": self._quoted(i), "score": self._told(self.score)}
        numbers["without"] = self._told(self.score - effect)
        size = two(abs(effect))
        return claim(f"labels.words.{self.way}.{verdict}", size=size, **numbers)

    def _turn(self) -> Sequence[Claim]:
        """Return the word without which the answer is another one, if there is one."""
        if not isinstance(self.found, LeftOut) or self.labels.scores == "none":
            return ()
        now = frozenset(answer_of(self.text.result.scores, self.labels))
        answers = [answer_of(scores, self.labels) for scores in self.found.scores]
        turned = [i for i, answer in enumerate(answers) if frozenset(answer) != now]
        if not turned:
            return (claim("labels.words.turn.none", n=len(self.words)),)
        best = max(turned, key=lambda i: abs(float(self.effects[i])))
        names = [
            say(
                "labels.texts.named",
                label=label_name(self.labels, k),
                score=percent(float(self.found.scores[best, k])),
            )
            for k in answers[best]
        ]
        case = "another" if names else "nothing"
        given = {"word": self._quoted(best), "names": listed_names(names)}
        return (claim(f"labels.words.turn.{case}", letter=self.text.letter, **given),)

    def _rough(self) -> Sequence[Claim]:
        if isinstance(self.found, LeftOut) or self.found.missed <= CONVERGED:
            return ()
        return (claim("labels.words.rough", missed=self.found.missed),)

    def sure(self) -> Sequence[Claim]:
        """Return what the effects add up to, or that they do not."""
        if isinstance(self.found, LeftOut):
            return (claim("labels.words.alone"),)
        numbers: dict[str, Any] = {"start": self.found.start, "end": self.found.end}
        numbers |= {"sum": float(self.found.shares.sum()), "n": self.found.steps}
        return (claim("labels.words.sum", remainder=self.found.remainder, **numbers),)

    def notes(self) -> Sequence[Claim]:
        """Return remarks on words that were not left out, and on the text that is read instead."""
        claims, letter = [], self.text.letter
        if len(self.words) < self.n_words:
            numbers = {"n": self.n_words, "most": MAX_LEFT_OUT_WORDS}
            claims.append(claim("labels.words.long", letter=letter, **numbers))
        if self.text.result.tokens.n_truncated and self.way == LEAVE_OUT:
            claims.append(claim("labels.words.cut", letter=letter))
        return claims

    def _quoted(self, index: int) -> str:
        unit = self.words[index]
        return placed(unit.label, unit.positions[0], [word.label for word in self.words])

    def _told(self, value: float) -> str:
        return two(value) if self.labels.scores == "none" else percent(min(max(value, 0.0), 1.0))

    # Pictures and files

    def word_rows(self) -> WordRows:
        """Return the sentence with the effect of each word."""
        effects = dict(zip((unit.positions for unit in self.words), self.effects, strict=True))
        words = [
            LinkedWord(
                unit.label,
                unit.positions[0],
                "word" if is_word(unit) else "special",
                float(effects[unit.positions]) if unit.positions in effects else None,
            )
            for unit in units_of(self.text.result.tokens)
            if is_word(unit)
        ]
        name = self.labels.names[self.label]
        captions = Captions(
            quantity=say("labels.words.quantity"),
            between="",
            low=say("labels.words.low", label=name),
            high=say("labels.words.high", label=name),
            hint=say("labels.words.hint"),
        )
        row = LinkedSentence(self.text.letter, color_of(self.text.index), words)
        return WordRows(row, None, captions, end=signed_end(self.effects))

    def rows(self) -> Rows:
        """Return a row for each word."""
        return [
            {
                "sentence": self.text.letter,
                "position": unit.positions[0],
                "word": unit.label,
                "label": self.labels.names[self.label],
                "score": self.score,
                "effect": float(effect),
                "by": self.way,
            }
            for unit, effect in zip(self.words, self.effects, strict=True)
        ]

    def arrays(self) -> Arrays:
        """Return the effect of each word, and the scores without it if it was left out."""
        arrays: dict[str, Any] = {
            "effects": self.effects,
            "words": np.array([unit.label for unit in self.words], dtype=np.str_),
        }
        if isinstance(self.found, LeftOut):
            return {**arrays, "scores_without": self.found.scores}
        return {**arrays, "token_effects": self.found.shares}

    def snippet(self) -> str:
        """Return lines that go on from the script of the labels: `effects`; "" for gradients."""
        if not isinstance(self.found, LeftOut):
            return ""
        lines = [f"    {_case(unit)}: {self._without(unit)}," for unit in self.words]
        given = "\n".join(lines)
        return f"""
without = {{
{given}
}}
name = {literal(self.labels.names[self.label])}
effects = {{}}
for word, text in without.items():
    rows = label([text], top_k=None, truncation=True)[0]
    score = next(row["score"] for row in rows if row["label"] == name)
    effects[word] = scores[{self.text.letter!r}][name] - score
    print(word, f"{{effects[word]:+.4f}}")
"""

    def _without(self, unit: Unit) -> str:
        text, pair = text_without(self.text.result, unit)
        if pair is None:
            return literal(text)
        return f'{{"text": {literal(text)}, "text_pair": {literal(pair)}}}'


def _case(unit: Unit) -> str:
    return literal(f"{unit.positions[0]} {unit.label}")


def text_without(result: Classification, unit: Unit) -> tuple[str, str | None]:
    """Return a text and its pair without a word of either."""
    tokens = result.tokens
    if unit.span is None:
        return tokens.text, tokens.pair
    if unit.text_id == 1:
        return tokens.text, cut_out(tokens.pair or "", [unit.span]).text
    return cut_out(tokens.text, [unit.span]).text, tokens.pair


def words_of(result: Classification, way: str) -> tuple[tuple[Unit, ...], int]:
    """Return the words that are looked at, and the number that there are."""
    words = tuple(unit for unit in units_of(result.tokens) if is_word(unit))
    return words[:MAX_LEFT_OUT_WORDS] if way == LEAVE_OUT else words, len(words)


def word_effects(
    card: ModelCard, text: LabelledText, label: int, way: str, found: LeftOut | Attribution
) -> WordEffects:
    """Return the effects of the words of a sentence, given what the job found."""
    words, n = words_of(text.result, way)
    return WordEffects(card, text, label, words, n, found)


# --- The work


def task(
    card: ModelCard,
    text: LabelledText,
    label: int,
    way: str,
    service: EncoderService,
    *,
    token_seconds: float,
) -> Task:
    """Return the job; `token_seconds` is the duration of a token in a run."""
    result, n_tokens = text.result, text.result.tokens.n_tokens
    key = (way, card.id, card.checksum, result.tokens.text, result.tokens.pair)
    if way == LEAVE_OUT:
        words, _ = words_of(result, way)
        runs = partial(leave_out, card, result, words, service)
        seconds = len(words) * n_tokens * token_seconds
        return _task(key, say("labels.work.leave_out"), runs, seconds)
    follow = partial(_gradients, card, result, label, service)
    seconds = _GRADIENT_RUNS * n_tokens * token_seconds
    return _task((*key, label), say("labels.work.gradients"), follow, seconds)


def _task(key: tuple[object, ...], stage: str, work: Any, seconds: float) -> Task:
    def run(report: Report) -> object:
        report(stage, 0.0)
        return work(progress=lambda done, n: report(stage, done / max(n, 1)))

    return Task(("labels", *key), WORK, run, size=seconds)


def leave_out(
    card: ModelCard,
    result: Classification,
    words: Sequence[Unit],
    service: EncoderService,
    *,
    progress: Counted | None = None,
) -> LeftOut:
    """Return the scores of a text without each of its words, each read anew."""
    texts = [text_without(result, unit) for unit in words]
    rows: list[FloatArray] = []
    for first in range(0, len(texts), _AT_ONCE):
        batch = texts[first : first + _AT_ONCE]
        found = service.classify(card.id, [a for a, _ in batch], pairs=[b for _, b in batch])
        rows += [each.scores for each in found]
        if progress is not None:
            progress(len(rows), len(texts))
    scores = np.stack(rows) if rows else np.zeros((0, len(card.labels.names)), np.float32)
    return LeftOut(scores)


def _gradients(
    card: ModelCard,
    result: Classification,
    label: int,
    service: EncoderService,
    *,
    progress: Counted | None = None,
) -> Attribution:
    tokens = result.tokens
    return service.label_gradients(card.id, tokens.text, label, pair=tokens.pair, progress=progress)
