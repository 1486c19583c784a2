"""Two sides and the word table, in words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from components.analysis.separation import Separation, wilson
from components.core import EncoderService
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.features.senses.compute.senses import Senses, senses_in
from components.features.senses.compute.table import InTable
from components.features.senses.reading.sides import side_names, sides_reading, table_reading
from tests.support.senses import senses_view
from tests.support.true_words import bare, is_two


def point(layer: int, right: int, n: int) -> Separation:
    nothing = np.zeros(0)
    table = np.zeros((2, 2), int)
    return Separation(
        layer, right, n, wilson(right, n), nothing, nothing, table, float("nan"), 0.1, 0.2
    )


def side(service: EncoderService, **controls: Any) -> Senses:
    texts = tuple(f"{word} python {i}" for i in range(6) for word in ("my", "the"))
    own = Corpus("Pets", texts, {"sense": ("a", "b") * 6} if controls.pop("labels", 1) else {})
    layer = controls.pop("layer", None)
    view = senses_view(layer=layer, **{"word": "python", **controls})
    found = senses_in(LiveCorpus(own, service, "folder:bert"), view, service)
    assert isinstance(found, Senses)
    return found


def with_share(own: Senses, right: int, n: int) -> Senses:
    curve = tuple(point(each.layer, right, n) for each in own.course.curve)
    return replace(own, course=replace(own.course, curve=curve))


def test_one_side_is_better_only_where_intervals_do_not_meet(tiny_service: EncoderService) -> None:
    one, other = side(tiny_service, layer=0), side(tiny_service)
    assert side_names(one, other) == ("layer 0", "layer 3")
    clear = sides_reading(with_share(one, 5, 40), with_share(other, 35, 40))[0]
    assert "better for layer 3" in clear
    assert (
        "better for layer 0" in sides_reading(with_share(one, 40, 40), with_share(other, 9, 40))[0]
    )
    same = sides_reading(with_share(one, 30, 40), with_share(other, 33, 40))[0]
    assert "their intervals meet, so neither" in same
    none = sides_reading(side(tiny_service, labels=0), other)[0]
    assert none.startswith("Senses cannot be tested for")


def test_the_word_tables_point_is_told() -> None:
    own = InTable("python", ("python",), ("a", "b"), np.array([0.5, 0.51]), np.eye(2), 0.5)
    assert "about the same to every sense" in table_reading(own)[0]
    apart = replace(own, cosines=np.array([0.5, 0.6]), pieces=("py", "##thon"))
    (said,) = table_reading(apart)
    assert "is the mean of 2 rows" in said
    assert "to the middle of “b” **0.60**, of “a” **0.50**" in said
    numbers = re.findall(r"-?\d\.\d\d", bare(said))
    assert is_two(numbers[0], 0.5)
    assert table_reading(replace(own, senses=()))[0].endswith("on average.")
    assert table_reading(replace(own, problem="No."))[0] == r"No\."
