"""Bad requests are refused: non-texts, wrong pairs, and layers that the model does not have."""

from __future__ import annotations

from typing import Any

import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError, TextError


@pytest.mark.parametrize(
    "wrong",
    [
        {"layers": [99]},
        {"layers": [-1]},
        {"layers": []},
        {"attentions": [(0, 0)]},
        {"attentions": [(1, 99)]},
        {"attentions": [(1, -1)]},
        {"attentions": [3]},
        {"attentions": []},
        {"mask": "none"},
        {"precision": "double"},
    ],
    ids=str,
)
def test_what_the_model_does_not_have_is_refused(
    wrong: dict[str, Any], service: EncoderService
) -> None:
    with pytest.raises(RequestError):
        service.encode(BUNDLED_ID, ["A snake"], **wrong)


@pytest.mark.parametrize("method", ["tokenize", "encode"])
@pytest.mark.parametrize(
    "bad",
    ["\ud83d", "half \udc0d a snake", None, 7, b"bytes", ["a", "list"]],
    ids=["high", "low", "None", "int", "bytes", "list"],
)
def test_what_is_not_a_text_is_refused(method: str, bad: Any, service: EncoderService) -> None:
    call = getattr(service, method)
    with pytest.raises(TextError):
        call(BUNDLED_ID, ["fine", bad])
    if bad is not None:
        with pytest.raises(TextError):
            call(BUNDLED_ID, ["fine"], pairs=[bad])


@pytest.mark.parametrize("method", ["tokenize", "encode"])
def test_a_lone_text_instead_of_a_list_is_refused(method: str, service: EncoderService) -> None:
    call = getattr(service, method)
    with pytest.raises(RequestError):
        call(BUNDLED_ID, "one text")
    with pytest.raises(RequestError):
        call(BUNDLED_ID, ["one text"], pairs="x")


@pytest.mark.parametrize("pairs", [[], ["one"], ["one", "two", "three"]], ids=len)
def test_pairs_of_another_number_are_refused(pairs: list[str], service: EncoderService) -> None:
    for call in (service.tokenize, service.encode):
        with pytest.raises(RequestError):
            call(BUNDLED_ID, ["a", "b"], pairs=pairs)
