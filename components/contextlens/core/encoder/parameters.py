"""Every parameter of a model by name: listed, and readable if it is small enough to send."""

from __future__ import annotations

from contextlens.core.encoder.loading import LoadedModel
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, Parameter

__all__ = ["MAX_VALUES", "list_parameters", "read_matrix"]

MAX_VALUES = 5_000_000
"""The largest parameter that `read_matrix` returns: 20 MB of float32."""


def list_parameters(loaded: LoadedModel) -> tuple[Parameter, ...]:
    """Every parameter in the model's own order; tied ones name the first holder."""
    holders: dict[int, str] = {}
    parameters = []
    for name, value in loaded.model.named_parameters(remove_duplicate=False):
        holder = holders.setdefault(value.data_ptr(), name)
        parameters.append(
            Parameter(
                name=name,
                shape=tuple(value.shape),
                dtype=str(value.dtype).removeprefix("torch."),
                n_bytes=value.numel() * value.element_size(),
                tied_to=None if holder == name else holder,
                trained=loaded.trained_parts.get(
                    name.split(".")[0], loaded.trained_parts["encoder"]
                ),
            )
        )
    return tuple(parameters)


def read_matrix(loaded: LoadedModel, name: str) -> FloatArray:
    """One parameter as a read-only float32 array.

    Raises:
        RequestError: there is no such parameter, or it has more than MAX_VALUES values.
    """
    value = dict(loaded.model.named_parameters(remove_duplicate=False)).get(name)
    if value is None:
        raise RequestError(
            f"{loaded.card.title} has no parameter {name[:100]!r}; `parameters` lists the names."
        )
    if value.numel() > MAX_VALUES:
        raise RequestError(
            f"{name} has {value.numel():,} values; at most {MAX_VALUES:,} are sent at once. "
            "Rows of the word table can be had from `word_rows`."
        )
    array: FloatArray = value.detach().float().cpu().numpy().copy()
    array.flags.writeable = False
    return array
