"""Speed of `service.encode`: many sentences, and one new sentence at a time."""

from __future__ import annotations

import os
from collections.abc import Callable
from statistics import fmean, median
from typing import Any

from contextlens.core import BUNDLED_ID, Settings, open_service
from contextlens.core.registry import bundled_folder
from contextlens.core.service import LocalService
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import WARM_UP, mixed_sentences, short_sentences
from tests.benchmarks.workers import interleaved, seconds, wait_for_quiet, workers

__all__ = [
    "bare_model",
    "encode_many",
    "encode_one",
    "set_up_loop",
    "set_up_sentence_transformers",
    "set_up_service",
    "stay_offline",
]

N_MANY = 1000
N_BLOCK = 25  # new sentences in one turn of encode_one
BLOCKS = 10


def encode_many(rounds: int) -> Outcome:
    """1,000 mixed sentences, all layers: the service, a loop, sentence-transformers, the floor.

    The loop takes longest, so one part of its sentences runs before each other turn.
    """
    took: dict[str, list[float]] = {name: [] for name in (LOOP, *BATCHED)}
    with workers({LOOP: (set_up_loop,), **BATCHED}) as ready:
        for seed in range(rounds):
            parts = []
            for part, name in enumerate(BATCHED):
                wait_for_quiet()
                parts.append(ready[LOOP](seed, part, len(BATCHED)))
                took[name].append(ready[name](seed))
            took[LOOP].append(sum(parts))

    def over(name: str, other: str) -> tuple[float, ...]:
        return tuple(a / b for a, b in zip(took[name], took[other], strict=True))

    ratios = [
        Ratio("notebook loop / service", over(LOOP, "service"), 3.0, "at least"),
        Ratio(
            "service / sentence-transformers' last layer",
            over("service", "sentence-transformers"),
            1.0,
        ),
        Ratio("service / its matrix products alone", over("service", FLOOR), 1.35),
        Ratio("service exact / fast", over("service", "service, fast")),
    ]
    return Outcome(ratios, {f"{name} s": values for name, values in took.items()}, _lengths())


def encode_one(rounds: int) -> Outcome:
    """One new short sentence at a time: the service with its cache, and the bare model call."""
    contenders = {"service": (set_up_one_service,), "bare call": (set_up_one_bare,)}
    given = interleaved(contenders, [(seed,) for seed in range(BLOCKS * rounds)])
    ratio = tuple(
        median(ours) / median(bare)
        for ours, bare in zip(given["service"], given["bare call"], strict=True)
    )
    raw = {f"{name} ms": [1e3 * s for block in given[name] for s in block] for name in given}
    return Outcome([Ratio("service, not remembered / bare call", ratio, 3.0)], raw)


def set_up_service(precision: str, n: int = N_MANY) -> Callable[[int], float]:
    service = LocalService(Settings())

    def run(seed: int) -> float:
        texts = mixed_sentences(n, seed)
        return seconds(lambda: service.encode(BUNDLED_ID, texts, precision=precision))

    service.encode(BUNDLED_ID, mixed_sentences(32, WARM_UP), precision=precision)
    return run


def set_up_loop(n: int = N_MANY) -> Callable[..., float]:
    call = _bare_call()

    def run(seed: int, part: int = 0, parts: int = 1) -> float:
        texts = mixed_sentences(n, seed)[part::parts]
        return seconds(lambda: [call(text) for text in texts])

    for text in mixed_sentences(32, WARM_UP):
        call(text)
    return run


def set_up_floor() -> Callable[[int], float]:
    """The float32 matrix products of the service's own batches, including attention's."""
    import torch

    from contextlens.core.encoder.running import batches

    service = LocalService(Settings())
    card = service.load(BUNDLED_ID)
    sizes = {p.name: p.shape for p in service.parameters(BUNDLED_ID)}
    layer = "encoder.layer.0"
    names = [f"attention.self.{part}" for part in ("query", "key", "value")]
    names += ["attention.output.dense", "intermediate.dense", "output.dense"]
    weights = [torch.randn(sizes[f"{layer}.{name}.weight"]).T for name in names]

    @torch.inference_mode()
    def multiply(lengths: list[int]) -> None:
        for batch in batches(lengths, same_length=False):
            n_texts, longest = len(batch), lengths[batch[0]]
            inputs = {w.shape[0]: torch.ones(n_texts * longest, w.shape[0]) for w in weights}
            outputs = [torch.empty(n_texts * longest, w.shape[1]) for w in weights]
            heads = torch.ones(n_texts * card.n_heads, longest, card.n_dims // card.n_heads)
            square, mixed = torch.bmm(heads, heads.mT), torch.empty_like(heads)
            for _ in range(card.n_layers):
                for weight, output in zip(weights, outputs, strict=True):
                    torch.mm(inputs[weight.shape[0]], weight, out=output)
                torch.bmm(heads, heads.mT, out=square)
                torch.bmm(square, heads, out=mixed)

    def run(seed: int) -> float:
        tokens = service.tokenize(BUNDLED_ID, mixed_sentences(N_MANY, seed))
        lengths = [t.n_tokens for t in tokens]
        return seconds(lambda: multiply(lengths))

    run(WARM_UP)
    return run


def set_up_sentence_transformers(n: int = N_MANY) -> Callable[[int], float]:
    stay_offline()
    from sentence_transformers import SentenceTransformer
    from transformers import logging

    logging.disable_progress_bar()
    model = SentenceTransformer(str(bundled_folder()), device="cpu")
    model.max_seq_length = 512

    def encode(texts: list[str]) -> object:
        return model.encode(
            texts, output_value="token_embeddings", batch_size=32, show_progress_bar=False
        )

    def run(seed: int) -> float:
        texts = mixed_sentences(n, seed)
        return seconds(lambda: encode(texts))

    encode(mixed_sentences(32, WARM_UP))
    return run


def set_up_one_service() -> Callable[[int], list[float]]:
    service = open_service(Settings())
    return _blocks(lambda text: service.encode(BUNDLED_ID, [text]))


def set_up_one_bare() -> Callable[[int], list[float]]:
    return _blocks(_bare_call())


def _blocks(call: Callable[[str], object]) -> Callable[[int], list[float]]:
    def run(seed: int) -> list[float]:
        return [seconds(lambda: call(text)) for text in short_sentences(N_BLOCK, seed)]  # noqa: B023

    run(WARM_UP)
    return run


def bare_model(**options: Any) -> tuple[Any, Any]:
    """Return the bundled model's tokenizer and network, as transformers gives them."""
    stay_offline()
    from transformers import AutoModel, AutoTokenizer, logging

    logging.disable_progress_bar()
    folder = bundled_folder()
    model = AutoModel.from_pretrained(folder, **options).eval()
    return AutoTokenizer.from_pretrained(folder), model


def _bare_call() -> Callable[[str], object]:
    """Return the call of a typical notebook: plain tokenizer and model, one text at a time."""
    import torch

    tokenizer, model = bare_model()

    def call(text: str) -> object:
        with torch.no_grad():
            return model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)

    return call


def stay_offline() -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"


def _lengths() -> dict[str, float]:
    """The lengths of the first round's sentences."""
    tokens = LocalService(Settings()).tokenize(BUNDLED_ID, mixed_sentences(N_MANY, 0))
    lengths = [t.n_tokens for t in tokens]
    return {
        "sentences": len(lengths),
        "tokens": sum(lengths),
        "mean_tokens": fmean(lengths),
        "longest": max(lengths),
        "of_100_or_more": sum(length >= 100 for length in lengths),
    }


LOOP = "notebook loop"
FLOOR = "matrix products"
BATCHED = {
    "service": (set_up_service, "exact"),
    "sentence-transformers": (set_up_sentence_transformers,),
    FLOOR: (set_up_floor,),
    "service, fast": (set_up_service, "fast"),
}
