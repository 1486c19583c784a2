"""The readings of Padding & masks against its numbers, and a few whole sentences."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Encoding
from contextlens.features.masks.measures import (
    Damage,
    PaddedBatch,
    PaddedText,
    four_cases,
    saving,
)
from contextlens.features.masks.reading import (
    batch_title,
    case_of,
    cases_title,
    cut_title,
    example_note,
    layers_title,
    limit_reading,
    masks_reading,
    masks_sure,
    padding_note,
    problems,
    saving_reading,
    saving_title,
)
from tests.support.claims import read, unreached
from tests.support.corpus_store import MadeUpService
from tests.support.masks import lab_of
from tests.support.texts import LABELS

N_MADE = 2000
LAYERS = (0, 1, 2, 3)


# Any batch


def encoding(labels: list[str], n_pad: int, *, mask: str, lost: int) -> Encoding:
    n = len(labels) + n_pad
    base = MadeUpService().encode("m", [""], layers=(0, 1, 2, 3))[0]
    return replace(
        base,
        tokens=(*labels, *["[PAD]"] * n_pad),
        attention_mask=np.array([1] * len(labels) + [0] * n_pad),
        text_ids=np.full(n, -1),
        n_truncated=lost,
        layers=LAYERS,
        passport=replace(base.passport, settings={"mask": mask}),
    )


CASES = ("on_real", "on_all", "off_real", "off_all")


def switched(lab: PaddedBatch, seed: int) -> PaddedBatch:
    """The same texts with the mask switched, and other numbers."""
    draw = np.random.default_rng(seed)
    rows = []
    for row in lab.rows:
        mean, mean_all = draw.uniform(-1, 1, (2, 4)).astype(np.float32)
        rows.append(replace(row, damage=replace(row.damage, mean=mean, mean_all=mean_all)))
    return PaddedBatch(tuple(rows), lab.pad_to, not lab.masked)


def odd_lab(seed: int) -> PaddedBatch:
    """A batch that no model gave: spread, within noise, all the same, about 1, negative."""
    chance, draw = random.Random(seed), np.random.default_rng(seed)

    def cosines(*shape: int) -> np.ndarray:
        base, noise = chance.choice((1.0, 1.0, 0.95, 0.3, -0.2)), chance.choice((0, 0.004, 0.5))
        return np.clip(base + noise * draw.uniform(-1, 1, shape), -1, 1).astype(np.float32)

    pad_to, masked = chance.choice((4, 9, 32)), chance.random() < 0.5
    rows = []
    for i in range(chance.choice((1, 2, 3, 8))):
        n, lost = chance.choice((1, 2, 3, pad_to)), chance.choice((0, 0, 1, 90))
        labels = [chance.choice(LABELS) for _ in range(n)]
        alone = encoding(labels, 0, mask="model", lost=lost)
        mask = "model" if masked else "ones"
        padded = encoding(labels, pad_to - n, mask=mask, lost=lost)
        lengths = draw.uniform(0, 9, (4, pad_to)).astype(np.float32)
        damage = Damage(LAYERS, cosines(4, n), cosines(4), cosines(4), None, lengths)
        rows.append(PaddedText("ABCDEFGH"[i], alone, padded, damage))
    return PaddedBatch(tuple(rows), pad_to, masked)


def reads_as_one(values: Any) -> bool:
    return f"{float(np.min(values)):.2f}" == "1.00"


def assert_true(lab: PaddedBatch, row: PaddedText, layer: int, seed: int) -> list[Claim]:
    """All claims of a batch, each checked against its rows."""
    padded = [each for each in lab.rows if each.n_padding]
    other = switched(lab, seed)
    cases, case = four_cases((lab, other), row, layer), CASES[seed % 4]
    title, over_layers = batch_title(lab), layers_title(row)
    claims, sure = masks_reading(lab, cases, case), masks_sure(lab, row, layer)
    note = padding_note(lab, row, layer)
    low = row.damage.mean.min()
    if not row.n_padding:
        assert over_layers.key == "masks.layers.none"
    else:
        assert over_layers.key.endswith(".unchanged") == reads_as_one(low)
        assert over_layers.numbers["similarity"] == low
    if not padded:
        assert [title.key, *(c.key for c in claims)] == ["masks.title.none", "masks.share.none"]
        assert claims[0].numbers["n"] == len(lab.rows) * lab.pad_to
        assert (sure, note) == ([], None)
        return [title, over_layers, *claims]
    means = {each.label: each.damage.mean[layer] for each in padded}
    worst = min(padded, key=lambda each: means[each.label])
    told = row if row.n_padding else worst
    assert cases is not None
    assert title.key == f"masks.title.{'on' if lab.masked else 'off'}"
    first = masked, unmasked = (lab, other) if lab.masked else (other, lab)
    assert cases.label == told.label
    numbers = {}
    for name, batch in zip(("on", "off"), first, strict=True):
        (text,) = (each for each in batch.rows if each.label == told.label)
        numbers[f"{name}_real"] = text.damage.mean[layer]
        numbers[f"{name}_all"] = text.damage.mean_all[layer]
    assert (masked.masked, unmasked.masked) == (True, False)
    of_cases = cases_title(cases, case)
    present, compared = claims[-2:]
    for each in (of_cases, present):
        assert each.numbers == {"label": told.label, "similarity": numbers[case]}
    assert present.key == f"masks.case.{case}"
    assert compared.key.endswith("mistakes" if case == "on_real" else "right")
    assert compared.numbers == numbers
    assert len(claims) == 2
    share, effect, *sure = sure
    n_real = sum(each.n_real for each in lab.rows)
    assert share.numbers["share"] == pytest.approx(1 - n_real / (len(lab.rows) * lab.pad_to))
    unchanged = {
        each.label: reads_as_one([means[each.label], each.damage.tokens[layer].min()])
        for each in padded
    }
    tokens = told.damage.tokens[layer]
    assert effect.numbers["lowest"] == tokens.min()
    assert effect.numbers["label"] == told.label
    case = effect.key.rpartition(".")[2]
    assert (case in ("on", "off")) != unchanged[told.label]
    assert case.startswith("on") == lab.masked
    assert (case == "embedding") == (unchanged[told.label] and not lab.masked and layer == 0)
    if case in ("on", "off"):
        assert effect.numbers["similarity"] == means[told.label]
        ties = [i for i, c in enumerate(tokens) if f"{c:.2f}" == f"{tokens.min():.2f}"]
        assert effect.numbers["n"] == len(ties)
    lengths = told.damage.lengths[layer]
    assert sure[1].numbers["length"] == pytest.approx(lengths[told.n_real :].mean())
    assert sure[1].numbers["real"] == pytest.approx(lengths[: told.n_real].mean())
    differs = f"{means[worst.label]:.2f}" != f"{means[told.label]:.2f}"
    assert len(sure) == 2 + differs
    if differs:
        assert sure[2].numbers == {"label": worst.label, "similarity": means[worst.label]}
    assert note is not None
    assert note.key == f"masks.note.{'on' if lab.masked else 'off'}"
    return [title, over_layers, of_cases, *claims, share, effect, *sure, note]


@pytest.mark.slow
def test_every_sentence_is_true_of_any_batch() -> None:
    said = set()
    for seed in range(N_MADE):
        lab, chance = odd_lab(seed), random.Random(seed)
        row, layer = chance.choice(lab.rows), chance.choice(LAYERS)
        said |= read(assert_true(lab, row, layer, seed))
        blank = tuple("XYZ"[: chance.randrange(4)])
        said |= read(assert_problems(chance.choice((lab, lab, None)), blank, chance.choice("5 ")))
        lengths = [chance.randint(1, 20) for _ in range(chance.randint(1, 9))]
        said |= read(assert_saving(lengths, chance.choice((1, 2, 4))))
        said |= read(assert_limit(chance))
    said |= read([saving_title(saving([99, 100, 99, 100, *[100] * 93, 50], 2))])  # 2 of 9,800
    said |= read([example_note("C", 1), example_note("C", 2)])
    names = ("masks.column.",)  # a table that is read whole
    assert not [
        key
        for key in unreached("masks", said)
        if not key.startswith(names) and key != "masks.repeat_of"
    ]


# What is not possible, sorting, the limit


def assert_problems(lab: PaddedBatch | None, blank: tuple[str, ...], asked: str) -> list[Claim]:
    labels = ("A", "B") if blank else ("A", "A")
    claims = problems(lab, left_out=blank, unfit=asked.strip(), limit=512, labels=labels)
    other = bool(lab and blank)
    keys = [claim.key.rpartition(".")[2] for claim in claims]
    cut = [row.alone.n_truncated for row in lab.rows if row.alone.n_truncated] if lab else []
    unfit = bool(lab and asked.strip())
    assert keys == ["blank"] * bool(blank) + ["other"] * other + ["unfit"] * unfit + ["cut"] * len(
        cut
    )
    assert [claim.numbers["n"] for claim in claims if claim.key.endswith("cut")] == cut
    if unfit and lab:
        numbers = claims[bool(blank) + other].numbers
        assert (numbers["longest"], numbers["pad_to"]) == (max(lab.lengths), lab.pad_to)
    return claims


def assert_saving(lengths: list[int], size: int) -> list[Claim]:
    def padding(order: list[int]) -> tuple[float, int]:
        batches = [order[i : i + size] for i in range(0, len(order), size)]
        n = sum(len(batch) * max(batch) for batch in batches)
        return 1 - sum(lengths) / n, n

    found = saving(lengths, size)
    title, sample = saving_title(found), saving_reading(found, len(lengths))
    (before, given), (after, by_length) = padding(lengths), padding(sorted(lengths)[::-1])
    assert sample.numbers["before"] == pytest.approx(before)
    assert sample.numbers["after"] == title.numbers["after"] == pytest.approx(after)
    case = title.key.rpartition(".")[2]
    assert (case == "nothing") == (by_length >= given)
    if case == "cuts":
        assert after < before
    return [title, sample]


def assert_limit(chance: random.Random) -> list[Claim]:
    n, lost, rest = chance.randint(2, 512), chance.choice((0, 1, 9)), chance.choice(("", "<b> x"))
    tokens: Any = SimpleNamespace(
        text="ab" + rest, n_tokens=n, n_truncated=lost, offsets=np.array([[0, 0], [0, 2]])
    )
    places = chance.choice((None, 512, 1024))
    title, claims = cut_title(tokens), limit_reading(tokens, 512, places)
    assert claims[0].numbers == {"n": n + lost, "limit": 512}
    assert title.key.endswith("fits") == (lost == 0)
    keys = [claim.key.rpartition(".")[2] for claim in claims[1:]]
    cut = ["lost_from" if rest else "lost"] + ["positions"] * (places is not None)
    assert keys == (cut if lost else [])
    if lost:
        assert claims[1].numbers["n"] == title.numbers["n"] == lost
    return [title, *claims]


# As they are read

A, B = "I love my pet python", "I love coding in python"


def test_the_four_cases_are_said(service: EncoderService) -> None:
    on, off = (lab_of(service, A, B, masked=masked) for masked in (True, False))
    cases = four_cases((off, on), off.rows[0], 6)
    assert cases is not None
    told = {
        case: " ".join(map(str, masks_reading(off, cases, case))).replace("**", "")
        for case in CASES
    }
    assert told["on_real"] == (
        "Mask on, padding left out: the average vector of sentence A keeps a similarity (cosine) "
        "of 1.000 to A read alone. Forget the mask: 0.790. Average the padding too, the commonest "
        "mistake: 0.597. Both: 0.364."
    )
    assert told["off_all"] == (
        "Mask off and padding averaged in: the average vector of sentence A keeps a similarity "
        "(cosine) of 0.364 to A read alone. Done right: 1.000."
    )
    assert case_of(masked=False, average="all") == "off_all"


def test_a_text_over_the_limit_is_quoted(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python " * 510 + "<b>*x*</b>"])[0]
    text = " ".join(map(str, limit_reading(tokens, 512, 512)))
    assert text.endswith(
        r"from “\<b\>\*x\*\</b\>” on, never reach the model. The model has "
        "vectors for **512** "
        "positions in a text."
    )
