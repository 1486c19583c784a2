"""Every sentence on a batch is read back and holds, for batches as odd as they come."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.masks.compute import masks_of
from components.features.masks.controls import MASK, PAD_TO
from components.features.masks.measures.laboratory import Lab, LabRow
from components.features.masks.reading.batch import (
    batch_title,
    layers_title,
    masks_reading,
    padding_note,
    share_title,
)
from components.features.masks.reading.limits import problems
from components.ui.state.view import DEFAULT, Sentence
from tests.features.masks.reading.odd_batches import LAYERS, odd_lab
from tests.support.texts import TYPED
from tests.support.true_words import (
    NUMBER,
    PERCENT,
    TOKEN,
    bare,
    is_percent,
    is_two,
    place,
    read_back,
)

N = 2000


# What each sentence claims


def check_all(lab: Lab, row: LabRow, layer: int) -> None:
    padded = [each for each in lab.rows if each.n_padding]
    told = row if row.n_padding else min(padded, key=lambda each: mean(each, layer), default=None)
    named = {each.label: each for each in lab.rows}
    check_title(batch_title(lab, row, layer), lab, told, layer)
    check_layers_title(layers_title(row), row)
    check_note(padding_note(lab, row, layer), lab, told, layer)
    said = bare(" ".join(masks_reading(lab, row, layer)))
    n = len(lab.rows) * lab.pad_to
    if told is None:
        assert said.startswith(f"All {n:,} positions of this batch hold real tokens: nothing is")
        return
    share = 1 - sum(each.alone.n_tokens for each in lab.rows) / n
    assert is_percent(share_title(lab).split(" of")[0], share)
    own, values = told.damage.tokens[layer].tolist(), {r.label: mean(r, layer) for r in padded}

    def padding(p: str, count: str, none: str | None, other: str | None) -> None:
        assert is_percent(p, share)
        assert int(count.replace(",", "")) == n
        assert (none, other) == ((None, None) if told is row else (row.label, told.label))

    def still(name: str, at: str, why: str | None) -> None:
        assert not lab.masked
        assert (named[name], int(at), bool(why)) == (told, layer, layer == 0)
        assert min(*own, values[name]) >= 0.995 - 1e-6

    def moved(name: str, to: str, how: str, value: str, at: str, **rest: Any) -> None:
        assert not lab.masked
        assert (named[name], int(to), int(at)) == (told, lab.pad_to, layer)
        assert is_two(value, values[name])
        assert (how == "only") == (float(value) < 0.95)
        tokens(**rest)

    def tokens(t, t_at, low, first, keeps, every, least, most, harder) -> None:
        if t is not None:
            i = place(t, t_at, told.alone.tokens)
            assert is_two(low, own[i])
            rest = own[:i] + own[i + 1 :]
            assert min(rest) - own[i] > 0.01
            assert all(f"{value:.2f}" != low for value in rest)
            assert (first is None) == (i == 0)
            if first is not None:
                assert first == told.alone.tokens[0]
                assert is_two(keeps, own[0])
        elif every is not None:
            assert is_two(every, min(own))
            assert is_two(every, max(own))
        else:
            assert is_two(least, min(own))
            assert is_two(most, max(own))
            assert least != most
        worse = re.findall(rf"([A-H]) \(({NUMBER})\)", harder or "")
        assert {label for label, _ in worse} == {
            label for label in values if values[told.label] - values[label] > 0.01
        }
        assert all(is_two(value, values[label]) for label, value in worse)
        assert [float(v) for _, v in worse] == sorted(float(v) for _, v in worse)
        assert all(float(v) < float(f"{values[told.label]:.2f}") for _, v in worse)

    def kept(name: str) -> None:
        assert lab.masked
        assert named[name] is told
        assert min(own) >= 0.995 - 1e-6

    def lowered(name: str, low: str) -> None:
        assert lab.masked
        assert named[name] is told
        assert is_two(low, min(own))
        assert low != "1.00"

    def averaged(lead: str | None, low: str | None, name: str | None, high: str | None) -> None:
        assert is_two(low or high, told.damage.mean_all[layer])
        assert (float(low or high) < 0.95) == (low is not None)
        assert low is None or (named[name] is told and (lead == "But a") == lab.masked)

    read_back(
        said,
        {
            rf"(?P<p>{PERCENT}) of the (?P<count>[\d,]+) positions in this batch are padding\."
            r"(?: (?P<none>[A-H]) has none, so this tells of (?P<other>[A-H])\.)?": padding,
            r"Without the mask, every real token of (?P<name>[A-H]) is 1\.00 like itself at layer "
            r"(?P<at>\d+)(?P<why>: the embedding layer does not let tokens look at each other)?"
            r"\.": still,
            rf"Without the mask, sentence (?P<name>[A-H]) padded to (?P<to>\d+) is "
            rf"(?P<how>only|still) (?P<value>{NUMBER}) like itself at layer (?P<at>\d+): "
            rf"(?:{TOKEN.format('t')} moves most \((?P<low>{NUMBER})\)"
            rf"(?:, (?P<first>.*?) keeps (?P<keeps>{NUMBER}))?"
            rf"|each of its tokens is at (?P<every>{NUMBER})"
            rf"|its tokens lie between (?P<least>{NUMBER}) and (?P<most>{NUMBER}))\."
            r"(?: Hit harder: (?P<harder>[^:]*)\.)?(?= The mean| A mean)": moved,
            r"With the mask, every real token of (?P<name>[A-H]) points where it points alone "
            r"\(cosine 1\.00\)\.": kept,
            rf"Even with the mask, a token of (?P<name>[A-H]) is at (?P<low>{NUMBER}) only\.":
            lowered,
            rf"The mean over all positions, \[PAD\] included, stays at (?P<high>{NUMBER})\.":
            lambda high: averaged(None, None, None, high),
            rf"(?P<lead>But a|A) mean that counts the \[PAD\] vectors too is only "
            rf"(?P<low>{NUMBER}) like sentence (?P<name>[A-H])\.":
            lambda lead, low, name: averaged(lead, low, name, None),
        },
    )  # fmt: skip


def mean(row: LabRow, layer: int) -> float:
    return float(row.damage.mean[layer])


def check_title(said: str, lab: Lab, told: LabRow | None, layer: int) -> None:
    def none() -> None:
        assert not any(row.n_padding for row in lab.rows)

    def turns_none() -> None:
        assert lab.masked
        for row in lab.rows:
            assert not row.n_padding or row.damage.tokens[layer].min() >= 0.995 - 1e-6

    def like(mask: str, name: str, only: str | None, value: str) -> None:
        assert (mask == "With") == lab.masked
        assert name == told.label
        assert is_two(value, mean(told, layer))
        assert bool(only) == (float(value) < 0.95)

    read_back(
        said,
        {
            "No padding: the mask has nothing to hide": none,
            "With the mask, padding changes no token's direction": turns_none,
            rf"(?P<mask>With|Without) the mask, (?P<name>[A-H]) is (?P<only>only )?"
            rf"(?P<value>{NUMBER}) like itself": like,
        },
    )


def check_layers_title(said: str, row: LabRow) -> None:
    own = row.damage.mean.astype(float)
    losses = -np.diff(own)

    def loses(at: str) -> None:
        loss = losses[int(at) - 1]
        assert all(loss - other > 0.01 for i, other in enumerate(losses) if i != int(at) - 1)

    def stays(low: str) -> None:
        assert own.min() >= 0.995 - 1e-6

    def never(low: str) -> None:
        assert float(low) <= own.min() + 1e-6 < float(low) + 0.0101

    def falls(low: str) -> None:
        assert is_two(low, own.min())

    def none() -> None:
        assert not row.n_padding

    read_back(
        said.removeprefix(row.label),
        {
            " has no padding": none,
            r"'s mean stays at (?P<low>1\.00)": stays,
            rf"'s mean never falls below (?P<low>{NUMBER})": never,
            rf"'s mean falls to (?P<low>{NUMBER})": falls,
            r"'s mean loses most at layer (?P<at>\d+)": loses,
        },
    )


def check_note(said: str, lab: Lab, told: LabRow | None, layer: int) -> None:
    assert bool(said) == (told is not None)
    if told is None:
        return
    given = 0 if lab.masked else 1
    assert f"[PAD], mask {given}, " in bare(said)
    assert ("nothing attends to it" in said) == lab.masked
    assert ("which others attend to" in said) == (not lab.masked)
    assert set(told.mask[told.n_real :].tolist()) == {given}
    pad, real = re.findall(NUMBER, said)
    lengths = told.damage.lengths[layer]
    assert is_two(pad, lengths[told.n_real :].mean())
    assert is_two(real, lengths[: told.n_real].mean())


@pytest.mark.slow
def test_every_sentence_on_a_batch_holds() -> None:
    chance, draw = random.Random(1), np.random.default_rng(1)
    for _ in range(N):
        lab = odd_lab(chance, draw)
        row, layer = chance.choice(lab.rows), chance.choice(LAYERS)
        check_all(lab, row, layer)
        check_problems(lab, chance)


def check_problems(lab: Lab, chance: random.Random) -> None:
    names, unfit = chance.choice(((), ("X",), ("X", "Y"))), chance.choice(("", "5"))
    said = problems(lab, left_out=names, unfit=unfit, limit="512")
    if names:
        blank = said.pop(0)
        assert [*re.findall(r"\b[XY]\b", blank)] == [*names]
        assert ("texts" in blank) == (len(names) > 1)
    if unfit:
        assert re.findall(r"\d+", said.pop(0)) == [
            "5", str(max(row.n_real for row in lab.rows)), "512", str(lab.pad_to),
        ]  # fmt: skip
    cut_off = [row for row in lab.rows if row.alone.n_truncated]
    assert len(said) == len(cut_off)
    for sentence, row in zip(said, cut_off, strict=True):
        lost = row.alone.n_truncated
        assert sentence.startswith(f"{row.label}: ")
        assert f"{lost} token{' is' if lost == 1 else 's are'} cut off" in sentence
        assert ("two texts" in sentence) == (row.alone.pair is not None)


# Through the model


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TYPED if "600" not in name])
def test_every_sentence_holds_for_what_the_model_says(name: str, service: EncoderService) -> None:
    texts = [TYPED[name], "the the", "the the", "", "  ", "\x00", "x"]
    sentences = tuple(Sentence(text, "a pair" if i == 6 else None) for i, text in enumerate(texts))
    card = service.load(BUNDLED_ID)
    for view in (DEFAULT, MASK.put(DEFAULT, True), PAD_TO.put(DEFAULT, "Longest")):
        masks = masks_of(replace(view, sentences=sentences), service, card)
        lab, _ = masks.batch
        assert set(masks.left_out) == {"ABCDEFG"[i] for i, t in enumerate(texts) if not t.strip()}
        for row in lab.rows:
            for layer in (0, 6):
                check_model(lab, row, layer)


def check_model(lab: Lab, row: LabRow, layer: int) -> None:
    """The same checks; damage counted again from the vectors."""
    for each in lab.rows:
        here = each.alone.hidden[layer].astype(float)
        there = each.padded.hidden[layer][: each.n_real].astype(float)
        own = [
            a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(here, there, strict=True)
        ]
        np.testing.assert_allclose(each.damage.tokens[layer], own, atol=1e-5)
    check_all(lab, row, layer)
