"""What each word of a sentence adds to a label's score: left out, or by integrated gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from contextlens.analysis.leaving_out import MAX_LEFT_OUT_WORDS
from contextlens.analysis.shares import Doubles, Unit, by_unit
from contextlens.analysis.snippet_start import literal
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import placed, two
from contextlens.core import EncoderService
from contextlens.core.schema import Attribution, FloatArray
from contextlens.features.labels.controls import GRADIENTS, LEAVE_OUT, WAY
from contextlens.features.labels.explained import Explained
from contextlens.figures.frames import signed_end
from contextlens.figures.theme import color_of
from contextlens.figures.word_rows import Captions, LinkedSentence, LinkedWord, WordRows
from contextlens.jobs import Report, Task, page_work
from contextlens.ui.panel import Arrays, Panel, Rows

FORMULA = r"""
**Leave out.** The text is read anew without the word; its effect is the score of the label less the
score without the word. A word whose own label is explained is not left out.

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
        of: the label, and the sentence or word that has it.
        words: the words that were left out, or all.
        n_words: the number of words that could be.
        found: what the job found.
    """

    formula = FORMULA

    of: Explained
    words: tuple[Unit, ...]
    n_words: int
    found: LeftOut | Attribution

    @property
    def way(self) -> Literal["leave_out", "gradients"]:
        """How the effects were found."""
        return "leave_out" if isinstance(self.found, LeftOut) else "gradients"

    @property
    def effects(self) -> Doubles:
        """(n_words,) what each word adds to the score."""
        if isinstance(self.found, LeftOut):
            without = self.found.scores[:, self.of.label].astype(np.float64)
            return np.asarray(self.of.score - without, dtype=np.float64)
        return by_unit(self.found.shares, self.words)

    # Claims

    def claims(self) -> Sequence[Claim]:
        """Return the word with the largest effect, and the word that turns the answer."""
        if not self.words:
            case = "wordless" if self.of.word is None else "lonely"
            return (claim(f"labels.words.{case}", letter=self._letter, word=self.of.subject),)
        return (self._strongest(), *self._turn(), *self._rough())

    @property
    def _letter(self) -> str:
        return self.of.text.letter

    def _strongest(self) -> Claim:
        of, effects = self.of, self.effects
        i = int(np.abs(effects).argmax())
        effect = float(effects[i])
        numbers = {"label": of.name, "letter": self._letter, "subject": of.subject}
        if abs(effect) <= NOISE:
            return claim(f"labels.words.{self.way}.none", **numbers)
        verdict = "raises" if effect > 0 else "lowers"
        numbers |= {"word": self._quoted(i), "score": of.told(of.score)}
        numbers["without"] = of.told(of.score - effect)
        size = two(abs(effect))
        return claim(f"labels.words.{self.way}.{verdict}", size=size, **numbers)

    def _turn(self) -> Sequence[Claim]:
        """Return the word without which the answer is another one, if there is one."""
        of = self.of
        if not isinstance(self.found, LeftOut) or of.labels.scores == "none":
            return ()
        now, scores = frozenset(of.answer()), self.found.scores
        turned = [i for i, row in enumerate(scores) if frozenset(of.answer(row)) != now]
        if not turned:
            return (claim("labels.words.turn.none", n=len(self.words)),)
        best = max(turned, key=lambda i: abs(float(self.effects[i])))
        names = of.named(scores[best])
        given = {"word": self._quoted(best), "names": names, "subject": of.subject}
        return (claim(f"labels.words.turn.{'another' if names else 'nothing'}", **given),)

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
        claims = []
        if len(self.words) < self.n_words:
            numbers = {"n": self.n_words, "most": MAX_LEFT_OUT_WORDS}
            claims.append(claim("labels.words.long", letter=self._letter, **numbers))
        if self.of.result.tokens.n_truncated and self.way == LEAVE_OUT:
            claims.append(claim("labels.words.cut", letter=self._letter))
        return claims

    def _quoted(self, index: int) -> str:
        unit = self.words[index]
        return placed(unit.label, unit.positions[0], [word.label for word in self.words])

    # Pictures and files

    def word_rows(self) -> WordRows:
        """Return the sentence with the effect of each word."""
        effects = dict(zip((unit.positions for unit in self.words), self.effects, strict=True))
        name = self.of.labels.names[self.of.label]
        words = [
            LinkedWord(
                unit.label,
                unit.positions[0],
                value=float(effects[unit.positions]) if unit.positions in effects else None,
            )
            for unit in self.of.words(all_words=True)
        ]
        captions = Captions(
            quantity=say("labels.words.quantity"),
            between="",
            low=say("labels.words.low", label=name),
            high=say("labels.words.high", label=name),
            hint=say("labels.words.hint"),
        )
        row = LinkedSentence(self._letter, color_of(self.of.text.index), words)
        return WordRows(row, None, captions, end=signed_end(self.effects))

    def rows(self) -> Rows:
        """Return a row for each word."""
        return [
            {
                "sentence": self._letter,
                "position": unit.positions[0],
                "word": unit.label,
                "label": self.of.labels.names[self.of.label],
                "score": self.of.score,
                "effect": float(effect),
                "by": WAY.options[self.way],
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
        """Return lines that go on from the script of the labels: `effects`, or `shares`."""
        if not isinstance(self.found, LeftOut):
            return self._gradient_lines(self.found)
        lines = [f"    {_case(unit)}: {self._argument(unit)}," for unit in self.words]
        given = "\n".join(lines)
        if self.of.span is not None:
            whole = f"{literal(self.of.result.tokens.text)}, {self.of.span[0]}"
            return _WORD_SCRIPT.format(given=given, label=self.of.label, whole=whole)
        name = literal(self.of.labels.names[self.of.label])
        return _TEXT_SCRIPT.format(given=given, letter=self._letter, name=name)

    def _argument(self, unit: Unit) -> str:
        rest = self.of.without(unit)
        if rest.at is not None:
            return f"({literal(rest.text)}, {rest.at[0]})"
        if rest.pair is None:
            return literal(rest.text)
        return f'{{"text": {literal(rest.text)}, "text_pair": {literal(rest.pair)}}}'

    def _gradient_lines(self, found: Attribution) -> str:
        tokens, kind = self.of.result.tokens, self.of.labels.scores
        pair = "None" if tokens.pair is None else literal(tokens.pair)
        return _GRADIENT_SCRIPT.format(
            text=f"{literal(tokens.text)}, {pair}",
            cuts=list(found.cuts),
            steps=found.steps // (len(found.cuts) - 1),
            scores={"softmax": ".softmax(dim=-1)", "sigmoid": ".sigmoid()"}.get(kind, ""),
            at="" if self.of.token is None else f", {self.of.token}",
            label=self.of.label,
        )


def _case(unit: Unit) -> str:
    return literal(f"{unit.positions[0]} {unit.label}")


_TEXT_SCRIPT = """
without = {{
{given}
}}
name = {name}
effects = {{}}
for word, text in without.items():
    rows = label([text], top_k=None, truncation=True)[0]
    score = next(row["score"] for row in rows if row["label"] == name)
    effects[word] = scores[{letter!r}][name] - score
    print(word, f"{{effects[word]:+.4f}}")
"""

_WORD_SCRIPT = '''

def score_of(text, start):
    """The score of the label at the first token that ends after a place in the text."""
    batch = tokenizer(text, truncation=True, return_offsets_mapping=True, return_tensors="pt")
    ends = batch.pop("offset_mapping")[0, :, 1]
    token = int((ends > start).nonzero()[0, 0])
    with torch.inference_mode():
        return float(label.model(**batch).logits[0, token].softmax(dim=-1)[{label}])


without = {{  # the text without each word, and where the labelled word is then
{given}
}}
whole = score_of({whole})
effects = {{word: whole - score_of(*rest) for word, rest in without.items()}}
print(effects)
'''

_GRADIENT_SCRIPT = '''
import numpy

model = label.model.eval()
inputs = tokenizer(
    {text}, truncation=True, return_special_tokens_mask=True, return_tensors="pt"
)
special = inputs.pop("special_tokens_mask")[0].bool()
words, embedding_layer, seen = model.get_input_embeddings(), model.base_model.embeddings, {{}}


def score_of(states=None, rows=None):
    """The label's score, with other word vectors or other states of the embedding layer."""

    def put(module, arguments, output):
        seen["states"] = output
        return states

    n = 1 if states is None else len(states)
    hooks = [embedding_layer.register_forward_hook(put)]
    hooks += [] if rows is None else [words.register_forward_hook(lambda *_: rows)]
    logits = model(**{{name: ids.expand(n, -1) for name, ids in inputs.items()}}).logits
    for hook in hooks:
        hook.remove()
    return logits[:{at}].double(){scores}[:, {label}]


with torch.no_grad():
    score_of()
    end = seen["states"]
    padding = torch.where(special, inputs["input_ids"][0], tokenizer.pad_token_id)
    score_of(rows=words(padding)[None])
    start = seen["states"]

places, weights = numpy.polynomial.legendre.leggauss({steps})
cuts, slope = {cuts}, 0.0
for low, high in zip(cuts, cuts[1:]):
    for place, weight in zip(places, weights):
        state = start + float(low + (high - low) * (place + 1) / 2) * (end - start)
        state.requires_grad_()
        (gradient,) = torch.autograd.grad(score_of(state).sum(), state)
        slope = slope + (high - low) / 2 * float(weight) * gradient.double()
shares = (slope * (end - start).double())[0].sum(dim=-1)
for token, share in zip(tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]), shares):
    print(token, f"{{share:+.4f}}")
'''


def words_of(of: Explained, way: str) -> tuple[tuple[Unit, ...], int]:
    """Return the words that are looked at, and the number that there are."""
    words = of.words(all_words=way == GRADIENTS)
    return words[:MAX_LEFT_OUT_WORDS] if way == LEAVE_OUT else words, len(words)


def word_effects(of: Explained, way: str, found: LeftOut | Attribution) -> WordEffects:
    """Return the effects of the words of a sentence, given what the job found."""
    words, n = words_of(of, way)
    return WordEffects(of, words, n, found)


# --- The work


def task(of: Explained, way: str, service: EncoderService, *, token_seconds: float) -> Task:
    """Return the job; `token_seconds` is the duration of a token in a run."""
    n_tokens, key = of.result.tokens.n_tokens, (way, *of.key)
    if way == LEAVE_OUT:
        words, _ = words_of(of, way)
        seconds = len(words) * n_tokens * token_seconds
        work = partial(_leave_out, of, words, service)
        return task_of(key, say("labels.work.leave_out"), work, seconds)
    seconds = _GRADIENT_RUNS * n_tokens * token_seconds
    follow = partial(_gradients, of, service)
    return task_of((*key, of.label), say("labels.work.gradients"), follow, seconds)


def task_of(key: tuple[object, ...], stage: str, work: Any, seconds: float) -> Task:
    """Return a job about a label, whose work gets `progress`, called with counts."""

    def run(report: Report) -> object:
        report(stage, 0.0)
        return work(progress=lambda done, n: report(stage, done / max(n, 1)))

    return Task(("labels", *key), WORK, run, size=seconds)


def _leave_out(
    of: Explained, words: Sequence[Unit], service: EncoderService, **more: Any
) -> LeftOut:
    return LeftOut(of.read([of.without(unit) for unit in words], service, **more))


def _gradients(of: Explained, service: EncoderService, **more: Any) -> Attribution:
    tokens = of.result.tokens
    return service.label_gradients(
        of.card.id, tokens.text, of.label, pair=tokens.pair, token=of.token, **more
    )
