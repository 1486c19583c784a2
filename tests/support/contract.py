"""The contract of every `EncoderService`, wherever it computes: checks that take any of them.

Each check gets the service, a plain local one beside it, and the bundled model as transformers runs
it. Callers must not be able to tell services apart: not by numbers, types, errors or progress.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.caller import Caller, calling
from contextlens.core.errors import ContextlensError
from contextlens.core.schema import Average, Block, Patch, ProgressEvent, SwitchOff
from tests.support.oracle import Oracle

__all__ = ["CHECKS", "Subject"]

TEXTS = (
    "I love my pet python",
    "She asked the bank for money 😀",
    "I love coding in python, and I do so every day of the week.",
    "",
)


@dataclass(frozen=True)
class Subject:
    """A service under test, a local one, and the model as plain transformers runs it."""

    service: EncoderService
    local: EncoderService
    oracle: Oracle


def assert_same(found: Any, expected: Any, *, atol: float = 0.0) -> None:
    """The same value: types, texts, shapes and dtypes exactly, numbers within a bound."""
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
    elif is_dataclass(expected):
        assert type(found) is type(expected)
        for field in fields(expected):
            assert_same(getattr(found, field.name), getattr(expected, field.name), atol=atol)
    elif isinstance(expected, list | tuple):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other, atol=atol)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=0, abs=atol)
    else:
        assert found == expected


def bound(array: np.ndarray) -> float:
    return 1e-5 * max(1.0, float(np.abs(array).max()))


def models_lists_the_bundled_one_first(subject: Subject) -> None:
    found, expected = subject.service.models(), subject.local.models()
    assert isinstance(found, tuple)
    assert [spec.id for spec in found] == [spec.id for spec in expected]
    assert found[0].id == BUNDLED_ID


def a_loaded_model_is_known_to_be_loaded(subject: Subject) -> None:
    card = subject.service.load(BUNDLED_ID)
    expected = subject.local.load(BUNDLED_ID)
    assert_same(card, replace(expected, fast=card.fast))  # another process measured its own speed
    assert subject.service.spec(BUNDLED_ID).loaded
    assert subject.service.models()[0].loaded
    assert_same(subject.service.spec("org/unheard"), subject.local.spec("org/unheard"))


def a_load_tells_how_far_it_is(subject: Subject) -> None:
    events: list[ProgressEvent] = []
    subject.service.load(BUNDLED_ID, progress=events.append)
    assert all(type(event) is ProgressEvent for event in events)


def texts_are_cut_the_same(subject: Subject) -> None:
    for settings in ({}, {"pad_to": 32}, {"max_length": 5}, {"pairs": [None, "A snake?", "", "b"]}):
        found = subject.service.tokenize(BUNDLED_ID, list(TEXTS), **settings)
        assert_same(found, subject.local.tokenize(BUNDLED_ID, list(TEXTS), **settings))
    card = subject.service.load_tokenizer(BUNDLED_ID)
    assert_same(card, subject.local.load_tokenizer(BUNDLED_ID))


def the_tokenizer_is_the_same(subject: Subject) -> None:
    for method in ("vocabulary", "cut_rules"):
        found = getattr(subject.service, method)(BUNDLED_ID)
        assert_same(found, getattr(subject.local, method)(BUNDLED_ID))
    assert subject.service.normalize(BUNDLED_ID, ["Été", "A B"]) == ["ete", "a b"]
    ids = subject.local.tokenize(BUNDLED_ID, ["a python"])[0].token_ids
    for given in (ids, ids.tolist(), tuple(ids.tolist())):
        assert subject.service.decode(BUNDLED_ID, given, skip_special=True) == "a python"


def hidden_states_are_those_of_transformers(subject: Subject) -> None:
    for text, found in zip(TEXTS, subject.service.encode(BUNDLED_ID, TEXTS), strict=True):
        plain = subject.oracle(text)
        assert found.hidden.dtype == np.float32
        assert found.layers == tuple(range(7))
        np.testing.assert_allclose(found.hidden, plain.hidden, rtol=0, atol=bound(plain.hidden))


def many_texts_come_in_their_order(subject: Subject) -> None:
    texts = [f"{'python ' * (i % 9)}{i}" for i in range(140)]
    found = subject.service.encode(BUNDLED_ID, texts, layers=[6])
    assert [encoding.text for encoding in found] == texts
    plain = subject.oracle(texts[135]).hidden[6]
    np.testing.assert_allclose(found[135].hidden[0], plain, rtol=0, atol=bound(plain))


def every_way_to_encode_gives_the_same(subject: Subject) -> None:
    ways: list[dict[str, Any]] = [
        {"pad_to": 24, "mask": "ones"},
        {"layers": (3, 0)},
        {"layers": range(2)},
        {"attentions": True},
        {"attentions": [(6, 11), (1, 0)]},
        {"pairs": [None, "A snake?", None, "b"]},
        {"max_length": 5},
    ]
    for way in ways:
        found = subject.service.encode(BUNDLED_ID, TEXTS, **way)
        expected = subject.local.encode(BUNDLED_ID, TEXTS, **way)
        assert_same(found, expected, atol=1e-4)


def arrays_are_read_only(subject: Subject) -> None:
    encoding = subject.service.encode(BUNDLED_ID, TEXTS[:1], attentions=True)[0]
    rows = subject.service.word_rows(BUNDLED_ID, [5, 6])
    parts = subject.service.embedding_parts(BUNDLED_ID, TEXTS[0])
    arrays = (encoding.hidden, encoding.attentions, encoding.token_ids, rows, parts.word)
    assert [array.flags.writeable for array in arrays if array is not None] == [False] * 5


def sentence_vectors_are_the_same(subject: Subject) -> None:
    for more in ({}, {"pairs": [None, "A snake?", None, "b"]}, {"prompt": "query: "}):
        found = subject.service.sentence_vectors(BUNDLED_ID, TEXTS, **more)
        assert_same(found, subject.local.sentence_vectors(BUNDLED_ID, TEXTS, **more), atol=1e-5)


def interventions_give_the_same(subject: Subject) -> None:
    changes = [
        [SwitchOff("head", 2, 3), Block(2)],
        [Average(3, (1, 2), "batch")],
        [Patch(4, (1, 2), TEXTS[0], (2, 1)), SwitchOff("attention", 5, to="mean")],
    ]
    told: list[tuple[int, int]] = []
    arguments = (BUNDLED_ID, list(TEXTS[:3]), changes)
    found = subject.service.intervene(
        *arguments, baseline=["A river"], progress=lambda *n: told.append(n)
    )
    assert_same(found, subject.local.intervene(*arguments, baseline=["A river"]), atol=1e-4)
    assert told[-1] == (3, 3)


def gradients_give_the_same(subject: Subject) -> None:
    encoding = subject.local.encode(BUNDLED_ID, [TEXTS[0]])[0]
    weights = np.full(encoding.n_tokens, 1 / encoding.n_tokens, np.float32)
    told: list[tuple[int, int]] = []
    arguments = (BUNDLED_ID, TEXTS[0], weights, encoding.hidden[6, 5])
    found = subject.service.integrated_gradients(
        *arguments, steps=8, progress=lambda *n: told.append(n)
    )
    assert_same(found, subject.local.integrated_gradients(*arguments, steps=8), atol=1e-4)
    assert told[-1] == (8, 8)


def what_the_model_is_made_of_is_the_same(subject: Subject) -> None:
    questions: list[tuple[str, tuple[Any, ...]]] = [
        ("embedding_parts", (TEXTS[0],)),
        ("word_rows", ([101, 102],)),
        ("word_rows", (np.array([7, 101]),)),
        ("nearest_rows", (subject.local.word_rows(BUNDLED_ID, [2000])[0], 5)),
        ("parameters", ()),
        ("architecture", ()),
        ("matrix", ("embeddings.position_embeddings.weight",)),
    ]
    subject.local.load(BUNDLED_ID)
    for method, arguments in questions:
        found = getattr(subject.service, method)(BUNDLED_ID, *arguments)
        expected = getattr(subject.local, method)(BUNDLED_ID, *arguments)
        assert_same(found, expected, atol=1e-6)
    preset = "google-bert/bert-base-uncased"
    assert_same(subject.service.architecture(preset), subject.local.architecture(preset))


def what_is_refused_is_refused_alike(subject: Subject) -> None:
    questions: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("load", ("no such/model",), {}),
        ("load", ("org/not-allowed-to-fetch",), {}),
        ("encode", (BUNDLED_ID, ["a"]), {"layers": [99]}),
        ("encode", (BUNDLED_ID, ["a"]), {"attentions": [(0, 0)]}),
        ("encode", (BUNDLED_ID, ["a \ud800 b"]), {}),
        ("encode", (BUNDLED_ID, ["a", "b"]), {"pairs": ["only one"]}),
        ("encode", (BUNDLED_ID, "not a list"), {}),
        ("tokenize", (BUNDLED_ID, ["a long text, too long"]), {"pad_to": 3}),
        ("intervene", (BUNDLED_ID, ["a"], [[SwitchOff("head", 9, 0)]]), {}),
        ("word_rows", (BUNDLED_ID, [10**6]), {}),
        ("matrix", (BUNDLED_ID, "no.such.matrix"), {}),
        ("nearest_rows", (BUNDLED_ID, np.zeros(3, np.float32), 5), {}),
    ]
    for method, arguments, settings in questions:
        errors = []
        for service in (subject.service, subject.local):
            with pytest.raises(ContextlensError) as caught:
                getattr(service, method)(*arguments, **settings)
            errors.append((type(caught.value), str(caught.value)))
        assert errors[0] == errors[1]


def what_progress_raises_ends_the_work(subject: Subject) -> None:
    class StopError(Exception):
        pass

    def stop(*_: Any) -> None:
        raise StopError

    texts = [f"Text {i} of many, each changed by itself" for i in range(40)]
    with pytest.raises(StopError):
        subject.service.intervene(
            BUNDLED_ID, texts, [[SwitchOff("head", 1, i % 12)] for i in range(40)], progress=stop
        )
    assert len(subject.service.encode(BUNDLED_ID, ["Afterwards"])) == 1


def a_caller_changes_nothing(subject: Subject) -> None:
    with calling(Caller(("somebody", 7), bulk=True, is_cancelled=lambda: False)):
        found = subject.service.encode(BUNDLED_ID, TEXTS[:1])
    assert_same(found, subject.local.encode(BUNDLED_ID, TEXTS[:1]), atol=1e-4)


CHECKS: tuple[Callable[[Subject], None], ...] = (
    models_lists_the_bundled_one_first,
    a_loaded_model_is_known_to_be_loaded,
    a_load_tells_how_far_it_is,
    texts_are_cut_the_same,
    the_tokenizer_is_the_same,
    hidden_states_are_those_of_transformers,
    many_texts_come_in_their_order,
    every_way_to_encode_gives_the_same,
    arrays_are_read_only,
    sentence_vectors_are_the_same,
    interventions_give_the_same,
    gradients_give_the_same,
    what_the_model_is_made_of_is_the_same,
    what_is_refused_is_refused_alike,
    what_progress_raises_ends_the_work,
    a_caller_changes_nothing,
)
