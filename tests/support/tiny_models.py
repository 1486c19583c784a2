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
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    AlbertTokenizer,
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    BertTokenizer,
    DistilBertTokenizer,
    MPNetTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaTokenizer,
    XLMRobertaTokenizer,
)

__all__ = ["ALL", "FAMILIES", "VARIANTS", "build", "family_of", "store_in"]

FAMILIES: tuple[str, ...] = (
    *("bert", "distilbert", "roberta", "xlm-roberta", "mpnet", "albert", "electra"),
)
VARIANTS: tuple[str, ...] = ("electra-same-size", "bert-without-pooler", "bert-sharded")
ALL: tuple[str, ...] = FAMILIES + VARIANTS

N_LAYERS, N_DIMS, N_HEADS, MAX_LENGTH = 3, 32, 4, 64

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
        family: one of `ALL`.
        folder: created where missing.
        seed: of the weights.
        head: "MaskedLM" for a checkpoint with the head that predicts hidden words.
        **changes: values of the config that differ from the tiny ones.
    """
    tokenizer = _TOKENIZERS[family_of(family)]()
    settings = {**_sizes(family), "vocab_size": len(tokenizer), **changes}
    config = AutoConfig.for_model(family_of(family), **settings)
    # A checkpoint of the masked-word model holds the encoder under a prefix, and no pooler.
    is_masked = head == "MaskedLM" or family == "bert-without-pooler"
    kind = AutoModelForMaskedLM if is_masked else AutoModel
    model = kind.from_config(config)
    _randomize(model, seed)
    model.save_pretrained(folder, max_shard_size=100_000 if family == "bert-sharded" else "1GB")
    tokenizer.save_pretrained(folder)
    return folder


def store_in(dtype: torch.dtype, folder: Path) -> Path:
    """The folder of a model, with its weights stored in another data type."""
    AutoModel.from_pretrained(folder, dtype=dtype).save_pretrained(folder)
    return folder


def family_of(name: str) -> str:
    """The family of a family or variant."""
    return name if name in FAMILIES else name.split("-")[0]


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
        # Positions of these three count from padding_idx + 1 = 2: the first rows are never used.
        "max_position_embeddings": MAX_LENGTH + 2 * (family in {"roberta", "xlm-roberta", "mpnet"}),
    }
    if family_of(family) in {"albert", "electra"}:
        sizes["embedding_size"] = N_DIMS if family == "electra-same-size" else N_DIMS // 2
    if family in {"roberta", "xlm-roberta"}:
        sizes["type_vocab_size"] = 1
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


def _distilbert() -> PreTrainedTokenizerFast:
    return DistilBertTokenizer(vocab=_bert_pieces(), model_max_length=MAX_LENGTH)


def _mpnet() -> PreTrainedTokenizerFast:
    pieces = _wordpieces(["<s>", "<pad>", "</s>", "[UNK]"], last=("<mask>",))
    return MPNetTokenizer(vocab=pieces, model_max_length=MAX_LENGTH)


def _roberta() -> PreTrainedTokenizerFast:
    pieces, merges = _byte_pairs(["<s>", "<pad>", "</s>", "<unk>"])
    pieces["<mask>"] = len(pieces)
    return RobertaTokenizer(vocab=pieces, merges=merges, model_max_length=MAX_LENGTH)


def _xlm_roberta() -> PreTrainedTokenizerFast:
    # Like many checkpoints in the wild, this tokenizer does not say how long a text may be.
    pieces = [*_unigrams(["<s>", "<pad>", "</s>", "<unk>"], TEXT), ("<mask>", 0.0)]
    return XLMRobertaTokenizer(vocab=pieces)


def _albert() -> PreTrainedTokenizerFast:
    specials = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    pieces = _unigrams(specials, TEXT.lower())
    return AlbertTokenizer(vocab=pieces, model_max_length=MAX_LENGTH)


_TOKENIZERS = {
    "bert": _bert,
    "distilbert": _distilbert,
    "roberta": _roberta,
    "xlm-roberta": _xlm_roberta,
    "mpnet": _mpnet,
    "albert": _albert,
    "electra": _bert,
}
