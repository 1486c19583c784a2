"""Keys of the cache: questions that differ, that are the same, or that are refused anyway."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contextlens.core.cache import CachedService
from contextlens.core.errors import RequestError, TextError
from contextlens.core.service import LocalService
from tests.core.cache.cached import MODEL, TEXT, assert_same
from tests.support.together import together

VARIATIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "padded": {"pad_to": 20},
    "padded more": {"pad_to": 21},
    "padded without mask": {"pad_to": 20, "mask": "ones"},
    "layers": {"layers": [1]},
    "other layers": {"layers": [2]},
    "layers in another order": {"layers": [2, 1]},
    "layers the other way": {"layers": [1, 2]},
    "all attentions": {"attentions": True},
    "one head": {"attentions": [(1, 0)]},
    "another head": {"attentions": [(1, 1)]},
    "a head of another layer": {"attentions": [(2, 0)]},
    "fast": {"precision": "fast"},
    "a pair": {"pairs": ["Which one?"]},
    "another pair": {"pairs": ["The other one"]},
    "an empty pair": {"pairs": [""]},
}


def test_every_argument_that_changes_the_result_is_in_the_key(
    cached: CachedService, local: LocalService
) -> None:
    for _ in range(2):
        for name, arguments in VARIATIONS.items():
            (ours,) = cached.encode(MODEL, [TEXT], **arguments)
            (plain,) = local.encode(MODEL, [TEXT], **arguments)
            assert_same(ours, plain, name)
    info = cached.cache_info()
    assert (info.misses, info.hits) == (len(VARIATIONS), len(VARIATIONS))


def test_models_do_not_share_entries(cached: CachedService, local: LocalService) -> None:
    for model in (MODEL, "folder:electra", "folder:roberta"):
        for _ in range(2):
            assert_same(cached.encode(model, [TEXT])[0], local.encode(model, [TEXT])[0], model)
            assert_same(cached.tokenize(model, [TEXT])[0], local.tokenize(model, [TEXT])[0], model)
    assert cached.cache_info().misses == 6


def test_what_is_asked_in_another_form_gets_the_same(
    cached: CachedService, local: LocalService
) -> None:
    """Iterators too: they all look alike once they are used up."""
    forms: list[dict[str, Any]] = [
        {"layers": [2, 1]},
        {"layers": (2, 1)},
        {"layers": np.array([2, 1])},
        {"layers": iter([2, 1])},
    ]
    (plain,) = local.encode(MODEL, [TEXT], layers=[2, 1])
    for form in forms:
        assert_same(cached.encode(MODEL, [TEXT], **form)[0], plain, str(form))
    for layer in (1, 2, 3):
        (ours,) = cached.encode(MODEL, [TEXT], layers=iter([layer]))
        assert ours.layers == (layer,)
    for head in range(4):
        (ours,) = cached.encode(MODEL, [TEXT], attentions=zip([1], [head], strict=True))
        (plain,) = local.encode(MODEL, [TEXT], attentions=[(1, head)])
        assert_same(ours, plain, f"head {head}")


@pytest.mark.parametrize(
    "wrong",
    [
        {"layers": [True]},
        {"layers": [1.0]},
        {"layers": 1},
        {"attentions": 1},
        {"attentions": [(1.0, 0)]},
        {"attentions": None},
        {"pad_to": 20.0},
        {"pad_to": True},
        {"mask": ["model"]},
        {"precision": None},
    ],
    ids=str,
)
def test_what_equals_a_kept_key_but_is_wrong_is_refused_all_the_same(
    cached: CachedService, local: LocalService, wrong: dict[str, Any]
) -> None:
    cached.encode(MODEL, [TEXT], layers=[1])
    cached.encode(MODEL, [TEXT], attentions=True)
    cached.encode(MODEL, [TEXT], attentions=[(1, 0)])
    cached.encode(MODEL, [TEXT], pad_to=20)
    cached.encode(MODEL, [TEXT])
    for service in (local, cached):
        with pytest.raises(RequestError):
            service.encode(MODEL, [TEXT], **wrong)


def test_one_unusable_text_does_not_block_the_others(
    cached: CachedService, local: LocalService
) -> None:
    """A list is no key: the text beside it must not stay "being computed" for ever."""
    for wrong in (["x"], None, 5, b"bytes"):
        texts: list[Any] = ["a text never seen before", wrong]
        for service in (local, cached):
            with pytest.raises(TextError):
                service.encode(MODEL, texts)
    (result,) = together(1, lambda _: cached.encode(MODEL, ["a text never seen before"]))
    assert result[0].text == "a text never seen before"
