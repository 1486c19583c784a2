"""What the embedding layer learned: its parameters, in numbers and words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.language import Claim
from contextlens.core import EncoderService
from contextlens.core.schema import Parameter
from contextlens.features.embedding_layer.controls import PAGE
from contextlens.features.embedding_layer.learned import Learned, learned
from contextlens.features.embedding_layer.position_table import compare_positions, sinusoid
from contextlens.ui.state.view import DEFAULT
from tests.features.embedding_layer.sums import TRAINED, UNTRAINED, Chance, Draw, keys_of, sum_of
from tests.support.claims import unreached
from tests.support.tiny_models import ALL, FROM_PADDING, NO_POSITIONS, PROJECTED


def test_the_parameters_are_the_layer_s_own_and_learned(service: EncoderService) -> None:
    rows = learned(sum_of(DEFAULT, service), service).rows()
    states = {row["parameter"]: row["state"] for row in rows}
    assert states["embeddings.position_embeddings.weight"] == "in a trained layer"
    assert states["embeddings.token_type_embeddings.weight"] == "in a trained layer"
    assert sum(row["numbers"] for row in rows) == 11_918_592


@pytest.mark.parametrize("family", ALL)
def test_a_family_s_layer_has_its_own_parameters(family: str, tiny_service: EncoderService) -> None:
    view = replace(DEFAULT, model=f"folder:{family}")
    result = learned(sum_of(view, tiny_service), tiny_service)
    if family in NO_POSITIONS:
        assert (result.table, result.statistics) == (None, None)
    else:
        assert result.statistics is not None
        assert result.statistics.first == (2 if family in FROM_PADDING else 0)
    assert result.claims()[0].numbers["share"] > 0
    names = " ".join(parameter.name for parameter in result.parameters)
    is_projected = family in PROJECTED
    assert ("project" in names or "mapping_in" in names) == is_projected


def check_learned(chance: Chance, draw: Draw) -> Iterator[Claim]:
    rows = sinusoid(6, 4) if chance.random() < 0.3 else draw.normal(size=(6, 4))
    kinds = ["word", "position", "token_type"][: chance.choice((2, 3))]
    shapes = {
        f"embeddings.{kind}_embeddings.weight": (chance.randrange(1, 99), 4) for kind in kinds
    }
    shapes["embeddings.LayerNorm.weight"] = (4,)  # type: ignore[assignment]
    parameters = [Parameter(*item, "float32", 0, None, True) for item in shapes.items()]
    statistics = chance.choice((None, compare_positions(rows.astype(np.float32), 0)))
    state = chance.choice((TRAINED, UNTRAINED))
    result = Learned(parameters, state, None, statistics)
    claims = count, *others = result.claims()
    n, n_word = sum(map(math.prod, shapes.values())), math.prod(next(iter(shapes.values())))
    assert count.numbers == {"n": n, "share": pytest.approx(n_word / n)}
    verdicts = []
    if statistics is not None:
        mean = cosine_similarity(rows, sinusoid(6, 4)).diagonal().mean()
        assert others[0].numbers["similarity"] == pytest.approx(mean, abs=1e-5)
        verdicts = [f"{PAGE}.learned.{'fixed' if mean >= 0.99 else 'free'}"]
    verdicts += [] if state is TRAINED else [f"{PAGE}.untrained"]
    assert [claim.key for claim in others] == verdicts
    has_free_table = f"{PAGE}.learned.free" in verdicts
    assert len(result.notes()) == (has_free_table and state is TRAINED)
    yield from [*claims, *result.notes()]


def test_every_claim_is_what_the_numbers_show_and_no_sentence_is_dead() -> None:
    keys = keys_of(check_learned, 300)
    assert not unreached(f"{PAGE}.learned", keys)
    assert f"{PAGE}.learned_note" in keys
