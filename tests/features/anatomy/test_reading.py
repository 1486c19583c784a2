"""Conclusions about a model's parts, checked by oracles, for odd models of all kinds."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from contextlens.content.language import Claim, table
from contextlens.content.wording import escape, quoted
from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.core.registry import PRESETS
from contextlens.core.schema import Architecture, Parameter
from contextlens.features.anatomy import reading
from contextlens.features.anatomy.compute import PaddingRow
from contextlens.features.anatomy.explain import QUOTED_MILLIONS
from contextlens.features.anatomy.measures import (
    Node,
    build_tree,
    search,
    totals,
    weight_statistics,
)
from tests.features.anatomy.shown import BASE
from tests.support.claims import read, unreached

REFERENCES = ("bert-base-uncased", "bert-large-uncased")
NAMES = (
    "embeddings.word_embeddings.weight",
    "embeddings.position_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
    "embeddings.LayerNorm.weight",
    "pooler.dense.weight",
    "pooler.dense.bias",
    "odd.thing",
)
IN_LAYER = (
    "attention.self.query.weight",
    "attention.self.query.bias",
    "attention.output.LayerNorm.weight",
    "intermediate.dense.weight",
    "output.LayerNorm.bias",
)
Chance = random.Random
Check = Callable[[Chance, EncoderService], Iterator[Claim]]


# A model and its parts


def odd_model(chance: Chance, base: Architecture) -> Architecture:
    """A model of random parts: one, none of a kind, tied ones, shared layers."""
    names = chance.sample(NAMES, chance.randint(1, len(NAMES)))
    layers, shared = chance.choice((0, 1, 2, 5)), chance.random() < 0.3
    stem = "encoder.albert_layer_groups.{}.albert_layers.0." if shared else "encoder.layer.{}."
    for i in range(min(layers, chance.choice((1, 2))) if shared else layers):
        rests = chance.sample(IN_LAYER, chance.randint(1, len(IN_LAYER)))
        names += [stem.format(i) + rest for rest in rests]
    parameters: list[Parameter] = []
    for name in names:
        shape = tuple(chance.choice((1, 2, 8, 900)) for _ in range(1 + name.endswith("weight")))
        tied = chance.choice(parameters).name if parameters and chance.random() < 0.1 else None
        trained = not name.startswith("pooler.") and chance.choice((True, True, None))
        size = 4 * math.prod(shape)
        parameters.append(Parameter(name, shape, "float32", size, tied, trained))
    title = chance.choice(("a*b*<i>_c_", "tiny", "🐍", "x" * 40))
    made = replace(base, parameters=tuple(parameters), n_layers=max(layers, 1), title=title)
    return replace(made, dropout=chance.choice((0, 0.1)), attention_dropout=chance.choice((0, 0.2)))


def size_of(parameters: list[Parameter]) -> int:
    return sum(math.prod(p.shape) for p in parameters if p.tied_to is None)


def layer_of(parameter: Parameter) -> str | None:
    """The stored layer of a parameter."""
    found = re.match(r"(?:encoder|transformer)\.(?:layer|albert_layer_groups)\.\d+", parameter.name)
    return found and found[0]


def check_model(chance: Chance, service: EncoderService) -> Iterator[Claim]:
    made = odd_model(chance, service.architecture(BUNDLED_ID))
    tree, parameters = build_tree(made), list(made.parameters)
    size = size_of(parameters)
    millions = chance.choice((None, max(size, 1) / 1e6 * chance.choice((0.5, 0.995, 1.2))))
    stored = chance.choice((("float32",), ("bfloat16",), ("float16", "float32")))
    n_joined = chance.choice((0, 1234))
    card = replace(service.load(BUNDLED_ID), stored_as=stored, n_joined=n_joined)
    claims, sure = reading.anatomy_reading(tree, totals(made.parameters), made, millions, card)
    count, where, *quotes = claims
    numbers = {"model": escape(made.title), "n": len(parameters), "n_values": size}
    assert count.numbers == numbers
    words = [p for p in parameters if p.name.startswith("embeddings.word_embeddings")]
    layers = [p for p in parameters if layer_of(p)]
    assert where.key == f"anatomy.where.{'words' if words else 'layers'}"
    shares = {"layers": size_of(layers) / (size or 1)}
    shares |= {"words": size_of(words) / (size or 1)} if words else {}
    assert where.numbers == pytest.approx(shares)
    off = 0 if millions is None else size / 1e6 / millions - 1
    verdict = "close" if abs(off) < 0.01 else "lower" if off < 0 else "higher"
    assert [each.key for each in quotes] == ([f"anatomy.quoted.{verdict}"] if millions else [])
    numbers = {each.key.removeprefix("anatomy."): each.numbers for each in sure}
    assert numbers["matrices"]["n_values"] == size_of([p for p in parameters if len(p.shape) == 2])
    assert numbers.get("joined", {}).get("n", 0) == n_joined
    n_tied = sum(p.tied_to is not None for p in parameters)
    assert numbers.get("tied", {}).get("n", 0) == n_tied
    dropout = {"share": made.dropout, "attention": made.attention_dropout}
    assert numbers[f"dropout.{'set' if any(dropout.values()) else 'none'}"] == dropout
    is_float32 = stored == ("float32",)
    assert numbers.get("stored") == (None if is_float32 else {"dtypes": ", ".join(stored)})
    groups = {layer_of(p) for p in parameters if "layer_groups" in p.name}
    unshared = round(size_of(layers) * made.n_layers / max(len(groups), 1))
    expected = {"n_layers": made.n_layers, "n_values": unshared}
    assert numbers.get("shared") == (expected if 0 < len(groups) < made.n_layers else None)
    yield from [*claims, *sure, *check_title(tree, tree)]
    part = chance.choice(list(tree.walk()))
    yield from check_part(part, tree, chance.choice((card, None)))
    yield from check_title(part, tree)
    padding = PaddingRow("*[PAD]*", 3, chance.choice((0.0, 1.5)), 2.5)
    row, vector = reading.padding_claims(padding)
    assert row.key == f"anatomy.padding.{'filled' if padding.norm else 'zero'}"
    assert (row.numbers["norm"], vector.numbers["norm"]) == (padding.norm, 2.5)
    yield from (row, vector)
    absent = reading.absent_claims(tree, made, chance.choice((card, None)))
    names = " ".join(p.name for p in parameters)
    parts = ("pooler.", "position_embeddings", "token_type_embeddings")
    assert len(absent) == sum(part not in names for part in parts)
    yield from absent
    query = chance.choice(("bias", "query", "layer.0", "<b>no</b> *such*", "e"))
    matches = search(tree, query)
    found = [p for p in parameters if p.name in matches]
    result = reading.search_claim(query, tree, matches)
    assert result.numbers["query"] == quoted(query, 60)
    assert result.key == f"anatomy.search.{'found' if found else 'none'}"
    if found:
        share = reading.share_text(size_of(found) / (size or 1))
        expected = {"n": len(found), "n_values": size_of(found), "share": share}
        assert result.numbers.items() >= expected.items()
    yield result


def check_title(part: Node, tree: Node) -> Iterator[Claim]:
    title, size = reading.anatomy_title(tree, part), size_of(list(tree.parameters)) or 1
    yield title
    verdict, share = title.key.removeprefix("anatomy.title."), title.numbers["share"]
    if part.path:
        ends = [tuple(n.title.split(" › ")[i] for i in (0, -1)) for n in tree.walk() if n.path]
        own = tuple(part.title.split(" › ")[i] for i in (0, -1))
        short = part.title if ends.count(own) > 1 else " › ".join(dict.fromkeys(own))
        assert (verdict, title.numbers["part"]) == ("part", short)
        assert share == reading.share_text(size_of(list(part.parameters)) / size)
        return
    words = tree.find("embeddings/word")
    in_words = 0 if words is None else size_of(list(words.parameters)) / size
    layers = [p for p in tree.parameters if layer_of(p)]
    in_layers = size_of(layers) / size
    if words is None or not layers:
        assert verdict == ("layers" if layers else "count")
    else:
        assert verdict == ("words" if in_words > in_layers else "both")
        assert title.numbers["words" if verdict == "both" else "share"] == pytest.approx(in_words)
    assert share == pytest.approx(in_words if verdict == "words" else in_layers)


def check_part(part: Node, tree: Node, card: ModelCard | None) -> Iterator[Claim]:
    claims, held = reading.part_claims(part, tree), reading.held_claim(part, card)
    parameters = list(part.parameters)
    size = size_of(parameters)
    share = reading.share_text(size / (size_of(list(tree.parameters)) or 1))
    assert claims[0].numbers == {"n": len(parameters), "n_values": size, "share": share}
    assert len(claims) == 1 + any(p.tied_to is not None for p in parameters)
    states = {p.trained for p in parameters}
    verdict = {(True,): "trained", (False,): "untrained"}.get((*states,), "mixed")
    assert held.key == f"anatomy.held.{'config' if card is None else verdict}"
    number, unit = held.numbers["size"].split(" ")
    expected = 4 * size / {"MB": 1e6, "kB": 1e3}[unit]
    assert float(number.replace(",", "")) == pytest.approx(expected, abs=0.0501)
    yield from [*claims, held]


def check_models(chance: Chance, service: EncoderService) -> Iterator[Claim]:
    names = chance.sample((*REFERENCES, "x", "*y*", "z"), chance.randint(1, 5))
    rows = [
        {"model": name, "parameters": chance.choice((chance.randint(9, 10**9), 109_482_240)),
         "billion multiply-adds": chance.choice((None, chance.uniform(0.1, 50)))}
        for name in names
    ]  # fmt: skip
    title, result = (
        reading.models_title(rows),
        reading.models_claim(rows, 128, references=REFERENCES),
    )
    yield from [title, result]
    counts = [row["parameters"] / 1e6 for row in rows]
    assert title.numbers == {"least": min(counts), "most": max(counts)}
    assert title.key.endswith("range") or max(counts) / min(counts) < 1.02
    others = [name for name in REFERENCES if name in names[1:]]
    if not others:
        assert result.key == "anatomy.models.alone"
        return
    first, other = rows[0], rows[names.index(others[0])]
    assert result.numbers["reference"] == escape(others[0])
    assert result.numbers["parameters"] == first["parameters"] / other["parameters"]
    work = [row["billion multiply-adds"] for row in (first, other)]
    if None in work:
        assert result.key == "anatomy.models.too_long"
    else:
        assert result.numbers["work"] == work[0] / work[1]


def check_weights(chance: Chance, service: EncoderService) -> Iterator[Claim]:
    draw = np.random.default_rng(chance.randrange(10**9))
    shape = chance.choice(((1,), (9,), (1, 9), (2, 5), (12, 12), (20, 5)))
    array = chance.choice((1e-6, 1e-3, 1, 50)) * draw.normal(size=shape)
    array = array + chance.choice((0, 0, 1))
    array = np.full(shape, chance.choice((0.0, 1.0, 0.3))) if chance.random() < 0.1 else array
    array = (array * np.logspace(0, -chance.choice((0, 3)), shape[-1])).astype(np.float32)
    n_rows = chance.choice((None, 900))
    spread, *directions = reading.weights_reading("w", weight_statistics(array), n_rows)
    yield from [spread, *directions]
    low, high = float(array.min()), float(array.max())
    assert spread.numbers["low"] == low
    if f"{low:.3g}" == f"{high:.3g}":
        assert spread.key == f"anatomy.weights.{'equal' if low == high else 'near'}"
        assert not directions
        return
    assert spread.key == f"anatomy.weights.{'whole' if n_rows is None else 'sample'}"
    assert (spread.numbers["high"], spread.numbers["n_rows"]) == (high, shape[0])
    assert spread.numbers["std"] == pytest.approx(array.astype(float).std())
    assert len(directions) == (array.ndim > 1 and min(shape) > 1)
    for claim in directions:
        squares = np.linalg.svd(array.astype(float), compute_uv=False) ** 2
        held = squares.cumsum() / squares.sum()
        own, random_ = claim.numbers["own"], claim.numbers["random"]
        assert claim.numbers["n_all"] == len(squares)
        assert held[own - 1] >= 0.9 - 1e-6
        assert own == 1 or held[own - 2] < 0.9 + 1e-6
        assert claim.key == f"anatomy.weights.{'stronger' if own < 0.9 * random_ else 'even'}"


CHECKS: dict[Check, int] = {check_model: 2000, check_models: 500, check_weights: 500}


@pytest.mark.slow
def test_every_claim_is_what_the_numbers_show_and_no_sentence_is_dead(
    service: EncoderService,
) -> None:
    keys: set[str] = set()
    for check, n_inputs in CHECKS.items():
        chance = random.Random(1)
        for _ in range(n_inputs):
            keys |= read(check(chance, service))
    for family in (*table("anatomy.no_pooler"), "bert"):
        made = replace(service.architecture(BASE), family=family, parameters=())
        keys |= read(reading.absent_claims(build_tree(made), made, None))
    assert not unreached("anatomy", keys)


# Whole sentences, and quoted sizes


def test_the_bundled_model_is_read_whole(service: EncoderService) -> None:
    model = service.architecture(BUNDLED_ID)
    tree = build_tree(model)
    claims, _ = reading.anatomy_reading(tree, totals(model.parameters), model)
    assert [str(claim) for claim in [reading.anatomy_title(tree, tree), *claims]] == [
        "**52%** of this model is its word table: 384 numbers for each of 30,522 word pieces. The "
        "layers: 47%.",
        r"all\-MiniLM\-L6\-v2 has **22,713,216** parameters in 103 arrays.",
        "The word table holds **52%** of these learned numbers; all layers together hold **47%**.",
    ]
    card, pooler = service.load(BUNDLED_ID), tree.find("pooler")
    assert pooler is not None
    sentence = "**No sign that this was trained.** Every bias of the pooler is exactly 0"
    assert sentence in str(reading.held_claim(pooler, card))
    whole = str(reading.held_claim(tree, card))
    assert whole == "90.9 MB, as float32. Pooler: no sign of training."


def test_quoted_sizes_are_close_to_the_counts(service: EncoderService) -> None:
    assert set(QUOTED_MILLIONS) == {spec.id for spec in PRESETS}
    for preset, millions in QUOTED_MILLIONS.items():
        counted = totals(service.architecture(preset).parameters).n_values
        assert counted / 1e6 == pytest.approx(millions, rel=0.02)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (1, "100%"), (0.9999, "over 99%"), (0.516, "52%"), (0.078, "7.8%"),
     (0.0065, "0.65%"), (0.00001, "under 0.01%")],
)  # fmt: skip
def test_a_share_has_two_digits_that_count(share: float, text: str) -> None:
    assert reading.share_text(share) == text
