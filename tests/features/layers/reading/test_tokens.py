"""Every sentence and title of the main picture, read back and checked against its numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from components.core import EncoderService
from components.features.layers.controls import MEASURES
from components.features.layers.measures.tokens import KINDS, Kind, Measure
from components.features.layers.reading.tokens import layers_picture_title, layers_reading
from tests.features.layers.shown import ODD_TEXTS, of, shown
from tests.support.leading import NAME, NAMES, SPAN, Numbers, group, layers_in, odd_values
from tests.support.leading import two as written
from tests.support.true_words import bare, cut, odd_labels, read_back

N_MADE = 2000
N = r"-?\d+\.\d\d"


@dataclass
class Picture:
    """What the sentences of the main picture are about."""

    found: Measure
    labels: Sequence[str]
    layer: int
    baseline: np.ndarray | None

    @property
    def counted(self) -> list[int]:
        own = [i for i, is_own in enumerate(self.found.own) if is_own]
        own = own or list(range(len(self.labels)))
        rest = [i for i in own if i > 0]
        return rest if self.found.kind == "first" and rest else own

    @property
    def values(self) -> list[float]:
        row = self.found.layers.index(self.layer)
        return [float(self.found.values[row, i]) for i in self.counted]

    @property
    def averages(self) -> list[float]:
        return self.found.values[:, self.counted].mean(axis=1).tolist()

    def numbers(self, values: Sequence[float]) -> Numbers:
        relative = 0.01 * max(values) if self.found.kind == "length" else 0.0
        return Numbers(values, max(0.01, relative))

    def assert_true(self) -> None:
        said = layers_reading(self.found, self.labels, self.layer, self.baseline)
        whole = bare(" ".join(said))
        read_back(whole, self.claims())
        self.assert_title(layers_picture_title(self.found, self.labels[0]))
        if not self.found.own.any():
            assert "the text's" not in whole
            assert whole.startswith("This text has no token of its own")

    def claims(self) -> dict[str, Any]:
        like = rf"(?:(?:its own vector|their own vectors) of (?:layer 0|the layer before)|{NAME})"
        most = rf"(?:(?:is|are) most like {like}|has the longest vector|have the longest vectors)"
        alike = rf"(?:are about as like {like}|have vectors about as long)"
        return {
            r"This text has no token of its own: what you see is only (?P<names>.*?”)\.": self.none,
            r"Layer 0 has no layer before it to compare with\. Choose a later one\.": self.no_layer,
            r"Layer 0 is where every token starts, so its cosine to itself is 1\.": self.start,
            rf"At layer (?P<layer>\d+), (?P<name>{NAME}) has a (?:cosine of (?P<cosine>{N}) to "
            rf"(?P<to>{like})|vector of length (?P<length>{N}))\.": self.single,
            rf"At layer (?P<layer>\d+), all of (?P<of>the text's own|these) tokens {alike} "
            rf"\((?P<span>{SPAN})\)\.": self.alike,
            rf"At layer (?P<layer>\d+), (?P<own>of the text's own tokens )?(?P<most>{NAMES}) "
            rf"{most} \((?P<high>{SPAN})\), (?P<least>{NAMES}) (?:the shortest|least) "
            rf"\((?P<low>{SPAN})\)\.": self.extremes,
            rf"Random pairs of words average (?P<mean>{N}) there\.": self.random,
            rf"To the other tokens (?P<where>at layer 0|in the layer before) the average is "
            rf"(?P<mean>{N})\.": self.chance,
            rf"On average all layers turn the tokens' vectors about alike \((?P<span>{SPAN})\)\."
            "": self.turn_alike,
            rf"On average (?P<most>layers? [\d, to]+) turns? the tokens' vectors most "
            rf"\((?P<high>{SPAN})\), (?P<least>layers? [\d, to]+) least \((?P<low>{SPAN})\)\."
            "": self.turn,
            rf"The average (?P<noun>cosine|length) is about the same at both ends: (?P<first>{N}) "
            rf"at layer (?P<start>\d+) and (?P<last>{N}) at layer (?P<end>\d+)\.": self.same_ends,
            rf"The average (?P<noun>cosine|length) (?P<moves>rises|falls) (?P<how>at every layer, "
            r"|over the layers, though not at each, |over the layers, )from "
            rf"(?P<first>{N}) at layer (?P<start>\d+) to (?P<last>{N}) at layer (?P<end>\d+)\."
            "": self.moves,
        }

    def none(self, names: str) -> None:
        assert not self.found.own.any()
        assert names == ", ".join(f"“{cut(label)}”" for label in dict.fromkeys(self.labels))

    def no_layer(self) -> None:
        assert (self.found.kind, self.layer) == ("before", 0)

    def start(self) -> None:
        assert (self.found.kind, self.layer) == ("start", 0)
        assert self.values == pytest.approx([1] * len(self.counted))

    def single(self, layer: str, name: str, cosine: str, to: str, length: str) -> None:
        assert int(layer) == self.layer
        assert [group(name, self.labels)[0]] == self.counted
        assert (cosine or length) == written(self.values[0])
        assert (length is None) == (self.found.kind != "length")
        if to and to.startswith("“"):
            assert group(to, self.labels)[0] == 0

    def alike(self, layer: str, of: str, span: str) -> None:
        assert int(layer) == self.layer
        assert (of == "these") == (not self.found.own.any())
        self.numbers(self.values).assert_alike(span)

    def extremes(self, layer: str, own: str, most: str, least: str, high: str, low: str) -> None:
        assert int(layer) == self.layer
        assert bool(own) == bool(self.found.own.any())
        numbers = self.numbers(self.values)
        assert not numbers.are_alike
        for names, span, sign in ((most, high, 1), (least, low, -1)):
            first, size = group(names, self.labels)
            numbers.assert_leads(self.counted.index(first), size, span, sign)

    def random(self, mean: str) -> None:
        assert self.found.kind == "first"
        assert mean == written(self.baseline[self.layer])

    def chance(self, where: str, mean: str) -> None:
        assert (where == "at layer 0") == (self.found.kind == "start")
        assert mean == written(self.found.chance[self.found.layers.index(self.layer)])

    def turn_alike(self, span: str) -> None:
        Numbers(self.averages).assert_alike(span)

    def turn(self, most: str, high: str, least: str, low: str) -> None:
        assert self.found.kind == "before"
        for listed, span, sign in ((most, high, -1), (least, low, 1)):
            self.assert_layers(listed, span, sign)

    def assert_layers(self, listed: str, span: str, sign: int) -> None:
        """Just these layers are highest or lowest."""
        numbers, rows = self.numbers(self.averages), layers_in(listed)
        rows = [self.found.layers.index(layer) for layer in rows]
        first = max(rows, key=lambda row: sign * self.averages[row])
        numbers.assert_leads(first, len(rows), span, sign)
        lowest = min(sign * self.averages[row] for row in rows)
        top = max(sign * value for value in self.averages)
        assert top - lowest <= numbers.margin

    def ends(self, noun: str, first: str, start: str, last: str, end: str) -> tuple[float, float]:
        assert (noun == "length") == (self.found.kind == "length")
        assert (int(start), int(end)) == (self.found.layers[0], self.found.layers[-1])
        assert (first, last) == (written(self.averages[0]), written(self.averages[-1]))
        return self.averages[0], self.averages[-1]

    def same_ends(self, **said: str) -> None:
        first, last = self.ends(**said)
        assert abs(first - last) <= 2 * self.numbers(self.averages).margin

    def moves(self, moves: str, how: str, **said: str) -> None:
        first, last = self.ends(**said)
        margin = self.numbers(self.averages).margin
        assert abs(first - last) > 2 * margin
        assert (last > first) == (moves == "rises")
        sign = 1 if last > first else -1
        steps = [sign * (b - a) for a, b in zip(self.averages, self.averages[1:], strict=False)]
        assert ("every" in how) == all(step > margin for step in steps)
        assert ("though" in how) == any(step < -margin for step in steps)

    def assert_title(self, title: str) -> None:
        numbers, first = self.numbers(self.averages), re.escape(self.labels[0])
        leads = (
            r"(?P<layers>Layers? [\d, to]+) turns? the tokens' vectors most "
            r"\(cosine (?P<span>.*)\)",
            r"Longest vectors: (?P<layers>layers? [\d, to]+) \(average (?P<span>.*)\)",
            rf"Tokens are most like {first} at (?P<layers>layers? [\d, to]+) \((?P<span>.*)\)",
        )
        for pattern, kind in zip(leads, ("before", "length", "first"), strict=True):
            found = re.fullmatch(pattern, title)
            if found:
                assert self.found.kind == kind
                self.assert_layers(found["layers"], found["span"], -1 if kind == "before" else 1)
                return
        last = re.fullmatch(rf"At layer (\d+), average similarity to layer 0: ({N})", title)
        if last:
            assert self.found.kind == "start"
            assert int(last[1]) == self.found.layers[-1]
            assert last[2] == written(self.averages[-1])
            return
        even = re.fullmatch(
            r"(?:All layers turn the tokens' vectors about alike|Vectors are about as long at "
            rf"every layer|Tokens are about as like {first} at every layer"
            r"|Average .*, one layer alone)"
            r" \((.*)\)",
            title,
        )
        assert even, title
        assert ("alone" in title) == (len(self.found.layers) == 1)
        numbers.assert_alike(even[1])


def odd_measure(chance: random.Random, kind: Kind) -> Measure:
    numbers = np.random.default_rng(chance.randrange(2**32))
    n_layers, n_tokens = chance.choice((2, 3, 5, 7)), chance.choice((1, 2, 3, 4, 6, 9))
    values = odd_values(numbers, n_layers, n_tokens)
    values = values * chance.choice((1, 30, 400)) if kind == "length" else 2 * values - 1
    if kind == "start":
        values[0] = 1
    if kind == "first":
        values[:, 0] = 1
    own = numbers.random(n_tokens) < chance.choice((0, 0.4, 0.8, 1))
    rows = slice(int(kind == "before"), None)
    others = values[rows].mean(axis=1) if kind in ("start", "before") and own.sum() > 1 else None
    return Measure(kind, tuple(range(n_layers))[rows], values[rows], own, others)


@pytest.mark.slow
def test_every_sentence_of_the_main_picture_is_true() -> None:
    chance = random.Random(1)
    for i in range(N_MADE):
        found = odd_measure(chance, KINDS[i % len(KINDS)])
        labels = odd_labels(chance, found.values.shape[1])
        layer = chance.randrange(found.layers[-1] + 1)
        baseline = chance.choice((None, np.linspace(-0.1, 0.6, found.layers[-1] + 1)))
        Picture(found, labels, layer, baseline).assert_true()


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
def test_what_is_said_of_the_model_s_own_vectors_is_true(
    name: str, service: EncoderService
) -> None:
    for i, text in enumerate(ODD_TEXTS):
        states = shown(replace(of(text, measure=name), layer=i % 7), service)
        averages = np.linspace(0, 0.4, 7)
        Picture(states.measure, states.labels, states.layer, averages).assert_true()
