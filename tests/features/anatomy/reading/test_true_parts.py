"""Every sentence on a model and its parts is read back and holds, for odd models too."""

from __future__ import annotations

import random
import re

import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Architecture
from components.features.anatomy.measures.parameters import Node, build_tree, search, totals
from components.features.anatomy.reading import (
    absent_reading,
    anatomy_reading,
    anatomy_title,
    held_reading,
    part_reading,
    search_reading,
)
from tests.features.anatomy.reading.odd_models import (
    SHARE,
    is_share,
    layer_of,
    odd_model,
    of,
    size_of,
)
from tests.support.tiny_models import ALL
from tests.support.true_words import read_back

N = 2000


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
            r"Counting matrices only gives (?P<n>[\d,]+): that leaves out biases "
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
