"""The checks as background work, kept by model and revision."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core import EncoderService, ModelCard, Settings
from contextlens.core.schema import Passport
from contextlens.jobs import FORGOTTEN_SECONDS, JobKind, Report, Task
from contextlens.proof.benchmarks import Benchmark, Rows, measure
from contextlens.proof.checks import TEXTS, Check, folder_of, ready_checks, rows_of

_START_SECONDS, _BYTES_A_SECOND = 8.0, 5e7  # of a process that loads transformers and a model
_LETTERS = 4.5  # in a token of English
_CHECKS = JobKind(
    "checks",
    n_at_once=1,
    large_seconds=20.0,
    n_waiting=50,
    n_waiting_each=4,
    forgotten_seconds=FORGOTTEN_SECONDS,
    first_words="Starting the checks",
)


@dataclass(frozen=True, eq=False)
class ProofResult:
    """The checks of one model, and the passport of their numbers."""

    checks: tuple[Check, ...]
    passport: Passport

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return 1_000 * len(self.checks)


def ready_task(card: ModelCard, service: EncoderService, settings: Settings) -> Task:
    """A task that runs the checks that need no file."""

    def work(report: Report) -> ProofResult:
        folder = folder_of(card, settings)
        return ProofResult(ready_checks(service, card, folder, report), _passport(card, service))

    seconds = _START_SECONDS + card.memory_bytes / _BYTES_A_SECOND
    return Task(("proof", card.id, card.checksum), _CHECKS, work, size=seconds)


def benchmark_seconds(rows: Rows, token_seconds: float) -> float:
    """The expected duration of a benchmark, from the duration of one token."""
    distinct = {text for texts in rows.texts for text in texts}
    return sum(len(text) / _LETTERS + 2 for text in distinct) * token_seconds


def benchmark_task(
    benchmark: Benchmark, rows: Rows, card: ModelCard, service: EncoderService, *, seconds: float
) -> Task:
    """A task that computes a benchmark's figure."""

    def work(report: Report) -> ProofResult:
        check = measure(benchmark, rows, service, card, report)
        return ProofResult((check,), _passport(card, service))

    key = ("proof", benchmark.key, rows.key, card.id, card.checksum)
    return Task(key, _CHECKS, work, size=seconds)


def _passport(card: ModelCard, service: EncoderService) -> Passport:
    (encoding,) = service.encode(card.id, TEXTS[:1], checksum=card.checksum)
    return encoding.passport


def as_json(result: ProofResult) -> bytes:
    """Return the checks and their passport as JSON."""
    content = {"passport": result.passport.as_dict(), "checks": rows_of(result.checks)}
    return json.dumps(content, indent=2, ensure_ascii=False).encode()


def arrays(result: ProofResult) -> Mapping[str, NDArray[Any]]:
    """Return the differences and the allowed ones as arrays; NaN for a check that was not run."""
    checks = result.checks
    differences = [np.nan if c.difference is None else c.difference for c in checks]
    return {
        "checks": np.array([check.name for check in checks]),
        "differences": np.array(differences),
        "allowed": np.array([check.tolerance for check in checks]),
    }
