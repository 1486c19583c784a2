"""Values of a Parquet file's columns as text, an Arrow array at a time, within bounds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from components.corpus.json_lines import as_text

__all__ = ["NotTextError", "as_texts", "has_bytes"]

_BATCH_BYTES = 200_000_000  # of a column with nested values, in one batch


class NotTextError(Exception):
    """Values of a column that cannot be shown as text; the message says what they are."""


def as_texts(array: pa.Array) -> list[str | None]:
    """Each value as the text of a cell; None where there is none.

    Raises:
        NotTextError: the values cannot be shown as text.
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return as_texts(array.storage)
    if pa.types.is_dictionary(kind):
        used = pc.unique(array.indices).drop_null()
        values = as_texts(array.dictionary.take(used))
        texts = dict(zip(used.to_pylist(), values, strict=True))
        return [texts.get(index) for index in array.indices.to_pylist()]
    if pa.types.is_nested(kind):
        return _nested(array)
    if has_bytes(kind):
        return _decoded(array)
    if pa.types.is_floating(kind):
        return [as_text(value) for value in array.to_pylist()]
    try:
        return list(array.cast(pa.large_string()).to_pylist())
    except UnicodeDecodeError:
        return _decoded(array.cast(pa.large_binary()))
    except pa.ArrowException:
        return [None if value is None else str(value) for value in array.to_pylist()]


def _decoded(array: pa.Array) -> list[str | None]:
    try:
        return [None if value is None else value.decode() for value in array.to_pylist()]
    except UnicodeDecodeError as exc:
        raise NotTextError("bytes that are no text") from exc


def _nested(array: pa.Array) -> list[str | None]:
    if _largest(array) > _BATCH_BYTES:
        raise NotTextError(f"nested values that unpack to over {_BATCH_BYTES / 1e6:,.0f} MB")
    return [as_text(value) for value in array.to_pylist()]


def _largest(array: pa.Array) -> int:
    """Most bytes that an array can unpack to."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        longest = pc.max(pc.binary_length(array.dictionary)).as_py() or 0
        return int(longest) * len(array)
    if pa.types.is_struct(kind):
        return sum(map(_largest, array.flatten()))
    if pa.types.is_map(kind):
        return _largest(array.keys) + _largest(array.items)
    if pa.types.is_nested(kind):
        return _largest(array.flatten())
    return int(array.nbytes)


def has_bytes(kind: pa.DataType) -> bool:
    """Whether a type is bytes, or holds them within."""
    if pa.types.is_nested(kind):
        return any(has_bytes(kind.field(i).type) for i in range(kind.num_fields))
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )
