"""What the model expects at the blanks: the page's picture, its words and its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, listed_names, percent, quoted
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import Passport, TokenPredictions, Vocabulary
from contextlens.features.blank.blanks import (
    Blank,
    BlankedSentence,
    blanked_sentences,
    what_is_read,
)
from contextlens.features.blank.candidates import Candidate, candidates_of
from contextlens.features.blank.controls import (
    HIDE,
    MANY_BLANKS,
    N_BEST,
    N_BEST_OF_MANY,
    READ,
    WORD,
    Read,
)
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState, letter

_MAX_NAMED, _FEW_NAMED = 4, 2  # blanks in a sentence, and of more than those
_MASKS = ("[MASK]", "<mask>", "<|mask|>")  # as models of different families write a blank
_EVEN = 1.05  # the largest ratio of two probabilities that are called about equal
_MAX_TIMES = 1000
_SPACE = "␣"


BarKind = Literal["guess", "written", "read", "candidate"]


@dataclass(frozen=True)
class Bar:
    """One token beside a blank.

    Attributes:
        kind: "guess" for one of the most probable, "written" for what is written, "read" for what
            the model reads there instead, "candidate" for a visitor's own.
        mark: the sign before its text, drawn muted: "##" or "…" for a token that continues a word,
            "␣" for one that begins a word where one goes on; "" for none.
        rank: 1 is the most probable.
        log: its natural log-probability.
    """

    kind: BarKind
    token_id: int
    mark: str
    text: str
    rank: int
    log: float

    @property
    def name(self) -> str:
        """Its text with its mark."""
        return self.mark + self.text

    @property
    def share(self) -> float:
        """Its probability."""
        return math.exp(self.log)


@dataclass(frozen=True, eq=False)
class Answer:
    """What the model expects at one blank at one layer.

    Attributes:
        n: the number of the blank in its sentence, from 1.
        guesses: the most probable tokens; what is written is "written" among them, too.
        others: what is written and read, if it is not among them.
        candidates: the visitor's own, those that are one token.
        place: the name of the blank where there are several: "A", "blank 2", "blank 2 of A".
    """

    sentence: BlankedSentence
    blank: Blank
    n: int
    guesses: tuple[Bar, ...]
    others: tuple[Bar, ...]
    candidates: tuple[Bar, ...]
    place: str

    @property
    def written(self) -> Bar | None:
        """The token that is written there, if it is one."""
        bars = (*self.guesses, *self.others)
        return next((bar for bar in bars if bar.token_id == self.blank.written_id), None)

    def drawn(self, n: int) -> list[Bar]:
        """Return the n most probable tokens, and what is written and read if it is none of them."""
        return [
            *self.guesses[:n],
            *(bar for bar in self.guesses[n:] if bar.kind != "guess"),
            *self.others,
        ]

    @property
    def text(self) -> str:
        """The sentence with a line in the place of what is written at the blank."""
        sentence, (start, end) = self.sentence.sentence, self.blank.span
        text = (sentence.text, sentence.pair or "")[self.blank.text_id]
        return f"{text[:start]}____{text[end:]}"


@dataclass(frozen=True, eq=False)
class Predictions(Panel):
    """What the model expects at all blanks of a view.

    Attributes:
        sentences: all sentences, those without a blank too.
        results: the result of each sentence that has a blank, by its index.
        ids: the tokens whose probabilities were asked besides: the results' candidates.
        candidates: the visitor's own words at each blank, by sentence and position.
        layer: the one whose hidden states the head reads.
        how: what the model reads at the blanks.
        other: the word that it reads there instead.
        lacks_word: True if that word is still to be typed.
    """

    sentences: Sequence[BlankedSentence]
    results: Mapping[int, TokenPredictions]
    ids: Sequence[int]
    candidates: Mapping[tuple[int, int], tuple[Candidate, ...]]
    vocabulary: Vocabulary
    card: ModelCard
    layer: int
    how: Read
    other: str
    lacks_word: bool = False

    formula = r"""
**The head.** $h_{\ell,t}$ is the hidden state of the blank $t$ after layer $\ell$; the head $g$ is
a small network that was trained together with the encoder, for the last layer. It gives a number
$z_v$ (logit) for every token $v$ of the vocabulary:

$$
z = g(h_{\ell,t}) \qquad p(v) = \frac{\exp z_v}{\sum_{u} \exp z_u}
$$

**Rank** is 1 more than the number of tokens with a higher probability. **Odds** of two tokens are
$p(v) / p(u)$: all other tokens cancel out.
""".strip()

    # The numbers

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that can be chosen."""
        return tuple(range(self.card.n_layers + 1))

    @property
    def is_last_layer(self) -> bool:
        """True if the head reads the layer that it was trained on."""
        return self.layer == self.card.n_layers

    def answers(self) -> Iterator[Answer]:
        """Yield the answer at every shown blank."""
        with_blanks = [s for s in self.sentences if s.blanks]
        for sentence in with_blanks:
            for i, blank in enumerate(sentence.blanks):
                name = letter(sentence.index) if len(with_blanks) > 1 else ""
                if len(sentence.blanks) > 1:
                    case = "of" if name else "alone"
                    name = say(f"blank.place.{case}", n=i + 1, letter=name)
                yield self._answer(sentence, blank, i, name)

    def _answer(self, sentence: BlankedSentence, blank: Blank, i: int, place: str) -> Answer:
        result = self.results[sentence.index]
        row = result.layers.index(self.layer)
        kinds: dict[int | None, BarKind] = {blank.read_id: "read", blank.written_id: "written"}
        guesses = tuple(
            self.bar(kinds.get(int(token_id), "guess"), blank, int(token_id), rank + 1, float(log))
            for rank, (token_id, log) in enumerate(
                zip(result.best_ids[row, i], result.best[row, i], strict=True)
            )
        )
        known = {bar.token_id for bar in guesses}

        def asked(kind: BarKind, token_id: int) -> Bar:
            at = self.ids.index(token_id)
            rank, log = result.candidate_ranks[row, i, at], result.candidates[row, i, at]
            return self.bar(kind, blank, token_id, int(rank), float(log))

        others: tuple[tuple[BarKind, int | None], ...] = (
            ("written", blank.written_id),
            ("read", blank.read_id),
        )
        own = self.candidates.get((sentence.index, blank.position), ())
        return Answer(
            sentence=sentence,
            blank=blank,
            n=i + 1,
            guesses=guesses,
            others=tuple(
                asked(kind, token_id)
                for kind, token_id in others
                if token_id is not None and token_id not in known
            ),
            candidates=tuple(asked("candidate", c.token_id) for c in own if c.token_id is not None),
            place=place,
        )

    def bar(self, kind: BarKind, blank: Blank, token_id: int, rank: int, log: float) -> Bar:
        """Return a token beside a blank, with the text that readers see."""
        mark, text = token_name(self.vocabulary, blank, token_id)
        return Bar(kind, token_id, mark, text, rank, log)

    @property
    def n_drawn(self) -> int:
        """The number of most probable tokens that are drawn beside each blank."""
        n_blanks = sum(len(s.blanks) for s in self.sentences)
        return N_BEST if n_blanks < MANY_BLANKS else N_BEST_OF_MANY

    @property
    def passport(self) -> Passport | None:
        """The passport behind the numbers; None without a blank."""
        return next((result.passport for result in self.results.values()), None)

    # The words

    def title(self) -> Claim:
        """Return what the model expects."""
        names = [
            say(
                f"blank.guess.{'placed' if answer.place else 'alone'}",
                token=quoted(answer.guesses[0].name),
                share=share_text(answer.guesses[0].share),
                place=answer.place,
            )
            for answer in self.answers()
        ]
        if not names:
            return claim("blank.title.nothing")
        key = self.how if self.is_last_layer else "layer"
        numbers = {"names": _listed(names), "layer": self.layer, "word": quoted(self.other)}
        return claim(f"blank.title.{key}", **numbers)

    def claims(self) -> list[Claim]:
        """Return where the written words come among the guesses."""
        own = [(answer, answer.written) for answer in self.answers()]
        bars = [(answer, bar) for answer, bar in own if bar is not None]
        if not bars:
            return []
        words = {answer.blank.written for answer, _ in bars}
        key = "same" if len(words) == 1 else "different"
        names = [
            say(
                f"blank.written.{key}.{'placed' if answer.place else 'alone'}",
                word=quoted(answer.blank.written),
                rank=bar.rank,
                share=share_text(bar.share),
                place=answer.place,
            )
            for answer, bar in bars
        ]
        word = quoted(bars[0][0].blank.written)
        return [claim(f"blank.written.{key}.all", word=word, names=_listed(names))]

    def odds(self) -> list[Claim]:
        """Return how the first two of the visitor's own words compare at the first blanks."""
        claims: list[Claim] = []
        for answer in self.answers():
            if len(answer.candidates) < 2:
                continue
            first, second = answer.candidates[:2]
            words = self.candidates[answer.sentence.index, answer.blank.position]
            one, two = [quoted(word.text) for word in words if word.token_id is not None][:2]
            if second.log > first.log:
                first, second, one, two = second, first, two, one
            ratio = math.exp(min(first.log - second.log, 50.0))
            case = "even" if ratio <= _EVEN else "over" if ratio > _MAX_TIMES else "times"
            times = f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"
            numbers = {"first": one, "second": two, "place": answer.place}
            where = "placed" if answer.place else "alone"
            most = f"{_MAX_TIMES:,}"
            claims.append(claim(f"blank.odds.{case}.{where}", times=times, most=most, **numbers))
        return claims[:_MAX_NAMED]

    def cautions(self) -> list[Claim]:
        """Return that the head was not trained for the layer that it reads."""
        is_read = any(sentence.blanks for sentence in self.sentences)
        return [claim("blank.caution")] if is_read and not self.is_last_layer else []

    def notes(self) -> list[Claim]:
        """Return what has no number, and what is not shown."""
        claims = [claim("blank.note.type")] if self.lacks_word else []
        seen: set[tuple[object, ...]] = set()
        for candidate in (c for own in self.candidates.values() for c in own):
            if candidate.token_id is None and (candidate.text,) not in seen:
                seen.add((candidate.text,))
                pieces = ", ".join(quoted(piece) for piece in candidate.pieces[:8])
                why = "pieces" if candidate.pieces else "unknown"
                why = "continuing" if candidate.pieces == (candidate.text,) else why
                word = quoted(candidate.text)
                claims.append(claim(f"blank.note.candidate.{why}", word=word, pieces=pieces))
        for answer in self.answers():
            blank = answer.blank
            if blank.written and blank.written_id is None:
                if blank.read_id is not None:
                    case = "replaced"
                else:
                    case = "pieces" if blank.n_pieces > 1 else "unknown"
                key = case, blank.written
                if key not in seen:
                    seen.add(key)
                    word = quoted(blank.written)
                    claims.append(claim(f"blank.note.{case}", word=word, n=blank.n_pieces))
        for sentence in self.sentences:
            name = letter(sentence.index)
            if other := self._other_mask(sentence):
                own = escape(self.vocabulary.pieces[self.vocabulary.mask_id or 0])
                claims.append(claim("blank.note.mask", letter=name, typed=escape(other), own=own))
            if sentence.n_left_out:
                numbers = {"n": sentence.n_left_out, "shown": len(sentence.blanks)}
                claims.append(claim("blank.note.left_out", letter=name, **numbers))
            if sentence.read.n_truncated:
                n = sentence.read.n_truncated
                claims.append(claim("blank.note.cut", letter=name, n=n))
        if self.n_drawn < N_BEST:
            claims.append(claim("blank.note.many", n=self.n_drawn, all=N_BEST))
        return claims

    def _other_mask(self, sentence: BlankedSentence) -> str:
        """Return another family's sign for a blank in a sentence's text; "" for none."""
        mask_id = self.vocabulary.mask_id
        own = "" if mask_id is None else self.vocabulary.pieces[mask_id]
        text = sentence.sentence.text + (sentence.sentence.pair or "")
        return next((mask for mask in _MASKS if own and mask != own and mask in text), "")

    def sure(self) -> list[Claim]:
        """Return what a probability is here."""
        return [
            claim("blank.sure.vocabulary", n=self.card.vocabulary_size),
            claim(f"blank.sure.{'hidden' if self.how == HIDE else 'read'}"),
        ]

    def alt(self) -> str:
        """Return the picture in words."""
        return say("blank.alt", n=self.n_drawn)

    # The numbers to take away

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each token beside each blank."""
        return [
            {
                "sentence": letter(answer.sentence.index),
                "blank": answer.n,
                "written": answer.blank.written or None,
                "rank": bar.rank,
                "token": bar.name,
                "probability": bar.share,
                "log-probability": bar.log,
                "ID": bar.token_id,
                "kind": say(f"blank.kind.{bar.kind}"),
            }
            for answer in self.answers()
            for bar in (*answer.guesses, *answer.others, *answer.candidates)
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return each sentence's numbers at all layers."""
        arrays: dict[str, NDArray[Any]] = {"layers": np.array(self.layers)}
        if self.ids:
            arrays["asked_ids"] = np.array(self.ids)
        for index, result in self.results.items():
            name = letter(index)
            arrays[f"{name}_positions"] = np.array(result.positions)
            arrays[f"{name}_best_ids"] = result.best_ids
            arrays[f"{name}_best_log_probabilities"] = result.best
            if self.ids:
                arrays[f"{name}_asked_log_probabilities"] = result.candidates
                arrays[f"{name}_asked_ranks"] = result.candidate_ranks
        return arrays

    def snippet(self) -> str:
        """Return a script that leaves `logs`, for each text the blanks' log-probabilities."""
        return predictions_snippet(
            self.card,
            [s for s in self.sentences if s.blanks],
            layer=None if self.is_last_layer else self.layer,
            is_hidden=self.how == HIDE,
        )


def token_name(vocabulary: Vocabulary, blank: Blank, token_id: int) -> tuple[str, str]:
    """Return the mark and the text of a token at a blank."""
    if token_id >= len(vocabulary.pieces):  # a row of the table that no token uses
        return "", f"ID {token_id}"
    piece, text, kind = (
        values[token_id] for values in (vocabulary.pieces, vocabulary.texts, vocabulary.kinds)
    )
    if kind == "special" or not text.strip() or "\ufffd" in text:
        return "", piece
    if vocabulary.method == "WordPiece":
        return ("##" if kind == "continuation" else ""), text
    begins_text = blank.span[0] == 0 and vocabulary.method == "BPE"
    if kind == "continuation" and blank.is_start and not begins_text:
        return "…", text
    return (_SPACE if kind == "start" and not blank.is_start else ""), text


def share_text(share: float) -> str:
    """Return a probability in per cent, with two digits if it is small."""
    if share >= 0.1:
        return percent(share)
    if share >= 0.0001:
        return f"{100 * share:.2g}%"
    return say("blank.under")


def _listed(names: Sequence[str]) -> str:
    """Return the first names in a row, and the number of the others."""
    if len(names) <= _MAX_NAMED:
        return listed_names(names)
    left = len(names) - _FEW_NAMED
    return say("blank.more", names=", ".join(names[:_FEW_NAMED]), n=left)


def predictions(view: ViewState, service: EncoderService, card: ModelCard) -> Predictions:
    """Return what the model's head expects at every blank of a view."""
    vocabulary = service.vocabulary(view.model)
    sentences = blanked_sentences(view, service, vocabulary)
    candidates = candidates_of(view, sentences, service, vocabulary)
    ids = {c.token_id for own in candidates.values() for c in own}
    for blank in (blank for sentence in sentences for blank in sentence.blanks):
        ids |= {blank.written_id, blank.read_id}
    asked = sorted(token_id for token_id in ids if token_id is not None)
    how = what_is_read(view)
    with_blanks = [sentence for sentence in sentences if sentence.blanks]
    found: list[TokenPredictions] = []
    if with_blanks:
        found = service.predict_tokens(
            view.model,
            [s.read.text for s in with_blanks],
            [s.places for s in with_blanks],
            pairs=[s.read.pair for s in with_blanks],
            masked=how == HIDE,
            layers=range(card.n_layers + 1),
            n_best=N_BEST,
            candidates=asked,
        )
    return Predictions(
        sentences=sentences,
        results={s.index: result for s, result in zip(with_blanks, found, strict=True)},
        ids=asked,
        candidates=candidates,
        vocabulary=vocabulary,
        card=card,
        layer=view.layer_among(range(card.n_layers + 1)),
        how=how,
        other=WORD.of(view).strip(),
        lacks_word=how != READ.of(view),
    )


_READ_LAYER = """

def read_layer(_module, _inputs, output):  # the head reads this layer instead of the last
    output.last_hidden_state = output.hidden_states[{layer}]
    return output


model.base_model.register_forward_hook(read_layer)
"""

_PREDICT = """
logs = []
for text, positions in zip(texts, blanks):
    batch = tokenizer(
        *text, truncation=True, max_length={max_length}, return_token_type_ids={segments},
        return_tensors="pt",
    )
{hide}    with torch.inference_mode():
        logits = model(**batch, output_hidden_states=True).logits[0, positions]
    logs.append(logits.log_softmax(dim=-1))
    for best in logs[-1].topk({n}).indices:
        print(tokenizer.convert_ids_to_tokens(best.tolist()))
"""


def predictions_snippet(
    card: ModelCard,
    sentences: Sequence[BlankedSentence],
    *,
    layer: int | None = None,
    is_hidden: bool = True,
) -> str:
    """Return a script that leaves `logs`: for each text, (blanks, vocabulary) log-probabilities.

    Args:
        card: the model.
        sentences: with one blank or more each.
        layer: the layer that the head reads; None for the last.
        is_hidden: True if the mask token is read at the blanks.
    """
    loaded = [line.replace("AutoModel.", "AutoModelForMaskedLM.") for line in load_lines(card)]
    hide = '    batch["input_ids"][0, positions] = tokenizer.mask_token_id\n'
    predict = _PREDICT.format(
        max_length=card.max_length,
        segments=card.has_segments,
        hide=hide if is_hidden else "",
        n=N_BEST,
    )
    texts = [
        ", ".join(literal(text) for text in (s.read.text, s.read.pair) if text is not None)
        for s in sentences
    ]
    return "\n".join(
        [
            "import torch",
            "from transformers import AutoModelForMaskedLM, AutoTokenizer",
            "",
            *loaded,
            *([] if layer is None else [_READ_LAYER.format(layer=layer)]),
            "texts = [  # as the model reads them",
            *(f"    [{text}]," for text in texts),
            "]",
            f"blanks = {[list(s.places) for s in sentences]}  # positions of tokens",
            predict,
        ]
    )
