"""The word beside another word, or beside itself in another corpus, layer or model.

One share is called higher than another if their 95% intervals do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, shortened
from contextlens.core import EncoderService
from contextlens.features.senses.controls import (
    BESIDE,
    CHOSEN,
    OTHER_CORPUS,
    OTHER_LAYER,
    OTHER_MODEL,
    OTHER_WORD,
)
from contextlens.features.senses.occurrences import MissingWord, WordUses
from contextlens.features.senses.senses import Senses, senses_of
from contextlens.features.senses.separation_curve import curve_figure
from contextlens.ui.corpora.controls import COLLECTION, WORD
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState

_NAME_CHARACTERS = 40
_HEIGHT = 320


@dataclass(frozen=True, eq=False)
class Comparison(Panel):
    """A word on the page, and the other side."""

    one: Senses
    other: Senses

    @property
    def names(self) -> tuple[str, str]:
        """The names that distinguish the sides: word, corpus, model or layer; plain text."""
        a, b = self.one.uses, self.other.uses
        for first, second in ((a.word, b.word), (a.corpus, b.corpus), (a.model, b.model)):
            if first != second:
                return first, second
        return f"layer {self.one.layer}", f"layer {self.other.layer}"

    def claims(self) -> list[Claim]:
        """The side where more uses get the right sense, or the claim that this is not clear."""
        first, second = self.one.separation, self.other.separation
        names = self._escaped_names()
        if first is None or second is None:
            tests = zip(names, (first, second), strict=True)
            untested = [name for name, test in tests if test is None]
            return [claim("senses.sides.untested", names=" and ".join(untested))]
        sides = list(zip(names, (first, second), (self.one, self.other), strict=True))
        is_clear = first.interval[0] > second.interval[1] or second.interval[0] > first.interval[1]
        if is_clear:
            sides.sort(key=lambda side: -side[1].accuracy)
        numbers: dict[str, float | str] = {}
        for letter, (name, test, side) in zip("ab", sides, strict=True):
            numbers[f"{letter}_name"] = name
            numbers[f"{letter}_share"] = test.accuracy
            numbers[f"{letter}_baseline"] = side.uses.trial.chance
        return [claim(f"senses.sides.{'better' if is_clear else 'unclear'}", **numbers)]

    def sure(self) -> list[Claim]:
        """The interval of each side's share; no claims if one side is not tested."""
        first, second = self.one.separation, self.other.separation
        if first is None or second is None:
            return []
        return [
            claim("senses.sides.interval", name=name, low=test.interval[0], high=test.interval[1])
            for name, test in zip(self._escaped_names(), (first, second), strict=True)
        ]

    def figure(self) -> go.Figure | None:
        """Both curves; None if a side is not tested, or if both sides have the same curve."""
        curves = self.one.by_layer.curve, self.other.by_layer.curve
        if not all(curves) or self.one.by_layer is self.other.by_layer:
            return None
        return curve_figure(
            list(zip(self.names, curves, strict=True)),
            self.one.uses.trial.chance,
            layer=self.one.layer,
            title=self._title(),
            height=_HEIGHT,
        )

    def alt(self) -> str:
        """The description of the curves."""
        return say("senses.sides.curves_alt", title=self._title())

    def linked(self, indices: Iterable[int]) -> tuple[int, ...]:
        """The indices of the other side's occurrences at the same positions in the same texts.

        Empty if the sides differ in corpus or word.
        """
        one, other = self.one.uses, self.other.uses
        if (one.corpus, one.word) != (other.corpus, other.word):
            return ()
        others = {position: index for index, position in enumerate(_positions(other))}
        positions = _positions(one)
        return tuple(others[positions[i]] for i in indices if positions[i] in others)

    def _escaped_names(self) -> list[str]:
        return [escape(shortened(name, _NAME_CHARACTERS)) for name in self.names]

    def _title(self) -> str:
        a, b = self.names
        return say("senses.sides.curves", a=a, b=b)


def other_side(
    one: Senses, view: ViewState, service: EncoderService
) -> Senses | MissingWord | None:
    """The other side of a comparison: another word, or the same in another corpus, layer or model.

    "The same" is the word on the page, even if it is the default. The chosen occurrence is chosen
    there too, if it is one of the other side's. None without a comparison, and for the word table.

    Raises:
        ContextlensError: the other corpus or model cannot be used.
    """
    beside = other_view(one, CHOSEN.put(view, CHOSEN.default))
    if beside is None:
        return None
    other = senses_of(beside, service)
    if one.chosen is None or not isinstance(other, Senses):
        return other
    linked = Comparison(one, other).linked([one.chosen])
    return senses_of(CHOSEN.put(beside, other.rows[linked[0]]), service) if linked else other


def other_view(one: Senses, view: ViewState) -> ViewState | None:
    """The view that shows the other side of a comparison; None without a comparison."""
    kind, same_word = BESIDE.of(view), WORD.put(view, one.uses.word)
    if kind == "word" and OTHER_WORD.of(view).strip():
        return WORD.put(view, OTHER_WORD.of(view))
    if kind == "corpus":
        return COLLECTION.put(same_word, OTHER_CORPUS.asked(view) or OTHER_CORPUS.default)
    if kind == "layer":
        return replace(same_word, layer=OTHER_LAYER.of(view))
    if kind == "model" and (model := OTHER_MODEL.asked(view)):
        return replace(same_word, model=model)
    return None


def _positions(uses: WordUses) -> list[tuple[int, ...]]:
    """The text, start and end of each occurrence."""
    texts, spans = uses.occurrences.texts.tolist(), uses.occurrences.spans.tolist()
    return [(text, start, end) for text, (start, end) in zip(texts, spans, strict=True)]
