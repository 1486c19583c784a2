"""The numbers inside one array, measured once and kept within a bound."""

from __future__ import annotations

from dataclasses import dataclass

from components.core import EncoderService
from components.core.byte_cache import remembered
from components.core.schema import Parameter
from components.features.anatomy.compute.anatomy import AnatomyView
from components.features.anatomy.measures.parameters import n_values
from components.features.anatomy.measures.weights import (
    WeightStatistics,
    evenly_spaced,
    weight_statistics,
)

__all__ = ["Measured", "by_size", "measure", "summary"]

_MAX_SAMPLE = 2_000_000  # values of a word table that are measured: a second of work at most


@dataclass(frozen=True, eq=False)
class Measured:
    """One array's statistics; `step` tells which rows were measured: every one, or every nth."""

    parameter: Parameter
    stats: WeightStatistics
    step: int

    @property
    def n_rows(self) -> int | None:
        """Rows of the whole array where only a sample was measured."""
        return self.parameter.shape[0] if self.step > 1 else None


def by_size(anatomy: AnatomyView) -> list[Parameter]:
    """The chosen part's arrays, the largest first."""
    return sorted(anatomy.chosen.parameters, key=n_values, reverse=True)


def measure(anatomy: AnatomyView, parameter: Parameter, service: EncoderService) -> Measured:
    """The statistics of one array; of a word table too large to send, of rows sampled evenly.

    Raises:
        RequestError: another array of more values than the service gives at once.
    """
    model, checksum = anatomy.architecture.id, anatomy.passport.checksum
    return remembered(
        "weight statistics",
        model,
        checksum,
        parameter,
        compute=lambda: _measure(model, parameter, service),
    )


def summary(measured: Measured) -> dict[str, str | int | float]:
    """One array's row in the table."""
    stats = measured.stats
    spectrum = (
        {"largest singular value": stats.singular[0], "smallest": stats.singular[-1]}
        if stats.singular.size
        else {}
    )
    return {
        "measured": " × ".join(map(str, stats.shape)),
        "mean": stats.mean,
        "standard deviation": stats.std,
        "minimum": stats.low,
        "maximum": stats.high,
        "Frobenius norm": stats.norm,
        **spectrum,
        "outside the chart": stats.n_outside,
    }


def _measure(model: str, parameter: Parameter, service: EncoderService) -> Measured:
    step = 1
    if parameter.name.endswith("word_embeddings.weight") and n_values(parameter) > _MAX_SAMPLE:
        rows = evenly_spaced(parameter.shape[0], parameter.shape[1], _MAX_SAMPLE)
        array, step = service.word_rows(model, rows), int(rows[1] - rows[0])
    else:
        array = service.matrix(model, parameter.name)
    return Measured(parameter, weight_statistics(array), step)
