"""All that Layer by layer computes, draws and says, of any text, view and family."""

from __future__ import annotations

import pytest

from contextlens.core import EncoderService
from contextlens.features.layers.all_tokens import all_tokens
from contextlens.features.layers.hidden_states import HiddenStates
from contextlens.features.layers.layers_compared import compared_layers
from contextlens.features.layers.nearest_tokens import nearest_tokens
from contextlens.features.layers.one_token import one_token
from contextlens.features.layers.pooler import pooler_of
from contextlens.features.layers.token_pairs import token_pairs
from contextlens.ui.state.view import ViewState
from tests.features.layers.odd import states_of, view_of
from tests.support.claims import read
from tests.support.texts import TYPED
from tests.support.tiny_models import ALL, NO_POOLER

RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y}'


@pytest.mark.parametrize("text", [*TYPED.values(), RUDE], ids=[*TYPED.keys(), "an image"])
def test_any_text_is_measured_and_looked_at(text: str, service: EncoderService) -> None:
    assert_looks_work(view_of(text, "a python"), service)


@pytest.mark.parametrize(
    "view",
    [
        view_of("hello"),
        view_of("a text", pair=""),
        view_of(*map(str, range(8))),
        view_of("", "a python", "  "),
    ],
    ids=["one token", "an empty second text", "eight sentences", "blank beside text"],
)
def test_any_view_is_measured_and_looked_at(view: ViewState, service: EncoderService) -> None:
    assert_looks_work(view, service)


@pytest.mark.parametrize("family", ALL)
def test_every_family_shows_what_it_has(family: str, tiny_service: EncoderService) -> None:
    view = view_of("a python slept", "she walked", pair="by the sea", model=f"folder:{family}")
    states = assert_looks_work(view, tiny_service)
    absent = states.card.provenance.pooler.state == "absent"
    assert (states.encoding.pooler_output is None) == absent
    assert absent == (family in {*NO_POOLER, "electra-same-size", "bert-without-pooler"})


def assert_looks_work(view: ViewState, service: EncoderService) -> HiddenStates:
    """All that is computed, drawn and said of a text, without what a model's sample takes."""
    states = states_of(view, service)
    heatmap, line, pairs = all_tokens(states, picked=2), one_token(states), token_pairs(states)
    compared = compared_layers(view, states.card, states.card, service)
    pooler = pooler_of(view, states, service)
    results = [heatmap, line, nearest_tokens(view, states, service), pairs, compared, pooler]
    spoken = [each for r in results for each in (*r.claims(), *r.sure(), *r.notes())]
    titles = [heatmap.title(), line.title(), pairs.title(), compared.title()]
    assert read([*titles, *states.notes(), *spoken])
    assert not [words for words in map(str, spoken) if "<img" in words.replace(r"\<img", "")]
    for result in results:
        figure = result.figure()
        assert figure is None or "<img" not in figure.to_json()
        assert (figure is None) == (result is pooler and pooler.output is None) or (
            result is compared
        )
        assert bool(result.alt()) or figure is None
    return states
