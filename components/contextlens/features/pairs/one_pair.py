"""One pair: which one is shown, its texts, its cosine on a line, what the model reads of it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import cut, cut_start
from contextlens.core import EncoderService
from contextlens.core.schema import Tokens
from contextlens.core.words import Span
from contextlens.features.pairs.controls import PAIR, WRONG
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.figures.ruler import Stretch, line_ruler
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.unread import unread

_SAME_TINT, _DIFFERENT_TINT = "rgba(0,158,115,0.35)", "rgba(213,94,0,0.25)"
_N_AROUND = 100  # characters shown on either side of a word


@dataclass(frozen=True, eq=False)
class OnePair(Panel):
    """One pair at the layer.

    Attributes:
        at_layer: all pairs.
        number: the pair's number among these, from 0.
    """

    at_layer: PairsAtLayer
    number: int

    def claims(self) -> Sequence[Claim]:
        """Return the verdict on the pair."""
        return self.at_layer.pair_claims(self.number)

    def texts(self) -> list[str]:
        """Return both texts as HTML, their words marked."""
        pairs = self.at_layer.pairs
        return [marked(pairs.text(self.number, s), pairs.span(self.number, s)) for s in (0, 1)]

    def figure(self) -> go.Figure:
        """Return the pair's cosine on a line, beside its threshold or the random words."""
        scale, random = self.at_layer.scale, self.at_layer.random_range
        thresholds, cut = self.at_layer.pair_thresholds, None
        if thresholds is not None:
            cut = float(thresholds[self.number])
            stretches = [
                Stretch(say("pairs.pair.different", cut=cut), scale[0], cut, _DIFFERENT_TINT),
                Stretch(say("pairs.pair.same", cut=cut), cut, scale[1], _SAME_TINT),
            ]
        else:
            given = self.at_layer.pairs.vectors is not None
            name = say("pairs.given.random_texts") if given else say("pairs.pair.random")
            stretches = [] if random is None else [Stretch(name, *random)]
            stretches.append(Stretch(say("pairs.pair.identical"), 1.0, 1.0))
        return line_ruler(stretches, self._cosine, scale=scale, cut=cut)

    def alt(self) -> str:
        """Return a description of the line."""
        low, high = self.at_layer.scale
        verdict = str(self.claims()[0]).replace("**", "")
        return say("pairs.pair.alt", cosine=self._cosine, low=low, high=high, verdict=verdict)

    def unread_claims(self, service: EncoderService, model: str) -> list[Claim]:
        """Return what the model cannot read of the texts, and that it reads both the same."""
        pairs = self.at_layer.pairs
        if pairs.vectors is not None:
            return []
        texts = [pairs.text(self.number, side) for side in (0, 1)]
        both = service.tokenize(model, texts)
        names = (say("pairs.pair.first"), say("pairs.pair.second"))
        claims = unread(dict(zip(names, both, strict=True)), service, model)
        spans = [pairs.span(self.number, side) or (0, len(texts[side])) for side in (0, 1)]
        words = [text[slice(*span)] for text, span in zip(texts, spans, strict=True)]
        ids = [_ids(tokens, span) for tokens, span in zip(both, spans, strict=True)]
        if words[0] != words[1] and ids[0] == ids[1] and ids[0]:
            words_key, texts_key = "pairs.verdict.words.twins", "pairs.verdict.texts.twins"
            claims.append(claim(words_key if pairs.has_words else texts_key))
        return claims

    @property
    def _cosine(self) -> float:
        return float(self.at_layer.cosines[self.number])


def shown_pair(view: ViewState, at_layer: PairsAtLayer) -> OnePair:
    """Return the pair in the picture: the view's, or the first of its list at the best layer.

    That is the clearest error unless another list is chosen. It stays the same at every layer, so
    that playing the layers moves one pair along its line.
    """
    chosen = PAIR.of(view) - 1
    if 0 <= chosen < at_layer.pairs.n and not np.isnan(at_layer.cosines[chosen]):
        return OnePair(at_layer, chosen)
    at_best = replace(at_layer, row=at_layer.best_row)
    order = at_best.to_read(WRONG.among(at_layer.lists).of(view))
    return OnePair(at_layer, int((order if len(order) else at_best.to_read("most"))[0]))


def _ids(tokens: Tokens, span: Span) -> list[int]:
    """The IDs of the tokens in a span; none if the span does not fit the model."""
    inside = (tokens.offsets[:, 0] < span[1]) & (tokens.offsets[:, 1] > span[0])
    ids: list[int] = tokens.token_ids[inside & (tokens.text_ids >= 0)].tolist()
    return ids


def marked(text: str, span: Span | None) -> str:
    """Return a text as HTML with its word marked; a long text is cut around the word."""
    start, end = span or (0, 0)
    before, word, after = text[:start], text[start:end], text[end:]
    before = before if len(before) <= _N_AROUND else f"…{cut_start(before, _N_AROUND)}"
    n_after = 2 * _N_AROUND if span is None else _N_AROUND
    word, after = (part if len(part) <= n else f"{cut(part, n)}…" for part, n in
                   ((word, _N_AROUND), (after, n_after)))  # fmt: skip
    mark = f"<mark>{html.escape(word)}</mark>" if word else ""
    return f"{html.escape(before)}{mark}{html.escape(after)}"
