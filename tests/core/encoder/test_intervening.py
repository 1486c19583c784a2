"""What is changed inside the model changes its numbers as hand-written hooks do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core import BUNDLED_ID, EncoderService, Encoding, Settings
from components.core.encoder import LoadedModel, intervene, load_model
from components.core.encoder.layerwise import Layerwise
from components.core.errors import RequestError, TextError, UnsupportedModelError
from components.core.registry import locate
from components.core.schema import (
    Average,
    Block,
    FastPrecision,
    Intervention,
    Patch,
    SwitchOff,
)
from components.core.service import LocalService
from tests.support import hooked
from tests.support.oracle import Oracle
from tests.support.tiny_models import FAMILIES, build

TEXT = "A python slept under the warm lamp"
OTHER = "We walked, talked, and were walking and talking again"
INPUTS = ((TEXT, None), (OTHER, None), (TEXT, "Yesterday's rain was unbelievable"))
BASELINE = [OTHER, "The bank in town lends money", "One word"]
SUBJECTS = (BUNDLED_ID, *FAMILIES, "electra-same-size", "bert-without-pooler", "albert-groups")
QUICK = FastPrecision("float32", "So the test says.")

Changes = tuple[Intervention, ...]
Input = tuple[str, str | None]


@dataclass(frozen=True)
class Subject:
    """A model under test, its oracle, and what the oracle says where nothing is changed."""

    model: str
    service: EncoderService
    oracle: Oracle
    plain: dict[Input, hooked.Run]
    baseline: Sequence[hooked.Run]

    @property
    def n_layers(self) -> int:
        return len(self.baseline[0].heads)

    def encodings(
        self, inputs: Sequence[Input], changes: Sequence[Changes], **more: Any
    ) -> list[Encoding]:
        texts, pairs = zip(*inputs, strict=True)
        return self.service.intervene(
            self.model, texts, changes, pairs=pairs, baseline=BASELINE, **more
        )


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(
    request: pytest.FixtureRequest, tiny_root: Path, bundled_folder: Path, tmp_path_factory: Any
) -> Subject:
    name, root = request.param, tiny_root
    if name == "albert-groups":
        root = tmp_path_factory.mktemp("groups")
        build("albert", root / name, num_hidden_layers=4, num_hidden_groups=2)
    bundled = name == BUNDLED_ID
    oracle = Oracle(bundled_folder if bundled else root / name, 512 if bundled else 64)
    return Subject(
        BUNDLED_ID if bundled else f"folder:{name}",
        LocalService(Settings(model_folder=root, allow_downloads=False)),
        oracle,
        {(text, pair): hooked.run(oracle, text, pair) for text, pair in INPUTS},
        [hooked.run(oracle, text) for text in BASELINE],
    )


def mean(runs: Sequence[np.ndarray]) -> np.ndarray:
    """Over all tokens of all texts."""
    rows: np.ndarray = np.concatenate(runs).mean(axis=0)
    return rows


def edits_for(subject: Subject, one: Input, changes: Changes) -> hooked.Edits:
    """The same changes as the hooks take them."""
    heads, parts, states = {}, {"attention": {}, "feed_forward": {}}, {}
    for change in changes:
        if isinstance(change, SwitchOff):
            name = "heads" if change.part == "head" else change.part
            value: Any = 0.0
            if change.to == "mean":
                value = mean([getattr(run, name)[change.layer - 1] for run in subject.baseline])
            if change.part != "head":
                parts[change.part][change.layer] = value
                continue
            if change.to == "mean":
                size = len(value) // subject.oracle.model.config.num_attention_heads
                value = value[change.head * size : (change.head + 1) * size]
            heads[change.layer, change.head] = value
        elif isinstance(change, Patch):
            source = subject.plain[change.source, change.source_pair].hidden[change.layer]
            for to, where in zip(change.positions, change.source_positions, strict=True):
                states[change.layer, to] = source[where]
        elif isinstance(change, Average):
            over = [one] if change.over == "text" else list(INPUTS)
            value = mean([subject.plain[each].hidden[change.layer] for each in over])
            states.update({(change.layer, position): value for position in change.positions})
    return hooked.Edits(
        heads,
        parts["attention"],
        parts["feed_forward"],
        states,
        [
            (layer, change.seen_by, change.token)
            for change in changes
            if isinstance(change, Block)
            for layer in (change.layers or (None,))
        ],
    )


def assert_as_hooked(
    subject: Subject, inputs: Sequence[Input], changes: Sequence[Changes], found: Sequence[Encoding]
) -> None:
    for one, made, encoding in zip(inputs, changes, found, strict=True):
        assert (encoding.text, encoding.pair) == one
        expected = hooked.run(subject.oracle, *one, edits_for(subject, one, made)).hidden
        assert_close(encoding.hidden, expected[list(encoding.layers)], str(made))


def assert_close(ours: np.ndarray, expected: np.ndarray, what: str, within: float = 1e-5) -> None:
    bound = within * np.maximum(1.0, np.abs(expected).max(axis=(1, 2), keepdims=True))
    assert (np.abs(ours - expected) <= bound).all(), what


def test_every_kind_of_change_equals_hooks_on_plain_transformers(subject: Subject) -> None:
    last = subject.n_layers
    kinds: list[Changes] = [
        (),
        (SwitchOff("head", 1, 0),),
        (SwitchOff("head", last, 1, to="mean"),),
        (SwitchOff("head", 2, 3), SwitchOff("head", 2, 1), SwitchOff("head", last, 0)),
        (SwitchOff("attention", 2),),
        (SwitchOff("attention", 1, to="mean"), SwitchOff("feed_forward", last)),
        (SwitchOff("feed_forward", 2, to="mean"),),
        (Block(2),),
        (Block(1, layers=(2, last)),),
        (Block(0, seen_by=3), Block(3, seen_by=0, layers=(1,))),
        (Patch(0, (1, 2), OTHER, (3, 3)),),
        (Patch(2, (4,), TEXT, (1,), "Yesterday's rain was unbelievable"),),
        (Patch(last, (0, 1), OTHER, (1, 0)),),
        (Average(1, (1, 2)),),
        (Average(0, (2,), over="batch"), Average(last, (3,), over="batch")),
        (SwitchOff("head", 2, 2), Block(1), Patch(1, (3,), OTHER, (2,)), Average(2, (4,))),
    ]
    inputs = [INPUTS[i % len(INPUTS)] for i in range(len(kinds))]
    found = subject.encodings(inputs, kinds)
    assert_as_hooked(subject, inputs, kinds, found)
    for one, made, encoding in zip(inputs, kinds, found, strict=True):
        moved = np.abs(encoding.hidden - subject.plain[one].hidden).max()
        assert (moved > 1e-3) == bool(made), made


def test_what_changes_nothing_gives_the_plain_encoding(subject: Subject) -> None:
    texts, pairs = zip(*INPUTS, strict=True)
    plain = subject.service.encode(subject.model, texts, pairs=pairs)
    same = [
        (Patch(layer, tuple(range(e.n_tokens)), e.text, tuple(range(e.n_tokens)), e.pair),)
        for e, layer in zip(plain, (0, 2, subject.n_layers), strict=True)
    ]
    for changes in (((),) * len(INPUTS), same):
        for ours, encoding in zip(subject.encodings(INPUTS, changes), plain, strict=True):
            assert_close(ours.hidden, encoding.hidden, str(changes), within=1e-6)
            if encoding.pooler_output is None:
                assert ours.pooler_output is None
            else:
                np.testing.assert_allclose(
                    ours.pooler_output, encoding.pooler_output, rtol=0, atol=1e-6
                )
            assert ours.tokens == encoding.tokens


def test_all_tokens_patched_at_the_last_layer_give_the_other_text(subject: Subject) -> None:
    last = subject.n_layers
    other = subject.plain[OTHER, None].hidden[last]
    n = min(len(other), subject.plain[TEXT, None].hidden.shape[1])
    change = (Patch(last, tuple(range(n)), OTHER, tuple(range(n))),)
    found = subject.encodings([(TEXT, None)], [change], layers=[last])[0]
    assert_close(found.hidden[:, :n], other[None, :n], "patched")


def test_a_model_whose_layers_are_made_of_several_is_refused(tmp_path: Path) -> None:
    build("albert", tmp_path / "albert", inner_group_num=2)
    service = LocalService(Settings(model_folder=tmp_path, allow_downloads=False))
    with pytest.raises(UnsupportedModelError, match="inner_group_num is 2"):
        service.intervene("folder:albert", [TEXT], [[]])


# One model is enough for what does not depend on the family


@pytest.fixture(scope="module")
def loaded(tiny_root: Path) -> LoadedModel:
    return load_model(locate("folder:bert", Settings(model_folder=tiny_root)), QUICK)


@pytest.fixture(scope="module")
def tiny(tiny_root: Path, tiny_service: EncoderService) -> Subject:
    oracle = Oracle(tiny_root / "bert", 64)
    plain = {one: hooked.run(oracle, *one) for one in INPUTS}
    return Subject(
        "folder:bert", tiny_service, oracle, plain, [hooked.run(oracle, t) for t in BASELINE]
    )


SWITCHES = st.builds(
    lambda part, layer, head, to: SwitchOff(part, layer, head if part == "head" else None, to),
    st.sampled_from(["head", "attention", "feed_forward"]),
    st.integers(1, 3),
    st.integers(0, 3),
    st.sampled_from(["zero", "mean"]),
)
SOME_LAYERS = st.none() | st.lists(st.integers(1, 3), min_size=1, unique=True).map(tuple)
BLOCKS = st.builds(Block, st.integers(0, 6), st.none() | st.integers(0, 6), SOME_LAYERS)
PATCHES = st.builds(
    lambda layer, pairs: Patch(
        layer, tuple(a for a, _ in pairs), OTHER, tuple(b for _, b in pairs)
    ),
    st.integers(0, 3),
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 9)),
        min_size=1,
        max_size=4,
        unique_by=lambda pair: pair[0],
    ),
)
AVERAGES = st.builds(
    Average,
    st.integers(0, 3),
    st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True).map(tuple),
)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.sampled_from(INPUTS),
            st.lists(SWITCHES | BLOCKS | PATCHES | AVERAGES, max_size=4).map(tuple),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([[3], [0, 2], [0, 1, 2, 3]]),
)
@settings(max_examples=20)
def test_any_changes_together_equal_hooks(
    tiny: Subject, rows: list[tuple[Input, Changes]], layers: list[int]
) -> None:
    inputs, changes = zip(*rows, strict=True)
    found = tiny.encodings(inputs, changes, layers=layers)
    assert_as_hooked(tiny, inputs, changes, found)


def test_where_two_changes_meet_the_later_one_holds(tiny: Subject) -> None:
    last_alone, both = tiny.encodings(
        [(TEXT, None)] * 2,
        [
            (SwitchOff("head", 2, 1), Average(1, (2,))),
            (SwitchOff("head", 2, 1, "mean"), SwitchOff("head", 2, 1), Patch(1, (2,), OTHER, (1,)),
             Average(1, (2,))),
        ],
    )  # fmt: skip
    np.testing.assert_array_equal(last_alone.hidden, both.hidden)


def test_heads_in_any_order_and_company_give_the_same_numbers(tiny: Subject) -> None:
    heads = [(SwitchOff("head", layer, head),) for layer in (1, 2, 3) for head in range(4)]
    shuffled = np.random.default_rng(0).permutation(len(heads))
    straight = tiny.encodings([(TEXT, None)] * 12, heads, layers=[3])
    mixed = tiny.encodings(
        [INPUTS[0], *[(TEXT, None)] * 12, INPUTS[2]],
        [(Block(1),), *[heads[i] for i in shuffled], (SwitchOff("attention", 3),)],
        layers=[3],
    )[1:-1]
    for i, ours in zip(shuffled, mixed, strict=True):
        assert_close(ours.hidden, straight[i].hidden, f"head {i}", within=1e-6)


@pytest.mark.parametrize("text", ["", "cat", "[PAD] cat [SEP]", "unbelievable" * 3, "walk " * 90])
@pytest.mark.parametrize("model", ["bert", "roberta", "mpnet"])
def test_odd_texts_are_read_as_any_other(
    tiny_service: EncoderService, tiny_root: Path, model: str, text: str
) -> None:
    oracle = Oracle(tiny_root / model, 64)
    n = tiny_service.tokenize(f"folder:{model}", [text])[0].n_tokens
    changes: list[Changes] = [(Block(n - 1),), (SwitchOff("head", 2, 1),)]
    edits = [hooked.Edits(hidden=[(None, None, n - 1)]), hooked.Edits({(2, 1): 0.0})]
    found = tiny_service.intervene(f"folder:{model}", [text] * 2, changes)
    for ours, made in zip(found, edits, strict=True):
        assert_close(ours.hidden, hooked.run(oracle, text, None, made).hidden, text)


def test_asking_for_some_layers_gives_those(tiny: Subject) -> None:
    changes: list[Changes] = [(SwitchOff("head", 3, 0),), (Patch(2, (1,), OTHER, (1,)),), ()]
    inputs = [(TEXT, None)] * 3
    every = tiny.encodings(inputs, changes)
    for layers in ([1], [3, 0], [0], [2, 2]):
        for ours, whole in zip(tiny.encodings(inputs, changes, layers=layers), every, strict=True):
            assert ours.layers == tuple(layers)
            assert_close(ours.hidden, whole.hidden[layers], str(layers), within=1e-6)
            assert (ours.pooler_output is not None) == (3 in layers)


def test_layers_below_a_change_are_run_once(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[int, int]] = []
    step = Layerwise.step

    def counted(self: Layerwise, layer: int, hidden: Any, *more: Any) -> Any:
        done.append((layer, len(hidden)))
        return step(self, layer, hidden, *more)

    monkeypatch.setattr(Layerwise, "step", counted)
    deep = [(SwitchOff("head", 3, head),) for head in range(4)]
    swaps = [(Patch(layer, (1,), TEXT, (2,)),) for layer in (1, 2, 3)]
    intervene(loaded, [TEXT] * 4, deep, layers=[3])
    assert done == [(1, 1), (2, 1), (3, 4)]
    done.clear()
    intervene(loaded, [TEXT] * 3, swaps, layers=[3])  # the first three are the other text's own
    assert done == [(1, 1), (2, 1), (3, 1), (1, 1), (2, 1), (3, 1), (2, 1), (3, 2)]


@pytest.mark.slow
def test_threads_change_nothing_for_each_other(tiny_root: Path) -> None:
    service = LocalService(Settings(model_folder=tiny_root, allow_downloads=False))
    rows: list[Changes] = [
        (SwitchOff("attention", 2),),
        (Block(1),),
        (),
        (SwitchOff("head", 1, 0),),
    ]

    def changed(i: int) -> np.ndarray:
        return service.intervene("folder:albert", [TEXT], [rows[i % 4]])[0].hidden

    def plain(_: int) -> np.ndarray:
        return service.encode("folder:albert", [TEXT])[0].hidden

    expected = [changed(i) for i in range(4)]
    ready, start = plain(0), threading.Barrier(4)

    def many(which: int) -> list[np.ndarray]:
        start.wait(60)
        return [plain(i) if which == 3 else changed(which + i) for i in range(60)]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(many, range(4)))
    for which, arrays in enumerate(found):
        for i, ours in enumerate(arrays):
            wanted = ready if which == 3 else expected[(which + i) % 4]
            np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-5)


def test_the_model_that_others_use_has_no_hooks(loaded: LoadedModel) -> None:
    intervene(loaded, [TEXT], [[SwitchOff("head", 1, 0)]])
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in loaded.model.modules())


# What is told


def test_progress_ends_at_all_and_ends_the_work_by_raising(tiny: Subject) -> None:
    told: list[tuple[int, int]] = []
    text = "walk " * 60
    changes: list[Changes] = [(Block(i),) for i in range(40)] + [()]
    tiny.service.uncached.intervene(  # type: ignore[attr-defined]
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
@pytest.mark.parametrize("cached", [True, False])
def test_what_does_not_fit_is_refused_in_a_sentence(
    tiny: Subject, wrong: Any, cached: bool
) -> None:
    service: Any = tiny.service if cached else tiny.service.uncached  # type: ignore[attr-defined]
    texts = [TEXT, TEXT] if wrong == [[]] else [TEXT]
    with pytest.raises((RequestError, TextError)) as caught:
        service.intervene(tiny.model, texts, wrong)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 400


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


@pytest.mark.slow
def test_the_longest_text_that_the_bundled_model_takes(
    service: EncoderService, bundled_folder: Path
) -> None:
    text = " ".join([OTHER] * 80)
    oracle = Oracle(bundled_folder, 512)
    found = service.intervene(BUNDLED_ID, [text], [(SwitchOff("head", 3, 5), Block(200))])[0]
    edits = hooked.Edits({(3, 5): 0.0}, hidden=[(None, None, 200)])
    assert found.n_tokens == 512
    assert_close(found.hidden, hooked.run(oracle, text, None, edits).hidden, "long")
