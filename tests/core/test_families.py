"""A family is one entry; of a config.json, transformers gets listed names within their ranges."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections import ChainMap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from transformers import AutoConfig, AutoTokenizer
from transformers.activations import ACT2FN

from contextlens.core import EncoderService
from contextlens.core.encoder.loading import LoadedModel, load_model
from contextlens.core.errors import (
    CheckpointError,
    ContextlensError,
    TextError,
    UnsupportedModelError,
)
from contextlens.core.families import FAMILIES
from contextlens.core.model_config import allowed_config, family_of, read_config
from contextlens.core.schema import FastPrecision, SwitchOff
from contextlens.core.untrusted import read_json
from tests.core.spoiled import change_json, files_of
from tests.support.oracle import Oracle
from tests.support.tiny_models import build

TEXT = "The teacher's teachings were taught to the teachers"
EXACT = FastPrecision("float32", "not measured")
ACTIVATIONS = ("gelu", "gelu_new", "gelu_fast", "quick_gelu", "relu", "relu6", "silu", "tanh")
TRICKS: list[dict[str, Any]] = [
    {"num_labels": 10**8},
    {"num_labels": -1},
    {"id2label": {str(i): "x" for i in range(1000)}},
    {"id2label": {"x": "y"}},
    {"label2id": [1, 2]},
    {"problem_type": "single_label_classification", "num_labels": 1},
    {"attn_implementation": "flash_attention_2"},
    {"_attn_implementation": "eager"},
    {"_attn_implementation_internal": "eager"},
    {"quantization_config": {"quant_method": "gptq", "bits": 4}},
    {"auto_map": {"AutoModel": "trap.Model", "AutoConfig": "trap.Config"}},
    {"torch_dtype": "__class__"},
    {"dtype": "bfloat16"},
    {"transformers_weights": "../../elsewhere.safetensors"},
    {"per_layer_config": {"0": {"hidden_size": 10**9}}},
    {"fusion_config": {"patch_embeddings": True}},
    {"rope_scaling": {"type": "linear"}, "rope_theta": 1.0},
    {"rope_parameters": {"rope_type": "yarn"}},
    {"chunk_size_feed_forward": 7},
    {"output_attentions": True},
    {"output_hidden_states": "x"},
    {"name_or_path": "/etc", "_name_or_path": "/etc"},
    {"layer_types": ["x"] * 3},
    {"pruned_heads": {"0": [0]}},
    {"to_dict": None, "__class__": "x"},
    {"initializer_range": 1e308},
]


READ_BY_NAME = {
    "deberta": {"talking_head"},
    "deberta-v2": {
        *("position_buckets", "share_att_key", "norm_rel_ebd"),
        *("conv_kernel_size", "conv_groups", "conv_act"),
    },
}
"""Entries that transformers takes from a config by name, though its class does not list them."""


def settings_of(loaded: LoadedModel) -> dict[str, Any]:
    return {k: v for k, v in loaded.model.config.to_dict().items() if k != "_name_or_path"}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_model(files_of(build("bert", tmp_path_factory.mktemp("plain") / "model")), EXACT)


def test_a_name_that_is_not_listed_never_reaches_transformers(
    plain: LoadedModel, tmp_path: Path
) -> None:
    folder = build("bert", tmp_path / "model")
    config = read_config(folder)
    for trick in TRICKS:
        assert allowed_config(config | trick) == allowed_config(config)
    change_json(folder / "config.json", **dict(ChainMap(*TRICKS)))
    loaded = load_model(files_of(folder), EXACT)
    assert settings_of(loaded) == settings_of(plain)
    assert loaded.model.config._attn_implementation == plain.model.config._attn_implementation
    assert loaded.model.config.num_labels == 2
    assert loaded.card == plain.card


def test_a_new_family_is_one_entry(
    tmp_path: Path, open_with: Callable[..., EncoderService], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CamemBERT described as RoBERTa by another name, with a tokenizer class that no family has."""
    folder = build("roberta", tmp_path / "model")
    model, texts = "folder:model", ["A python slept under the lamp."]
    expected = open_with(model_folder=tmp_path).encode(model, texts)[0].hidden
    new = dataclasses.replace(
        FAMILIES["roberta"],
        model_type="camembert",
        class_name="CamembertModel",
        tokenizers=("Blenderbot",),
    )
    monkeypatch.setitem(FAMILIES, "camembert", new)
    change_json(folder / "config.json", model_type="camembert")
    change_json(folder / "tokenizer_config.json", tokenizer_class="BlenderbotTokenizer")
    service = open_with(model_folder=tmp_path)
    assert service.load(model).family == "camembert"
    assert np.array_equal(service.encode(model, texts)[0].hidden, expected)
    assert service.architecture(model).n_layers == 3
    assert service.intervene(model, texts, [[SwitchOff("attention", 1)]])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_listed_names_are_those_that_a_network_is_built_from(
    family: str, tmp_path: Path
) -> None:
    """Everything else in the config that transformers wrote may go, and nothing changes."""
    folder = build(family, tmp_path / "model")
    kind = getattr(transformers, FAMILIES[family].class_name)
    whole = kind.from_pretrained(folder)
    chosen = kind.from_pretrained(
        folder, config=kind.config_class(**allowed_config(read_config(folder)))
    )
    assert repr(whole) == repr(chosen)
    keys, old = set(FAMILIES[family].keys), set(FAMILIES[family].old_keys)
    assert not keys & old
    names = set(vars(whole.config)) & keys
    fields = {f.name for f in dataclasses.fields(kind.config_class)}
    assert names == keys <= fields | READ_BY_NAME.get(family, set())
    values, ours = vars(whole.config), vars(chosen.config)
    assert [values[n] for n in names] == [ours[n] for n in names]


def test_a_published_modernbert_is_read_as_transformers_reads_it(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    """Its config.json and its weights' names are those of 2024; its head is read, too."""
    folder = build("modernbert-masked-words", tmp_path / "model")
    service, oracle = open_with(model_folder=tmp_path), Oracle(folder, 64)
    card = service.load("folder:model")
    text = "The teacher's teachings were taught to the teachers"
    (encoding,) = service.encode("folder:model", [text], attentions=True)
    plain_run = oracle(text, attentions=True)
    np.testing.assert_allclose(encoding.hidden, plain_run.hidden, rtol=0, atol=1e-5)
    np.testing.assert_allclose(encoding.attentions, plain_run.attentions, rtol=0, atol=1e-5)
    assert (card.local_layers, card.window) == ((2,), 4)
    assert (card.left_out, card.provenance.token_head.state) == ((), "trained")
    plain = oracle.model
    assert plain.config.layer_types == ["full_attention", "sliding_attention", "full_attention"]
    rotation = plain.config.rope_parameters
    assert rotation["sliding_attention"]["rope_theta"] == 5000.0
    loaded = load_model(files_of(folder), EXACT)
    assert settings_of(loaded)["rope_parameters"] == rotation


def test_a_published_nomic_bert_is_read_with_its_own_names(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    """Its config.json has GPT-2's names, which transformers does not read, and remote code."""
    theirs = build("nomic_bert", tmp_path / "theirs", rope_parameters={"rope_theta": 500.0})
    ours = build("nomic_bert", tmp_path / "model", rope_parameters={"rope_theta": 500.0})
    vocab_size = read_config(ours)["vocab_size"]
    config = json.dumps({**NOMIC_CONFIG, "vocab_size": vocab_size})
    (ours / "config.json").write_text(config, encoding="utf-8")
    service, plain = open_with(model_folder=tmp_path), Oracle(theirs, 64)
    card = service.load("folder:model")
    assert (card.n_layers, card.n_heads, card.max_length) == (3, 4, 64)
    text = "The teacher's teachings were taught to the teachers"
    (encoding,) = service.encode("folder:model", [text], pairs=["Rain."], attentions=True)
    expected = plain(text, "Rain.", attentions=True)
    np.testing.assert_allclose(encoding.hidden, expected.hidden, rtol=0, atol=1e-5)
    np.testing.assert_allclose(encoding.attentions, expected.attentions, rtol=0, atol=1e-5)


NOMIC_CONFIG = {
    "model_type": "nomic_bert",
    "architectures": ["NomicBertModel"],
    "auto_map": {"AutoModel": "modeling_hf_nomic_bert.NomicBertModel"},
    "n_layer": 3,
    "n_embd": 32,
    "n_head": 4,
    "n_inner": 64,
    "layer_norm_epsilon": 1e-12,
    "type_vocab_size": 2,
    "activation_function": "swiglu",
    "max_trained_positions": 64,
    "n_positions": 8192,
    "rotary_emb_base": 500,
    "rotary_emb_fraction": 1.0,
    "rotary_emb_interleaved": False,
    "rotary_scaling_factor": 2,
    "causal": False,
    "prenorm": False,
    "qkv_proj_bias": False,
    "mlp_fc1_bias": False,
    "attn_pdrop": 0.0,
    "embd_pdrop": 0.0,
    "resid_pdrop": 0.0,
    "use_rms_norm": False,
}


def test_a_published_embeddinggemma_is_read_with_its_old_names(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    """Its rotations and its window are those of transformers; a model that looks back is not."""
    rotations = {"full_attention": 5e4, "sliding_attention": 500.0}
    rope = {
        kind: {"rope_type": "default", "rope_theta": theta} for kind, theta in rotations.items()
    }
    theirs = build("gemma3_text", tmp_path / "theirs", rope_parameters=rope, sliding_window=4)
    ours = build("gemma3_text", tmp_path / "model", rope_parameters=rope, sliding_window=4)
    path = ours / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    assert config.pop("rope_parameters") == rope
    old = {"rope_theta": 5e4, "rope_local_base_freq": 500.0, "rope_scaling": None}
    path.write_text(json.dumps(config | old | {"_sliding_window_pattern": 6}), encoding="utf-8")
    service, plain = open_with(model_folder=tmp_path), Oracle(theirs, 64)
    card = service.load("folder:model")
    assert (card.local_layers, card.window) == ((2, 3), 2)
    text = "The teacher's teachings were taught to the teachers"
    (encoding,) = service.encode("folder:model", [text], attentions=True)
    expected = plain(text, attentions=True)
    np.testing.assert_allclose(encoding.hidden, expected.hidden, rtol=0, atol=1e-5)
    np.testing.assert_allclose(encoding.attentions, expected.attentions, rtol=0, atol=1e-5)
    for value in (False, None, "true"):
        with pytest.raises(UnsupportedModelError, match="each token sees only those before it"):
            family_of(config | {"use_bidirectional_attention": value})
    with pytest.raises(UnsupportedModelError, match="each token sees only those before it"):
        family_of({"model_type": "gemma3_text"})


def test_of_a_published_embeddinggemma_2_the_part_for_texts_is_read(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    """Its parts for pictures are named, and their settings reach nothing."""
    text = build("embedding_gemma2_text", tmp_path / "text")
    folder = shutil.copytree(text, tmp_path / "models" / "whole")
    seeing = dict.fromkeys(("hidden_size", "intermediate_size", "patch_size", "head_dim"), 4)
    seeing |= {"num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1}
    parts = {"vision_config": seeing | {"model_type": "gemma4_vision"}, "audio_config": None}
    config = AutoConfig.for_model("embedding_gemma2", text_config=read_config(text), **parts)
    whole = transformers.EmbeddingGemma2Model(config).eval()
    whole.language_model.load_state_dict(load_file(text / "model.safetensors"))
    whole.save_pretrained(folder)
    change_json(folder / "config.json", vision_config={"model_type": "gemma4_vision", "x": 10**9})
    assert family_of(read_config(folder)).model_type == "embedding_gemma2_text"
    assert allowed_config(read_config(folder)) == allowed_config(read_config(text))
    service = open_with(model_folder=folder.parent)
    card = service.load("folder:whole")
    assert card.left_out == ("embed_vision", "vision_tower")
    ids = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    with torch.inference_mode():
        last = whole(**ids).last_hidden_state[0]
    (encoding,) = service.encode("folder:whole", [TEXT], attentions=True)
    plain = Oracle(text, 64)(TEXT, attentions=True)
    np.testing.assert_allclose(encoding.hidden, plain.hidden, rtol=0, atol=1e-5)
    np.testing.assert_allclose(encoding.attentions, plain.attentions, rtol=0, atol=1e-5)
    projection = whole.language_model.embedding_projection.weight.detach().numpy()
    np.testing.assert_allclose(encoding.hidden[-1] @ projection.T, last, rtol=0, atol=1e-5)
    (made,) = service.sentence_vectors("folder:whole", [TEXT])
    np.testing.assert_allclose(made.vector, last.mean(dim=0), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["big_bird", "fnet", "yoso"])
def test_a_kind_that_is_well_known_is_refused_with_its_own_reason(kind: str) -> None:
    with pytest.raises(UnsupportedModelError, match=f"of the kind '{kind}' are not shown: the"):
        family_of({"model_type": kind})


@pytest.mark.parametrize(
    "more",
    [{}, {"pre_norm": True}, {"adapter_layer_norm": True, "ln_before_adapter": False}],
    ids=str,
)
def test_an_xmod_is_read_in_the_language_that_its_config_names(
    more: dict[str, Any], tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    text, found = "The teacher's teachings were taught to the teachers", []
    folders = [
        build("xmod", tmp_path / language, default_language=language, **more)
        for language in ("en_XX", "de_DE")
    ]
    service = open_with(model_folder=tmp_path)
    for folder in folders:
        model, plain = f"folder:{folder.name}", Oracle(folder, 64)(text, attentions=True)
        (encoding,) = service.encode(model, [text], attentions=True)
        np.testing.assert_allclose(encoding.hidden, plain.hidden, rtol=0, atol=1e-5)
        np.testing.assert_allclose(encoding.attentions, plain.attentions, rtol=0, atol=1e-5)
        (unchanged,) = service.intervene(model, [text], [[]])
        np.testing.assert_allclose(unchanged.hidden, plain.hidden, rtol=0, atol=1e-5)
        assert encoding.passport.settings["language"] == folder.name
        found.append(encoding)
    english, german = found
    np.testing.assert_array_equal(english.layer(0), german.layer(0))
    assert np.abs(english.layer(1) - german.layer(1)).max() > 1e-2
    assert service.load("folder:de_DE").language == "de_DE"
    assert english.passport.checksum != german.passport.checksum  # of the same weights


@pytest.mark.parametrize("language", [None, "fr_XX"])
def test_an_xmod_without_a_language_is_refused_with_those_that_it_has(language: str | None) -> None:
    config = {"model_type": "xmod", "languages": ["en_XX", "de_DE"], "default_language": language}
    with pytest.raises(UnsupportedModelError, match=r"\(en_XX, de_DE\)") as caught:
        family_of(config)
    assert str(caught.value).endswith('such as "default_language": "en_XX".')
    assert repr(language) in str(caught.value)
    many = [f"{'x' * 30}{number}" for number in range(256)]
    with pytest.raises(UnsupportedModelError, match=r", \.\.\.\)") as caught:
        family_of(config | {"languages": many})
    assert len(str(caught.value)) < 400
    with pytest.raises(UnsupportedModelError, match=r"\(en_XX\)"):
        family_of({"model_type": "xmod"})


def test_an_empty_text_has_no_states_where_no_special_tokens_are_added(
    tiny_service: EncoderService,
) -> None:
    """BertGeneration's tokenizer adds none."""
    model = "folder:bert-generation"
    assert tiny_service.load_tokenizer(model).n_added == (0, 0)
    assert tiny_service.tokenize(model, [""])[0].n_tokens == 0
    for pad_to in (None, 5):
        with pytest.raises(TextError, match="adds no token of its own, so an empty text has none"):
            tiny_service.encode(model, ["a cat", ""], pad_to=pad_to)
    with pytest.raises(TextError, match="an empty text has none"):
        tiny_service.intervene(model, [""], [[]])
    with pytest.raises(TextError, match="an empty text has none"):
        tiny_service.embedding_parts(model, "")
    assert tiny_service.encode(model, ["a"])[0].n_tokens > 0


@pytest.mark.parametrize("terms", [None, "c2p|p2c"])
@pytest.mark.parametrize("relative", [True, None])  # None: the config does not name it
@pytest.mark.parametrize("family", ["deberta", "deberta-v2"])
def test_a_deberta_is_told_of_distances_only_where_its_config_says_so(
    family: str, relative: bool | None, terms: str | None, tmp_path: Path,
    open_with: Callable[..., EncoderService],
) -> None:  # fmt: skip
    more = {"relative_attention": bool(relative), "pos_att_type": terms}
    folder = build(family, tmp_path / "model", **more)
    if relative is None:
        config = read_config(folder)
        config.pop("relative_attention")
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    service, plain = open_with(model_folder=tmp_path), Oracle(folder, 64)
    act = bool(relative and terms)
    assert service.load("folder:model").positions == ("distances" if act else None)
    text = "The teacher's teachings were taught to the teachers"
    (encoding,) = service.encode("folder:model", [text], attentions=True)
    expected = plain(text, attentions=True)
    np.testing.assert_allclose(encoding.hidden, expected.hidden, rtol=0, atol=1e-5)
    np.testing.assert_allclose(encoding.attentions, expected.attentions, rtol=0, atol=1e-5)
    (unchanged,) = service.intervene("folder:model", [text], [[]])
    np.testing.assert_allclose(unchanged.hidden, expected.hidden, rtol=0, atol=1e-5)
    assert service.architecture("folder:model").n_distance_terms == (2 if act else 0)


def test_the_activations_are_transformers_own_and_have_no_weights() -> None:
    allowed = {name for name in ACT2FN if FAMILIES["bert"].keys["hidden_act"].allows(name)}
    assert set(ACT2FN) - allowed == {"prelu", "sqrtsoftplus", "xielu"}
    assert not any(list(getattr(ACT2FN[name], "parameters", list)()) for name in allowed)


def test_distilbert_s_other_names_count_as_transformers_counts_them() -> None:
    given_names = {"model_type": "distilbert", "dim": 64, "hidden_size": 32, "n_heads": 4}
    assert allowed_config(given_names) == {"dim": 32, "n_heads": 4}
    assert transformers.DistilBertConfig(dim=64, hidden_size=32).dim == 32
    with pytest.raises(CheckpointError, match="dim is 1000000000"):
        allowed_config({"model_type": "distilbert", "hidden_size": 10**9})


@pytest.mark.parametrize(
    ("family", "lie", "said"),
    [
        ("roberta", {"pad_token_id": None}, "pad_token_id is None"),
        ("mpnet", {"relative_attention_num_buckets": 2}, "from 4 to 4,096"),
        ("bert", {"layer_norm_eps": -1e-12}, "above 0 and at most 1"),
        ("bert", {"layer_norm_eps": 10.0**300}, "above 0 and at most 1"),
        ("bert", {"hidden_act": "relu7"}, "an activation such as gelu"),
        ("bert", {"hidden_act": "xielu"}, "an activation such as gelu"),
        ("distilbert", {"activation": ["gelu"]}, "an activation such as gelu"),
        ("electra", {"add_cross_attention": True}, "add_cross_attention"),
        ("xmod", {"languages": ["a.b"]}, "a list of 1 to 256 different languages"),
        ("xmod", {"languages": ["en_XX"] * 2}, "a list of 1 to 256 different languages"),
        ("xmod", {"default_language": 1}, "null or a language, such as en_XX"),
        ("roc_bert", {"concat_input": False}, "must be true, because otherwise a token's shape"),
        ("roc_bert", {"enable_shape": False}, "must be true, as in all published models"),
        ("ernie", {"use_task_id": True}, "use_task_id is True; it must be false"),
        ("nomic_bert", {"num_experts": 8}, "num_experts is 8; it must be 0, as in the class"),
        ("nomic_bert", {"rotary_emb_base": 0}, "rope_theta is 0; it must be a number from 1"),
        ("deberta", {"talking_head": True}, "must be false, because attention would not"),
        ("deberta-v2", {"pos_att_type": "c2p|p2p"}, "null, or some of c2p and p2c"),
        ("deberta-v2", {"conv_kernel_size": 4}, "an odd number"),
        ("modernbert", {"rope_scaling": {"type": "yarn"}}, "rope_scaling is .* must be null"),
        (
            "modernbert",
            {"rope_parameters": {"full_attention": {"rope_type": "yarn", "rope_theta": 1e4}}},
            "without scaling",
        ),
        ("modernbert", {"layer_types": ["chunked_attention"]}, "sliding_attention for each layer"),
        ("modernbert", {"local_rope_theta": None}, "a number from 1"),
        (
            "embedding_gemma2_text",
            {"per_layer_config": {"0": {"hidden_size": 10**9}}},
            "head_dim and num_key_value_heads by the number of a layer",
        ),
        (
            "xmod",
            {"hidden_size": 32, "num_attention_heads": 4, "adapter_reduction_factor": 33},
            "at most the number of dimensions, 32",
        ),
        (
            "gemma3_text",
            {
                "use_bidirectional_attention": True,
                "num_attention_heads": 4,
                "num_key_value_heads": 3,
            },
            "divide the number of heads, 4",
        ),
        (
            "gemma3_text",
            {"use_bidirectional_attention": True, "head_dim": 15},
            "head_dim is 15; it must be an even number",
        ),
        (
            "eurobert",
            {"num_attention_heads": 4, "num_key_value_heads": 8},
            "divide the number of heads, 4",
        ),
        ("eurobert", {"hidden_size": 36, "num_attention_heads": 4}, "which is 9 each"),
        (
            "embedding_gemma2_text",
            {"num_attention_heads": 4, "num_global_key_value_heads": 3},
            "num_global_key_value_heads is 3",
        ),
        (
            "embedding_gemma2_text",
            {"num_attention_heads": 4, "per_layer_config": {"5": {"num_key_value_heads": 3}}},
            "divide the number of heads, 4",
        ),
        ("embedding_gemma2_text", {"per_layer_config": {"5": {"head_dim": 7}}}, "head_dim is 7"),
    ],
    ids=str,
)
def test_values_have_a_type_and_a_range(family: str, lie: dict[str, Any], said: str) -> None:
    with pytest.raises(CheckpointError, match=said) as caught:
        family_of({"model_type": family, **lie})
    assert str(caught.value).endswith("Choose another model.")


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 70_000),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(ACTIVATIONS),
    st.lists(st.integers(), max_size=2),
    st.just({}),
)


@given(data=st.data(), family=st.sampled_from(sorted(FAMILIES)))
def test_any_value_is_in_range_or_refused(data: st.DataObject, family: str) -> None:
    others = ["num_labels", "position_embedding_type", "is_decoder"]
    names = st.sampled_from([*FAMILIES[family].keys, *others])
    config = data.draw(st.dictionaries(names, VALUES, max_size=4)) | {"model_type": family}
    try:
        family_of(config)
    except ContextlensError as exc:
        assert len(str(exc)) < 500  # noqa: PT017 - most configs are refused, some are not
        return
    chosen = allowed_config(config)
    assert set(chosen) <= set(FAMILIES[family].keys)
    for value in chosen.values():
        is_number = isinstance(value, int | float) and 0 <= value <= 1e12
        assert value in (None, {}) or isinstance(value, str) or is_number


STRANGE = [
    "\u202e",
    "a\nb",
    "\x1b[31mred",
    "\ud800",
    "🐍" * 90,
    "<b>bert</b>",
    ["bert"],
    None,
    10**40,
]


@pytest.mark.parametrize("more", [{}, {"auto_map": {"AutoModel": "code.py"}}], ids=["", "auto_map"])
@pytest.mark.parametrize("name", STRANGE, ids=ascii)
def test_a_kind_with_a_strange_name_is_refused_in_a_sentence_that_can_be_shown(
    name: Any, more: dict[str, Any]
) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        family_of({"model_type": name, **more})
    message = str(caught.value)
    assert message.isprintable()
    assert message.isascii()
    assert message.endswith(f"modernbert (docs/models.md has all {len(FAMILIES)}).")
    assert len(message) < 300


# The file


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "cannot be read"),
        (b'{"vocab_size": ' + b"9" * 5000 + b"}", "cannot be read"),
        (b"[1, 2]", "is not a JSON object"),
        (b"{", "cannot be read"),
        (b"", "cannot be read"),
        (b'{"a": "\xff"}', "cannot be read"),
        (b'{"a": "' + b"b" * 1000 + b'"}', "more than the 1,000 bytes"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_file_that_cannot_be_read_is_told(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    most_bytes = 1000 if "bytes" in words else 1_000_000
    with pytest.raises(CheckpointError, match=words) as caught:
        read_json(path, title="The model's config.json", most_bytes=most_bytes)
    assert str(caught.value).startswith("The model's config.json ")
    assert str(caught.value).endswith("another model.")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "9" * 4000, "1e999", "true", '"\\ud800"'])
def test_a_number_that_is_none_is_out_of_range(number: str, tmp_path: Path) -> None:
    config = f'{{"model_type": "bert", "layer_norm_eps": {number}}}'
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(
        CheckpointError, match=r"layer_norm_eps is .* above 0 and at most 1"
    ) as caught:
        family_of(read_config(tmp_path))
    assert str(caught.value).isprintable()
