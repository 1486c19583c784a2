"""The supported families: what tells them apart, and the entries of their configs that are read.

A new family is a new entry of `FAMILIES`, and nothing else.

transformers turns every name of a config.json into an attribute, and some into work: `num_labels`
builds two tables of that many labels, `attn_implementation` and `quantization_config` choose other
code, `transformers_weights` and `tokenizer_class` other files. It therefore gets only the names
that a family lists, each within its range. Entries that affect neither the network nor any number
(labels, heads, dtype) are ignored.

`model_config` reads and checks a config by these entries. Imports no torch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from contextlens.core.untrusted import Rule, whole_number

__all__ = [
    "ACTIVATION",
    "FAMILIES",
    "PROJECTIONS",
    "Family",
    "Parts",
    "Told",
]


Told = Literal["bias", "distances", "rotation"]
"""The ways in which attention is told of positions."""


@dataclass(frozen=True)
class Parts:
    """The location of a family's layers, and the linear modules in a layer that expose its parts.

    Dotted names: `mixing` and `feed_forward` from a layer, the others from the model.

    Attributes:
        layers: the list of layers.
        mixing: takes all heads side by side and gives the attention's output, before the residual
            connection.
        feed_forward: gives the feed-forward's output, before the residual connection.
        attention: gives the attention's output in families that normalize it; else `mixing` does.
        places: what a layer is told beside its input, such as positions, by the names of its
            arguments; from the model, its layer's number and input, and the positions,
            (1, n_tokens).
        norm: what its LayerNorms are called; RMSNorm does not centre.
        final_norm: the LayerNorm after the last layer, in families that normalize before a layer;
            those of their models that do not (`pre_norm`) lack it.
        convolution: adds to the first layer's output what it makes of layer 0 (DeBERTa-v2's large
            models).
        adds_one: True if its norms scale by one more than their weights say (Gemma).
        layer_inputs: makes, of layer 0, what each layer reads besides the layer before it
            (EmbeddingGemma 2): (n_batch, n_tokens, n_layers, n).
        are_shared: True if the list has fewer entries than there are layers (ALBERT).
        takes_booleans: True if attention takes its mask as booleans only, and always.
    """

    layers: str
    mixing: str
    feed_forward: str
    places: Callable[[Any, int, Any, Any], dict[str, Any]] | None = None
    norm: str = "LayerNorm"
    final_norm: str | None = None
    convolution: str | None = None
    attention: str | None = None
    adds_one: bool = False
    layer_inputs: str | None = None
    are_shared: bool = False
    takes_booleans: bool = False


def _bias(model: Any, _: int, hidden: Any, __: Any) -> dict[str, Any]:
    return {"position_bias": model.encoder.compute_position_bias(hidden[:1])}


def _angles(model: Any, layer: int, hidden: Any, places: Any) -> dict[str, Any]:
    kinds = getattr(model.config, "layer_types", None)
    kind = () if kinds is None else (kinds[layer - 1],)
    return {"position_embeddings": model.rotary_emb(hidden, places, *kind)}


def _distances(model: Any, _: int, hidden: Any, __: Any) -> dict[str, Any]:
    encoder = model.encoder
    return {
        "relative_pos": encoder.get_rel_pos(hidden),
        "rel_embeddings": encoder.get_rel_embedding(),
    }


def _language(model: Any, _: int, hidden: Any, __: Any) -> dict[str, Any]:
    config = model.config
    number = config.languages.index(config.default_language)
    return {"lang_ids": hidden.new_full(hidden.shape[:1], number)}


_LIKE_BERT = Parts("encoder.layer", "attention.output.dense", "output.dense")


@dataclass(frozen=True, kw_only=True)
class Family:
    """One architecture: its transformers class, its config and its parts.

    Attributes:
        model_type: the family's name in a config.json.
        class_name: the name of its class in transformers.
        tokenizers: its tokenizer classes in transformers, without "Tokenizer".
        fast_tokenizer: the class that reads its tokenizers in place of the first of these, which
            does not say where in a text its tokens are; "" for none.
        word_files: the JSON files with the shape and the sound of each token, from which, with the
            token's own row, the rows of its word table are computed (`loading`).
        keys: the entries of a config.json that are read, with the values allowed.
        other_keys: alternative names that transformers accepts for entries, and prefers.
        old_keys: entries that transformers converts into others, as in older config.json files.
        has_segments: True if its inputs include segments; None if its config decides
            (type_vocab_size, of which more than 1 are needed).
        has_pooler: True if its class has a pooler.
        adds_pooler: True if its class has the pooler only where it is asked for.
        publishes_pooler: True if published checkpoints have the pooler's weights.
        parts: where its layers are.
        tables: the attribute that holds the embedding tables and LayerNorm; "" for the model.
        word_table, norm: their names there; None as norm if no LayerNorm follows the sum.
        positions: the way in which attention is told of positions, `Told`; or None. A config may
            say that it is not.
        has_positions: True if all of its models have a position table.
        skips_positions: True if positions start after the pad ID.
        scales_words: True if word vectors are multiplied by the root of the number of dimensions.
        window_end: the farthest position that a local layer sees, counted from its sliding_window.
        sees_both_sides: the entry of a config.json that must be true for tokens to see those after
            them; "" in families where they always do.
        has_languages: True if its layers have a part for each of several languages, of which a
            config.json must name one.
        projection: the dotted name of the linear layer between the embedding layer's LayerNorm and
            layer 0; models whose embeddings have the size of the layers may lack it.
        last_projection: the linear layer, without a bias, on each token after the last layer. It is
            no part of the layers here, but the first step of the recipe for sentence vectors.
        composite: the `model_type` of models that hold one of the family as `text_config`, with
            weights called language_model.*, beside parts for pictures and sounds.
        layers, dims, heads, inner: the config's names for the numbers of layers, dimensions, heads
            and inner dimensions of the feed-forward.
        dropout, attention_dropout: its names for the shares that training sets to 0; those of a
            name that the config does not have are 0.
        poolings: the ways in which a head that labels texts may read a text (classifier_pooling).
    """

    model_type: str
    class_name: str
    tokenizers: tuple[str, ...]
    fast_tokenizer: str = ""
    word_files: tuple[str, ...] = ()
    keys: Mapping[str, Rule]
    other_keys: Mapping[str, str] = field(default_factory=dict)
    old_keys: Mapping[str, Rule] = field(default_factory=dict)
    has_segments: bool | None
    has_pooler: bool
    adds_pooler: bool = False
    publishes_pooler: bool = True
    parts: Parts = _LIKE_BERT
    tables: str = "embeddings"
    word_table: str = "word_embeddings"
    norm: str | None = "LayerNorm"
    positions: Told | None = None
    has_positions: bool = True
    skips_positions: bool = False
    scales_words: bool = False
    window_end: int = 0
    sees_both_sides: str = ""
    has_languages: bool = False
    projection: str | None = None
    last_projection: str = ""
    composite: str = ""
    layers: str = "num_hidden_layers"
    dims: str = "hidden_size"
    heads: str = "num_attention_heads"
    inner: str = "intermediate_size"
    dropout: str = "hidden_dropout_prob"
    attention_dropout: str = "attention_probs_dropout_prob"
    poolings: tuple[str, ...] = ("cls", "mean")

    def reads_segments(self, config: Mapping[str, Any]) -> bool:
        """True if the inputs of a model with this config include segments."""
        if self.has_segments is None:
            return int(config.get("type_vocab_size", 0)) > 1
        return self.has_segments

    @property
    def options(self) -> dict[str, bool]:
        """What its class is asked for beside a config."""
        return {"add_pooling_layer": True} if self.adds_pooler else {}

    @property
    def word_name(self) -> str:
        """The dotted name of the word table."""
        return f"{self.tables}.{self.word_table}".removeprefix(".")


# --- The entries of config.json that are read

_ACTIVATION = re.compile(
    r"gelu(_(10|accurate|fast|new|python|python_tanh|pytorch_tanh))?|quick_gelu|hardswish|laplace|"
    r"(leaky_)?relu|relu[26]|linear|mish|sigmoid|silu|swish|tanh"
)
"""transformers' names for activations that have no weights of their own."""

_N_LAYERS, _N_HEADS = whole_number(1, 256), whole_number(1, 1024)
_N_DIMS, _N_INNER = whole_number(1, 65_536), whole_number(1, 1_000_000)
_DROPOUT = Rule("a number from 0 to 1", lambda v: type(v) in {int, float} and 0 <= v <= 1)
_EPSILON = Rule("a number above 0 and at most 1", lambda v: type(v) is float and 0 < v <= 1)
ACTIVATION = Rule(
    "an activation such as gelu, gelu_new, relu, silu or tanh",
    lambda v: isinstance(v, str) and _ACTIVATION.fullmatch(v) is not None,
)
_PAD_ROW = {"pad_token_id": whole_number(0, 10_000_000)}  # positions are counted from it
_SHARED = {
    "vocab_size": whole_number(1, 10_000_000),
    "max_position_embeddings": whole_number(1, 1_000_000),
    "pad_token_id": whole_number(0, 10_000_000, or_none=True),
}
_BERT = _SHARED | {
    "num_hidden_layers": _N_LAYERS,
    "hidden_size": _N_DIMS,
    "num_attention_heads": _N_HEADS,
    "intermediate_size": _N_INNER,
    "hidden_act": ACTIVATION,
    "layer_norm_eps": _EPSILON,
    "hidden_dropout_prob": _DROPOUT,
    "attention_probs_dropout_prob": _DROPOUT,
}
_FLAG = Rule("true or false", lambda v: type(v) is bool)
_NO_TASK = Rule("false, because a fourth row, of the task, is not shown here", lambda v: v is False)
_NONE = Rule("null", lambda v: v is None)
_THETA = Rule("a number from 1", lambda v: type(v) in {int, float} and 1 <= v < 1e12)
_KINDS = ("full_attention", "sliding_attention")  # transformers' names for global and local layers
_LAYER_TYPES = Rule(
    "null, or a list with full_attention or sliding_attention for each layer",
    lambda v: v is None or (isinstance(v, list) and 0 < len(v) <= 256 and {*v} <= {*_KINDS}),
)


def _is_plain_rotation(value: object) -> bool:
    """True for rope_parameters without scaling: their theta alone, for each kind of layer."""
    return value is None or (
        isinstance(value, dict)
        and {*value} <= {*_KINDS}
        and all(
            isinstance(one, dict)
            and {*one} <= {"rope_type", "rope_theta"}
            and one.get("rope_type", "default") == "default"
            and _THETA.allows(one.get("rope_theta", 1))
            for one in value.values()
        )
    )


def _is_by_layer(value: object) -> bool:
    """True for a per_layer_config of heads alone."""
    names = {"head_dim", "num_key_value_heads"}
    return value is None or (
        isinstance(value, dict)
        and all(re.fullmatch(r"[0-9]{1,3}", layer) for layer in value)
        and all(isinstance(one, dict) and {*one} <= names for one in value.values())
        and all(_N_DIMS.allows(size) for one in value.values() for size in one.values())
    )


_ROTATIONS = Rule("rotation by a rope_theta alone, without scaling", _is_plain_rotation)
_ROTATION = {
    "rope_parameters": Rule(
        "rotation by a rope_theta alone, without scaling",
        lambda v: v is None or _is_plain_rotation({_KINDS[0]: v}),
    ),
}
_OLD_ROTATION = {"rope_theta": _THETA, "rope_scaling": _NONE}


def _only(value: object) -> Rule:
    """The rule for an entry that transformers' class does not read, and takes for one value."""
    words = json.dumps(value)
    return Rule(f"{words}, as in the class that transformers has", lambda given: given == value)


_NOMIC = {
    "num_experts": _only(0),
    "activation_function": _only("swiglu"),
    "rotary_emb_fraction": _only(1.0),
    "rotary_emb_scale_base": _only(None),
    **dict.fromkeys(
        (
            *("causal", "mlp_fc1_bias", "mlp_fc2_bias", "parallel_block", "prenorm"),
            *("qkv_proj_bias", "rotary_emb_interleaved", "use_rms_norm"),
        ),
        _only(value=False),
    ),
}
"""Entries of a config.json as NomicBERT's authors published it."""
_SEGMENTS, _PROJECTED = {"type_vocab_size": whole_number(1, 1024)}, {"embedding_size": _N_DIMS}
_NO_MIXED_HEADS = Rule(
    "false, because attention would not sum to 1 after heads are mixed", lambda v: v is False
)
_TERM = {"c2p", "p2c"}  # attention from a word to a distance, and back
_TERMS = Rule(
    "null, or some of c2p and p2c",
    lambda v: (
        v is None
        or (isinstance(v, list | str) and {*(v.split("|") if isinstance(v, str) else v)} <= _TERM)
    ),
)
_LANGUAGE_NAME = re.compile(r"[\w-]{1,40}", re.ASCII)


def _is_language(value: object) -> bool:
    return isinstance(value, str) and _LANGUAGE_NAME.fullmatch(value) is not None


_LANGUAGES = Rule(
    "a list of 1 to 256 different languages, such as en_XX",
    lambda v: (
        isinstance(v, list)
        and 0 < len(v) <= 256
        and all(map(_is_language, v))
        and len({*v}) == len(v)
    ),
)
_JOINED = Rule(
    "true, because otherwise a token's shape and sound are added after LayerNorm, which is not "
    "shown here",
    lambda v: v is True,
)
_READ = Rule("true, as in all published models", lambda v: v is True)
_DEBERTA = _BERT | {
    "type_vocab_size": whole_number(0, 1024),
    "relative_attention": _FLAG,
    "max_relative_positions": whole_number(-1, 1_000_000),
    "pos_att_type": _TERMS,
    "position_biased_input": _FLAG,
}
_GEMMA = _SHARED | {
    "num_hidden_layers": _N_LAYERS,
    "hidden_size": _N_DIMS,
    "num_attention_heads": _N_HEADS,
    "num_key_value_heads": whole_number(1, 1024),
    "head_dim": _N_DIMS,
    "intermediate_size": _N_INNER,
    "hidden_activation": ACTIVATION,
    "rms_norm_eps": _EPSILON,
    "attention_bias": _FLAG,
    "attention_dropout": _DROPOUT,
    "sliding_window": whole_number(1, 1_000_000),
    "layer_types": _LAYER_TYPES,
    "rope_parameters": _ROTATIONS,
}


# --- The families

_GEMMA_PARTS = Parts(
    "layers",
    "self_attn.o_proj",
    "post_feedforward_layernorm",
    places=_angles,
    norm="RMSNorm",
    final_norm="norm",
    attention="post_attention_layernorm",
)
_gemma_family = partial(
    Family,
    tokenizers=("Gemma",),
    has_segments=False,
    has_pooler=False,
    tables="",
    word_table="embed_tokens",
    norm=None,
    positions="rotation",
    has_positions=False,
    scales_words=True,
    attention_dropout="attention_dropout",
)

FAMILIES: dict[str, Family] = {
    family.model_type: family
    for family in (
        Family(
            model_type="bert",
            class_name="BertModel",
            tokenizers=("Bert", "LayoutLM", "MobileBert", "SqueezeBert"),
            keys=_BERT | _SEGMENTS,
            has_segments=True,
            has_pooler=True,
        ),
        Family(
            model_type="distilbert",
            class_name="DistilBertModel",
            tokenizers=("DistilBert",),
            keys=_SHARED
            | {
                "n_layers": _N_LAYERS,
                "dim": _N_DIMS,
                "n_heads": _N_HEADS,
                "hidden_dim": _N_INNER,
                "activation": ACTIVATION,
                "dropout": _DROPOUT,
                "attention_dropout": _DROPOUT,
            },
            other_keys={
                "num_hidden_layers": "n_layers",
                "hidden_size": "dim",
                "num_attention_heads": "n_heads",
            },
            has_segments=False,
            has_pooler=False,
            parts=Parts("transformer.layer", "attention.out_lin", "ffn.lin2"),
            layers="n_layers",
            dims="dim",
            heads="n_heads",
            inner="hidden_dim",
            dropout="dropout",
            attention_dropout="attention_dropout",
        ),
        Family(
            model_type="roberta",
            class_name="RobertaModel",
            tokenizers=("Roberta", "Bart", "GPT2", "Herbert", "Longformer"),
            keys=_BERT | _SEGMENTS | _PAD_ROW,
            has_segments=False,
            has_pooler=True,
            publishes_pooler=False,
            skips_positions=True,
        ),
        Family(
            model_type="xlm-roberta",
            class_name="XLMRobertaModel",
            tokenizers=("XLMRoberta", "Camembert"),
            keys=_BERT | _SEGMENTS | _PAD_ROW,
            has_segments=False,
            has_pooler=True,
            skips_positions=True,
        ),
        Family(
            model_type="mpnet",
            class_name="MPNetModel",
            tokenizers=("MPNet",),
            keys=_BERT | _PAD_ROW | {"relative_attention_num_buckets": whole_number(4, 4096)},
            has_segments=False,
            has_pooler=True,
            parts=Parts(
                "encoder.layer",
                "attention.attn.o",
                "output.dense",
                places=_bias,
            ),
            positions="bias",
            skips_positions=True,
        ),
        Family(
            model_type="albert",
            class_name="AlbertModel",
            tokenizers=("Albert",),
            keys=_BERT
            | _SEGMENTS
            | _PROJECTED
            | {"num_hidden_groups": whole_number(1, 64), "inner_group_num": whole_number(1, 4)},
            has_segments=True,
            has_pooler=True,
            parts=Parts(
                "encoder.albert_layer_groups",
                "albert_layers.0.attention.dense",
                "albert_layers.0.ffn_output",
                are_shared=True,
            ),
            projection="encoder.embedding_hidden_mapping_in",
        ),
        Family(
            model_type="electra",
            class_name="ElectraModel",
            tokenizers=("Electra",),
            keys=_BERT | _SEGMENTS | _PROJECTED,
            has_segments=True,
            has_pooler=False,
            projection="embeddings_project",
        ),
        Family(
            model_type="camembert",
            class_name="CamembertModel",
            tokenizers=("Camembert",),
            keys=_BERT | _SEGMENTS | _PAD_ROW,
            has_segments=False,
            has_pooler=True,
            publishes_pooler=False,
            skips_positions=True,
        ),
        Family(
            model_type="data2vec-text",
            class_name="Data2VecTextModel",
            tokenizers=("Roberta",),
            keys=_BERT | _SEGMENTS | _PAD_ROW,
            has_segments=False,
            has_pooler=True,
            skips_positions=True,
        ),
        Family(
            model_type="xlm-roberta-xl",
            class_name="XLMRobertaXLModel",
            tokenizers=("XLMRoberta",),
            keys=_BERT | _SEGMENTS | _PAD_ROW,
            has_segments=False,
            has_pooler=True,
            publishes_pooler=False,
            parts=replace(_LIKE_BERT, final_norm="encoder.LayerNorm"),
            norm=None,
            skips_positions=True,
        ),
        Family(
            model_type="xmod",
            class_name="XmodModel",
            tokenizers=("XLMRoberta",),
            keys=_BERT
            | _SEGMENTS
            | _PAD_ROW
            | {
                "languages": _LANGUAGES,
                "default_language": Rule(
                    "null or a language, such as en_XX", lambda v: v is None or _is_language(v)
                ),
                "adapter_reduction_factor": whole_number(1, 65_536),
                **dict.fromkeys(
                    (
                        *("adapter_layer_norm", "adapter_reuse_layer_norm"),
                        *("ln_before_adapter", "pre_norm"),
                    ),
                    _FLAG,
                ),
            },
            has_segments=False,
            has_pooler=True,
            publishes_pooler=False,
            parts=replace(_LIKE_BERT, places=_language, final_norm="encoder.LayerNorm"),
            skips_positions=True,
            has_languages=True,
        ),
        Family(
            model_type="roberta-prelayernorm",
            class_name="RobertaPreLayerNormModel",
            tokenizers=("Roberta",),
            keys=_BERT | _SEGMENTS | _PAD_ROW,
            has_segments=False,
            has_pooler=True,
            publishes_pooler=False,
            parts=replace(_LIKE_BERT, final_norm="LayerNorm"),
            skips_positions=True,
        ),
        Family(
            model_type="megatron-bert",
            class_name="MegatronBertModel",
            tokenizers=("Bert",),
            keys=_BERT | _SEGMENTS,
            has_segments=True,
            has_pooler=True,
            parts=replace(_LIKE_BERT, final_norm="encoder.ln"),
            norm=None,
        ),
        Family(
            model_type="ernie",
            class_name="ErnieModel",
            tokenizers=("Bert",),
            keys=_BERT | _SEGMENTS | {"use_task_id": _NO_TASK},
            has_segments=True,
            has_pooler=True,
        ),
        Family(
            model_type="bert-generation",
            class_name="BertGenerationEncoder",
            tokenizers=("BertGeneration", "Bert"),
            fast_tokenizer="PreTrainedTokenizerFast",
            keys=_BERT,
            has_segments=False,
            has_pooler=False,
        ),
        Family(
            model_type="roc_bert",
            class_name="RoCBertModel",
            tokenizers=("RoCBert", "Bert"),
            fast_tokenizer="BertTokenizer",
            word_files=("word_shape.json", "word_pronunciation.json"),
            keys=_BERT
            | _SEGMENTS
            | {
                **dict.fromkeys(("shape_embed_dim", "pronunciation_embed_dim"), _N_DIMS),
                **dict.fromkeys(
                    ("shape_vocab_size", "pronunciation_vocab_size"), whole_number(1, 10_000_000)
                ),
                **dict.fromkeys(("enable_shape", "enable_pronunciation"), _READ),
                "concat_input": _JOINED,
            },
            has_segments=True,
            has_pooler=True,
        ),
        Family(
            model_type="rembert",
            class_name="RemBertModel",
            tokenizers=("RemBert",),
            keys=_BERT | _SEGMENTS | {"input_embedding_size": _N_DIMS},
            has_segments=True,
            has_pooler=True,
            projection="encoder.embedding_hidden_mapping_in",
        ),
        Family(
            model_type="modernbert",
            class_name="ModernBertModel",
            tokenizers=("Gemma",),
            keys=_SHARED
            | {
                "num_hidden_layers": _N_LAYERS,
                "hidden_size": _N_DIMS,
                "num_attention_heads": _N_HEADS,
                "intermediate_size": _N_INNER,
                "hidden_activation": ACTIVATION,
                "norm_eps": _EPSILON,
                **dict.fromkeys(("norm_bias", "attention_bias", "mlp_bias"), _FLAG),
                **dict.fromkeys(
                    ("embedding_dropout", "mlp_dropout", "attention_dropout"), _DROPOUT
                ),
                "local_attention": whole_number(2, 1_000_000),
                "layer_types": _LAYER_TYPES,
                "rope_parameters": _ROTATIONS,
            },
            old_keys={
                "global_attn_every_n_layers": whole_number(1, 256),
                "global_rope_theta": _THETA,
                "local_rope_theta": _THETA,
                "rope_scaling": _NONE,
            },
            has_segments=False,
            has_pooler=False,
            parts=Parts("layers", "attn.Wo", "mlp.Wo", places=_angles, final_norm="final_norm"),
            word_table="tok_embeddings",
            norm="norm",
            positions="rotation",
            has_positions=False,
            dropout="mlp_dropout",
            attention_dropout="attention_dropout",
        ),
        Family(
            model_type="deberta-v2",
            class_name="DebertaV2Model",
            tokenizers=("DebertaV2",),
            keys=_DEBERTA
            | {
                "position_buckets": whole_number(-1, 1_000_000),
                "share_att_key": _FLAG,
                "norm_rel_ebd": Rule("none or layer_norm", lambda v: v in ("none", "layer_norm")),
                "conv_kernel_size": Rule(
                    "an odd number from 1 to 99, or 0 for no convolution",
                    lambda v: type(v) is int and (v == 0 or (0 < v < 100 and v % 2 == 1)),
                ),
                "conv_groups": whole_number(1, 65_536),
                "conv_act": ACTIVATION,
            },
            has_segments=None,
            has_pooler=False,
            parts=replace(
                _LIKE_BERT, places=_distances, convolution="encoder.conv", takes_booleans=True
            ),
            positions="distances",
            has_positions=False,
        ),
        Family(
            model_type="deberta",
            class_name="DebertaModel",
            tokenizers=("Deberta",),
            keys=_DEBERTA | {"talking_head": _NO_MIXED_HEADS},
            has_segments=None,
            has_pooler=False,
            parts=replace(_LIKE_BERT, places=_distances, takes_booleans=True),
            positions="distances",
            has_positions=False,
        ),
        Family(
            model_type="eurobert",
            class_name="EuroBertModel",
            tokenizers=(),
            keys=_SHARED
            | _ROTATION
            | {
                "num_hidden_layers": _N_LAYERS,
                "hidden_size": _N_DIMS,
                "num_attention_heads": _N_HEADS,
                "num_key_value_heads": whole_number(1, 1024, or_none=True),
                "intermediate_size": _N_INNER,
                "hidden_act": ACTIVATION,
                "rms_norm_eps": _EPSILON,
                "attention_dropout": _DROPOUT,
                **dict.fromkeys(("attention_bias", "mlp_bias"), _FLAG),
            },
            old_keys=_OLD_ROTATION,
            has_segments=False,
            has_pooler=False,
            parts=Parts(
                "layers",
                "self_attn.o_proj",
                "mlp.down_proj",
                places=_angles,
                norm="RMSNorm",
                final_norm="norm",
            ),
            tables="",
            word_table="embed_tokens",
            norm=None,
            positions="rotation",
            has_positions=False,
            attention_dropout="attention_dropout",
            poolings=("bos", "mean", "late"),
        ),
        Family(
            model_type="nomic_bert",
            class_name="NomicBertModel",
            tokenizers=("Bert",),
            keys=_BERT | _SEGMENTS | _PAD_ROW | _ROTATION,
            other_keys={
                "n_layer": "num_hidden_layers",
                "n_embd": "hidden_size",
                "n_head": "num_attention_heads",
                "n_inner": "intermediate_size",
                "layer_norm_epsilon": "layer_norm_eps",
                "max_trained_positions": "max_position_embeddings",
                "rotary_emb_base": "rope_theta",
            },
            old_keys=_OLD_ROTATION | _NOMIC,
            has_segments=True,
            has_pooler=True,
            adds_pooler=True,
            publishes_pooler=False,
            parts=Parts("layers", "self_attn.o_proj", "mlp.down_proj", places=_angles),
            positions="rotation",
            has_positions=False,
        ),
        Family(
            model_type="gte",
            class_name="GteModel",
            tokenizers=("XLMRoberta", "Bert"),
            keys=_BERT | _PAD_ROW | _ROTATION | {"type_vocab_size": whole_number(0, 1024)},
            old_keys=_OLD_ROTATION,
            has_segments=None,
            has_pooler=True,
            adds_pooler=True,
            publishes_pooler=False,
            parts=Parts("layers", "self_attn.o_proj", "mlp.down_proj", places=_angles),
            positions="rotation",
            has_positions=False,
        ),
        Family(
            model_type="jina_embeddings_v3",
            class_name="JinaEmbeddingsV3Model",
            tokenizers=("XLMRoberta",),
            keys=_BERT | _PAD_ROW | _ROTATION | _SEGMENTS,
            old_keys=_OLD_ROTATION,
            has_segments=None,
            has_pooler=True,
            publishes_pooler=False,
            parts=Parts("layers", "self_attn.o_proj", "mlp.fc2", places=_angles),
            positions="rotation",
            has_positions=False,
        ),
        _gemma_family(
            model_type="gemma3_text",
            class_name="Gemma3TextModel",
            keys=_GEMMA
            | {
                "query_pre_attn_scalar": whole_number(1, 1_000_000),
                "attn_logit_softcapping": _NONE,
                "use_bidirectional_attention": _FLAG,
            },
            old_keys=_OLD_ROTATION
            | {"rope_local_base_freq": _THETA, "sliding_window_pattern": whole_number(1, 256)},
            parts=replace(_GEMMA_PARTS, adds_one=True),
            window_end=-1,
            sees_both_sides="use_bidirectional_attention",
        ),
        _gemma_family(
            model_type="embedding_gemma2_text",
            class_name="EmbeddingGemma2TextModel",
            keys=_GEMMA | {"hidden_size_per_layer_input": _N_DIMS, "embedding_dim": _N_DIMS},
            old_keys={
                "per_layer_config": Rule(
                    "null, or head_dim and num_key_value_heads by the number of a layer",
                    _is_by_layer,
                ),
                "global_head_dim": _N_DIMS,
                "num_global_key_value_heads": whole_number(1, 1024),
                "sliding_window_pattern": whole_number(1, 256),
            },
            parts=replace(_GEMMA_PARTS, layer_inputs="ple"),
            last_projection="embedding_projection",
            composite="embedding_gemma2",
        ),
    )
}
PROJECTIONS: Mapping[str, str] = {
    family.model_type: family.projection
    for family in FAMILIES.values()
    if family.projection is not None
}
"""The linear layer between the embedding layer's LayerNorm and layer 0, by family."""
