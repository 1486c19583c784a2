"""What a checkpoint's own heads predict, beside transformers' classes that have these heads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from captum.attr import IntegratedGradients
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForNextSentencePrediction,
    AutoTokenizer,
    pipeline,
)
from transformers.initialization import no_tie_weights

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.cache import ByteCache, CachedService
from contextlens.core.errors import RequestError
from contextlens.core.families import FAMILIES as FAMILY_TABLE
from contextlens.core.hub.local import cached
from contextlens.core.remote.service import RemoteService
from contextlens.core.schema import TokenPredictions
from contextlens.core.untrusted import read_json
from contextlens.serving.api import create_app
from tests.core.spoiled import change_json
from tests.support.remote_server import serving
from tests.support.tiny_models import FAMILIES, MASKED, NO_HEAD, TEXT_HEAD_ALONE, build

TEXTS = ["I love my pet python", "The bank lends money to her, and he pays.", "Rain."]
POSITIONS = [[2, 4], [3], [1]]
BERT = "google-bert/bert-base-uncased"
ARRAYS = ("best", "written", "written_ranks", "candidates", "candidate_ranks")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny masked language model of each family, and one for pre-training."""
    folder = tmp_path_factory.mktemp("heads")
    for family in FAMILIES:
        build(family, folder / family, head="MaskedLM" if family in MASKED else "")
    build("bert", folder / "pretraining", head="PreTraining")
    return folder


@pytest.fixture(scope="module")
def local(root: Path, open_with: Callable[..., EncoderService]) -> EncoderService:
    return open_with(model_folder=root).uncached


@pytest.fixture(scope="module", params=["local", "cached", "cached remote"])
def service(request: pytest.FixtureRequest, local: EncoderService) -> Iterator[EncoderService]:
    if "remote" not in request.param:
        yield CachedService(local, ByteCache(10**7)) if request.param == "cached" else local
        return
    with serving(create_app(local)) as url:
        remote = RemoteService(url)
        yield CachedService(remote, ByteCache(10**7))
        remote.close()


def oracle(folder: Path, text: str, positions: list[int], *, masked: bool) -> tuple[Any, Any]:
    """(n_positions, vocabulary size) log-probabilities, and the IDs as written there."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM
    inputs = tokenizer(text, return_tensors="pt", truncation=True, max_length=64)
    written = inputs["input_ids"][0, positions].clone()
    if masked:
        inputs["input_ids"][0, positions] = tokenizer.mask_token_id
    with torch.no_grad():
        logits = model.from_pretrained(folder).eval()(**inputs).logits[0, positions]
    return logits.log_softmax(dim=-1).numpy(), written.numpy()


def assert_right(found: TokenPredictions, logs: Any, written: Any, candidates: list[int]) -> None:
    """The last layer's predictions are those of transformers."""
    close = {"rtol": 0, "atol": 1e-5 * max(1.0, float(np.abs(logs).max()))}
    rows = np.arange(len(logs))
    np.testing.assert_allclose(found.best[-1], -np.sort(-logs, axis=1)[:, :10], **close)
    np.testing.assert_allclose(logs[rows[:, None], found.best_ids[-1]], found.best[-1], **close)
    np.testing.assert_allclose(found.written[-1], logs[rows, written], **close)
    np.testing.assert_allclose(found.candidates[-1], logs[:, candidates], **close)
    ranks = 1 + (logs > logs[rows, written][:, None]).sum(axis=1)
    np.testing.assert_allclose(found.written_ranks[-1], ranks, rtol=0, atol=2)  # near ties
    assert list(found.tokens.token_ids[list(found.positions)]) == list(written)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_familys_head_predicts_what_transformers_predicts(
    family: str, masked: bool, root: Path, local: EncoderService
) -> None:
    model = f"folder:{family}"
    head = local.load(model).provenance.token_head
    if family not in MASKED:
        assert "architecture does not have" in head.reason
        with pytest.raises(RequestError, match="architecture does not have a head that predicts"):
            local.predict_tokens(model, TEXTS, POSITIONS, masked=masked)
        return
    assert head.state == "trained"
    found = local.predict_tokens(model, TEXTS, POSITIONS, masked=masked, candidates=[7, 5])
    for text, positions, one in zip(TEXTS, POSITIONS, found, strict=True):
        assert (one.tokens.text, one.positions, one.is_masked) == (text, tuple(positions), masked)
        assert_right(one, *oracle(root / family, text, positions, masked=masked), [7, 5])


@pytest.mark.parametrize(("more", "state"), [("", "trained"), ("mask_predictions", "absent")])
def test_debertas_own_head_is_read_where_the_checkpoint_was_trained_with_it(
    more: str, state: str, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    """Published configs do not name it, and transformers then looks for another one (`legacy`)."""
    folder = build("deberta-v2", tmp_path / "model", head="MaskedLM", legacy=False)
    if more:
        path = folder / "model.safetensors"
        weights = load_file(path) | {f"{more}.dense.bias": torch.ones(32)}
        save_file(weights, path, metadata={"format": "pt"})
    expected = oracle(folder, TEXTS[0], [2], masked=True)
    config = read_json(folder / "config.json", title="It", most_bytes=10_000)
    config.pop("legacy")
    (folder / "config.json").write_text(json.dumps(config))
    service = open_with(model_folder=tmp_path)
    assert service.load("folder:model").provenance.token_head.state == state
    if not more:
        (found,) = service.predict_tokens("folder:model", TEXTS[:1], [[2]], candidates=[7, 5])
        assert_right(found, *expected, [7, 5])


@pytest.mark.skipif(cached(BERT) is None, reason="bert-base-uncased is not in the hub cache")
def test_bert_names_the_capital_of_france(open_with: Callable[..., EncoderService]) -> None:
    service = open_with()
    text = "The capital of France is [MASK]."
    paris = service.tokenize(BERT, ["Paris"])[0].token_ids[1]
    (found,) = service.predict_tokens(BERT, [text], [[6]], masked=False)
    assert found.tokens.tokens[6] == "[MASK]"
    assert found.best_ids[-1, 0, 0] == paris


def test_predictions_are_the_same_wherever_they_come_from(
    service: EncoderService, local: EncoderService
) -> None:
    asked: dict[str, Any] = {"candidates": [9], "layers": [0, 3], "n_best": 4}
    for _ in range(2):  # the second time from the cache
        found = service.predict_tokens("folder:roberta", TEXTS, POSITIONS, **asked)
        expected = local.predict_tokens("folder:roberta", TEXTS, POSITIONS, **asked)
        for one, other in zip(found, expected, strict=True):
            assert (one.layers, one.positions) == ((0, 3), other.positions)
            assert one.best.shape == (2, len(one.positions), 4)
            for name in ARRAYS:
                np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-5)
            assert one.passport.settings["masked positions"] == list(one.positions)
            assert not one.best.flags.writeable
    again = service.predict_tokens("folder:roberta", [TEXTS[0]], [[1]], **asked)[0]
    assert again.positions == (1,)  # other positions of the same text are another question


def test_the_head_reads_every_layers_hidden_states(root: Path, local: EncoderService) -> None:
    (found,) = local.predict_tokens(
        "folder:bert", TEXTS[:1], [[5]], masked=False, layers=range(4), n_best=3
    )
    head = AutoModelForMaskedLM.from_pretrained(root / "bert").eval().cls
    hidden = local.encode("folder:bert", TEXTS[:1])[0].hidden[:, 5]
    with torch.no_grad():
        logs = head(torch.from_numpy(hidden.copy())).log_softmax(dim=-1).numpy()
    np.testing.assert_allclose(found.best[:, 0], -np.sort(-logs, axis=1)[:, :3], atol=1e-5)


def test_a_pair_follows_with_the_probability_that_transformers_gives(
    root: Path, service: EncoderService
) -> None:
    model = "folder:pretraining"
    pairs = [(TEXTS[0], TEXTS[1]), (TEXTS[1], TEXTS[0]), ("", "Rain.")]
    found = service.follows(model, [a for a, _ in pairs], [b for _, b in pairs])
    tokenizer = AutoTokenizer.from_pretrained(root / "pretraining")
    plain = AutoModelForNextSentencePrediction.from_pretrained(root / "pretraining").eval()
    for probability, (text, pair) in zip(found, pairs, strict=True):
        with torch.no_grad():
            logits = plain(**tokenizer(text, pair, return_tensors="pt")).logits
        assert probability == pytest.approx(float(logits.softmax(dim=-1)[0, 0]), abs=1e-5)
    with pytest.raises(RequestError, match="has no weights for a head for the next sentence"):
        service.follows("folder:bert", ["a"], ["b"])


# Heads of one's own

ANSWERS = {
    "SequenceClassification": ("text-classification", {0: "bad", 1: "good", 2: "so-so"}),
    "TokenClassification": ("token-classification", {0: "O", 1: "B-PER", 2: "I-PER"}),
}


@pytest.mark.parametrize("head", ANSWERS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_head_of_ones_own_gives_what_transformers_pipeline_gives(
    family: str, head: str, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    task, names = ANSWERS[head]
    if family in NO_HEAD or (family in TEXT_HEAD_ALONE and head == "TokenClassification"):
        assert not hasattr(
            transformers, FAMILY_TABLE[family].class_name.replace("Model", f"For{head}")
        )
        return
    folder = build(family, tmp_path / "model", head=head, id2label=names)
    service = open_with(model_folder=tmp_path)
    card = service.load("folder:model")
    assert card.labels.names == tuple(names.values())
    found = service.classify("folder:model", TEXTS)
    answer: Any = pipeline(task, model=str(folder), tokenizer=str(folder))  # type: ignore[call-overload]
    for text, one in zip(TEXTS, found, strict=True):
        assert one.labels == card.labels.names
        if head == "SequenceClassification":
            plain = {row["label"]: row["score"] for row in answer(text, top_k=None)}
            np.testing.assert_allclose(one.scores, [plain[name] for name in one.labels], atol=1e-5)
            continue
        inner = one.scores[one.tokens.special_tokens_mask == 0]
        rows = answer(text, ignore_labels=[])
        assert [row["entity"] for row in rows] == [one.labels[i] for i in inner.argmax(axis=1)]
        np.testing.assert_allclose(inner.max(axis=1), [row["score"] for row in rows], atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "scores"),
    [
        ({"num_labels": 1}, "sigmoid"),
        ({"num_labels": 1, "problem_type": "regression"}, "none"),
        ({"num_labels": 3, "problem_type": "multi_label_classification"}, "sigmoid"),
        ({}, "softmax"),  # two labels, which the config does not name
    ],
)
def test_scores_follow_the_kind_of_problem(
    changes: dict[str, Any], scores: str, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    folder = build("roberta", tmp_path / "model", head="SequenceClassification", **changes)
    service = open_with(model_folder=tmp_path)
    assert service.load("folder:model").labels.scores == scores
    (found,) = service.classify("folder:model", TEXTS[:1])
    answer: Any = pipeline("text-classification", model=str(folder))
    named = {row["label"]: row["score"] for row in answer(TEXTS[0], top_k=None)}
    np.testing.assert_allclose(found.scores, [named[name] for name in found.labels], atol=1e-5)


def test_labels_are_the_same_from_far(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    build("bert", tmp_path / "model", head="TokenClassification", num_labels=7)
    local = open_with(model_folder=tmp_path).uncached
    with serving(create_app(local)) as url:
        remote = RemoteService(url)
        (found,), (expected,) = (one.classify("folder:model", TEXTS[:1]) for one in (remote, local))
        remote.close()
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-5)
    assert (found.labels, found.scores.shape) == (expected.labels, (found.tokens.n_tokens, 7))
    with pytest.raises(RequestError, match="no weights for a head that labels texts"):
        local.classify(BUNDLED_ID, ["a"])


# No head that was not trained


def test_a_model_without_a_head_is_refused_with_the_reason(tiny_service: EncoderService) -> None:
    card = tiny_service.load(BUNDLED_ID)
    assert card.provenance.token_head.state == "absent"
    with pytest.raises(RequestError, match="has no weights for a head that predicts hidden words"):
        tiny_service.predict_tokens(BUNDLED_ID, ["a"], [[1]])


@pytest.mark.parametrize(
    ("spoil", "state"),
    [
        (lambda w: w.pop("cls.predictions.transform.dense.weight"), "absent"),
        (lambda w: w.update({n: v * 0 for n, v in w.items() if "cls" in n and "bias" in n}),
         "untrained"),
        (lambda w: w["cls.predictions.bias"].fill_(float("nan")), "untrained"),
        (lambda w: w.update({"cls.predictions.bias": torch.ones(3)}), "absent"),
        (dict.items, "trained"),
    ],
)  # fmt: skip
def test_a_head_that_is_incomplete_untrained_or_broken_is_not_used(
    spoil: Callable[[dict[str, torch.Tensor]], Any],
    state: str,
    tmp_path: Path,
    open_with: Callable[..., EncoderService],
) -> None:
    folder = build("bert", tmp_path / "model", head="MaskedLM")
    weights = load_file(folder / "model.safetensors")
    spoil(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    service = open_with(model_folder=tmp_path)
    assert service.load("folder:model").provenance.token_head.state == state
    assert service.encode("folder:model", ["a"])[0].hidden.shape[0] == 4  # the rest can be used


def test_a_decoder_of_its_own_is_used_where_the_config_says_so(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    folder = build("bert", tmp_path / "model", head="MaskedLM", tie_word_embeddings=False)
    assert "cls.predictions.decoder.weight" in load_file(folder / "model.safetensors")
    service = open_with(model_folder=tmp_path)
    (found,) = service.predict_tokens("folder:model", TEXTS[:1], [[2]], candidates=[7])
    assert_right(found, *oracle(folder, TEXTS[0], [2], masked=True), [7])
    change_json(folder / "config.json", tie_word_embeddings=True)  # both stored, and different
    (again,) = open_with(model_folder=tmp_path).predict_tokens("folder:model", TEXTS[:1], [[2]])
    np.testing.assert_allclose(again.best, found.best, atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_a_head_is_found_while_another_model_is_loaded(
    family: str, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    build(family, tmp_path / family, head="MaskedLM")
    service = open_with(model_folder=tmp_path)
    service.load(BUNDLED_ID)
    with no_tie_weights():  # as `from_pretrained` leaves the class meanwhile, for all threads
        card = service.load(f"folder:{family}")
    assert card.provenance.token_head.state == "trained"
    assert card.left_out == ()
    assert service.vocabulary(card.id).mask_id is not None


# Bad input


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"positions": [[99]]}, "Give at least one, each from 0 to 8"),
        ({"positions": [[]]}, "Give at least one"),
        ({"positions": [[1], [2]]}, "give one list for each text"),
        ({"positions": [[1]], "n_best": 101}, "from 0 to 100"),
        ({"positions": [[1]], "candidates": [10**7]}, "the token IDs of bert are 0 to"),
        ({"positions": [[1]], "layers": [4]}, "has layers 0"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(
    given: dict[str, Any], message: str, local: EncoderService
) -> None:
    with pytest.raises(RequestError, match=message):
        local.predict_tokens("folder:bert", ["a python sleeps"], **given)


def test_no_texts_have_no_predictions(local: EncoderService) -> None:
    assert local.predict_tokens("folder:bert", [], []) == []
    assert local.follows("folder:pretraining", [], []) == []


# What made a label


@pytest.mark.parametrize("head", ["SequenceClassification", "TokenClassification"])
@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "albert"])
def test_shares_of_a_label_are_those_of_captum(
    family: str, head: str, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    folder = build(family, tmp_path / "model", head=head, num_labels=3)
    service, text = open_with(model_folder=tmp_path), TEXTS[0]
    token = 2 if head == "TokenClassification" else None
    ours = service.label_gradients("folder:model", text, 1, token=token, steps=32)
    score = service.classify("folder:model", [text])[0].scores
    assert ours.end == pytest.approx(
        float(score[1] if token is None else score[token, 1]), abs=1e-6
    )
    np.testing.assert_allclose(ours.shares, captum_shares(folder, head, text, token), atol=1e-5)
    enough = service.label_gradients("folder:model", text, 1, token=token)
    assert abs(enough.remainder) <= enough.missed + 1e-9
    for given in ({"label": 3}, {"token": 99}, {"token": None if token else 1}):
        with pytest.raises(RequestError, match="was asked"):
            service.label_gradients("folder:model", text, **{"label": 1, "token": token, **given})


def captum_shares(folder: Path, head: str, text: str, token: int | None) -> np.ndarray:
    """Captum's shares of label 1, given transformers' classifier as a function of layer 0."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = getattr(transformers, f"AutoModelFor{head}").from_pretrained(folder).eval()
    inputs = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
    special = inputs.pop("special_tokens_mask")[0]
    tables, words = model.base_model.embeddings, model.get_input_embeddings()
    seen: dict[str, torch.Tensor] = {}

    def run(states: torch.Tensor | None = None, rows: torch.Tensor | None = None) -> torch.Tensor:
        n = 1 if states is None else len(states)
        hooks = [tables.register_forward_hook(
            lambda _, __, out: seen.update(layer_0=out) if states is None else states
        )]  # fmt: skip
        if rows is not None:
            hooks.append(words.register_forward_hook(lambda *_: rows))
        try:
            logits = model(**{name: v.expand(n, -1) for name, v in inputs.items()}).logits
        finally:
            for hook in hooks:
                hook.remove()
        return (logits if token is None else logits[:, token]).softmax(dim=-1)[:, 1]

    ids = torch.where(special == 1, inputs["input_ids"][0], tokenizer.pad_token_id)
    with torch.no_grad():
        run()
        own = seen["layer_0"]
        run(rows=words(ids)[None])
        start = seen["layer_0"]
    found = IntegratedGradients(run).attribute(own, start, n_steps=32, method="gausslegendre")
    shares: np.ndarray = found[0].sum(dim=1).detach().double().numpy()
    return shares
