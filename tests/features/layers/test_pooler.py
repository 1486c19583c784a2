"""The pooler: by hand and by a script as by the model, and what is said of its training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import PartState
from contextlens.features.layers.hidden_states import encode_all
from contextlens.features.layers.pooler import Pooler, pooler_of, sentence_rows
from contextlens.ui.state.view import DEFAULT
from tests.features.layers.odd import states_of, view_of
from tests.support.claims import read, unreached
from tests.support.snippets import run
from tests.support.tiny_models import ALL


def test_the_steps_lead_to_the_model_s_output(service: EncoderService) -> None:
    result = pooler_of(DEFAULT, states_of(DEFAULT, service), service)
    np.testing.assert_allclose(result.pooled, result.output, atol=1e-6)
    np.testing.assert_allclose(np.tanh(result.linear), result.pooled, atol=1e-6)
    assert list(result.steps()) == [
        "[CLS], layer 6", "W x + b", "tanh, by hand", "model's own",
    ]  # fmt: skip
    assert list(result.arrays()) == ["pooler_output", "pooler_by_hand"]


def test_sentences_are_compared_by_their_pooler_output(service: EncoderService) -> None:
    (row,) = sentence_rows(encode_all(DEFAULT, service))
    assert row["sentences"] == "A ~ B"
    outputs = [e.pooler_output for e in encode_all(DEFAULT, service)]
    assert row["by pooler output"] == pytest.approx(cosine_similarity(outputs)[0, 1], abs=1e-5)
    assert 0.7 < row["by pooler output"] < 0.95
    assert sentence_rows(encode_all(view_of("alone"), service)) == []


@pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{name}" for name in ALL)])
def test_every_pooler_by_hand_is_the_model_s_own(tiny_service: EncoderService, model: str) -> None:
    view = view_of("A python slept under the lamp", model=model)
    states = states_of(view, tiny_service)
    result = pooler_of(view, states, tiny_service)
    assert (result.output is None) == (states.card.provenance.pooler.state == "absent")
    if result.output is None:
        assert (result.figure(), dict(result.arrays())) == (None, {})
        return
    np.testing.assert_allclose(result.pooled, states.encoding.pooler_output, atol=1e-6)


@pytest.mark.parametrize("name", ["bert", "albert", "roberta", "xlm-roberta", "mpnet"])
def test_the_script_gives_the_model_s_output(
    tiny_service: EncoderService, tiny_root: Path, name: str
) -> None:
    text = "She is an engineer"
    view = view_of(text, pair="One word, {many} means", model=f"folder:{name}")
    result = pooler_of(view, states_of(view, tiny_service), tiny_service)
    assert "contextlens" not in result.snippet()
    found = run(result.snippet().replace("path/to/", f"{tiny_root}/"))
    np.testing.assert_allclose(found["by_model"].numpy(), result.output, atol=1e-5)
    np.testing.assert_allclose(found["by_hand"].numpy(), result.output, atol=1e-5)


def all_poolers(service: EncoderService) -> Iterator[list[Claim]]:
    card, output = service.load(BUNDLED_ID), np.zeros(3, np.float32)
    for state in ("trained", "untrained", "absent"):
        for family in ("bert", "albert", "roberta"):
            pooler = PartState(state, "Every bias is exactly 0.")
            own = replace(card, family=family, provenance=replace(card.provenance, pooler=pooler))
            for largest in (None, 1e-7, 0.1) if state != "absent" else (None,):
                pooled = None if largest is None else output + np.float32(largest)
                result = Pooler(own, None if state == "absent" else output, pooled=pooled)
                claims, sure = result.claims(), result.sure()
                assert bool(sure) == (largest == 1e-7)
                off = [each for each in claims if each.key == "layers.pooler.off"]
                assert bool(off) == (largest == 0.1)
                verdict = claims[-1].key.removeprefix("layers.pooler.")
                trained = f"trained.{family if family != 'roberta' else 'other'}"
                assert verdict == (trained if state == "trained" else state)
                yield [*claims, *sure]


def test_every_state_of_training_is_said_and_no_sentence_is_dead(service: EncoderService) -> None:
    keys = read(each for told in all_poolers(service) for each in told)
    keys |= read(Pooler(service.load(BUNDLED_ID), not_computed="<b> is too large.").notes())
    assert not unreached("layers.pooler", keys)
