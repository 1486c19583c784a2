"""Integrated gradients of a cosine, held against Captum's on plain transformers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.encoder import gradients
from contextlens.core.errors import RequestError, TextError
from contextlens.core.schema import Attribution
from tests.core.encoder import hooked
from tests.support.oracle import Oracle
from tests.support.tiny_models import FAMILIES

TEXT = "I love my pet python"
OTHER = "I love coding in python"
PAIR = "A green bank"


@dataclass(frozen=True)
class Subject:
    """A model under test and its oracle."""

    model: str
    service: EncoderService
    oracle: Oracle

    def shares(self, text: str = TEXT, **more: Any) -> Attribution:
        """Of the mean over all tokens, toward that of the other text at the same layer."""
        last = self.oracle.model.config.num_hidden_layers
        layer, pair = more.get("layer", last), more.get("pair")
        toward = self.service.encode(self.model, [OTHER], layers=[layer])[0].hidden[0].mean(axis=0)
        n = self.service.tokenize(self.model, [text], pairs=[pair])[0].n_tokens
        return self.service.integrated_gradients(
            self.model, text, np.full(n, 1 / n), toward, **more
        )


@pytest.fixture(scope="module", params=[BUNDLED_ID, *FAMILIES, "electra-same-size"])
def subject(
    request: pytest.FixtureRequest,
    tiny_service: EncoderService,
    tiny_root: Path,
    bundled_folder: Path,
) -> Subject:
    name = request.param
    if name == BUNDLED_ID:
        return Subject(BUNDLED_ID, tiny_service, Oracle(bundled_folder, 512))
    return Subject(f"folder:{name}", tiny_service, Oracle(tiny_root / name, 64))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def captum_shares(oracle: Oracle, pair: str | None, layer: int, steps: int) -> np.ndarray:
    """The same of Captum, which is given the model as a function of layer 0's states."""
    model, tokenizer = oracle.model, oracle.tokenizer
    inputs = hooked.inputs_of(oracle, TEXT, pair)
    special = tokenizer(TEXT, pair, return_special_tokens_mask=True)["special_tokens_mask"]
    words = model.get_input_embeddings()
    padded = torch.where(
        torch.tensor(special)[None, :, None] == 1,
        words(inputs["input_ids"]),
        words.weight[tokenizer.pad_token_id],
    )

    def hidden(states: torch.Tensor | None, put_in: torch.Tensor | None = None) -> Any:
        n = 1 if states is None else len(states)
        more = {name: value.expand(n, -1) for name, value in inputs.items()}
        if hasattr(model, "ple"):  # every layer reads the words' vectors
            states, put_in = None, put_in if states is None else states
        handles = []
        if put_in is not None:
            handles.append(words.register_forward_hook(lambda *_: put_in))
        if states is not None:
            first = hooked.layers_of(model)[0]
            calls: list[int] = []

            def enter(module: Any, args: tuple[Any, ...]) -> Any:
                calls.append(1)  # ALBERT comes by again
                return (states, *args[1:]) if len(calls) == 1 else args

            handles.append(first.register_forward_pre_hook(enter))
        try:
            return model(**more, output_hidden_states=True).hidden_states
        finally:
            for handle in handles:
                handle.remove()

    with torch.no_grad():
        own, start = hidden(None)[0], hidden(None, padded)[0]
        other = torch.tensor(oracle(OTHER).hidden[layer]).mean(dim=0)

    def score(states: torch.Tensor) -> torch.Tensor:
        pooled = (states if layer == 0 else hidden(states)[layer]).mean(dim=1)
        return torch.cosine_similarity(pooled, other[None], dim=1)

    with torch.enable_grad():
        found = IntegratedGradients(score).attribute(
            own, start, n_steps=steps, method="gausslegendre", internal_batch_size=32
        )
    shares: np.ndarray = found[0].sum(dim=1).detach().double().numpy()
    return shares


@pytest.mark.parametrize(("pair", "layer"), [(None, None), (PAIR, 1), (None, 0)])
def test_shares_are_those_of_captum(subject: Subject, pair: str | None, layer: int | None) -> None:
    last = subject.oracle.model.config.num_hidden_layers
    chosen = last if layer is None else layer
    ours = subject.shares(pair=pair, layer=chosen, steps=32)
    assert (ours.steps, ours.cuts, ours.layer) == (32, (0.0, 1.0), chosen)
    theirs = captum_shares(subject.oracle, pair, chosen, 32)
    np.testing.assert_allclose(ours.shares, theirs, rtol=0, atol=1e-4)


def test_shares_add_up_to_the_way_from_start_to_end(subject: Subject) -> None:
    found = subject.shares()
    vectors = [
        e.hidden[-1].mean(axis=0) for e in subject.service.encode(subject.model, [TEXT, OTHER])
    ]
    a, b = (vector.astype(np.float64) for vector in vectors)
    assert found.end == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-5)
    assert found.remainder == pytest.approx(found.end - found.start - found.shares.sum(), abs=1e-12)
    assert abs(found.remainder) <= gradients.REMAINDER
    special = found.tokens.special_tokens_mask == 1
    assert np.all(found.shares[special] == 0)
    assert np.all(found.shares[~special] != 0)


def test_steps_are_taken_where_the_cosine_changes() -> None:
    """A jump within a thousandth of the way, which 256 steps over all of it do not see."""

    def cosine(hidden: torch.Tensor) -> torch.Tensor:
        place = hidden.double().mean(dim=(1, 2))
        return 0.4 * torch.tanh(4000 * (place - 0.3))

    ends = torch.stack([torch.zeros(2, 3), torch.ones(2, 3)])
    begin, end = cosine(ends).tolist()

    def missed(n_steps: int, steps: int | None) -> tuple[float, int]:
        way = gradients._Interpolation(cosine, ends, 64, n_steps, gradients.ProgressCounter(None))
        pieces = gradients._pieces(way, gradients._Piece(0.0, 1.0, begin, end), steps)
        cuts = [piece.low for piece in pieces] + [1.0]
        assert cuts == sorted(set(cuts))
        shares = np.sum([piece.shares for piece in pieces], axis=0)
        assert shares[0] == pytest.approx(shares[1])
        return abs(end - begin - float(shares.sum())), n_steps * len(pieces)

    once, n_once = missed(256, 256)
    found, n_found = missed(gradients.MIN_STEPS, None)
    assert once > gradients.REMAINDER >= found
    assert n_found < n_once


def test_where_no_steps_are_enough_it_ends_and_says_what_is_missed() -> None:
    told: list[int] = []

    def cosine(hidden: torch.Tensor) -> torch.Tensor:
        told.append(len(hidden))
        return torch.sin(1e6 * hidden.double().mean(dim=(1, 2)))

    ends = torch.stack([torch.zeros(1, 2), torch.ones(1, 2)])
    begin, end = cosine(ends).tolist()
    way = gradients._Interpolation(
        cosine, ends, 64, gradients.MIN_STEPS, gradients.ProgressCounter(None)
    )
    pieces = gradients._pieces(way, gradients._Piece(0.0, 1.0, begin, end), None)
    assert sum(piece.remainder for piece in pieces) > gradients.REMAINDER
    assert sum(n for n in told if n > 2) <= gradients.MAX_STEPS


# One model is enough for what does not depend on the family


@pytest.fixture(scope="module")
def tiny(tiny_service: EncoderService, tiny_root: Path) -> Subject:
    return Subject("folder:bert", tiny_service, Oracle(tiny_root / "bert", 64))


@pytest.mark.parametrize("text", ["", "cat", "[PAD] [CLS] cat", "walk " * 90])
def test_odd_texts_have_shares_too(tiny: Subject, text: str) -> None:
    found = tiny.shares(text, steps=8)
    assert len(found.shares) == found.tokens.n_tokens
    assert np.isfinite(found.shares).all()
    if not text:  # special tokens alone: nothing lies between the ends
        # Two rows of one batch: some processors round their last bit differently.
        assert found.start == pytest.approx(found.end, abs=1e-12)
        assert not found.shares.any()


def test_a_text_in_many_batches_has_the_same_shares(
    tiny: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    uncached: Any = tiny.service.uncached
    subject = Subject(tiny.model, uncached, tiny.oracle)
    whole = subject.shares(steps=16)
    monkeypatch.setattr(gradients, "_GRAPH_BYTES", 1)
    np.testing.assert_allclose(subject.shares(steps=16).shares, whole.shares, rtol=0, atol=1e-6)


def test_a_text_whose_gradients_take_too_much_memory_is_refused(
    tiny: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    uncached: Any = tiny.service.uncached
    monkeypatch.setattr(gradients, "_MAX_STEP_BYTES", 1000)
    with pytest.raises(RequestError, match=r"tokens would take .* Shorten the text"):
        Subject(tiny.model, uncached, tiny.oracle).shares()


def test_one_position_may_be_weighed_alone(tiny: Subject) -> None:
    n = tiny.service.tokenize(tiny.model, [TEXT])[0].n_tokens
    weights, toward = np.eye(n)[2], tiny.service.encode(tiny.model, [OTHER])[0].hidden[-1, 0]
    found = tiny.service.integrated_gradients(tiny.model, TEXT, weights, toward)
    a = tiny.service.encode(tiny.model, [TEXT])[0].hidden[-1, 2]
    assert found.end == pytest.approx(
        a @ toward / np.linalg.norm(a) / np.linalg.norm(toward), abs=1e-5
    )
    at_once = tiny.service.integrated_gradients(tiny.model, TEXT, weights, toward, layer=0)
    assert np.flatnonzero(at_once.shares).tolist() == [2]  # nothing has mixed yet


def test_progress_counts_the_steps_and_stops_by_raising(tiny: Subject) -> None:
    told: list[tuple[int, int]] = []
    tiny.shares("Seven cats", steps=100, progress=lambda *both: told.append(both))
    assert told[0] == (0, 100)
    assert told[-1] == (100, 100)

    def stop(*_: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        tiny.shares("Eight cats", progress=stop)


def test_the_result_says_how_it_was_made_and_is_read_only(tiny: Subject) -> None:
    found = tiny.shares(steps=20)
    assert found.passport.settings["integrated gradients"] == "20 steps of Gauss-Legendre"
    assert found.passport.settings["attention"] == "sdpa"
    assert not found.shares.flags.writeable


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": np.ones(3)},
        {"weights": np.zeros(7)},
        {"weights": "all"},
        {"weights": None},
        {"toward": np.ones(31)},
        {"toward": np.full(32, np.nan)},
        {"toward": np.zeros(32)},
        {"toward": [[1.0]]},
        {"layer": 4},
        {"layer": -1},
        {"layer": True},
        {"steps": 0},
        {"steps": 1001},
        {"steps": 2.0},
        {"text": 5},
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_in_a_sentence(tiny: Subject, wrong: dict[str, Any]) -> None:
    cached: Any = tiny.service
    n = cached.tokenize(tiny.model, [TEXT])[0].n_tokens
    assert n not in {3, 31}
    arguments = {"text": TEXT, "weights": np.ones(n), "toward": np.ones(32), **wrong}
    for service in (cached, cached.uncached):
        with pytest.raises((RequestError, TextError)) as caught:
            service.integrated_gradients(tiny.model, **arguments)
        assert str(caught.value).endswith(".")
