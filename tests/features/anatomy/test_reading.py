"""What is concluded of a model's parts, beside oracles, for models as odd as they come."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from components.content.language import Claim, table
from components.content.wording import escape, quoted
from components.core import BUNDLED_ID, EncoderService, ModelCard
from components.core.registry import PRESETS
from components.core.schema import Architecture, Parameter
from components.features.anatomy.explain import QUOTED_MILLIONS
from components.features.anatomy.measures import (
    Node,
    build_tree,
    comparison_row,
    operations,
    search,
    totals,
    weight_statistics,
)
from components.features.anatomy.reading import (
    absent_claims,
    anatomy_reading,
    anatomy_title,
    held_claim,
    models_claim,
    models_title,
    part_claims,
    search_claim,
    share_text,
    weights_reading,
)
from tests.support.claims import read, unreached
from tests.support.tiny_models import ALL

BASE, LARGE = "google-bert/bert-base-uncased", "google-bert/bert-large-uncased"
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
    """A model of some parts: one, none of a kind, tied ones, shared layers."""
    names = chance.sample(NAMES, chance.randint(1, len(NAMES)))
    layers, shared = chance.choice((0, 1, 2, 5)), chance.random() < 0.3
    stem = "encoder.albert_layer_groups.{}.albert_layers.0." if shared else "encoder.layer.{}."
    groups = min(layers, chance.choice((1, 2))) if shared else layers
    for i in range(groups):
        own = chance.sample(IN_LAYER, chance.randint(1, len(IN_LAYER)))
        names += [stem.format(i) + rest for rest in own]
    found: list[Parameter] = []
    for name in names:
        shape = tuple(chance.choice((1, 2, 8, 900)) for _ in range(1 + name.endswith("weight")))
        tied = chance.choice(found).name if found and chance.random() < 0.1 else None
        trained = not name.startswith("pooler.") and chance.choice((True, True, None))
        size = 4 * math.prod(shape)
        found.append(Parameter(name, shape, "float32", size, tied, trained))
    title = chance.choice(("a*b*<i>_c_", "tiny", "🐍", "x" * 40))
    return replace(base, parameters=tuple(found), n_layers=max(layers, 1), title=title)


def size_of(parameters: list[Parameter]) -> int:
    return sum(math.prod(p.shape) for p in parameters if p.tied_to is None)


def layer_of(parameter: Parameter) -> str | None:
    """Which stored layer a parameter is of."""
    found = re.match(r"(?:encoder|transformer)\.(?:layer|albert_layer_groups)\.\d+", parameter.name)
    return found and found[0]


def check_model(chance: Chance, service: EncoderService) -> Iterator[Claim]:
    made = odd_model(chance, service.architecture(BUNDLED_ID))
    tree, own = build_tree(made), list(made.parameters)
    whole = size_of(own)
    millions = chance.choice((None, max(whole, 1) / 1e6 * chance.choice((0.5, 0.995, 1.2))))
    claims, sure = anatomy_reading(tree, totals(made.parameters), made, millions)
    count, where, *rest = claims
    assert count.numbers == {"model": escape(made.title), "n": len(own), "n_values": whole}
    word = [p for p in own if p.name.startswith("embeddings.word_embeddings")]
    layers = [p for p in own if layer_of(p)]
    assert where.key == f"anatomy.where.{'words' if word else 'layers'}"
    assert where.numbers["layers"] == pytest.approx(size_of(layers) / (whole or 1))
    if word:
        assert where.numbers["words"] == pytest.approx(size_of(word) / (whole or 1))
    off = 0 if millions is None else whole / 1e6 / millions - 1
    verdict = "close" if abs(off) < 0.01 else "lower" if off < 0 else "higher"
    assert [each.key for each in rest] == ([f"anatomy.quoted.{verdict}"] if millions else [])
    numbers = {each.key.removeprefix("anatomy."): each.numbers for each in sure}
    assert numbers["matrices"]["n_values"] == size_of([p for p in own if len(p.shape) == 2])
    tied = sum(p.tied_to is not None for p in own)
    assert numbers.get("tied", {}).get("n", 0) == tied
    groups = {layer_of(p) for p in own if "layer_groups" in p.name}
    assert ("shared" in numbers) == (0 < len(groups) < made.n_layers)
    if "shared" in numbers:
        apart = round(size_of(layers) * made.n_layers / len(groups))
        assert numbers["shared"] == {"n_layers": made.n_layers, "n_values": apart}
    yield from [*claims, *sure, *check_title(tree, tree)]
    part = chance.choice(list(tree.walk()))
    yield from check_part(part, tree, chance.choice((service.load(BUNDLED_ID), None)))
    yield from check_title(part, tree)
    yield from check_absent(made, tree, chance.choice((service.load(BUNDLED_ID), None)))
    query = chance.choice(("bias", "query", "layer.0", "<b>no</b> *such*", "e"))
    found = search(tree, query)
    told = search_claim(query, tree, found)
    lit = [p for p in own if p.name in found]
    assert told.numbers["query"] == quoted(query, 60)
    assert told.key == f"anatomy.search.{'found' if lit else 'none'}"
    if lit:
        assert (told.numbers["n"], told.numbers["n_values"]) == (len(lit), size_of(lit))
    yield told


def check_title(part: Node, tree: Node) -> Iterator[Claim]:
    title, whole = anatomy_title(tree, part), size_of(list(tree.parameters)) or 1
    yield title
    verdict = title.key.removeprefix("anatomy.title.")
    share = size_of(list(part.parameters)) / whole
    if part.path:
        assert verdict == "part"
        assert title.numbers["share"] == share_text(share)
        name = title.numbers["part"]
        ends = [tuple(n.title.split(" › ")[i] for i in (0, -1)) for n in tree.walk() if n.path]
        own = tuple(part.title.split(" › ")[i] for i in (0, -1))
        assert name == (part.title if ends.count(own) > 1 else " › ".join(dict.fromkeys(own)))
        return
    most = max(size_of(list(n.parameters)) for n in tree.walk() if not n.children) / whole
    layers = [p for p in tree.parameters if layer_of(p)]
    assert verdict == ("largest" if most > 0.5 else "layers" if layers else "count")
    if verdict == "largest":
        assert title.numbers["share"] == pytest.approx(most)
    else:
        assert title.numbers["share"] == pytest.approx(size_of(layers) / whole)


def check_part(part: Node, tree: Node, card: ModelCard | None) -> Iterator[Claim]:
    claims, held = part_claims(part, tree), held_claim(part, card)
    own = list(part.parameters)
    share = size_of(own) / (size_of(list(tree.parameters)) or 1)
    assert claims[0].numbers == {
        "n": len(own), "n_values": size_of(own), "share": share_text(share)
    }  # fmt: skip
    assert len(claims) == 1 + any(p.tied_to is not None for p in own)
    states = {p.trained for p in own}
    whole = {True: "trained", False: "untrained"}
    verdict = whole.get(next(iter(states)), "mixed") if len(states) == 1 else "mixed"  # type: ignore[arg-type]
    assert held.key == f"anatomy.held.{'config' if card is None else verdict}"
    size = 4 * size_of(own)
    text, unit = held.numbers["size"].split(" ")
    scale = {"MB": 1e6, "kB": 1e3}[unit]
    assert float(text.replace(",", "")) == pytest.approx(size / scale, abs=0.0501)
    yield from [*claims, held]


def check_absent(made: Architecture, tree: Node, card: ModelCard | None) -> Iterator[Claim]:
    absent = absent_claims(tree, made, card)
    names = [p.name for p in made.parameters]
    has_pooler = any(name.startswith("pooler.") for name in names)
    has_segment = any("token_type_embeddings" in name for name in names)
    assert len(absent) == (not has_pooler) + (not has_segment)
    yield from absent


def check_models(chance: Chance, service: EncoderService) -> Iterator[Claim]:
    names = chance.sample((*REFERENCES, "x", "*y*", "z"), chance.randint(1, 5))
    rows = [
        {"model": name, "parameters": chance.choice((chance.randint(9, 10**9), 109_482_240)),
         "billion multiply-adds": chance.choice((None, chance.uniform(0.1, 50)))}
        for name in names
    ]  # fmt: skip
    title, told = models_title(rows), models_claim(rows, 128, references=REFERENCES)
    yield from [title, told]
    counts = [row["parameters"] / 1e6 for row in rows]
    assert title.numbers == {"least": min(counts), "most": max(counts)}
    if title.key.endswith("same"):
        assert max(counts) / min(counts) < 1.02
    others = [name for name in REFERENCES if name in names[1:]]
    if not others:
        assert told.key == "anatomy.models.alone"
        return
    own, other = rows[0], rows[names.index(others[0])]
    assert told.numbers["reference"] == escape(others[0])
    assert told.numbers["parameters"] == own["parameters"] / other["parameters"]
    work = [row["billion multiply-adds"] for row in (own, other)]
    if None in work:
        assert told.key == "anatomy.models.too_long"
    else:
        assert told.numbers["work"] == work[0] / work[1]


def check_weights(chance: Chance, service: EncoderService) -> Iterator[Claim]:
    draw = np.random.default_rng(chance.randrange(10**9))
    shape = chance.choice(((1,), (9,), (1, 9), (2, 5), (12, 12), (20, 5)))
    array = chance.choice((1e-6, 1e-3, 1, 50)) * draw.normal(size=shape)
    array = array + chance.choice((0, 0, 1))
    array = np.full(shape, chance.choice((0.0, 1.0, 0.3))) if chance.random() < 0.1 else array
    array = (array * np.logspace(0, -chance.choice((0, 3)), shape[-1])).astype(np.float32)
    n_rows = chance.choice((None, 900))
    spread, *rest = weights_reading("w", weight_statistics(array), n_rows)
    yield from [spread, *rest]
    low, high = float(array.min()), float(array.max())
    assert spread.numbers["low"] == low
    if f"{low:.3g}" == f"{high:.3g}":
        assert spread.key == f"anatomy.weights.{'equal' if low == high else 'near'}"
        assert not rest
        return
    assert spread.key == f"anatomy.weights.{'whole' if n_rows is None else 'sample'}"
    assert spread.numbers["high"] == high
    assert spread.numbers["n_rows"] == shape[0]
    assert spread.numbers["std"] == pytest.approx(array.astype(float).std())
    if array.ndim == 1 or min(shape) == 1:
        assert not rest
        return
    values = np.linalg.svd(array.astype(float), compute_uv=False) ** 2
    held = values.cumsum() / values.sum()
    own, random_ = rest[0].numbers["own"], rest[0].numbers["random"]
    assert rest[0].numbers["n_all"] == len(values)
    assert held[own - 1] >= 0.9 - 1e-6
    assert own == 1 or held[own - 2] < 0.9 + 1e-6
    assert rest[0].key == f"anatomy.weights.{'stronger' if own < 0.9 * random_ else 'even'}"


CHECKS: dict[Check, int] = {check_model: 2000, check_models: 500, check_weights: 500}


@cache
def keys(check: Check, service: EncoderService) -> frozenset[str]:
    chance = random.Random(1)
    return frozenset().union(*(read(check(chance, service)) for _ in range(CHECKS[check])))


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_every_claim_is_what_the_numbers_show(check: Check, service: EncoderService) -> None:
    assert keys(check, service)


@pytest.mark.slow
def test_no_sentence_of_the_page_is_dead(service: EncoderService) -> None:
    found = set().union(*(keys(check, service) for check in CHECKS))
    for family in (*table("anatomy.no_pooler"), "bert"):
        made = replace(service.architecture(BASE), family=family, parameters=())
        found |= read(absent_claims(build_tree(made), made, None))
    assert not unreached("anatomy", found)


# As they are read


def sentences(architecture: Architecture, millions: float | None = None) -> list[str]:
    tree, counted = build_tree(architecture), totals(architecture.parameters)
    claims, sure = anatomy_reading(tree, counted, architecture, millions)
    return [str(each) for each in [anatomy_title(tree, tree), *claims, *sure]]


def test_the_bundled_model_is_read_whole(service: EncoderService) -> None:
    assert sentences(service.architecture(BUNDLED_ID)) == [
        "The word table is 52% of the model",
        r"all\-MiniLM\-L6\-v2 has **22,713,216** parameters in 103 arrays.",
        "The word table holds **52%** of the parameters; all layers together hold **47%**.",
        "In memory: 90.9 MB, as float32.",
        "Without biases and LayerNorms there are 22,682,112 parameters.",
    ]


def test_quoted_sizes_are_put_right(service: EncoderService) -> None:
    base, large = service.architecture(BASE), service.architecture(LARGE)
    assert "It is often quoted as 110 million, which is right to within 1%." in sentences(
        base, QUOTED_MILLIONS[BASE]
    )
    assert "It is often quoted as 340 million; the exact count is 1.4% lower." in sentences(
        large, QUOTED_MILLIONS[LARGE]
    )
    assert set(QUOTED_MILLIONS) == {spec.id for spec in PRESETS}
    for preset, millions in QUOTED_MILLIONS.items():
        counted = totals(service.architecture(preset).parameters).n_values
        assert counted / 1e6 == pytest.approx(millions, rel=0.02)


def test_two_presets_are_compared(service: EncoderService) -> None:
    both = [service.architecture(name) for name in (LARGE, BASE)]
    told = models_claim([comparison_row(one, 128) for one in both], 128, references=REFERENCES)
    work = operations(both[0], 128).total / operations(both[1], 128).total
    assert str(told) == (
        r"“bert\-large\-uncased” has **306%** of the parameters of “bert\-base\-uncased” and "
        f"needs **{work:.0%}** of its computation for a text of 128 tokens."
    )


def test_a_part_says_whether_it_was_trained(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    tree = build_tree(service.architecture(BUNDLED_ID))
    pooler, query = tree.find("pooler"), tree.find("layer-1/attention/query")
    assert pooler is not None
    assert query is not None
    assert str(held_claim(query, card)) == (
        "0.6 MB, as float32. A sign of training: not all biases (added constants) in this section "
        "of the model are 0."
    )
    assert "**No sign that this was trained.** Every bias of the pooler is exactly 0" in str(
        held_claim(pooler, card)
    )
    assert str(held_claim(tree, card)) == "90.9 MB, as float32. Pooler: no sign of training."


@pytest.mark.parametrize("name", ALL)
def test_every_family_says_what_it_has_not(tiny_service: EncoderService, name: str) -> None:
    card = tiny_service.load(f"folder:{name}")
    made = tiny_service.architecture(f"folder:{name}")
    absent = [each.key for each in absent_claims(build_tree(made), made, card)]
    assert ("anatomy.absent.pooler" in absent) == (card.provenance.pooler.state == "absent")
    assert ("anatomy.absent.segment" in absent) == (name in ("distilbert", "mpnet"))
    assert {n.kind for n in build_tree(made).walk()} <= set(table("anatomy.part"))


@pytest.mark.parametrize(
    ("share", "said"),
    [(0, "0%"), (1, "100%"), (0.9999, "over 99%"), (0.516, "52%"), (0.078, "7.8%"),
     (0.0065, "0.65%"), (0.00001, "under 0.01%")],
)  # fmt: skip
def test_a_share_has_two_digits_that_count(share: float, said: str) -> None:
    assert share_text(share) == said
