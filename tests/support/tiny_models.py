"""Tiny random models of every supported family, written to disk for the real loader to load.

Each has 3 layers, 32 dimensions and 4 heads, and a real fast tokenizer of its family's kind,
made from one paragraph. All weights are random and no bias is zero, so that a step left out
shows in the numbers. `build` needs neither network nor cache.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AlbertTokenizer,
    AutoConfig,
    AutoModel,
    BertTokenizer,
    CamembertTokenizer,
    DebertaTokenizer,
    DebertaV2Tokenizer,
    DistilBertTokenizer,
    MPNetTokenizer,
    PreTrainedModel,
    PreTrainedTokenizer,
    PreTrainedTokenizerFast,
    RemBertTokenizer,
    RobertaTokenizer,
    RoCBertTokenizer,
    XLMRobertaTokenizer,
)

from contextlens.core import families

__all__ = ["ALL", "FAMILIES", "TYPICAL", "VARIANTS", "build", "family_of", "store_in"]

FAMILIES: tuple[str, ...] = tuple(families.FAMILIES)
TYPICAL: tuple[str, ...] = (
    *("bert", "distilbert", "roberta", "xlm-roberta", "mpnet", "albert", "electra", "modernbert"),
)
"""The families that differ in their tokenizer, or in what a page shows; the others are much like
one of them, so tests that are not about a network's parts leave them out."""
VARIANTS: tuple[str, ...] = (
    *("electra-same-size", "bert-without-pooler", "bert-sharded", "deberta-v2-xlarge"),
)
ALL: tuple[str, ...] = FAMILIES + VARIANTS

FROM_PADDING = {
    *("roberta", "xlm-roberta", "mpnet", "camembert", "data2vec-text", "xlm-roberta-xl"),
    *("roberta-prelayernorm", "xmod"),
}
"""Families whose positions start after the row for padding."""
TWO_SEGMENTS = {"bert", "albert", "electra", "megatron-bert", "ernie", "rembert", "nomic_bert"}
TWO_SEGMENTS |= {"roc_bert"}
"""Families that tell two texts apart; the others have no segment table or one of a single row."""
_DEBERTAS = ("deberta", "deberta-v2", "deberta-v2-xlarge")
NO_POSITIONS = {"modernbert", "deberta", "deberta-v2", "eurobert", "nomic_bert", "gte"}
_GEMMAS = ("gemma3_text", "embedding_gemma2_text")
NO_POSITIONS |= {"jina_embeddings_v3", *_GEMMAS}
NO_SEGMENT_TABLE = {"distilbert", "mpnet", "modernbert", "eurobert", "deberta", "deberta-v2"}
NO_SEGMENT_TABLE |= {*_GEMMAS, "bert-generation"}
NO_POOLER = {"distilbert", "electra", "modernbert", "eurobert", "nomic_bert", "gte", *_DEBERTAS}
NO_POOLER |= {*_GEMMAS, "bert-generation"}
TEXT_HEAD_ALONE = {"gemma3_text"}
"""Families whose only head in transformers, among those read here, is that for labels of texts."""
NO_HEAD = {"bert-generation", "embedding_gemma2_text"}
"""Families that have none of the heads that are read here."""
MASKED = tuple(family for family in FAMILIES if family not in TEXT_HEAD_ALONE | NO_HEAD)
"""Families with a head for hidden words."""
PROJECTED = {"albert", "electra", "rembert"}
"""Families with a linear layer between the embedding layer's LayerNorm and layer 0, built here."""
NORMS = {
    "modernbert": "norm",
    **dict.fromkeys(("megatron-bert", "xlm-roberta-xl", "eurobert", *_GEMMAS), None),
}
"""The embedding layer's LayerNorm, where it is not called so."""
CASED = {
    *_GEMMAS,
    "gte",
    "jina_embeddings_v3",
    "xlm-roberta",
    "camembert",
    "xlm-roberta-xl",
    "xmod",
    "bert-generation",
    "rembert",
    "deberta-v2",
    "deberta-v2-xlarge",
}
"""Families besides `BYTES` whose tokenizer tells capitals apart, here."""
BYTES = {"roberta", "data2vec-text", "roberta-prelayernorm", "modernbert", "deberta", "eurobert"}
"""Families whose tokenizer cuts bytes, here."""

N_LAYERS, N_DIMS, N_HEADS, MAX_LENGTH = 3, 32, 4, 64
N_SHAPES, N_SOUNDS = 50, 20

TEXT = """
A python slept under the warm lamp while its owner wrote a program in Python. Programming and
sleeping are both learned slowly. The bank of the river was green; the bank in town lends money to
anyone who asks kindly. She is an engineer and works by the sea, he is a teacher who loves snakes,
and they have never agreed about the weather. Yesterday's rain was unbelievable: seventeen buckets,
three umbrellas, and a very unhappy cat! Is it not strange that words mean what their neighbours
make of them? One word, many meanings; one meaning, many words. We walked, talked, and were walking
and talking again before the evening was over. The teacher's teachings were taught to the teachers.
"""
CHARACTERS = string.ascii_lowercase + string.digits + string.punctuation + "éüñß你好"


def build(family: str, folder: Path, *, seed: int = 0, head: str = "", **changes: Any) -> Path:
    """The folder, with a random model of a family (or variant) and its tokenizer saved in it.

    Args:
        family: one of `ALL`; or "modernbert-masked-words", with files as ModernBERT's authors
            published them; or "modernbert-characters", with a tokenizer like mmBERT's.
        folder: created where missing.
        seed: of the weights.
        head: "MaskedLM", "PreTraining", "SequenceClassification" or "TokenClassification" for a
            checkpoint with the heads of that class.
        **changes: values of the config that differ from the tiny ones.
    """
    tokenizer = (_TOKENIZERS.get(family) or _TOKENIZERS[family_of(family)])()
    settings = {**_sizes(family), "vocab_size": len(tokenizer), **changes}
    config = AutoConfig.for_model(family_of(family), **settings)
    # A checkpoint of the masked-word model holds the encoder under a prefix, and no pooler.
    masked = {"bert-without-pooler", "modernbert-masked-words"}
    head = "MaskedLM" if family in masked else head
    kind = getattr(transformers, f"AutoModelFor{head}") if head else AutoModel
    model = kind.from_config(config)
    _randomize(model, seed)
    model.save_pretrained(folder, max_shard_size=100_000 if family == "bert-sharded" else "1GB")
    tokenizer.save_pretrained(folder)
    if family == "modernbert-masked-words":
        _publish_as_in_2024(folder)
    return folder


def _publish_as_in_2024(folder: Path) -> None:
    """Write config.json and tokenizer_config.json as ModernBERT's authors published them."""
    for name, old, new in (
        ("config.json", ("layer_types", "rope_parameters", "dtype"), _CONFIG_OF_2024),
        ("tokenizer_config.json", ("backend", "is_local"), _TOKENIZER_OF_2024),
    ):
        path = folder / name
        content = json.loads(path.read_text(encoding="utf-8"))
        content = {key: value for key, value in content.items() if key not in old} | new
        path.write_text(json.dumps(content), encoding="utf-8")


_CONFIG_OF_2024 = {
    "architectures": ["ModernBertForMaskedLM"],
    "global_attn_every_n_layers": 2,
    "global_rope_theta": 160000.0,
    "local_rope_theta": 5000.0,
    "classifier_pooling": "mean",
    "deterministic_flash_attn": False,
    "gradient_checkpointing": False,
    "layer_norm_eps": 1e-05,
    "position_embedding_type": "sans_pos",
    "reference_compile": True,
    "repad_logits_with_grad": False,
    "sparse_pred_ignore_index": -100,
    "torch_dtype": "float32",
    "transformers_version": "4.47.0.dev0",
}
_TOKENIZER_OF_2024 = {"tokenizer_class": "PreTrainedTokenizerFast", "extra_special_tokens": {}}


def store_in(dtype: torch.dtype, folder: Path) -> Path:
    """The folder of a model, with its weights stored in another data type."""
    AutoModel.from_pretrained(folder, dtype=dtype).save_pretrained(folder)
    return folder


def family_of(name: str) -> str:
    """The family of a family or variant."""
    return max((one for one in FAMILIES if name.startswith(one)), key=len)


def _sizes(family: str) -> dict[str, Any]:
    if family == "distilbert":
        return {
            "n_layers": N_LAYERS,
            "dim": N_DIMS,
            "n_heads": N_HEADS,
            "hidden_dim": 2 * N_DIMS,
            "max_position_embeddings": MAX_LENGTH,
        }
    sizes = {
        "num_hidden_layers": N_LAYERS,
        "hidden_size": N_DIMS,
        "num_attention_heads": N_HEADS,
        "intermediate_size": 2 * N_DIMS,
        # Some families count positions from padding_idx + 1 = 2: the first rows are never used.
        "max_position_embeddings": MAX_LENGTH
        + 2 * families.FAMILIES[family_of(family)].skips_positions,
    }
    if family_of(family) == "modernbert":  # a token of layers 2 and 3 sees 4 to either side
        sizes |= {"local_attention": 8, "pad_token_id": 1}
    if family_of(family) in {"albert", "electra"}:
        sizes["embedding_size"] = N_DIMS if family == "electra-same-size" else N_DIMS // 2
    if family == "rembert":
        sizes["input_embedding_size"] = N_DIMS // 2
    if family == "gte":
        sizes |= {"pad_token_id": 1}
    if family == "eurobert":  # two heads share a key and a value
        sizes |= {"num_key_value_heads": N_HEADS // 2, "pad_token_id": 0}
    if family == "gemma3_text":  # heads are wider than their share; layers 2 and 3 see 8 positions
        sizes |= {"num_key_value_heads": N_HEADS // 2, "head_dim": N_DIMS // 2, "pad_token_id": 0}
        sizes |= {"use_bidirectional_attention": True, "sliding_window": 16}
        sizes |= {"rms_norm_eps": 1e-2}  # with less, the norm of padding's 0 is a jump
        sizes |= {"query_pre_attn_scalar": 24, "hidden_activation": "gelu_pytorch_tanh"}
        sizes |= {"layer_types": ["full_attention", *["sliding_attention"] * (N_LAYERS - 1)]}
    if family == "embedding_gemma2_text":  # layer 2 is local, with smaller heads
        sizes |= {"num_key_value_heads": N_HEADS // 2, "head_dim": N_DIMS // 2, "pad_token_id": 0}
        sizes |= {"global_head_dim": 24, "num_global_key_value_heads": 1, "sliding_window": 8}
        sizes |= {"rms_norm_eps": 1e-2, "hidden_size_per_layer_input": 12, "embedding_dim": 24}
        sizes |= {"layer_types": [f"{one}_attention" for one in ("full", "sliding", "full")]}
    if family.startswith("deberta"):  # as published, also where it is the default
        sizes |= {"relative_attention": True, "max_relative_positions": -1, "talking_head": False}
        sizes |= {"pos_att_type": "c2p|p2c", "position_biased_input": False, "type_vocab_size": 0}
    if family_of(family) == "deberta-v2":  # 8 buckets: distances from 4 on share some
        sizes |= {"position_buckets": 8, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
        sizes |= {"conv_kernel_size": 0, "conv_groups": 1, "conv_act": "gelu"}
    if family == "deberta-v2-xlarge":  # as the large ones of version 2, and with tables
        sizes |= {"share_att_key": False, "conv_kernel_size": 3, "position_biased_input": True}
        sizes |= {"type_vocab_size": 2}
    if family in FROM_PADDING - {"mpnet"}:
        sizes["type_vocab_size"] = 1
    if family == "xmod":
        sizes |= {"languages": ["en_XX", "de_DE", "sr-Latn"], "default_language": "de_DE"}
        sizes |= {"adapter_reduction_factor": 4}
    if family == "roc_bert":
        sizes |= {"shape_vocab_size": N_SHAPES, "pronunciation_vocab_size": N_SOUNDS}
        sizes |= {"shape_embed_dim": N_DIMS // 2, "pronunciation_embed_dim": N_DIMS // 4}
    return sizes


@torch.no_grad()
def _randomize(model: PreTrainedModel, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        is_scale = parameter.ndim == 1 and name.endswith("weight")  # a LayerNorm's
        centre = 1.0 if is_scale else 0.0
        spread = 0.5 if "embeddings." in name and parameter.ndim == 2 else 0.2
        values = torch.randn(parameter.shape, generator=generator)
        parameter.copy_(centre + spread * values)
    for name, buffer in model.named_buffers():
        if name.endswith("layer_scalar"):
            buffer.fill_(0.9)
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding) and module.padding_idx is not None:
            module.weight[module.padding_idx] = 0.0


def _wordpieces(specials: list[str], last: tuple[str, ...] = ()) -> dict[str, int]:
    words = Counter(re.findall(r"[a-z]+", TEXT.lower()))
    endings = Counter(
        f"##{word[-n:]}" for word in words for n in range(2, min(7, len(word))) if len(word) > n
    )
    alphabet = [*CHARACTERS, *(f"##{c}" for c in CHARACTERS)]
    pieces = dict.fromkeys([*specials, *alphabet, *_frequent(words, 60), *_frequent(endings, 90)])
    return {piece: row for row, piece in enumerate([*pieces, *last])}


def _byte_pairs(specials: list[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=specials,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    state = json.loads(tokenizer.to_str())["model"]
    return state["vocab"], [tuple(merge) for merge in state["merges"]]


def _unigrams(specials: list[str], text: str) -> list[tuple[str, float]]:
    words = [f"▁{word}" for word in re.findall(r"\w+", text)]
    parts = Counter(
        word[start:end]
        for word in words
        for start in range(len(word))
        for end in range(start + 2, min(start + 8, len(word)) + 1)
    )
    weights = {**dict.fromkeys(["▁", *CHARACTERS, *string.ascii_uppercase], 0.1), **parts}
    chosen = [*_frequent(parts, 200), *(piece for piece in weights if len(piece) == 1)]
    total = sum(parts.values())
    scores = [(piece, math.log(len(piece) * weights[piece] / total)) for piece in chosen]
    return [*((special, 0.0) for special in specials), *scores]


def _frequent(counts: Counter[str], n: int) -> list[str]:
    """The n most frequent, ties in alphabetical order (the trainers' own order is not fixed)."""
    return sorted(counts, key=lambda piece: (-counts[piece], piece))[:n]


def _bert_pieces() -> dict[str, int]:
    return _wordpieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])


def _bert() -> PreTrainedTokenizerFast:
    return BertTokenizer(vocab=_bert_pieces(), model_max_length=MAX_LENGTH)


def _roc_bert() -> PreTrainedTokenizer:
    """BERT's; a third of its tokens have no shape of their own, and a fourth no sound."""
    pieces = _bert_pieces()
    with TemporaryDirectory() as made:
        files = [Path(made) / name for name in ("vocab.txt", "shape.json", "sound.json")]
        files[0].write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
        for path, n, step in zip(files[1:], (N_SHAPES, N_SOUNDS), (3, 4), strict=True):
            known = {piece: (7 * row + 2) % n for piece, row in pieces.items() if row % step}
            path.write_text(json.dumps(known), encoding="utf-8")
        return RoCBertTokenizer(*map(str, files), model_max_length=MAX_LENGTH)


def _distilbert() -> PreTrainedTokenizerFast:
    return DistilBertTokenizer(vocab=_bert_pieces(), model_max_length=MAX_LENGTH)


def _mpnet() -> PreTrainedTokenizerFast:
    pieces = _wordpieces(["<s>", "<pad>", "</s>", "[UNK]"], last=("<mask>",))
    return MPNetTokenizer(vocab=pieces, model_max_length=MAX_LENGTH)


def _roberta() -> PreTrainedTokenizerFast:
    pieces, merges = _byte_pairs(["<s>", "<pad>", "</s>", "<unk>"])
    pieces["<mask>"] = len(pieces)
    return RobertaTokenizer(vocab=pieces, merges=merges, model_max_length=MAX_LENGTH)


def _modernbert() -> PreTrainedTokenizerFast:
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "pad", "cls", "sep", "mask")}
    return _byte_level("[CLS]", "[SEP]", names)


def _eurobert() -> PreTrainedTokenizerFast:
    first, last = "<|begin_of_text|>", "<|end_of_text|>"
    names = {"pad_token": "<|pad|>", "mask_token": "<|mask|>"}
    return _byte_level(first, last, {**names, "bos_token": first, "eos_token": last})


def _byte_level(first: str, last: str, names: dict[str, str]) -> PreTrainedTokenizerFast:
    """BPE of bytes without a class of its own, with special tokens around each text."""
    pieces, merges = _byte_pairs(list(names.values()))
    tokenizer = Tokenizer(models.BPE(vocab=pieces, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(name, pieces[name]) for name in (first, last)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=MAX_LENGTH,
        model_input_names=["input_ids", "attention_mask"],
        **names,
    )


def _gemma() -> PreTrainedTokenizerFast:
    return _characters(least=1)


def _characters(*, least: int = 2) -> PreTrainedTokenizerFast:
    """BPE that joins characters, with bytes for those that it lacks, like Gemma's and mmBERT's."""
    unmerged = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", *(f"<0x{i:02X}>" for i in range(256))]
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trainer = trainers.BpeTrainer(
        vocab_size=640, special_tokens=unmerged, show_progress=False, min_frequency=least
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence(steps)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>",
        pair="<bos> $A <eos> $B:1 <eos>:1",
        special_tokens=[("<bos>", 2), ("<eos>", 1)],
    )
    names = {"unk": "unk", "pad": "pad", "cls": "bos", "sep": "eos", "mask": "mask"}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=MAX_LENGTH,
        **{f"{name}_token": f"<{token}>" for name, token in names.items()},
    )


def _xlm_roberta() -> PreTrainedTokenizerFast:
    # Like many checkpoints in the wild, this tokenizer does not say how long a text may be.
    pieces = [*_unigrams(["<s>", "<pad>", "</s>", "<unk>"], TEXT), ("<mask>", 0.0)]
    return XLMRobertaTokenizer(vocab=pieces)


def _albert() -> PreTrainedTokenizerFast:
    specials = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    pieces = _unigrams(specials, TEXT.lower())
    return AlbertTokenizer(vocab=pieces, model_max_length=MAX_LENGTH)


def _unigrams_alone() -> PreTrainedTokenizerFast:
    """Adds no special token to a text, as BertGeneration's does not."""
    tokenizer = Tokenizer(models.Unigram(_unigrams(["<pad>", "</s>", "<s>", "<unk>"], TEXT), 3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=MAX_LENGTH,
        model_input_names=["input_ids", "attention_mask"],
        **names,
    )


def _camembert() -> PreTrainedTokenizerFast:
    specials = ["<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<s>", "</s>"]
    return CamembertTokenizer(vocab=[*_unigrams(specials, TEXT), ("<mask>", 0.0)])


def _rembert() -> PreTrainedTokenizerFast:
    pieces = _unigrams(["<pad>", "[SEP]", "<unk>", "[CLS]", "[MASK]"], TEXT)
    return RemBertTokenizer(vocab=pieces, model_max_length=MAX_LENGTH)


def _deberta_v2() -> PreTrainedTokenizerFast:
    specials = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    pieces = [*_unigrams(specials, TEXT), ("[MASK]", 0.0)]
    return DebertaV2Tokenizer(vocab=pieces, model_max_length=MAX_LENGTH)


def _deberta() -> PreTrainedTokenizerFast:
    pieces, merges = _byte_pairs(["[PAD]", "[CLS]", "[SEP]", "[UNK]"])
    pieces["[MASK]"] = len(pieces)
    return DebertaTokenizer(vocab=pieces, merges=merges, model_max_length=MAX_LENGTH)


_TOKENIZERS = {
    "bert": _bert,
    "distilbert": _distilbert,
    "roberta": _roberta,
    "xlm-roberta": _xlm_roberta,
    "mpnet": _mpnet,
    "albert": _albert,
    "electra": _bert,
    "modernbert": _modernbert,
    "modernbert-characters": _characters,
    "camembert": _camembert,
    "data2vec-text": _roberta,
    "xlm-roberta-xl": _xlm_roberta,
    "roberta-prelayernorm": _roberta,
    "megatron-bert": _bert,
    "ernie": _bert,
    "bert-generation": _unigrams_alone,
    "roc_bert": _roc_bert,
    "xmod": _xlm_roberta,
    "rembert": _rembert,
    "deberta-v2": _deberta_v2,
    "deberta": _deberta,
    "eurobert": _eurobert,
    "nomic_bert": _bert,
    "gte": _xlm_roberta,
    "jina_embeddings_v3": _xlm_roberta,
    "gemma3_text": _gemma,
    "embedding_gemma2_text": _gemma,
}
