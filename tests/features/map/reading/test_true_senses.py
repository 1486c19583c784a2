"""Every sentence on senses through the layers, read back against numbers computed anew."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from components.features.map.reading.layers import senses_reading, senses_title
from components.maps.agreement import Agreement, LabelShare
from tests.features.map.reading.odd_maps import (
    N_EACH,
    NAME,
    ends_of,
    state_of,
    whole,
)
from tests.support.leading import layers_in
from tests.support.true_words import (
    LABELS,
    PERCENT,
    bare,
    cut,
    is_percent,
    read_back,
)


@pytest.mark.slow
def test_what_is_said_of_senses_through_the_layers_is_so() -> None:
    for seed in range(N_EACH):
        chance = random.Random(seed)
        base = chance.choice((0.1, 0.33, 0.48, 0.5, 0.9, chance.uniform(0.02, 0.95)))
        n = chance.choice((2, 3, 15, 24, 36, 60, 400))
        level = chance.choice(((0, 1), (0.9, 1), (0, base), (base, 1), (0.99, 1)))
        shares = [chance.uniform(*level) for _ in range(chance.choice((1, 2, 7, 13, 25)))]
        shares = [chance.choice((0.0, 1.0)) if chance.random() < 0.2 else own for own in shares]
        agreed = [odd_agreement(chance, share, base, n) for share in shares]
        layers, word = range(len(shares)), chance.choice(LABELS)
        layer = chance.choice(layers)
        title = senses_title(agreed, layers, word)
        assert len(title) <= 80
        assert_course(title, agreed, word)
        said = bare(" ".join(senses_reading(agreed, layers, layer, word)))
        read_back(said, of_senses(agreed, layer, word))


def odd_agreement(chance: random.Random, share: float, base: float, n: int) -> Agreement:
    n_apart = chance.randint(1, n)
    labels = [
        LabelShare(name, n // 2, own, base, max(1, n_apart // 2))
        for name, own in zip("ab", (chance.random(), chance.choice((share, 1.0))), strict=True)
    ]
    labels.sort(key=lambda kind: -kind.share)
    return Agreement(share, base, 2 * (n // 2), tuple(labels), n_apart)


def states(agreed: list[Agreement]) -> list[set[str]]:
    return [state_of(own.share, own.chance, own.n_apart) for own in agreed]


def assert_course(text: str, agreed: list[Agreement], word: str) -> None:
    """Whether it is so what follows "The senses of bank" or asks "Whether the senses of bank"."""
    found, n = states(agreed), len(agreed)
    apart = [i for i in range(n) if "apart" in found[i]]
    clear = [i for i in range(n) if "clear" in found[i]]
    together = [i for i in range(n) if "together" in found[i]]
    rest = text.removeprefix(f"The senses of {cut(word)}").strip(": ")
    assert rest != text
    if rest == "never part":
        assert len(together) == n
    elif rest == "too few occurrences to tell":
        assert not apart
        assert not clear
        assert len(together) < n
    elif rest.startswith("lean apart"):
        assert not apart
        assert clear
        assert len(together) < n
        assert_layers(rest.removeprefix("lean apart "), clear, n)
    elif rest.endswith("and merge again"):
        first = int(re.search(r"layer (\d+)", rest)[1])  # type: ignore[index]
        assert first == apart[0]
        assert max(together) > first
        assert not rest.startswith("part at") or first - 1 in together
    elif rest.startswith("part "):
        first = int(rest.split()[-1])
        assert apart == list(range(first, n))
        assert ("part at" in rest) == (first - 1 in together)
    else:
        assert rest.startswith("are apart ")
        assert_layers(rest.removeprefix("are apart "), apart, n)


def assert_layers(said: str, layers: list[int], n: int) -> None:
    if said == "at every layer":
        assert layers == list(range(n))
    elif found := re.fullmatch(r"from layer (\d+) on", said):
        assert layers == list(range(int(found[1]), n))
    elif found := re.fullmatch(r"at (\d+)(?: of (\d+))? layers", said):
        assert int(found[1]) == len(layers)
        assert found[2] is None or int(found[2]) == n
    else:
        assert layers_in(said.removeprefix("at ")) == layers


def of_senses(agreed: list[Agreement], layer: int, word: str) -> dict[str, Any]:
    found, n = states(agreed), len(agreed)
    ends = rf"95% interval (?P<low>{PERCENT}) to (?P<high>{PERCENT})"
    share = rf"(?P<share>{PERCENT})"

    def at(row: int, share: str, low: str, high: str, chance: str | None = None) -> None:
        own = agreed[row]
        assert is_percent(share, own.share)
        lower, upper = ends_of(own.share, own.n_apart)
        assert is_percent(low, lower)
        assert is_percent(high, upper)
        assert chance is None or is_percent(chance, own.chance)

    def lead(course: str, more: str | None, row: str, **numbers: str) -> None:
        if course.startswith("The"):
            rest = course.removeprefix(f"The senses of “{cut(word)}” ")
            assert_course(f"The senses of {cut(word)} {rest}", agreed, word)
        else:
            assert not any(own & {"apart", "clear"} for own in found)
        among = [i for i in range(n) if "clear" in found[i]] if more else range(n)
        assert agreed[int(row)].share == max(agreed[i].share for i in among)
        at(int(row), **numbers)

    def parted(course: str, row: str, before: str | None, back: str | None, **more: str) -> None:
        rest = course.removeprefix(f"The senses of “{cut(word)}” ")
        assert_course(f"The senses of {cut(word)} {rest}", agreed, word)
        first = int(row)
        assert first == min(i for i in range(n) if "apart" in found[i])
        assert before is None or is_percent(before, agreed[first - 1].share)
        numbers = {key: more[key] for key in ("share", "low", "high", "chance")}
        at(first, **numbers)
        assert (back is not None) == any("together" in own for own in found[first:])
        if back is not None:
            assert "together" in found[int(back)]
            at(int(back), more["share2"], more["low2"], more["high2"])

    def bound(value: str, tail: str | None) -> None:
        assert is_percent(value, (1 + agreed[0].chance) / 2)
        if tail and "no interval" in tail:
            assert all("together" in own for own in found)
        elif tail and tail.startswith("; at"):
            untold = [i for i in range(n) if not found[i] & {"apart", "together"}]
            assert layers_in(tail[5:].split(" so few")[0]) == untold
        elif tail:
            assert not any("apart" in own for own in found)
            assert f"({agreed[0].n})" in tail
        else:
            assert any("apart" in own for own in found)

    def layer_0(**_: str) -> None:
        assert "clear" in found[0]

    def better(row: str, a: str, b: str, x: str, y: str, **_: str) -> None:
        first, last = agreed[int(row)].labels
        assert (first.name, last.name) == (a, b)
        assert is_percent(x, first.share)
        assert is_percent(y, last.share)
        low, high = (ends_of(own.share, own.n_apart, 0.025) for own in (first, last))
        assert whole(low[0]) > whole(high[1])

    def alike(row: str, share: str) -> None:
        assert all(is_percent(share, own.share) for own in agreed[int(row)].labels)

    def few(row: str, n: str) -> None:
        own = agreed[int(row)]
        assert (int(row), int(n)) == (layer, own.n)
        assert "apart" not in state_of(1.0, own.chance, own.n_apart)

    nearest_is = "the nearest occurrence has the same sense"
    course = r"(?P<course>The senses of “[^”]*” [\w ,]+|Whether the senses of “[^”]*” part is open)"
    chance_is = rf"by chance (?P<chance>{PERCENT})"
    label = rf"(?P<{{0}}>{PERCENT}), by chance {PERCENT}"
    return {
        rf"{course}: {nearest_is} (?P<more>more often than by chance, )?for up to {share} \(at "
        rf"layer (?P<row>\d+): {ends}, {chance_is}\)\.": lead,
        rf"{course}: {nearest_is} for {share} at layer (?P<row>\d+) \({ends}"
        rf"(?:; (?P<before>{PERCENT}) at layer \d+)?; {chance_is}\)(?:, at layer (?P<back>\d+) for "
        rf"only (?P<share2>{PERCENT}) \(95% interval (?P<low2>{PERCENT}) to (?P<high2>{PERCENT})"
        r"\))?\.": parted,
        rf"Senses count as apart above (?P<value>{PERCENT})(?P<tail>, which no interval reaches|; "
        r"at [\w ,]+ so few occurrences do not tell|: so few occurrences \(\d+\) do not tell "
        r"whether they are)?\.": bound,
        r"Layer 0 has read no context: [^.]+\.": layer_0,
        rf"At layer (?P<row>\d+), {NAME.format('a')} keeps together better \({label.format('x')}\) "
        rf"than {NAME.format('b')} \({label.format('y')}\)\.": better,
        rf"At layer (?P<row>\d+) it is {share} for each sense\.": alike,
        r"At layer (?P<row>\d+), not even full agreement of (?P<n>\d+) occurrences? would show "
        r"that they are apart\.": few,
    }
