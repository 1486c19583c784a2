"""Every sentence of Anatomy is read back and holds, for models as odd as they come."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Architecture, Parameter
from components.features.anatomy.measures.parameters import Node, build_tree, search, totals
from components.features.anatomy.measures.weights import weight_statistics
from components.features.anatomy.reading import (
    absent_reading,
    anatomy_reading,
    anatomy_title,
    held_reading,
    models_reading,
    models_title,
    part_reading,
    search_reading,
    weights_reading,
)
from tests.support.tiny_models import ALL
from tests.support.true_words import bare, odd_labels, read_back

N = 2000
SHARE = r"(?:under 0\.01|over 99|\d+(?:\.\d+)?) %"
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


def odd_model(chance: random.Random, base: Architecture) -> Architecture:
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
        trained = chance.choice((True, True, False))
        size = math.prod(shape)
        found.append(Parameter(name, shape, "float32", 4 * size, tied, trained))
    (title,) = odd_labels(chance, 1)
    return replace(base, parameters=tuple(found), n_layers=max(layers, 1), title=title)


def is_share(said: str, share: float) -> bool:
    number = said.replace("\u00a0", " ").removesuffix(" %")
    if number.startswith("under"):
        return 0 < share < 0.0001
    if number.startswith("over"):
        return 0.995 <= share < 1
    digits = len(number.partition(".")[2])
    rounded = abs(share - float(number) / 100) <= 0.51 * 10 ** (-2 - digits)
    return rounded and (number != "100" or share >= 1) and (number != "0" or share == 0)


def size_of(parameters: list[Parameter]) -> int:
    return sum(math.prod(p.shape) for p in parameters if p.tied_to is None)


def layer_of(parameter: Parameter) -> str | None:
    """Which stored layer a parameter is of."""
    found = re.match(r"(?:encoder|transformer)\.(?:layer|albert_layer_groups)\.\d+", parameter.name)
    return found and found[0]


def of(text: str) -> str:
    return bare(text).replace("\u00a0", " ")


# The whole and its parts


def check_whole(said: str, made: Architecture, millions: float | None) -> None:
    own = list(made.parameters)
    whole = size_of(own)
    word = size_of([p for p in own if p.name.startswith("embeddings.word_embeddings")])
    layers = size_of([p for p in own if layer_of(p)])
    groups = {layer_of(p) for p in own if "layer_groups" in p.name} - {None}
    stored = {layer_of(p) for p in own} - {None}

    def has(n: str, arrays: str, size: str, tied: str | None) -> None:
        assert int(n.replace(",", "")) == whole
        assert int(arrays) == len(own)
        number, unit = size.split(" ")
        scale = {"MB": 1e6, "kB": 1e3}[unit]
        assert abs(float(number.replace(",", "")) - 4 * whole / scale) <= 0.0501
        assert int(tied or 0) == sum(p.tied_to is not None for p in own)

    def where(table: str | None, n: str | None, share: str) -> None:
        assert table is None or is_share(table, word / (whole or 1))
        assert int(n or 1) == len(stored)
        assert is_share(share, layers / (whole or 1))

    def shared(table: str | None, n: str, share: str, all_: str) -> None:
        assert table is None or is_share(table, word / (whole or 1))
        assert int(n) == made.n_layers > len(groups)
        assert is_share(share, layers / (whole or 1))
        assert int(all_.replace(",", "")) == round(layers * made.n_layers / len(groups))

    def matrices(n: str) -> None:
        assert int(n.replace(",", "")) == size_of([p for p in own if len(p.shape) == 2]) != whole

    def close(m: str) -> None:
        assert float(m) == millions
        assert abs(whole / 1e6 / millions - 1) < 0.01

    def off(m: str, by: str, which: str) -> None:
        assert float(m) == millions
        assert is_share(by, abs(whole / 1e6 / millions - 1))
        assert (which == "fewer") == (whole / 1e6 < millions)

    table = rf"(?:The word table holds (?P<table>{SHARE}), |Of these, )"
    read_back(
        said.removeprefix(" ".join(made.title.split()) if said.startswith(made.title) else ""),
        {
            r".*?has (?P<n>[\d,]+) parameters in (?P<arrays>\d+) arrays, "
            r"(?P<size>[\d.,]+ [Mk]B) as (?:float32)?"
            r"(?:; (?P<tied>\d+) of them (?:is|are) tied to others and not counted again)?\.": has,
            rf"{table}(?:the (?P<n>\d+) layers together|the one layer) (?P<share>{SHARE})\.": where,
            rf"(?:The word table holds (?P<table>{SHARE}), )?the weights that its (?P<n>\d+) "
            rf"layers share (?P<share>{SHARE}): they are stored once and used again, or the layers "
            r"would take (?P<all_>[\d,]+)\.": shared,
            r"Counting only what has two dimensions gives (?P<n>[\d,]+): that leaves out biases "
            r"and LayerNorms\.": matrices,
            r"The often quoted (?P<m>[\d.e+-]+) million are this number to within 1 %\.": close,
            rf"Often (?P<m>[\d.e+-]+) million are quoted; counted, there are (?P<by>{SHARE}) "
            r"(?P<which>fewer|more)\.": off,
        },
    )


def check_title(said: str, tree: Node, chosen: Node) -> None:
    whole = size_of(list(tree.parameters))
    layers = [p for p in tree.parameters if layer_of(p)]
    if chosen.path:
        name, _, share = said.removesuffix(" of the model").rpartition(": ")
        assert is_share(share, size_of(list(chosen.parameters)) / (whole or 1))
        alike = [
            node for node in tree.walk()
            if node.path and name in (node.title, " › ".join(dict.fromkeys(
                (node.title.split(" › ")[0], node.title.split(" › ")[-1]))))
        ]  # fmt: skip
        assert chosen in alike
        assert len(alike) == 1 or chosen.title == name
        return
    if said.endswith("of the model"):
        share = said.rpartition(" is ")[2].removesuffix(" of the model")
        leaves = [n for n in tree.walk() if not n.children]
        most = max(size_of(list(n.parameters)) for n in leaves) / (whole or 1)
        assert is_share(share, most)
        assert most > 0.5
    elif said.endswith("of all parameters"):
        share = re.search(SHARE, said)
        assert is_share(share[0], size_of(layers) / (whole or 1))
        assert ("one layer" in said) <= (len(set(map(layer_of, layers))) == 1)
    else:
        assert said == f"{whole:,} parameters"


@pytest.mark.slow
def test_every_sentence_on_a_model_and_its_parts_holds(service: EncoderService) -> None:
    chance, base = random.Random(1), service.architecture(BUNDLED_ID)
    card = service.load(BUNDLED_ID)
    for _ in range(N):
        made = odd_model(chance, base)
        tree = build_tree(made)
        whole = size_of(list(made.parameters))
        millions = chance.choice((None, max(whole, 1) / 1e6 * chance.choice((0.5, 0.995, 1.2))))
        millions = millions and float(f"{millions:g}")
        said = of(" ".join(anatomy_reading(tree, totals(made.parameters), made, millions)))
        check_whole(said, made, millions)
        part = chance.choice(list(tree.walk()))
        check_title(of(anatomy_title(tree, part)), tree, part)
        check_part(of(part_reading(part, tree)[0]), part, whole)
        check_held(of(held_reading(part, chance.choice((card, None)))), part)
        check_search(chance, tree, whole)
        absent = of(" ".join(absent_reading(tree, made, None)))
        names = [p.name for p in made.parameters]
        assert ("No segment table" in absent) == (not any("token_type" in name for name in names))
        assert ("No pooler" in absent) == (not any(name.startswith("pooler") for name in names))


def check_part(said: str, part: Node, whole: int) -> None:
    size, tied = size_of(list(part.parameters)), [p for p in part.parameters if p.tied_to]
    head, _, made = said.partition(": ")
    assert head.startswith(f"{size:,} parameters")
    assert bool(part.path) == (", " in head.removeprefix(f"{size:,}"))
    if part.path:
        assert is_share(re.search(SHARE, head)[0], size / (whole or 1))
    assert ("Tied arrays" in made) == bool(tied)
    arrays = [f"{p.name.split('.')[-1]} {' × '.join(map(str, p.shape))}" for p in part.parameters]
    spelled = ", ".join(arrays) if len(arrays) < 4 else f"{len(arrays)} arrays"
    assert made.startswith(f"{spelled}.")


def check_held(said: str, part: Node) -> None:
    size = sum(p.n_bytes for p in part.parameters if p.tied_to is None)
    held = f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1000:,.1f} kB"
    assert said.startswith(f"{held} as float32")
    states = {p.trained for p in part.parameters}
    if said.endswith("sizes come from the config."):
        return
    assert ("not all 0" in said) == (states == {True})
    assert ("shows that it was trained" in said) == (states == {False})
    if "that this was trained: " in said:
        assert states == {True, False}
        named = said.split("that this was trained: ")[1][:-1]
        apart = [c.name for c in part.children if {p.trained for p in c.parameters} == {False}]
        assert named == (", ".join(apart) or part.name)


def check_search(chance: random.Random, tree: Node, whole: int) -> None:
    query = chance.choice(("bias", "layer", "Query", "LayerNorm", "<b>", "x" * 90, "0", "word"))
    found = search(tree, query)
    said = of(search_reading(query, tree, found)[0])
    hits = [
        p for p in tree.parameters
        if query.casefold() in p.name.casefold()
        or any(query.casefold() in node.title.casefold() and p in node.parameters
               for node in tree.walk() if node.path)
    ]  # fmt: skip
    if not hits:
        assert said.startswith("No array of this model has “")
        return
    n, size, share = re.match(
        rf"(\d+) arrays? ha(?:s|ve) “.*” in the name or that of the part: ([\d,]+) parameters, "
        rf"({SHARE}) of the model\.$", said
    ).groups()  # fmt: skip
    assert int(n) == len(hits)
    assert int(size.replace(",", "")) == size_of(hits)
    assert is_share(share, size_of(hits) / (whole or 1))


# Models beside each other, and the numbers of one array


def test_every_sentence_on_models_side_by_side_holds() -> None:
    chance = random.Random(2)
    for _ in range(N // 4):
        names = chance.sample(("base", "large", "x", "*y*", "z"), chance.randint(1, 5))
        rows = [
            {"model": name, "parameters": chance.choice((chance.randint(9, 10**9), 109_482_240)),
             "billion multiply-adds": chance.choice((None, chance.uniform(0.1, 50)))}
            for name in names
        ]  # fmt: skip
        title, counts = models_title(rows), [row["parameters"] for row in rows]
        if title.startswith("From"):
            low, high = re.match(r"From (\S+) to (\S+) million parameters$", title).groups()
            assert low != high
            assert float(low) == pytest.approx(min(counts) / 1e6, rel=0.006)
            assert float(high) == pytest.approx(max(counts) / 1e6, rel=0.006)
        else:
            assert max(counts) / min(counts) < 1.02
        said = [*map(bare, models_reading(rows, 128, base="base", large="large"))]
        by_name = {row["model"]: row for row in rows}
        if not {"base", "large"} <= set(by_name):
            assert "not both allowed" in said[0]
            continue
        assert len(said) == 1 + (names[0] not in ("base", "large"))
        for sentence, one in zip(said, ("large", names[0]), strict=False):
            check_ratio(sentence, by_name[one], by_name["base"])


def check_ratio(said: str, one: dict, base: dict) -> None:
    assert said.startswith(f"{one['model']} has ")
    numbers = [float(n) for n in re.findall(r"\d+\.\d\d", said)]
    work = [row["billion multiply-adds"] for row in (one, base)]
    expected = [one["parameters"] / base["parameters"]]
    if None in work:
        assert said.endswith("; a text of 128 tokens does not fit in both.")
    else:
        expected.append(work[0] / work[1])
    assert numbers == pytest.approx(expected, abs=0.0051)


def test_every_sentence_on_an_array_s_numbers_holds() -> None:
    chance, draw = random.Random(3), np.random.default_rng(3)
    for _ in range(N // 4):
        shape = chance.choice(((1,), (9,), (1, 9), (2, 5), (12, 12), (20, 5)))
        array = chance.choice((1e-6, 1e-3, 1, 50)) * draw.normal(size=shape)
        array = array + chance.choice((0, 0, 1))
        array = np.full(shape, chance.choice((0.0, 1.0, 0.3))) if chance.random() < 0.1 else array
        array = (array * np.logspace(0, -chance.choice((0, 3)), shape[-1])).astype(np.float32)
        stats, n_rows = weight_statistics(array), chance.choice((None, 900))
        check_array(of(" ".join(weights_reading("w", stats, n_rows))), array, n_rows)


def check_array(said: str, array: np.ndarray, n_rows: int | None) -> None:
    flat = array.astype(float).ravel()
    assert said.startswith("`w`" if n_rows is None else f"A sample of {len(array)} rows of `w`")
    if flat.min() == flat.max():
        value = float(said.rpartition(" is ")[2].rstrip("."))
        assert value == pytest.approx(flat[0], rel=1e-3)
        return
    number = r"(-?\d[\d.e+-]*?)"
    low, high, mean, std = re.search(
        rf"values from {number} to {number} around {number}, with a standard deviation of "
        rf"{number}\.(?: |$)", said
    ).groups()  # fmt: skip
    told = dict(zip((low, high, mean, std), (flat.min(), flat.max(), flat.mean(), flat.std()),
                    strict=False))  # fmt: skip
    for shown, value in told.items():
        assert abs(float(shown) - value) <= max(0.005001 if flat.std() >= 0.02 else 0,
                                                1e-5 * abs(value), 1e-12)  # fmt: skip
        assert shown != "-0.00"
    assert float(low) < float(high)
    if array.ndim == 1:
        assert said.endswith("which has no singular values.")
        return
    values = np.linalg.svd(array.astype(float), compute_uv=False) ** 2
    if len(values) == 1:
        assert said.endswith("It has a single singular value.")
        return
    own, all_, random_ = map(int, re.search(
        r"(\d+) of its (\d+) singular values hold 90 % of the sum of squares; in a random matrix "
        r"of this shape it takes (\d+)", said).groups())  # fmt: skip
    assert all_ == len(values)
    held = values.cumsum() / values.sum()
    assert held[own - 1] >= 0.9 - 1e-6
    assert own == 1 or held[own - 2] < 0.9 + 1e-6
    assert said.endswith("some directions count for more than others.") == (own < 0.9 * random_)


# Through the real models


@pytest.mark.parametrize("name", [BUNDLED_ID, *(f"folder:{name}" for name in ALL)])
def test_every_sentence_holds_for_the_real_parts(name: str, tiny_service: EncoderService) -> None:
    card, made = tiny_service.load(name), tiny_service.architecture(name)
    tree, whole = build_tree(made), size_of(list(made.parameters))
    check_whole(of(" ".join(anatomy_reading(tree, totals(made.parameters), made))), made, None)
    for part in tree.walk():
        check_title(of(anatomy_title(tree, part)), tree, part)
        check_part(of(part_reading(part, tree)[0]), part, whole)
        check_held(of(held_reading(part, card)), part)
