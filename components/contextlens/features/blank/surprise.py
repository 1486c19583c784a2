"""Closer look "Surprise": how little the model expects each word of the sentences.

Each token is hidden in turn, and the model's own head gives the probability of the token as
written: the pseudo-log-likelihood of Salazar et al. (2020), "Masked Language Model Scoring".
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.shares import is_word, units_of
from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.analysis.tokens import kinds, labels
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import (
    ABOUT_SAME,
    about_same,
    listed_names,
    number,
    percent,
    quoted,
    shortened,
)
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import Counted, Passport, TokenPredictions, Tokens, Vocabulary
from contextlens.figures.margins import width
from contextlens.figures.theme import INK, SEQUENTIAL, figure, ink_on, plain
from contextlens.jobs import Report, Task, page_work
from contextlens.ui.panel import Panel, Rows
from contextlens.ui.state.view import Sentence, ViewState, letter

MAX_TOKENS = 128
"""Tokens of a sentence that are hidden in turn: each takes a reading of the whole sentence."""
N_GUESSES = 3
_SAME_BITS = 0.1
"""The largest difference of two numbers of bits that one decimal may not show."""
_EXPECTED_BITS = 1.0  # a word with at most this surprise was expected: it has an even chance

FORMULA = rf"""
**Surprise.** With $x_t$ a token as written, hidden by the mask token while all others stay:

$$
s_t = -\log_2 p(x_t \mid x_{{\setminus t}})
$$

It is 0 bits for a token that the model is sure of, 1 bit for an even chance, 10 bits for 1 in
1,024. A word's surprise is the sum over its pieces, and a sentence's is the mean over its words;
punctuation marks count as words.

**Pseudo-log-likelihood** (Salazar et al. 2020), over all $n$ tokens that are hidden in turn, and
**pseudo-perplexity** per token:

$$
\mathrm{{PLL}} = \sum_t \ln p(x_t \mid x_{{\setminus t}}) \qquad
\mathrm{{PPPL}} = \exp(-\mathrm{{PLL}} / n)
$$

Tokens that the tokenizer adds are not hidden, nor are typed ones such as a blank, nor tokens
that the model cannot read.

**About equal** are two sentences if one's bits a word are at most {ABOUT_SAME} times the other's,
or if they differ by at most {_SAME_BITS} bits.

While one piece of a word is hidden, its other pieces give it away. So words in several pieces seem
less surprising than they are (Kauf and Ivanova 2023).
""".strip()


# --- The numbers


@dataclass(frozen=True)
class TokenSurprise:
    """One hidden token.

    Attributes:
        position: its position in the text.
        label: the text written on it.
        bits: its surprise.
        rank: the rank of the token as written among all tokens, from 1.
        guesses: the most probable tokens, each with its probability, the first guess first.
    """

    position: int
    label: str
    bits: float
    rank: int
    guesses: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class WordSurprise:
    """One word, or punctuation mark.

    Attributes:
        label: the word as written.
        tokens: its tokens; none if one of them cannot be read, or is a special token.
    """

    label: str
    tokens: tuple[TokenSurprise, ...]

    @property
    def bits(self) -> float | None:
        """The sum over its tokens; None if it was not measured."""
        return sum(token.bits for token in self.tokens) if self.tokens else None


@dataclass(frozen=True)
class SentenceSurprise:
    """One sentence.

    Attributes:
        letter: the sentence's letter.
        text: the text that was read: the sentence, or its beginning.
        words: its words in order.
        tokens: all hidden tokens in order, also those of words that were not measured.
        n_tokens: the number of its own tokens, hidden or not.
        n_unknown: the number of tokens that the model cannot read.
        is_cut: True if the sentence goes on behind the text.
        has_pair: True if it has a second text, which is not read here.
    """

    letter: str
    text: str
    words: tuple[WordSurprise, ...]
    tokens: tuple[TokenSurprise, ...]
    n_tokens: int
    n_unknown: int
    is_cut: bool
    has_pair: bool

    @property
    def measured(self) -> list[WordSurprise]:
        """The words with a surprise."""
        return [word for word in self.words if word.tokens]

    @property
    def total(self) -> float:
        """The surprise of all measured words, in bits."""
        return sum(word.bits or 0.0 for word in self.words)

    @property
    def mean(self) -> float:
        """Bits a word; NaN if no word was measured."""
        n = len(self.measured)
        return self.total / n if n else math.nan

    @property
    def log_likelihood(self) -> float:
        """The pseudo-log-likelihood, by the natural logarithm."""
        return -math.log(2) * sum(token.bits for token in self.tokens)

    @property
    def perplexity(self) -> float:
        """The pseudo-perplexity per token; NaN if no token was hidden, infinity if too large."""
        if not self.tokens:
            return math.nan
        return float(np.exp(min(-self.log_likelihood / len(self.tokens), 700.0)))


# --- The comparison of sentences

Verdict = Literal["equal", "more", "mixed"]


@dataclass(frozen=True)
class Comparison:
    """Sentences by their bits a word.

    Attributes:
        verdict: "equal" if no two differ; of two sentences with different numbers of words,
            "mixed" if the one with fewer bits a word has more bits in all; else "more".
        high: the sentence with the most bits a word, and those about equal to it.
        low: the sentence with the fewest.
        same_length: True if all have the same number of measured words.
    """

    verdict: Verdict
    high: tuple[SentenceSurprise, ...]
    low: SentenceSurprise
    same_length: bool


def compared(sentences: Sequence[SentenceSurprise]) -> Comparison:
    """Compare two or more sentences, each with a measured word."""
    ranked = sorted(sentences, key=lambda sentence: -sentence.mean)
    top, low = ranked[0], ranked[-1]
    high = tuple(one for one in ranked if are_about_equal(one.mean, top.mean))
    lengths = {len(sentence.measured) for sentence in sentences}
    verdict: Verdict = "more"
    if len(high) == len(ranked):
        verdict = "equal"
    elif len(ranked) == 2 and len(lengths) > 1 and low.total > top.total:
        verdict = "more" if are_about_equal(low.total, top.total) else "mixed"
    in_order = tuple(sorted(high, key=lambda sentence: sentence.letter))
    return Comparison(verdict, in_order, low, len(lengths) == 1)


def are_about_equal(one: float, other: float) -> bool:
    """True if two numbers of bits are about equal."""
    return abs(one - other) <= _SAME_BITS or about_same((one, other))


def chance(bits: float) -> str:
    """Return a probability in words: "12%", "1 in 550", with two digits."""
    probability = 2.0**-bits
    if probability >= 0.01:
        return percent(probability)
    if bits > 60:
        return say("blank.surprise.tiny")
    odds = 2.0**bits
    step = 10 ** (int(math.log10(odds)) - 1)
    return say("blank.surprise.odds", n=round(odds / step) * step)


# --- The result


@dataclass(frozen=True, eq=False)
class Surprise(Panel):
    """The surprise of every word of the sentences.

    Attributes:
        card: the model's card.
        sentences: all current sentences.
        passport: the passport of the numbers; None if no token was hidden.
    """

    formula = FORMULA

    card: ModelCard
    sentences: tuple[SentenceSurprise, ...]
    passport: Passport | None

    @property
    def measured(self) -> list[SentenceSurprise]:
        """The sentences with a measured word."""
        return [sentence for sentence in self.sentences if sentence.measured]

    # The words

    def title(self) -> str:
        """Return the finding in short, as plain text that is not escaped."""
        return str(self._finding(_in_title)).replace("**", "")

    def claims(self) -> list[Claim]:
        """Return the comparison of the sentences, and the most surprising word."""
        finding = self._finding(quoted)
        if len(self.measured) < 2:
            more = [self._average(self.measured[0])] if self.measured else []
            return [finding, *more]
        comparison = compared(self.measured)
        return [finding, *_about_lengths(comparison, self.measured), self._top_word(quoted)]

    def sure(self) -> list[Claim]:
        """Return each sentence's pseudo-log-likelihood, and a caution on words in pieces."""
        claims = [
            claim(
                "blank.surprise.likelihood",
                letter=sentence.letter,
                log_likelihood=sentence.log_likelihood,
                perplexity=sentence.perplexity,
                n=len(sentence.tokens),
            )
            for sentence in self.sentences
            if sentence.tokens
        ]
        n = sum(len(word.tokens) > 1 for one in self.sentences for word in one.words)
        claims += [claim("blank.surprise.pieces", n=n)] if n else []
        if len(self.measured) > 1:
            claims.append(claim("blank.surprise.margin", share=ABOUT_SAME - 1, bits=_SAME_BITS))
        return claims

    def notes(self) -> list[Claim]:
        """Return remarks on sentences that were not read, or not as a whole."""
        claims = []
        for one in self.sentences:
            name = {"letter": one.letter}
            if not one.n_tokens:
                claims.append(claim("blank.surprise.note.empty", **name))
            if one.n_unknown:
                claims.append(claim("blank.surprise.note.unknown", n=one.n_unknown, **name))
            if one.n_tokens == 1 and one.measured:
                claims.append(claim("blank.surprise.note.alone", **name))
            if one.is_cut:
                claims.append(claim("blank.surprise.note.cut", n=one.n_tokens, **name))
            if one.has_pair:
                claims.append(claim("blank.surprise.note.pair", **name))
        return claims

    def _finding(self, quote: Any) -> Claim:
        if not self.measured:
            return claim("blank.surprise.none")
        if len(self.measured) == 1:
            return self._top_word(quote)
        comparison, n = compared(self.measured), len(self.measured)
        low, top = comparison.low, max(comparison.high, key=lambda one: one.mean)
        numbers: dict[str, Any] = {"low_bits": low.mean, "high_bits": top.mean}
        many = "" if n == 2 else "_many"
        if comparison.verdict == "equal":
            names = listed_names([one.letter for one in self.measured])
            first, second = (one.mean for one in self.measured[:2])
            numbers |= {"letters": names, "first_bits": first, "second_bits": second}
            return claim(f"blank.surprise.equal{many}", **numbers)
        numbers |= {"low": low.letter, "low_total": low.total, "high_total": top.total}
        names = listed_names([one.letter for one in comparison.high])
        if n > 2:
            return claim("blank.surprise.more_many", n=len(comparison.high), high=names, **numbers)
        return claim(f"blank.surprise.{comparison.verdict}", high=names, **numbers)

    def _top_word(self, quote: Any) -> Claim:
        """The claim about the most surprising word of all sentences."""
        words = [(one.letter, word) for one in self.measured for word in one.measured]
        own_letter, top = max(words, key=lambda pair: pair[1].bits or 0.0)
        bits = top.bits or 0.0
        numbers: dict[str, Any] = {"word": quote(top.label), "letter": own_letter, "bits": bits}
        if bits <= _EXPECTED_BITS:
            return claim("blank.surprise.expected", **numbers)
        if len(words) == 1:
            return claim("blank.surprise.only", **numbers)
        leaders = [word for _, word in words if are_about_equal(word.bits or 0.0, bits)]
        if len(leaders) > 1:
            low = min(word.bits or 0.0 for word in leaders)
            return claim("blank.surprise.several", n=len(leaders), low=low, **numbers)
        if len(top.tokens) > 1:
            return claim("blank.surprise.top_pieces", n=len(top.tokens), **numbers)
        return claim("blank.surprise.top", chance=chance(bits), **numbers)

    def _average(self, sentence: SentenceSurprise) -> Claim:
        return claim(
            "blank.surprise.average",
            letter=sentence.letter,
            n=len(sentence.measured),
            bits=sentence.mean,
        )

    # The picture

    def alt(self) -> str:
        """Return a description of the picture."""
        return say("blank.surprise.alt", title=self.title())

    def figure(self) -> go.Figure | None:
        """Return the sentences as lines of words, coloured by surprise on one scale."""
        if not self.measured:
            return None
        return _picture(self.sentences, self.card.vocabulary_size)

    # Files

    def rows(self) -> Rows:
        """Return a row for each hidden token."""
        rows = []
        for sentence in self.sentences:
            word_of = {token.position: word for word in sentence.words for token in word.tokens}
            for token in sentence.tokens:
                word = word_of.get(token.position)
                rows.append(
                    {
                        "sentence": sentence.letter,
                        "position": token.position,
                        "token": token.label,
                        "surprise": token.bits,
                        "probability": 2.0**-token.bits,
                        "rank": token.rank,
                        "first guesses": _listed_guesses(token),
                        "word": None if word is None else word.label,
                        "surprise of the word": None if word is None else word.bits,
                    }
                )
        return rows

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return the surprise of every token and word, by the sentence's letter."""
        by_name: dict[str, NDArray[Any]] = {
            "pseudo_log_likelihood": np.array([one.log_likelihood for one in self.sentences]),
            "bits_a_word": np.array([one.mean for one in self.sentences]),
        }
        for one in self.sentences:
            words = [math.nan if word.bits is None else word.bits for word in one.words]
            by_name[f"positions_{one.letter}"] = np.array(
                [token.position for token in one.tokens], dtype=np.int64
            )
            by_name[f"surprise_{one.letter}"] = np.array([token.bits for token in one.tokens])
            by_name[f"word_surprise_{one.letter}"] = np.array(words, dtype=np.float64)
            by_name[f"words_{one.letter}"] = np.array([w.label for w in one.words], dtype=np.str_)
        return by_name

    def snippet(self) -> str:
        """Return a script that leaves `surprise` and `log_likelihood`, dicts by letter."""
        lines = [
            *("import math", "", "import torch"),
            "from transformers import AutoModelForMaskedLM, AutoTokenizer",
            "",
            *(one.replace("AutoModel.", "AutoModelForMaskedLM.") for one in load_lines(self.card)),
            "",
            "texts = {",
            *(f"    {literal(one.letter)}: {literal(one.text)}," for one in self.sentences),
            "}",
        ]
        numbers = {"max_length": self.card.max_length, "segments": self.card.has_segments}
        return "\n".join(lines) + "\n" + _SCRIPT.format(**numbers)


_SCRIPT = """\
special = set(tokenizer.all_special_ids)  # also the token for what it cannot read
surprise, log_likelihood = {{}}, {{}}
for letter, text in texts.items():
    batch = tokenizer(
        text, truncation=True, max_length={max_length}, return_token_type_ids={segments},
        return_tensors="pt",
    )
    ids, surprise[letter], log_likelihood[letter] = batch["input_ids"][0], {{}}, 0.0
    for i, of_text in enumerate(batch.sequence_ids(0)):
        if of_text is None or int(ids[i]) in special:
            continue
        hidden = ids.clone()
        hidden[i] = tokenizer.mask_token_id
        with torch.inference_mode():
            logits = model(**{{**batch, "input_ids": hidden[None]}}).logits[0, i]
        log_probability = float(logits.log_softmax(dim=-1)[ids[i]])
        surprise[letter][i] = -log_probability / math.log(2)  # bits
        log_likelihood[letter] += log_probability
        print(letter, tokenizer.decode([int(ids[i])]), f"{{surprise[letter][i]:.4f}}")
    print(letter, f"{{log_likelihood[letter]:.4f}}")
"""


def _about_lengths(comparison: Comparison, sentences: Sequence[SentenceSurprise]) -> list[Claim]:
    """The caution on sentences of different lengths, or the difference of two as long ones."""
    if comparison.verdict == "mixed":
        return []
    counts = [len(sentence.measured) for sentence in sentences]
    if not comparison.same_length:
        return [claim("blank.surprise.lengths", low=min(counts), high=max(counts))]
    if len(sentences) > 2:
        return []
    less, more = sorted(sentences, key=lambda sentence: sentence.total)
    gap = more.total - less.total
    if gap <= _SAME_BITS:
        return []
    return [claim("blank.surprise.total", more=more.letter, less=less.letter, bits=gap)]


def _in_title(label: str) -> str:
    return f"“{shortened(label, 24)}”"


def _listed_guesses(token: TokenSurprise) -> str:
    return ", ".join(f"{name} {percent(probability)}" for name, probability in token.guesses)


# --- The picture: words as tiles on lines, as wide as a phone

_LINE_WIDTH = 284.0  # pixels of the words on a line
_LINE_HEIGHT = 52
_PADDING, _MIN_TILE = 16.0, 44.0
_MAX_LABEL = 18  # characters
_MAX_HOVERED = 4  # pieces of a word whose guesses are listed
_LAST_TICK = 0.75  # of the scale: its end's label needs the rest
_ABOVE, _BELOW = 8, 104  # pixels of the margins; the colour bar is below


@dataclass(frozen=True)
class _Line:
    """Words on one line, and the ends of their tiles: one more than words."""

    words: tuple[WordSurprise, ...]
    edges: tuple[float, ...]


def blind_guess(n_tokens: int) -> float:
    """The bits of each token of a vocabulary if all were equally likely: the end of the colours."""
    return max(1.0, math.log2(max(n_tokens, 1)))


def _picture(sentences: Sequence[SentenceSurprise], n_vocabulary: int) -> go.Figure:
    end = blind_guess(n_vocabulary)
    traces: list[dict[str, Any]] = []
    names: dict[int, str] = {}
    row = 0
    for sentence in sentences:
        lines = _lines(sentence)
        if lines:
            names[row] = sentence.letter
        for line in lines:
            traces.append(_tiles(line, row, end, shows_scale=not traces))
            row += 1
    texts = _tile_texts([line for sentence in sentences for line in _lines(sentence)], end)
    ticks = [tick for tick in (0, 5, 10) if tick < _LAST_TICK * end]
    traces[0]["colorbar"] = {
        "title": {"text": _scale_title(end, n_vocabulary), "side": "top"},
        "orientation": "h",
        "thickness": 8,
        "len": 0.7,
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "ypad": 12,
        "tickvals": [*ticks, end],
        "ticktext": [*map(str, ticks), say("blank.surprise.scale_end", n=end)],
    }
    bare = {"showgrid": False, "zeroline": False, "ticks": ""}
    layout = {
        "xaxis": {**bare, "range": [0, _LINE_WIDTH], "showticklabels": False, "fixedrange": True},
        "yaxis": {
            **bare,
            "tickvals": list(names),
            "ticktext": [f"<b>{name}</b>" for name in names.values()],
            "range": [row - 0.5, -0.5],
            "fixedrange": True,
        },
        "margin": {"l": 30, "r": 8, "t": _ABOVE, "b": _BELOW},
    }
    height = _ABOVE + _BELOW + _LINE_HEIGHT * row
    return figure([*traces, texts], layout, title="", height=height)


def _lines(sentence: SentenceSurprise) -> list[_Line]:
    """The words of a sentence on lines; leftwards if its first letter runs so."""
    lines: list[list[tuple[WordSurprise, float]]] = []
    left = 0.0
    for word in sentence.words:
        size = min(max(width(_tile_label(word)) + _PADDING, _MIN_TILE), _LINE_WIDTH)
        if not lines or left + size > _LINE_WIDTH:
            lines.append([])
            left = 0.0
        lines[-1].append((word, size))
        left += size
    is_leftward = _runs_leftward(sentence.text)
    laid = []
    for line in lines:
        edges = np.cumsum([0.0, *(size for _, size in line)])
        words = [word for word, _ in line]
        if is_leftward:
            edges, words = _LINE_WIDTH - edges[::-1], words[::-1]
        laid.append(_Line(tuple(words), tuple(edges.tolist())))
    return laid


def _runs_leftward(text: str) -> bool:
    kinds_of_letters = (unicodedata.bidirectional(character) for character in text)
    return next((kind != "L" for kind in kinds_of_letters if kind in ("L", "R", "AL")), False)


def _tile_label(word: WordSurprise) -> str:
    return plain(word.label, _MAX_LABEL) or "␣"


def _scale_title(end: float, n_vocabulary: int) -> str:
    return say("blank.surprise.scale", end=end, n=n_vocabulary).replace("|", "<br>")


def _tiles(line: _Line, row: int, end: float, *, shows_scale: bool) -> dict[str, Any]:
    bits = [None if word.bits is None else round(word.bits, 4) for word in line.words]
    return {
        "type": "heatmap",
        "x": list(line.edges),
        "y": [row],
        "z": [bits],
        "zmin": 0.0,
        "zmax": end,
        "colorscale": SEQUENTIAL,
        "xgap": 3,
        "ygap": 6,
        "customdata": [[_hover(word) for word in line.words]],
        "hovertemplate": "%{customdata}<extra></extra>",
        "showscale": shows_scale,
    }


def _tile_texts(lines: Sequence[_Line], end: float) -> dict[str, Any]:
    """The words and their bits, written on their tiles."""
    x, y, texts, colors = [], [], [], []
    for row, line in enumerate(lines):
        edges = np.array(line.edges)
        x += ((edges[:-1] + edges[1:]) / 2).round(1).tolist()
        y += [row] * len(line.words)
        for word in line.words:
            bits = "–" if word.bits is None else number(word.bits, ".1f")
            texts.append(f"{_tile_label(word)}<br>{bits}")
            share = min(1.0, (word.bits or 0.0) / end)
            colors.append(INK if word.bits is None else ink_on(share))
    return {
        "type": "scatter",
        "mode": "text",
        "x": x,
        "y": y,
        "text": texts,
        "textfont": {"color": colors},
        "hoverinfo": "skip",
    }


def _hover(word: WordSurprise) -> str:
    """The lines shown at a word: its surprise, and the model's own guesses."""
    name = plain(word.label) or "␣"
    if word.bits is None:
        return say("blank.surprise.hover.unread", word=name)
    if len(word.tokens) == 1:
        (token,) = word.tokens
        lines = [
            say("blank.surprise.hover.word", word=name, bits=token.bits),
            say("blank.surprise.hover.chance", chance=chance(token.bits), rank=token.rank),
            say("blank.surprise.hover.guesses", guesses=plain(_listed_guesses(token), 80)),
        ]
        return "<br>".join(lines)
    n = len(word.tokens)
    lines = [say("blank.surprise.hover.pieces", word=name, bits=word.bits, n=n)]
    lines += [
        say(
            "blank.surprise.hover.piece",
            piece=plain(token.label),
            bits=token.bits,
            guesses=plain(_listed_guesses(token), 80),
        )
        for token in word.tokens[:_MAX_HOVERED]
    ]
    return "<br>".join([*lines, *(["…"] if n > _MAX_HOVERED else [])])


# --- The work

WORK = page_work("hides the words of sentences", "Running the model")
_AT_ONCE = 16  # readings between two reports of progress


def task(
    view: ViewState, service: EncoderService, card: ModelCard, *, token_seconds: float
) -> Task:
    """Return the job that hides tokens in turn; `token_seconds` is the duration of a token."""
    key = [(one.text, one.pair is None) for one in view.sentences]
    counts = [
        min(tokens.n_tokens, MAX_TOKENS)
        for tokens in service.tokenize(view.model, [one.text for one in view.sentences])
    ]
    stage = say("blank.surprise.work")

    def run(report: Report) -> Surprise:
        report(stage, 0.0)
        return surprise(
            view, service, card, progress=lambda done, n: report(stage, done / max(n, 1))
        )

    size = token_seconds * sum(n**2 for n in counts)
    return Task(("surprise", card.id, card.checksum, tuple(key)), WORK, run, size=size)


def surprise(
    view: ViewState,
    service: EncoderService,
    card: ModelCard,
    *,
    progress: Counted | None = None,
) -> Surprise:
    """Return the surprise of every word of the current sentences, without their second texts.

    Args:
        view: the current view.
        service: runs the model.
        card: the card of the view's model.
        progress: receives the numbers of finished and of all readings; an exception that it raises
            ends the work.

    Raises:
        RequestError: the model has no trained head that predicts hidden words.
    """
    vocabulary = service.vocabulary(view.model)
    texts = [_read(service, view.model, sentence.text) for sentence in view.sentences]
    hidden = [_hidden(tokens, vocabulary) for tokens, _ in texts]
    n, predictions = sum(map(len, hidden)), []
    for (tokens, _), places in zip(texts, hidden, strict=True):
        for start in range(0, len(places), _AT_ONCE):
            some = [[place] for place in places[start : start + _AT_ONCE]]
            predictions += service.predict_tokens(
                view.model, [tokens.text] * len(some), some, n_best=N_GUESSES
            )
            if progress is not None:
                progress(len(predictions), n)
    passport, left = None, iter(predictions)
    if predictions:
        first = predictions[0].passport
        settings = {**first.settings, "masked positions": "each token in turn"}
        passport = replace(first, settings=settings)
    sentences = tuple(
        _sentence(index, sentence, text, list(islice(left, len(places))), vocabulary)
        for index, (sentence, text, places) in enumerate(
            zip(view.sentences, texts, hidden, strict=True)
        )
    )
    return Surprise(card, sentences, passport)


def _hidden(tokens: Tokens, vocabulary: Vocabulary) -> list[int]:
    """The positions of a text's tokens that are hidden in turn."""
    own = np.flatnonzero(tokens.text_ids >= 0).tolist()
    return [i for i in own if vocabulary.kinds[int(tokens.token_ids[i])] != "special"]


def _sentence(
    index: int,
    sentence: Sentence,
    text: tuple[Tokens, bool],
    predictions: Sequence[TokenPredictions],
    vocabulary: Vocabulary,
) -> SentenceSurprise:
    tokens, is_cut = text
    token_labels = labels(tokens, vocabulary)
    by_position = {
        one.positions[0]: _token(one, token_labels[one.positions[0]], vocabulary)
        for one in predictions
    }
    return SentenceSurprise(
        letter=letter(index),
        text=tokens.text,
        words=_words(tokens, by_position),
        tokens=tuple(by_position.values()),
        n_tokens=int((tokens.text_ids >= 0).sum()),
        n_unknown=kinds(tokens, vocabulary).count("unknown"),
        is_cut=is_cut,
        has_pair=sentence.pair is not None,
    )


def _read(service: EncoderService, model: str, text: str) -> tuple[Tokens, bool]:
    """A text's tokens, or those of its beginning if it is long; True if it is."""
    (tokens,) = service.tokenize(model, [text])
    own = np.flatnonzero(tokens.text_ids >= 0)
    if len(own) <= MAX_TOKENS:
        return tokens, tokens.n_truncated > 0
    too_many = own[MAX_TOKENS]
    end = int(tokens.offsets[own[tokens.word_ids[own] == tokens.word_ids[too_many]], 0].min())
    if tokens.word_ids[too_many] < 0 or not text[:end].strip():  # white space, or a long first word
        end = int(tokens.offsets[too_many, 0])
    return service.tokenize(model, [text[:end].rstrip()])[0], True


def _words(tokens: Tokens, by_position: Mapping[int, TokenSurprise]) -> tuple[WordSurprise, ...]:
    words = []
    for unit in units_of(tokens):
        if is_word(unit):
            own = [by_position.get(position) for position in unit.positions]
            known = tuple(token for token in own if token is not None)
            words.append(WordSurprise(unit.label, known if len(known) == len(own) else ()))
    return tuple(words)


def _token(prediction: TokenPredictions, label: str, vocabulary: Vocabulary) -> TokenSurprise:
    guesses = zip(prediction.best_ids[0, 0].tolist(), prediction.best[0, 0].tolist(), strict=True)
    return TokenSurprise(
        position=prediction.positions[0],
        label=label,
        bits=max(0.0, -float(prediction.written[0, 0]) / math.log(2)),
        rank=int(prediction.written_ranks[0, 0]),
        guesses=tuple((_piece(i, vocabulary), math.exp(value)) for i, value in guesses),
    )


def _piece(token_id: int, vocabulary: Vocabulary) -> str:
    """A guessed token: as WordPiece writes it ("##an"), else the text that it stands for."""
    if token_id >= len(vocabulary.pieces):
        return str(token_id)
    piece, text = vocabulary.pieces[token_id], vocabulary.texts[token_id]
    return piece if vocabulary.method == "WordPiece" else text.strip() or piece
