"""Closer look "Before fine-tuning": how far each layer and each word moved from another model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count
from typing import Literal

import numpy as np
from plotly.graph_objects import Figure

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, leading, listed, number, quoted, shortened, two
from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.core.schema import Encoding, FloatArray, IntArray, ModelCard
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.rows import mean_vectors, words_of
from contextlens.features.labels.controls import (
    MAX_COMPARED_TEXTS,
    MAX_SAMPLED_USES,
    MAX_SCRIPT_CHARACTERS,
    MIN_WORD_USES,
)
from contextlens.figures.frames import end_label, spread
from contextlens.figures.theme import CATEGORICAL, INK, MUTED, NEUTRAL, figure, values
from contextlens.jobs import Report, Task, page_work
from contextlens.ui.panel import Arrays, Panel, Rows

FORMULA = r"""
**A word before and after.** Both models read the same texts. A word's vector $h^l$ at layer $l$ is
the mean over its tokens, and its similarity to itself before fine-tuning is

$$\cos(h^l_{\mathrm{before}}, h^l_{\mathrm{after}})$$

averaged over all $n$ uses of words. Fine-tuning starts from the weights of the other model, so the
axes of both are the same and a cosine compares them; two models that were trained apart have
cosines near 0. Merchant et al. 2020 ask the same of each layer of BERT with another measure (RSA),
and linear CKA (Kornblith et al. 2019) is on Layer by layer, under Layers compared: neither depends
on the axes.

**Two different words.** The average cosine of two uses of different words in different texts, both
before fine-tuning, over all pairs of at most 400 uses. Layers differ in it (Ethayarajh 2019), so
the layer that changed most is the one with the largest

$$\frac{1 - \cos(\text{a word before and after})}{1 - \cos(\text{two different words before})}$$
""".strip()
WORK = page_work("models to compare", "Reading the texts", large_seconds=10.0)
UNRELATED = 0.5
"""From this share of the distance of two words at layer 0 on, one model is hardly made from the
other: fine-tuning moves the word table little."""
LITTLE = 0.02
"""Up to this share of the distance of two words, at every layer, little changed."""
_UNCHANGED = 5e-5  # of a cosine, which is shown with four decimals at most
_CHUNK = 32  # texts read between two reports
HEIGHT = 320
_N_CHARACTERS = 4.0  # of a token, on average
_LONGEST_EXAMPLE = 200


@dataclass(frozen=True, eq=False)
class Movement:
    """What both models say of the words of some texts.

    Attributes:
        words: (n_uses,) the word of each use, without its case.
        texts: (n_uses,) the number of its text.
        cosines: (n_layers + 1, n_uses) of its vectors before and after.
        different: (n_layers + 1,) average cosine of two different words before; NaN without a pair.
    """

    words: tuple[str, ...]
    texts: IntArray
    cosines: FloatArray
    different: FloatArray

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return int(self.cosines.nbytes + self.texts.nbytes + 60 * len(self.words))


@dataclass(frozen=True)
class MovedWord:
    """A word with enough uses: their number, average cosine, and the text of the lowest one."""

    word: str
    n_uses: int
    cosine: float
    lowest: float
    example: str


@dataclass(frozen=True, eq=False)
class BeforeAfter(Panel):
    """How similar words are to themselves before fine-tuning, at each layer.

    Attributes:
        card: the card of the model.
        base: that of the model before.
        texts: those that both read.
        n_texts: the number that the collection has.
        movement: what they say.
    """

    formula = FORMULA

    card: ModelCard
    base: ModelCard
    texts: tuple[str, ...]
    n_texts: int
    movement: Movement

    @cached_property
    def by_layer(self) -> FloatArray:
        """(n_layers + 1,) the average cosine of a word before and after."""
        averages: FloatArray = self.movement.cosines.mean(axis=1, dtype=np.float64)
        return averages

    @property
    def changes(self) -> FloatArray:
        """(n_layers + 1,) the distance moved, as a share of that of two words if it is known."""
        far = np.maximum(1 - self.movement.different, _UNCHANGED)
        share: FloatArray = (1 - self.by_layer) / (far if np.isfinite(far).all() else 1.0)
        return share

    @cached_property
    def words(self) -> tuple[MovedWord, ...]:
        """The words with enough uses, those that moved most at the last layer first."""
        movement, last = self.movement, self.movement.cosines[-1]
        uses: dict[str, list[int]] = {}
        for i, word in enumerate(movement.words):
            uses.setdefault(word, []).append(i)
        words = [
            MovedWord(
                word,
                len(rows),
                float(last[rows].mean()),
                float(last[lowest]),
                self.texts[movement.texts[lowest]],
            )
            for word, rows in uses.items()
            if len(rows) >= MIN_WORD_USES
            for lowest in [min(rows, key=lambda i: last[i])]
        ]
        return tuple(sorted(words, key=lambda word: word.cosine))

    # Claims

    def title(self) -> Claim:
        """Return the layers that changed most."""
        verdict = self._verdict()
        if verdict != "moved":
            numbers = {"cosine": self.by_layer[0], "different": self.movement.different[0]}
            lowest = number(self.by_layer.min(), ".4f")
            return claim(f"labels.before.{verdict}", lowest=lowest, **self._names, **numbers)
        layers = sorted(leading(self.changes.tolist()))
        most = max(layers, key=lambda i: self.changes[i])
        return claim(
            "labels.before.moved",
            n=len(layers),
            layers=listed(layers),
            cosine=_told(self.by_layer[most]),
        )

    def claims(self) -> Sequence[Claim]:
        """Return the finding, its yardstick, and the word that changed most."""
        if self._verdict() != "moved":
            return (self.title(),)
        most = int(self.changes.argmax())
        different = float(self.movement.different[most])
        yardstick = (
            [claim("labels.before.different", different=_told(different))]
            if np.isfinite(different)
            else []
        )
        return (self.title(), *yardstick, self._word())

    def _verdict(self) -> Literal["same", "unrelated", "little", "moved"]:
        if (1 - self.by_layer <= _UNCHANGED).all():
            return "same"
        is_known = np.isfinite(self.movement.different).all()
        if is_known and self.changes[0] > UNRELATED:
            return "unrelated"
        return "little" if (self.changes <= LITTLE).all() else "moved"

    def _word(self) -> Claim:
        if not self.words:
            return claim("labels.before.words.none", least=MIN_WORD_USES)
        first = self.words[0]
        numbers = {"n": len(self.words), "least": MIN_WORD_USES, "cosine": _told(first.cosine)}
        return claim("labels.before.words", word=quoted(first.word), **numbers)

    def sure(self) -> Sequence[Claim]:
        """Return how much was read, and what layer 0 is."""
        numbers = {
            "texts": len(self.texts),
            "total": self.n_texts,
            "uses": len(self.movement.words),
        }
        return (claim("labels.before.read", **numbers), claim("labels.before.axes", **self._names))

    @property
    def _names(self) -> dict[str, str]:
        return {"model": escape(self.card.title), "base": escape(self.base.title)}

    # The picture

    def alt(self) -> str:
        """Return the finding, and what the lines show."""
        return say("labels.before.alt", title=str(self.title()).replace("**", ""))

    def figure(self) -> Figure:
        """Return the similarity of a word before and after, over the layers, and of two words."""
        layers = list(range(len(self.by_layer)))
        lines = [(self.by_layer, say("labels.before.word"), CATEGORICAL[0], "solid")]
        if np.isfinite(self.movement.different).all():
            lines.append((self.movement.different, say("labels.before.two"), NEUTRAL, "dot"))
        low = min(0.0, *(float(line.min()) for line, *_ in lines))
        scale = (low - 0.04, 1.04)
        ends = spread([float(line[-1]) for line, *_ in lines], 0.16, scale)
        traces = [
            {
                "type": "scatter",
                "mode": "lines+markers" if dash == "solid" else "lines",
                "x": layers,
                "y": values(line),
                "line": {"color": color, "width": 3 if dash == "solid" else 1.5, "dash": dash},
                "hovertemplate": f"{name.replace('<br>', ' ')}<br>layer %{{x}}: %{{y:.4f}}"
                "<extra></extra>",
            }
            for line, name, color, dash in lines
        ]
        layout = {
            "xaxis": {
                "title": {"text": say("labels.before.layers")},
                "tickvals": layers
                if len(layers) <= 13
                else layers[:: 2 if len(layers) < 26 else 4],
                "range": [-0.15, layers[-1] + 0.15],
                "zeroline": False,
                "showgrid": False,
            },
            "yaxis": {"title": {"text": say("labels.before.axis")}, "range": list(scale)},
            "annotations": [
                {**end_label(name, end, color=ink), "align": "left"}
                for (_, name, *_), end, ink in zip(lines, ends, (INK, MUTED), strict=False)
            ],
            "margin": {"l": 64, "r": 110, "t": 12, "b": 60},
        }
        return figure(traces, layout, title="", height=HEIGHT)

    # Files

    def layer_rows(self) -> Rows:
        """Return a row for each layer."""
        return [
            {"layer": i, "before and after": float(one), "two different words": float(other)}
            for i, one, other in zip(count(), self.by_layer, self.movement.different, strict=False)
        ]

    def rows(self) -> Rows:
        """Return a row for each word with enough uses."""
        return [
            {
                "word": word.word,
                "uses": word.n_uses,
                "similarity": word.cosine,
                "lowest": word.lowest,
                "text with the lowest": shortened(word.example, _LONGEST_EXAMPLE),
            }
            for word in self.words
        ]

    def arrays(self) -> Arrays:
        """Return the averages of each layer, and of each word with enough uses."""
        return {
            "before_and_after": self.by_layer,
            "two_different_words": self.movement.different,
            "compared_words": np.array([word.word for word in self.words], dtype=np.str_),
            "compared_word_cosines": np.array([word.cosine for word in self.words]),
        }

    def snippet(self) -> str:
        """Return a script for `by_layer`, `different` and `words`; "" if the texts are too long."""
        if sum(map(len, self.texts)) > MAX_SCRIPT_CHARACTERS:
            return ""
        most = min(self.card.max_length, self.base.max_length)
        loads = [
            "\n".join([*load_lines(card), f"{name} = states(tokenizer, model, {most})"])
            for card, name in ((self.base, "before"), (self.card, "after"))
        ]
        texts = "\n".join(f"    {literal(text)}," for text in self.texts)
        return _SCRIPT.format(
            texts=texts, loads="\n".join(loads), sampled=MAX_SAMPLED_USES, least=MIN_WORD_USES
        )


def _told(cosine: float) -> str:
    """Return a cosine with two decimals, or with four if it would look like 1."""
    return number(cosine, ".4f") if 0.995 <= cosine < 1 else two(cosine)


_SCRIPT = '''\
from itertools import pairwise

import numpy
import regex  # comes with transformers
import torch
from transformers import AutoModel, AutoTokenizer

texts = [
{texts}
]
boundary = regex.compile(r"\\b", regex.WORD | regex.V1)  # UAX 29


def words_of(text):
    cuts = sorted({{0, len(text), *(match.start() for match in boundary.finditer(text))}})
    return [(a, b) for a, b in pairwise(cuts) if any(map(str.isalnum, text[a:b]))]


def states(tokenizer, model, max_length):
    """The vectors of each use of a word, (layers, dims), by its place; None where it has none."""
    vectors = []
    for text in texts:
        batch = tokenizer(
            text, truncation=True, max_length=max_length, return_offsets_mapping=True,
            return_tensors="pt",
        )
        sides = batch.sequence_ids(0)
        offsets = batch.pop("offset_mapping")[0].tolist()
        with torch.inference_mode():
            hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)[:, 0]
        for start, end in words_of(text):
            inside = [
                i for i, (a, b) in enumerate(offsets)
                if sides[i] == 0 and a < end and b > start
            ]
            vectors.append(hidden[:, inside].mean(dim=1).numpy() if inside else None)
    return vectors


def units(vectors):
    return vectors / numpy.linalg.norm(vectors, axis=-1, keepdims=True)


{loads}
uses = [(i, text[a:b].casefold()) for i, text in enumerate(texts) for a, b in words_of(text)]
kept = [k for k in range(len(uses)) if before[k] is not None]
cosines = numpy.stack([(units(before[k]) * units(after[k])).sum(axis=-1) for k in kept], axis=1)
by_layer = cosines.mean(axis=1)

places = numpy.unique(numpy.linspace(0, len(uses) - 1, min({sampled}, len(uses))).astype(int))
sample = [k for k in places if before[k] is not None]
vectors = units(numpy.stack([before[k] for k in sample], axis=1))
pairs = [
    (i, j) for i in range(len(sample)) for j in range(i)
    if all(one != other for one, other in zip(uses[sample[i]], uses[sample[j]]))
]
grams = vectors @ vectors.transpose(0, 2, 1)
different = numpy.array([numpy.mean([gram[pair] for pair in pairs]) for gram in grams])

rows = {{}}
for column, k in enumerate(kept):
    rows.setdefault(uses[k][1], []).append(float(cosines[-1, column]))
words = {{word: numpy.mean(of) for word, of in rows.items() if len(of) >= {least}}}
print(by_layer, different, sorted(words, key=words.get)[:20], sep="\\n")
'''


# --- The work


def problem_of(card: ModelCard, base: ModelCard, service: EncoderService) -> Claim | None:
    """Return the reason why two models cannot be compared layer by layer, if there is one."""
    names = {"model": escape(card.title), "base": escape(base.title)}
    for kind, ours, theirs in (
        ("layers", card.n_layers, base.n_layers),
        ("dims", card.n_dims, base.n_dims),
    ):
        if ours != theirs:
            return claim(f"labels.before.problem.{kind}", ours=ours, theirs=theirs, **names)
    own, other = (service.vocabulary(one.id).pieces for one in (card, base))
    n = min(len(own), len(other))  # special tokens may have been added at the end
    return None if own[:n] == other[:n] else claim("labels.before.problem.vocabulary", **names)


def texts_of(corpus: Corpus) -> tuple[str, ...]:
    """Return the texts of a collection that are read: all, or evenly spaced ones."""
    n = len(corpus.texts)
    places = np.unique(np.linspace(0, n - 1, min(n, MAX_COMPARED_TEXTS)).astype(int))
    return tuple(corpus.texts[i] for i in places.tolist())


def task(
    card: ModelCard,
    base: ModelCard,
    texts: Sequence[str],
    digest: str,
    service: EncoderService,
    *,
    token_seconds: float,
) -> Task:
    """Return the job that reads texts with both models; its result is the `Movement`.

    Args:
        card, base: the cards of the model and of the one before.
        texts: those that are read.
        digest: names the collection that they are from.
        service: reads each text once, so preferably without a cache.
        token_seconds: the duration of a token in one model.
    """
    lengths = (min(2 + len(text) / _N_CHARACTERS, card.max_length) for text in texts)
    key = ("before and after", card.id, card.checksum, base.id, base.checksum, digest)
    work = partial(movement_of, card, base, texts, service)
    return Task(key, WORK, work, size=2 * sum(lengths) * token_seconds)


def movement_of(
    card: ModelCard,
    base: ModelCard,
    texts: Sequence[str],
    service: EncoderService,
    report: Report,
) -> Movement:
    """Return how similar each use of a word is to itself in another model.

    Raises:
        RequestError: the models cut a text into different tokens, or no text has a word.
    """
    spans = [np.array([w.span for w in words_of(text)], np.int64).reshape(-1, 2) for text in texts]
    first_uses = np.concatenate([[0], np.cumsum(list(map(len, spans)))]).tolist()
    n = first_uses[-1]
    sampled = set(np.linspace(0, n - 1, min(n, MAX_SAMPLED_USES)).astype(int).tolist())
    words: list[str] = []
    numbers: list[int] = []
    cosines: list[FloatArray] = []
    sample: list[tuple[FloatArray, str, int]] = []
    most = min(card.max_length, base.max_length)
    for start in range(0, len(texts), _CHUNK):
        report(say("labels.before.reading", n=len(texts)), start / len(texts))
        batch = list(texts[start : start + _CHUNK])
        before, after = (
            service.encode(one.id, batch, max_length=most, checksum=one.checksum)
            for one in (base, card)
        )
        for i, old, new in zip(count(start), before, after, strict=False):
            _check_tokens(old, new)
            places, old_vectors = mean_vectors(old, spans[i])
            old_units, new_units = map(_units, (old_vectors, mean_vectors(new, spans[i])[1]))
            cosines.append(np.einsum("lwd,lwd->lw", old_units, new_units))
            for column, place in enumerate(places.tolist()):
                words.append(texts[i][slice(*spans[i][place])].casefold())
                numbers.append(i)
                if first_uses[i] + place in sampled:
                    sample.append((old_units[:, column], words[-1], i))
    if not words:
        raise RequestError(say("labels.before.no_words"))
    return Movement(
        tuple(words), np.array(numbers), np.concatenate(cosines, axis=1), _different(sample)
    )


def _check_tokens(old: Encoding, new: Encoding) -> None:
    if not np.array_equal(old.token_ids, new.token_ids):
        raise RequestError(say("labels.before.tokens", text=shortened(old.text, 60)))


def _units(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: FloatArray = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return scaled


def _different(sample: Sequence[tuple[FloatArray, str, int]]) -> FloatArray:
    """(n_layers + 1,) the average cosine of two different words in different texts."""
    vectors = np.stack([units for units, *_ in sample], axis=1)
    words, texts = (np.array([row[i] for row in sample]) for i in (1, 2))
    is_pair = (words[:, None] != words) & (texts[:, None] != texts)
    if not is_pair.any():
        return np.full(len(vectors), np.nan)
    averages: FloatArray = np.array(
        [float((units @ units.T)[is_pair].mean(dtype=np.float64)) for units in vectors]
    )
    return averages
