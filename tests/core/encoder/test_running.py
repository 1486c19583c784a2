"""Texts of several callers run together say what each says alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core import BUNDLED_ID, EncoderService, Encoding, Settings
from contextlens.core.caller import Caller, StoppedError, calling
from contextlens.core.encoder import LoadedModel, Request, load_model, running
from contextlens.core.encoder.running import WEIGHT_BYTES, BatchKey, PreparedText, prepare_texts
from contextlens.core.errors import RequestError
from contextlens.core.registry import locate
from contextlens.core.schema import FastPrecision, SwitchOff
from contextlens.core.service import LocalService
from tests.support.tiny_models import FAMILIES

WORDS = tuple("a python slept under the warm lamp while its owner wrote programs".split())  # noqa: SIM905
QUICK = FastPrecision("float32", "So the test says.")
N_LAYERS = 3  # of a tiny model

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=50).map(" ".join)
requests = st.builds(
    lambda pad, layers, heads: {
        "pad_to": 64 if pad else None,
        "layers": layers,
        "attentions": heads,
    },
    st.booleans(),
    st.none() | st.lists(st.integers(0, N_LAYERS), min_size=1, max_size=3),
    st.just(True) | st.lists(st.tuples(st.integers(1, N_LAYERS), st.integers(0, 3)), min_size=1),
)


@pytest.fixture(scope="module")
def loaded_of(tiny_root: Path) -> Callable[[str], LoadedModel]:
    where = Settings(model_folder=tiny_root, allow_downloads=False)
    return cache(lambda model: load_model(locate(model, where), QUICK))


def assert_alike(found: Encoding, alone: Encoding) -> None:
    assert (found.text, found.layers, found.tokens) == (alone.text, alone.layers, alone.tokens)
    assert found.passport == alone.passport
    pairs = [*zip(found.hidden, alone.hidden, strict=True)]
    for part in ("pooler_output", "attentions"):
        ours, theirs = getattr(found, part), getattr(alone, part)
        assert (ours is None) == (theirs is None)
        pairs += [] if ours is None else [(ours, theirs)]
    for ours, theirs in pairs:
        bound = 1e-5 * max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=bound)
    assert not found.hidden.flags.writeable


@pytest.mark.slow
@pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{family}" for family in FAMILIES)])
@settings(max_examples=8)
@given(
    asked=st.lists(st.tuples(texts, requests), min_size=2, max_size=6),
    mask=st.sampled_from(["model", "ones"]),
    weights=st.booleans(),
)
def test_a_mixed_batch_gives_each_what_it_gets_alone(
    model: str,
    asked: list[tuple[str, dict[str, object]]],
    mask: str,
    weights: bool,
    loaded_of: Callable[[str], LoadedModel],
) -> None:
    loaded = loaded_of(model)
    mixed = []
    for text, request in asked:
        given = request if weights else {**request, "attentions": False}
        if mask == "ones":
            given = {**given, "pad_to": 64}  # of one length
        checked = Request.checked(loaded.card, mask=mask, precision="exact", **given)  # type: ignore[arg-type]
        mixed += prepare_texts(loaded, [text], checked)
    assert len({BatchKey.of(loaded, each.request) for each in mixed}) == 1
    kind = BatchKey.of(loaded, mixed[0].request)
    for each, found in zip(mixed, kind.run(mixed), strict=True):
        assert_alike(found, kind.run([each])[0])


@pytest.mark.slow
@pytest.mark.parametrize("model", [BUNDLED_ID, "folder:mpnet"])
def test_many_callers_at_once_get_what_each_gets_alone(
    model: str, open_with: Callable[..., EncoderService], tiny_root: Path
) -> None:
    service, alone = (
        LocalService(Settings(model_folder=tiny_root, allow_downloads=False), batching=is_batching)
        for is_batching in (True, False)
    )
    asked = [
        {
            "texts": [
                " ".join(WORDS[i % 5 : i % 5 + 1 + (i * j) % 9]) for j in range(1, 3 + i % 3)
            ],
            "attentions": i % 3 == 0,
            "mask": "ones" if i % 4 == 3 else "model",
            "layers": [i % N_LAYERS, N_LAYERS] if i % 2 else None,
        }
        for i in range(24)
    ]

    def client(number: int) -> Sequence[Encoding]:
        with calling(Caller(number, bulk=number % 5 == 0)):
            return service.encode(model, **asked[number])  # type: ignore[arg-type]

    service.load(model)
    with ThreadPoolExecutor(24) as threads:
        found = list(threads.map(client, range(24)))
    for each, encodings in zip(asked, found, strict=True):
        for ours, theirs in zip(encodings, alone.encode(model, **each), strict=True):  # type: ignore[arg-type]
            assert_alike(ours, theirs)


def test_weights_of_attention_are_bounded_in_a_batch(
    loaded_of: Callable[[str], LoadedModel],
) -> None:
    loaded = loaded_of(BUNDLED_ID)
    large = replace(loaded.card, n_layers=24, n_heads=16)
    with_weights, without = (
        BatchKey(replace(loaded, card=large), has_weights, "model", "exact")
        for has_weights in (True, False)
    )
    assert without.fits(2, 512)
    assert not with_weights.fits(2, 512)
    assert with_weights.fits(1, 512)
    most = max(n for n in range(1, 200) if with_weights.fits(n, 64))
    assert 4 * most * 24 * 16 * 64**2 <= WEIGHT_BYTES


def test_what_cannot_run_together_is_kept_apart(loaded_of: Callable[[str], LoadedModel]) -> None:
    loaded, other = loaded_of(BUNDLED_ID), loaded_of("folder:bert")
    plain = Request(layers=(0,))
    kinds = [
        BatchKey.of(loaded, plain),
        BatchKey.of(other, plain),
        BatchKey.of(loaded, replace(plain, attentions=((1, 0),))),
        BatchKey.of(loaded, replace(plain, mask="ones")),
        BatchKey.of(loaded, replace(plain, precision="fast")),
    ]
    assert len(set(kinds)) == len(kinds)
    assert BatchKey.of(loaded, Request(layers=(1,), pad_to=9)) == kinds[0]


def test_a_batch_that_fails_is_run_again_caller_by_caller(
    tiny_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = LocalService(Settings(model_folder=tiny_root, allow_downloads=False))
    run = BatchKey.run
    first, through, sizes = Event(), Event(), []

    def too_large(kind: BatchKey, asked: Sequence[PreparedText]) -> list[Encoding]:
        if not first.is_set():
            first.set()
            assert through.wait(60)
        sizes.append(len(asked))
        if len(asked) > 2:
            raise MemoryError
        return run(kind, asked)

    service.load("folder:bert")
    monkeypatch.setattr(BatchKey, "run", too_large)
    with ThreadPoolExecutor(9) as threads:
        futures = [threads.submit(service.encode, "folder:bert", ["the lamp"]) for _ in range(9)]
        assert first.wait(60)
        while service._streams()._queue.n_waiting < 8:
            Event().wait(0.001)
        through.set()
        assert all(len(future.result(60)) == 1 for future in futures)
    assert max(sizes) > 2


def test_work_in_steps_takes_turns_and_stops_where_nobody_wants_it(tiny_root: Path) -> None:
    service = LocalService(Settings(model_folder=tiny_root, allow_downloads=False))
    told: list[tuple[int, int]] = []
    plain = service.encode("folder:bert", ["the lamp"])[0]
    change = SwitchOff("attention", layer=1)
    (changed,) = service.intervene(
        "folder:bert", ["the lamp"], [[change]], progress=lambda *event: told.append(event)
    )
    assert told[-1] == (1, 1)
    assert not np.allclose(changed.hidden, plain.hidden)
    with calling(Caller(is_cancelled=lambda: True)), pytest.raises(StoppedError):
        service.intervene("folder:bert", ["the lamp"], [[change]])
    assert service._streams()._queue.is_idle


def test_attention_of_a_text_that_would_fill_the_memory_is_refused(
    tiny_service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, text = "folder:modernbert", "a snake by the river"
    monkeypatch.setattr(running, "MAX_WEIGHT_BYTES", 4 * 3 * 4 * 20**2)
    assert tiny_service.encode(model, [text], pad_to=20, attentions=True)[0].n_tokens == 20
    for attentions in (True, [(1, 0)]):
        with pytest.raises(RequestError, match="The attention weights of 21 tokens would take"):
            tiny_service.encode(model, [text], pad_to=21, attentions=attentions)
    assert tiny_service.encode(model, [text], pad_to=21)[0].n_tokens == 21
