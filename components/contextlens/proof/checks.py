"""The checks that need no file: the model by hand, against transformers, and published numbers.

Each check is data. The page and `python -m contextlens.proof` run the same ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.content.language import say, table
from contextlens.core import registry
from contextlens.core.errors import CheckpointError, ContextlensError, RevisionError
from contextlens.core.files import checksum_of
from contextlens.core.registry import BUNDLED_SHA256
from contextlens.core.schema import ModelCard
from contextlens.core.service import EncoderService
from contextlens.core.settings import Settings
from contextlens.proof.plain import PlainNumbers, has_library, run_plain

__all__ = [
    "BERT_BASE",
    "TEXTS",
    "WEIGHTS",
    "Check",
    "Step",
    "Verdict",
    "folder_of",
    "ready_checks",
    "rows_of",
]

Verdict = Literal["agrees", "differs", "cannot_tell", "not_run"]
Step = Callable[[str, float], None]

BERT_BASE = "google-bert/bert-base-uncased"
WEIGHTS: Mapping[str, str] = {
    "all-MiniLM-L6-v2": BUNDLED_SHA256,
    "all-mpnet-base-v2": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "bert-base-uncased": "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3",
}
"""The SHA-256 of the published `model.safetensors`, by the model's name on the hub."""
TEXTS = (
    "I love my pet python",
    "I love coding in python",
    "This is an example sentence",
    "Each sentence is converted",
)
_ROUNDING = 1e-5
"""Float32 sums in another order differ by this much, as a share of the largest value."""
_PRINTED = 1e-4
"""Numbers that are printed with four decimals, and the rounding above."""
_COSINES = 1e-5
_N_PADDING = 13
_UNCASED_VOCABULARY = 30_522


@dataclass(frozen=True)
class Check:
    """One comparison of what is expected with what was measured.

    Attributes:
        key: its name in `english.toml`, under `proof.check`.
        expected, measured: both sides, in words or numbers.
        difference: between them; NaN if it could not be measured, None if there is no comparison.
        tolerance: the largest difference that is allowed.
        why: the reason why it was not run, or what to know about the numbers.
        is_blocked: True if it applies to this model, and something here kept it from being run.
    """

    key: str
    expected: str
    measured: str = ""
    difference: float | None = None
    tolerance: float = 0.0
    why: str = ""
    is_blocked: bool = False

    @property
    def name(self) -> str:
        """The check's name in plain words."""
        return str(table("proof.check")[self.key])

    @property
    def verdict(self) -> Verdict:
        """The comparison's result; a difference that is no number counts as one."""
        if self.difference is None:
            return "cannot_tell" if self.measured else "not_run"
        return "agrees" if self.difference <= self.tolerance else "differs"


def rows_of(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """Return the checks as rows of a table, or of a JSON file."""
    return [
        {
            "check": check.name,
            "verdict": say(f"proof.verdict.{check.verdict}"),
            "difference": _finite(check.difference),
            "allowed": check.tolerance,
            "expected": check.expected,
            "measured": check.measured,
            "note": check.why,
        }
        for check in checks
    ]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def folder_of(card: ModelCard, settings: Settings) -> Path | None:
    """Return a model's files if they are on this machine; those of a remote service are not."""
    if card.source == "bundled":
        return registry.bundled_folder()
    return registry.locate(card.id, settings).folder if settings.service_url is None else None


def ready_checks(
    service: EncoderService, card: ModelCard, folder: Path | None, on_step: Step
) -> tuple[Check, ...]:
    """Run all checks that need no file, on one model.

    Args:
        service: computes the model's numbers.
        card: the model's card.
        folder: the model's files on this machine; None if they are elsewhere.
        on_step: called with the running check's name and the share that is done.

    Raises:
        StoppedError: `on_step` says that nobody wants the checks any more.
    """
    model = _Model(service, card, folder)
    steps: list[tuple[str, Callable[[], Check]]] = [
        ("weights", model.weights),
        ("layer_0", model.layer_0),
        ("pooler", model.pooler),
        ("batch", model.batch),
        ("padding", model.padding),
        ("tokens", model.tokens),
        ("parameters", model.parameters),
        *((f"bert_{name}", step) for name, step in model.published()),
        ("transformers", lambda: model.states(on_step)),
        ("cosines", lambda: model.cosines(on_step)),
    ]
    checks = list[Check]()
    for i, (key, step) in enumerate(steps):
        on_step(table("proof.check")[key], i / len(steps))
        try:
            checks.append(step())
        except (RevisionError, CheckpointError) as exc:  # its files are not what they were
            checks.append(Check(key, say("proof.expected.same_files"), str(exc), math.nan))
        except ContextlensError as exc:
            checks.append(Check(key, "", why=exc.for_visitors, is_blocked=True))
    return tuple(checks)


@cache
def _facts() -> Any:
    source = resources.files("contextlens.proof").joinpath("bert_base_uncased.json")
    return json.loads(source.read_text(encoding="utf-8"))


def _apart(values: NDArray[Any], reference: NDArray[Any]) -> float:
    """The largest difference, as a share of the reference's largest value if that is above 1."""
    if values.shape != reference.shape:
        return math.nan
    scale = max(1.0, float(np.abs(reference).max(initial=0)))
    return float(np.abs(values.astype(float) - reference.astype(float)).max(initial=0)) / scale


class _Model:
    """One model and what several checks of it share."""

    def __init__(self, service: EncoderService, card: ModelCard, folder: Path | None) -> None:
        self._service = service.uncached
        self._card, self._folder = card, folder
        self._plain: PlainNumbers | str | None = None

    @property
    def _of(self) -> dict[str, Any]:
        return {"model": self._card.id, "checksum": self._card.checksum}

    def weights(self) -> Check:
        expected = WEIGHTS.get(self._card.title, "")
        if not expected:
            return Check("weights", "", why=say("proof.why.no_checksum"))
        path = None if self._folder is None else self._folder / "model.safetensors"
        found = checksum_of([path]) if path and path.is_file() else self._card.checksum
        return Check("weights", expected[:12], found[:12], float(found != expected))

    def _array(self, *ends: str) -> NDArray[np.float32] | None:
        """The model's first array whose name ends so; None if it has none."""
        names = [parameter.name for parameter in self._service.parameters(**self._of)]
        name = next((name for end in ends for name in names if name.endswith(end)), None)
        return None if name is None else self._service.matrix(name=name, **self._of)

    def layer_0(self) -> Check:
        (encoding,) = self._service.encode(texts=[TEXTS[0]], layers=[0], **self._of)
        parts = self._service.embedding_parts(text=TEXTS[0], **self._of)
        scale = self._array("embeddings.LayerNorm.weight")
        shift = self._array("embeddings.LayerNorm.bias")
        if parts.projected or parts.epsilon is None or scale is None or shift is None:
            return Check("layer_0", "", why=say("proof.why.projected"))
        total = self._service.word_rows(token_ids=encoding.token_ids, **self._of).astype(float)
        table = self._array("position_embeddings.weight")
        if parts.position is not None:
            total += parts.position if table is None else table[parts.position_ids]
        total += 0.0 if parts.segment is None else parts.segment
        spread = np.sqrt(total.var(axis=-1, keepdims=True) + parts.epsilon)
        by_hand = (total - total.mean(axis=-1, keepdims=True)) / spread * scale + shift
        return self._by_hand("layer_0", encoding.hidden[0], by_hand)

    def pooler(self) -> Check:
        state = self._card.provenance.pooler
        if state.state == "absent":
            return Check("pooler", "", why=state.reason)
        (encoding,) = self._service.encode(texts=[TEXTS[0]], **self._of)
        weight = self._array("pooler.dense.weight", "pooler.weight")
        bias = self._array("pooler.dense.bias", "pooler.bias")
        if weight is None or bias is None or encoding.pooler_output is None:
            return Check("pooler", "", why=say("proof.why.no_pooler"))
        by_hand = np.tanh(weight.astype(float) @ encoding.hidden[-1][0] + bias)
        return self._by_hand("pooler", encoding.pooler_output, by_hand)

    def batch(self) -> Check:
        together = self._service.encode(texts=TEXTS, **self._of)
        alone = [self._service.encode(texts=[text], **self._of)[0] for text in TEXTS]
        apart = [_apart(a.hidden, b.hidden) for a, b in zip(together, alone, strict=True)]
        return self._same("batch", max(apart))

    def padding(self) -> Check:
        (plain,) = self._service.encode(texts=[TEXTS[0]], **self._of)
        n = plain.n_tokens
        pad_to = min(n + _N_PADDING, self._card.max_length)
        (padded,) = self._service.encode(texts=[TEXTS[0]], pad_to=pad_to, **self._of)
        return self._same("padding", _apart(padded.hidden[:, :n], plain.hidden))

    def tokens(self) -> Check:
        card = self._card
        if card.family != "bert" or card.cased or card.vocabulary_size != _UNCASED_VOCABULARY:
            return Check("tokens", "", why=say("proof.why.other_vocabulary"))
        facts = _facts()["tokens"]
        found = self._service.tokenize(model=card.id, texts=[fact["text"] for fact in facts])
        pairs = zip(facts, found, strict=True)
        wrong = sum(fact["token_ids"] != tokens.token_ids.tolist() for fact, tokens in pairs)
        said = say("proof.expected.texts", n=len(facts) - wrong)
        return Check("tokens", say("proof.expected.texts", n=len(facts)), said, float(wrong))

    def parameters(self) -> Check:
        arrays = self._service.architecture(model=BERT_BASE, checksum=None).parameters
        sizes = [math.prod(a.shape) for a in arrays if a.tied_to is None]
        counted = {
            "arrays": len(sizes),
            "values": sum(sizes),
            "in_matrices": sum(math.prod(a.shape) for a in arrays if len(a.shape) == 2),
        }
        facts = _facts()["parameters"]
        apart = float(sum(abs(counted[name] - facts[name]) for name in facts))
        expected, found = (
            say("proof.expected.parameters", **numbers) for numbers in (facts, counted)
        )
        return Check("parameters", expected, found, apart)

    def published(self) -> Iterator[tuple[str, Callable[[], Check]]]:
        """The checks of bert-base-uncased's printed numbers; one that is not run, for others."""
        if self._card.title != BERT_BASE.split("/")[-1]:
            yield "base", lambda: Check("bert_base", "", why=say("proof.why.other_model"))
            return
        yield "rows", self._printed_rows
        yield "embeddings", self._printed_embeddings
        yield "states", lambda: self._printed_last("bert_states")
        yield "pooler", lambda: self._printed_last("bert_pooler")
        yield "cosines", self._printed_cosines

    def _printed_rows(self) -> Check:
        """The printed values of the tables' rows of words, positions and segments."""
        pairs = list[tuple[float, float]]()
        for fact in _facts()["word_rows"]:
            (tokens,) = self._service.tokenize(model=self._card.id, texts=[fact["text"]])
            words = self._service.word_rows(token_ids=tokens.token_ids, **self._of)
            pairs += _ends(words, fact["rows"])
        for name, fact in (("position", "position_rows"), ("token_type", "segment_row")):
            array = self._array(f"{name}_embeddings.weight")
            pairs += _ends(np.zeros((0, 0)) if array is None else array, _facts()[fact])
        return self._printed("bert_rows", pairs)

    def _printed_embeddings(self) -> Check:
        fact = _facts()["embedding_output"]
        (encoding,) = self._service.encode(texts=[fact["text"]], layers=[0], **self._of)
        return self._printed("bert_embeddings", _ends(encoding.hidden[0], fact["rows"]))

    def _printed_last(self, key: str) -> Check:
        """The printed values of the last layer's rows, or of the pooler's output."""
        pairs = list[tuple[float, float]]()
        for fact in _facts()["last_layer"]:
            texts, pad_to = [fact["text"]], fact["pad_to"]
            (encoding,) = self._service.encode(texts=texts, pad_to=pad_to, **self._of)
            if key == "bert_states":
                pairs += _ends(encoding.hidden[-1], fact["rows"])
            elif encoding.pooler_output is not None:
                pairs += zip(fact["pooler"], encoding.pooler_output.tolist(), strict=False)
        return self._printed(key, pairs or [(0.0, math.nan)])

    def _printed_cosines(self) -> Check:
        pairs = list[tuple[float, float]]()
        for one, i, two, j, cosine in _facts()["cosines"]:
            a, b = self._service.encode(texts=[one, two], **self._of)
            words = np.stack([a.hidden[-1][min(i, len(a.tokens) - 1)], b.hidden[-1][j]])
            pairs.append((cosine, float(_cosines(words)[0, 1])))
        expected, found = (", ".join(f"{v:.4f}" for v in side) for side in zip(*pairs, strict=True))
        apart = float(np.abs(np.subtract(*np.array(pairs).T)).max())
        return Check("bert_cosines", expected, found, apart, _COSINES)

    def states(self, on_step: Step) -> Check:
        numbers = self._numbers(on_step)
        if isinstance(numbers, str):
            return Check("transformers", "", why=numbers, is_blocked=True)
        own = self._service.encode(texts=TEXTS, **self._of)
        pairs = zip(own, numbers.states, strict=True)
        apart = max(_apart(encoding.hidden, states) for encoding, states in pairs)
        return self._same("transformers", apart)

    def cosines(self, on_step: Step) -> Check:
        numbers = self._numbers(on_step)
        if isinstance(numbers, str):
            return Check("cosines", "", why=numbers, is_blocked=True)
        if numbers.vectors is None:
            return Check("cosines", "", why=say("proof.why.no_library"), is_blocked=True)
        vectors = self.vectors(TEXTS)
        own, other = _cosines(vectors), _cosines(numbers.vectors)
        place = np.triu_indices(len(TEXTS), 1)
        expected, found = (", ".join(f"{v:.4f}" for v in side[place]) for side in (other, own))
        by = "library" if numbers.by_library else "by_hand"
        apart = float(np.abs(own - other).max())
        return Check("cosines", expected, found, apart, _COSINES, why=say(f"proof.by.{by}"))

    def vectors(self, texts: Sequence[str]) -> NDArray[Any]:
        if self._card.recipe is not None:
            made = self._service.sentence_vectors(texts=texts, **self._of)
            return np.stack([one.vector for one in made])
        last = self._service.encode(texts=texts, layers=[self._card.n_layers], **self._of)
        return np.stack([encoding.hidden[0].mean(axis=0) for encoding in last])

    def _numbers(self, on_step: Step) -> PlainNumbers | str:
        """Return the numbers of transformers alone, computed once, or why there are none."""
        if self._plain is None:
            if self._folder is None:
                self._plain = say("proof.why.elsewhere")
            else:
                library = self._card.recipe is not None and has_library()
                self._plain = run_plain(
                    self._card, TEXTS, library=library, folder=self._folder, on_step=on_step
                )
        return self._plain

    def _by_hand(self, key: str, values: NDArray[Any], by_hand: NDArray[Any]) -> Check:
        return Check(key, _first(by_hand), _first(values), _apart(values, by_hand), _ROUNDING)

    def _same(self, key: str, apart: float) -> Check:
        return Check(key, say("proof.expected.same"), f"{apart:.1e}", apart, _ROUNDING)

    def _printed(self, key: str, pairs: Sequence[tuple[float, float]]) -> Check:
        expected, found = np.array(pairs).T
        apart = float(np.abs(expected - found).max())
        return Check(key, _first(expected), _first(found), apart, _PRINTED)


def _ends(states: NDArray[Any], rows: Mapping[str, Any]) -> list[tuple[float, float]]:
    """The printed values of some rows, each with the measured one; NaN for a missing row."""
    pairs = list[tuple[float, float]]()
    for row, (head, tail) in rows.items():
        found = states[int(row)].tolist() if int(row) < len(states) else [math.nan] * len(head)
        pairs += zip((*head, *tail), (*found[: len(head)], *found[-len(tail) :]), strict=True)
    return pairs


def _first(values: NDArray[Any]) -> str:
    return ", ".join(f"{value:.4f}" for value in values.ravel()[:3].tolist()) + ", …"


def _cosines(vectors: NDArray[Any]) -> NDArray[np.float64]:
    units = vectors.astype(float)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    cosines: NDArray[np.float64] = units @ units.T
    return cosines
