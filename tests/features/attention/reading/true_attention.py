"""Every sentence and title of Attention, taken apart and checked against its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from components.features.attention.measures.grid import Grid, Item
from components.features.attention.measures.selection import Selection
from components.features.attention.reading.weights import attention_reading, attention_title
from tests.support.leading import NAME, NAMES, Numbers, group, titled, two
from tests.support.true_words import bare, nothing, read_back

__all__ = ["Page"]

PLACES = {
    "previous": "the token before, where there is one",
    "next": "the token after, where there is one",
    "word": "the token itself or its own word",
}
SHORT = {"previous": "previous token", "next": "next token", "word": "its own word"}
ONE = r"(?:under 0\.0001|\d[\d.]*(?:e-\d+)?)"
SPAN = rf"{ONE}(?: to {ONE})?"


def share(value: float) -> str:
    """Two decimals; of what is below a tenth two digits that count."""
    if value >= 0.0995 or value == 0:
        return two(value)
    return "under 0.0001" if value < 0.0001 else f"{value:.2g}"


def weights_of(values: Sequence[float]) -> Numbers:
    """Weights, of which small ones may differ by less."""
    return Numbers(values, max(min(0.01, 0.1 * max(values)), 0.00005), share)


@dataclass
class Page:
    """What the sentences of the page are about."""

    selection: Selection
    grid: Grid
    picked: tuple[str, int]

    @property
    def is_part(self) -> bool:
        return bool(self.grid.hidden) or self.grid.rows != self.grid.columns

    @property
    def means(self) -> list[float]:
        real = [row.kind != "padding" for row in self.grid.rows]
        return self.grid.weights[np.array(real, bool)].mean(axis=0).tolist() if any(real) else []

    @property
    def values(self) -> list[float]:
        side, index = self.picked
        weights = self.grid.weights if side == "from" else self.grid.weights.T
        return weights[index].tolist()

    def named(self, items: Sequence[Item], names: str) -> tuple[int, int]:
        return group(names, [i.label for i in items], [i.positions[0] for i in items])

    def assert_true(self) -> None:
        said = attention_reading(self.selection, self.grid, self.picked)
        read_back(bare(" ".join(said)), self.claims())
        self.assert_title(attention_title(self.selection, self.grid))

    def claims(self) -> dict[str, Any]:
        head = r"ayer (?P<layer>\d+), head (?P<head>\d+)"
        counted = r"(?P<counted>, counted over all tokens, special ones included)?"
        over = (
            r"(?P<over>Averaged over the heads of layer \d+|Averaged over all heads of all layers"
            r"|Followed back through layers? [\d to]+)"
        )
        part = r"(?P<part>(?:, )?[Oo]f what is shown, )?"
        verbs = (
            "looks most at|looks at|gets most from|gets a part from|has its largest part in"
            "|has a part in"
        )
        ranked = rf"(?P<most>{NAMES}) \((?P<high>{SPAN})\)"
        then = rf"(?:, then (?P<then>{NAMES}) \((?P<low>{SPAN})\))?"
        return {
            r"Nothing shows that the encoder of this model was trained: every bias is exactly 0, "
            r"so take its patterns for chance\.": self.untrained,
            rf"In l{head}, (?P<share>{SPAN}) of the attention goes to (?P<places>.*?) \(spread "
            rf"evenly, it would be (?P<even>{SPAN})\){counted}\.": self.habit,
            rf"L{head} has no single habit here: (?:its shares are about alike, (?P<alike>{SPAN})"
            rf"|the largest shares?, (?P<share>{SPAN}), go(?:es)? to (?P<places>.*?) \(spread "
            rf"evenly, (?P<even>{SPAN})\)){counted}\.": self.no_habit,
            rf"{over}, {part}(?P<what>all have about the same part|(?P<names>{NAMES}) ha(?:s|ve) "
            rf"(?:the largest part|a part)) (?P<of>of the attention|in a position): "
            rf"(?P<share>{SPAN}) on average\.": self.mean,
            rf"{part}(?P<own>{NAME}) (?P<verb>{verbs}) {ranked}{then}\.": self.look,
            rf"{part}(?P<verb>[Tt]he largest part of|[Aa] part of) (?P<own>{NAME}) comes from "
            rf"{ranked}{then}\.": self.look,
            rf"{part}(?P<own>{NAME}) (?:looks at all about alike|gets about as much from all|comes "
            rf"from all about alike|has about the same part in all) \((?P<share>{SPAN})\)\."
            "": self.level,
            rf"(?P<own>{NAME}) is padding: nothing looks at it, its weights are exactly 0\."
            "": self.padding,
            rf"(?P<own>{NAME}) has no weight among what is shown\.": self.no_weight,
            r"Attention shows where (?:a head takes its|heads take their|each position takes its) "
            r"input from; it does not explain what the model concludes\.": nothing,
        }

    def untrained(self) -> None:
        assert not self.selection.trained

    # A head

    @property
    def clear(self) -> dict[str, float]:
        shares, even = self.selection.shares, self.selection.even
        return {n: s for n, s in shares.items() if s >= 0.3 and s >= 1.5 * even[n]}

    def place(self, habit: str) -> str:
        return PLACES.get(habit) or self.selection.names[habit]

    def assert_head(self, layer: str, head: str, counted: str | None) -> None:
        own = self.selection
        assert (own.scope, own.layer, own.head) == ("head", int(layer), int(head))
        assert bool(counted) == self.is_part

    def leaders(self, shares: dict[str, float]) -> list[str]:
        near = [n for n, s in shares.items() if max(shares.values()) - s <= 0.01]
        return sorted(near, key=lambda n: -shares[n])

    def habit(self, share: str, places: str, even: str, **at: Any) -> None:
        self.assert_head(**at)
        lead = self.leaders(self.clear)
        assert places == ", and about as much to ".join(map(self.place, lead))
        self.assert_spans(lead, share, even, first_only=True)

    def assert_spans(self, lead: list[str], own: str, even: str, *, first_only: bool) -> None:
        shares = [self.selection.shares[name] for name in lead]
        assert own == Numbers([0], said=share).span(shares[:1] if first_only else shares)
        assert even == Numbers([0], said=share).span([self.selection.even[n] for n in lead])

    def no_habit(
        self, alike: str | None, share: str | None, places: str | None, even: str | None, **at: Any
    ) -> None:
        self.assert_head(**at)
        assert not self.clear
        shares = dict(self.selection.shares)
        numbers = Numbers(list(shares.values()), said=globals()["share"])
        if alike:
            numbers.assert_alike(alike)
            return
        assert not numbers.are_alike
        lead = self.leaders(shares)
        named = [self.place(name) for name in lead]
        more = f"{named[0]} and {len(named) - 1} others"
        assert places == (more if len(named) > 2 else " and ".join(named))
        self.assert_spans(lead, share or "", even or "", first_only=False)

    # A mean, and the picked token

    def mean(
        self, over: str, part: str | None, what: str, names: str | None, of: str, share: str
    ) -> None:
        own = self.selection
        assert (of == "in a position") == (own.scope == "rollout")
        layers = [int(n) for n in re.findall(r"\d+", over)]
        assert layers == {
            "layer": [own.layer], "all": [], "rollout": [1, own.layer] if own.layer > 1 else [1]
        }[own.scope]  # fmt: skip
        assert bool(part) == self.is_part
        self.assert_told(names, what, share, self.means)

    def assert_told(self, names: str | None, what: str, span: str, values: list[float]) -> None:
        """What is told of the columns' means."""
        if names is None:
            weights_of(values).assert_alike(span)
        elif "largest" in what:
            assert not weights_of(values).are_alike
            weights_of(values).assert_leads(*self.named(self.grid.columns, names), span)
        else:
            assert len(values) == 1
            assert span == share(values[0])

    def sides(self) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        both = self.grid.rows, self.grid.columns
        return both if self.picked[0] == "from" else both[::-1]

    def assert_picked(self, name: str, part: str | None = None) -> None:
        assert self.named(self.sides()[0], name) == (self.picked[1], 1)
        assert part is None or self.is_part

    def look(
        self, part: str | None, own: str, verb: str, most: str, high: str, then: str | None,
        low: str | None,
    ) -> None:  # fmt: skip
        self.assert_picked(own, part)
        assert bool(part) == self.is_part
        from_it = verb.lower() in ("looks most at", "looks at", "the largest part of", "a part of")
        assert from_it == (self.picked[0] == "from")
        rolled = ("part" in verb) and verb != "gets a part from"
        assert rolled == (self.selection.scope == "rollout")
        values, others = self.values, self.sides()[1]
        first, size = self.named(others, most)
        if "most" not in verb and "largest" not in verb:
            assert len(values) == size == 1
            assert high == share(values[0])
            return
        assert not weights_of(values).are_alike
        weights_of(values).assert_leads(first, size, high)
        margin = weights_of(values).margin
        rest = [v for v in values if max(values) - v > margin]
        if then is None:
            assert max(rest) < 0.005
            return
        second, size = self.named(others, then)
        near = [v for v in rest if max(rest) - v <= weights_of(rest).margin]
        assert max(rest) >= 0.005
        assert values[second] == max(rest)
        assert (size, low) == (len(near), weights_of(rest).span(near))

    def level(self, part: str | None, own: str, share: str) -> None:
        self.assert_picked(own, part)
        assert max(self.values) > 0
        weights_of(self.values).assert_alike(share)

    def padding(self, own: str) -> None:
        self.assert_picked(own)
        assert self.sides()[0][self.picked[1]].kind == "padding"
        assert not any(self.values)

    def no_weight(self, own: str) -> None:
        self.assert_picked(own)
        assert not any(self.values)

    def assert_title(self, title: str) -> None:
        own, means = self.selection, self.means
        start = {
            "head": f"Layer {own.layer}, head {own.head}: ",
            "layer": f"Layer {own.layer}, mean",
            "all": "Mean of all heads",
            "rollout": f"Rollout to layer {own.layer}",
        }[own.scope]
        assert title.startswith(start)
        rest = title.removeprefix(start).removeprefix(": ")
        if own.scope == "head":
            lead = self.leaders(self.clear) if self.clear else []
            names = [SHORT.get(n) or own.names[n] for n in lead]
            shares = [own.shares[n] for n in lead]
            many = (
                " and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} others"
            )
            span = Numbers([0], said=share).span(shares) if lead else ""
            assert rest == (f"{many} {span}" if lead else "no single habit")
            return
        if not means:
            assert not rest
            return
        level = re.fullmatch(rf"all about alike \(({SPAN})\)", rest)
        if level:
            weights_of(means).assert_alike(level[1])
            return
        assert len(means) == 1 or not weights_of(means).are_alike
        called = titled(
            [i.label for i in self.grid.columns], [i.positions[0] for i in self.grid.columns]
        )
        near = [i for i, v in enumerate(means) if max(means) - v <= weights_of(means).margin]
        span = weights_of(means).span([means[i] for i in near])
        assert rest.endswith(f" {span}")
        names = rest.removesuffix(f" {span}")
        lead = [name for name, i in called.items() if i in near]
        top = [name for name, i in called.items() if means[i] == max(means)]
        if len(lead) > 2:
            assert names in {f"{name} and {len(lead) - 1} others" for name in top}
        else:
            assert names in {" and ".join(lead), " and ".join(lead[::-1])}
