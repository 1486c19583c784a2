"""Runs of the model with something changed, of which only the compared vector is kept.

The states of all tokens in hundreds of runs would take gigabytes; so the runs are made some at a
time, and each is reduced to its vector before the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from components.core import EncoderService, ModelCard
from components.core.schema import Counted, Intervention, Tokens
from components.features.why.measures.target import Doubles, vector_of

__all__ = ["Run", "vectors_of"]

_AT_ONCE_BYTES = 1 << 26
"""Hidden states held at a time."""


@dataclass(frozen=True)
class Run:
    """One run of the model.

    Attributes:
        text, pair: what it reads.
        weigh: from the text's tokens, (n_tokens,) what each of them counts.
        interventions: what is changed inside.
    """

    text: str
    pair: str | None
    weigh: Callable[[Tokens], Doubles]
    interventions: tuple[Intervention, ...] = ()


def vectors_of(
    runs: Sequence[Run],
    service: EncoderService,
    card: ModelCard,
    *,
    layer: int,
    baseline: Sequence[str] = (),
    progress: Counted | None = None,
) -> list[Doubles]:
    """The vector that each run gives at a layer, in their order.

    Args:
        runs: what is to be run.
        service: runs the model; better without a cache.
        card: of the model.
        layer: whose states are weighed.
        baseline: texts over whose tokens parts are averaged that are switched to their mean.
        progress: told how many runs are done; what it raises ends the work.
    """
    found: list[Doubles] = []
    for some in _portions(runs, service, card):
        done = len(found)
        encodings = service.intervene(
            card.id,
            [run.text for run in some],
            [run.interventions for run in some],
            pairs=[run.pair for run in some],
            layers=[layer],
            baseline=baseline,
            progress=None if progress is None else _from(done, len(runs), progress),
        )
        found += [
            vector_of(encoding.layer(layer), run.weigh(encoding))
            for run, encoding in zip(some, encodings, strict=True)
        ]
    return found


def _from(n_before: int, n: int, progress: Counted) -> Counted:
    return lambda done, _: progress(n_before + done, n)


def _portions(
    runs: Sequence[Run], service: EncoderService, card: ModelCard
) -> Iterator[Sequence[Run]]:
    """The runs in order, so many at a time as may be held."""
    texts = {(run.text, run.pair): 0 for run in runs}
    tokens = service.tokenize(card.id, [t for t, _ in texts], pairs=[p for _, p in texts])
    texts = {key: own.n_tokens for key, own in zip(texts, tokens, strict=True)}
    most = max(1, _AT_ONCE_BYTES // (4 * card.n_dims))
    start, held = 0, 0
    for i, run in enumerate(runs):
        n_tokens = texts[run.text, run.pair]
        if i > start and held + n_tokens > most:
            yield runs[start:i]
            start, held = i, 0
        held += n_tokens
    if start < len(runs):
        yield runs[start:]
