"""Reports on changes: progress, the passport, and a sentence on why one is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contextlens.core import EncoderService
from contextlens.core.errors import RequestError, TextError
from contextlens.core.schema import Average, Block, Patch, SwitchOff
from tests.core.encoder.intervening.intervened import (
    BASELINE,
    INPUTS,
    OTHER,
    TEXT,
    Changes,
    Subject,
    assert_as_hooked,
)


def test_progress_ends_at_all_and_ends_the_work_by_raising(tiny: Subject) -> None:
    told: list[tuple[int, int]] = []
    text = "walk " * 60
    changes: list[Changes] = [(Block(i),) for i in range(40)] + [()]
    tiny.service.uncached.intervene(
        tiny.model, [text] * 41, changes, progress=lambda *both: told.append(both)
    )
    assert told[0] == (0, 41)
    assert told[1] != told[0]
    assert told[-1] == (41, 41)
    assert len(told) > 3
    assert told == sorted(told)

    def stop(done: int, _: int) -> None:
        if done:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        tiny.service.intervene(tiny.model, [text] * 41, changes, progress=stop)


def test_the_passport_says_all_that_the_numbers_depend_on(tiny: Subject) -> None:
    changes: list[Changes] = [
        (),
        (SwitchOff("feed_forward", 2, to="mean"), Block(1, 2, (1, 3))),
        (Patch(1, (2, 3), OTHER, (1, 1)), Average(3, (1,), "batch")),
    ]
    plain, second, third = (e.passport.settings for e in tiny.encodings(INPUTS, changes))
    device = tiny.service.load(tiny.model).device
    assert plain == {"attention": "sdpa", "mask": "model", "device": device}
    assert second == {
        **plain,
        "interventions": [
            "feed-forward of layer 2 set to mean",
            "position 1 hidden from position 2 in layers 1, 3",
        ],
        "baseline": BASELINE,
    }
    assert third["interventions"] == [
        f"layer 1 at positions 2, 3 taken from positions 1, 1 of {OTHER!r}",
        "layer 3 at positions 1 averaged over all texts",
    ]
    assert third["all texts"] == [[text] if pair is None else [text, pair] for text, pair in INPUTS]


def test_results_are_read_only(tiny: Subject) -> None:
    for encoding in tiny.encodings(INPUTS, [(), (Block(1),), (Average(1, (1,)),)]):
        assert not encoding.hidden.flags.writeable
        assert encoding.pooler_output is not None
        assert not encoding.pooler_output.flags.writeable


WRONG: list[Any] = [
    5,
    [5],
    [SwitchOff("head", 1, 0)],
    [[]],
    [[], []],
    [[None]],
    [["head"]],
    [[SwitchOff("head", 0, 0)]],
    [[SwitchOff("head", 4, 0)]],
    [[SwitchOff("head", True, 0)]],
    [[SwitchOff("head", 1)]],
    [[SwitchOff("head", 1, 4)]],
    [[SwitchOff("head", 1, -1)]],
    [[SwitchOff("attention", 1, 0)]],
    [[SwitchOff("query", 1)]],  # type: ignore[arg-type]
    [[SwitchOff("attention", 1, to="median")]],  # type: ignore[arg-type]
    [[SwitchOff("attention", 1, to="mean")]],  # no baseline
    [[Block(99)]],
    [[Block(-1)]],
    [[Block(1, seen_by=99)]],
    [[Block(1, layers=())]],
    [[Block(1, layers=(0,))]],
    [[Block(1, layers=(4,))]],
    [[Block([1])]],  # type: ignore[arg-type]
    [[Block(1, layers=([1],))]],  # type: ignore[arg-type]
    [[Block(i) for i in range(30)]],
    [[Patch(4, (1,), OTHER, (1,))]],
    [[Patch(-1, (1,), OTHER, (1,))]],
    [[Patch(1, (), OTHER, ())]],
    [[Patch(1, (99,), OTHER, (1,))]],
    [[Patch(1, (1,), OTHER, (99,))]],
    [[Patch(1, (1, 2), OTHER, (1,))]],
    [[Patch(1, (1, 1), OTHER, (1, 2))]],
    [[Patch(1, [1], OTHER, [1])]],  # type: ignore[arg-type]
    [[Patch(1, (1.0,), OTHER, (1,))]],  # type: ignore[arg-type]
    [[Patch(1, (1,), 5, (1,))]],  # type: ignore[arg-type]
    [[Patch(1, ([1],), OTHER, (1,))]],  # type: ignore[arg-type]
    [[Patch(1, (1,), OTHER, ([1],))]],  # type: ignore[arg-type]
    [[Patch(1, (1,), ["x"], (1,))]],  # type: ignore[arg-type]
    [[Patch(1, (1,), OTHER, (1,), 5)]],  # type: ignore[arg-type]
    [[Average(1, ())]],
    [[Average(1, (99,))]],
    [[Average(1, (1,), over="corpus")]],  # type: ignore[arg-type]
    [[Average(9, (1,))]],
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:60])
def test_what_does_not_fit_is_refused_in_a_sentence(tiny: Subject, wrong: Any) -> None:
    cached: Any = tiny.service
    texts = [TEXT, TEXT] if wrong == [[]] else [TEXT]
    for service in (cached, cached.uncached):
        with pytest.raises((RequestError, TextError)) as caught:
            service.intervene(tiny.model, texts, wrong)
        assert str(caught.value).endswith(".")
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("family", ["modernbert", "gemma3_text", "embedding_gemma2_text"])
def test_hiding_all_that_a_local_layer_sees_is_refused(
    family: str, tiny_service: EncoderService
) -> None:
    model = f"folder:{family}"
    text = "a snake and a cat by the river and the bank, " * 2
    layer, window = 2, tiny_service.load(model).window
    assert window is not None
    seen, elsewhere = (
        [Block(token, seen_by=10, layers=(number,)) for token in range(10 - window, 11 + window)]
        for number in (layer, 1)  # layer 1 is global
    )
    with pytest.raises(
        RequestError, match=f"All {2 * window + 1} positions were hidden from position 10 in layer"
    ):
        tiny_service.intervene(model, [text], [seen])
    assert tiny_service.intervene(model, [text], [seen[1:]])
    assert tiny_service.intervene(model, [text], [elsewhere])


def test_hiding_every_position_from_one_is_refused(tiny: Subject) -> None:
    n = tiny.plain[TEXT, None].hidden.shape[1]
    with pytest.raises(RequestError, match="hidden from position 2 in layer 2"):
        tiny.encodings([(TEXT, None)], [tuple(Block(i, 2, (2,)) for i in range(n))])
    one_left = tuple(Block(i, 2, (2,)) for i in range(1, n))
    found = tiny.encodings([(TEXT, None)], [one_left])
    assert_as_hooked(tiny, [(TEXT, None)], [one_left], found)


@pytest.mark.parametrize(
    "wrong",
    [{"layers": [9]}, {"layers": []}, {"baseline": "one text"}, {"pairs": ["a", "b"]}],
    ids=str,
)
def test_other_arguments_are_held_to_their_bounds(tiny: Subject, wrong: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"baseline": BASELINE, **wrong}
    with pytest.raises(RequestError):
        tiny.service.intervene(tiny.model, [TEXT], [[SwitchOff("head", 1, 0, "mean")]], **arguments)


def test_no_texts_are_no_results(tiny: Subject, open_with: Callable[..., Any]) -> None:
    assert tiny.service.intervene(tiny.model, [], []) == []
