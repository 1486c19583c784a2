"""Results as files: CSV that spreadsheets open safely, and NPZ, both with the passport inside."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.schema import Passport

__all__ = ["caption", "to_csv", "to_npz"]

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def caption(passport: Passport, *, weights: bool = True) -> str:
    """The passport in one line, for under a picture.

    Args:
        passport: what to say.
        weights: whether its checksum is that of a model's weights, not of a tokenizer's files.
    """
    versions = ", ".join(f"{name} {version}" for name, version in passport.versions.items())
    revision = passport.revision[:12]
    exact = f"{passport.precision} float32" if passport.precision == "exact" else "fast, 16 bit"
    parts = (
        passport.model + (f" ({revision})" if revision else ""),
        *([f"weights {passport.checksum[:12]}", exact] if weights else []),
        *([] if weights else [f"tokenizer {passport.checksum[:12]}"]),
        versions,
    )
    return " · ".join(parts)


def to_csv(rows: Sequence[Mapping[str, Any]], passport: Passport) -> bytes:
    """Rows as CSV in UTF-8 (with a mark, so that Excel sees it), the passport in comment lines.

    Read it with `pandas.read_csv(file, comment="#")`. Text that a spreadsheet would take for a
    formula gets an apostrophe before it.
    """
    out = io.StringIO()
    for key, value in passport.as_dict().items():
        out.write(f"# {key}: {json.dumps(value)}\n")
    # Quoted, a "#" in a text is no comment and an old line end no new row.
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(rows[0].keys() if rows else [])
    writer.writerows([_safe(value) for value in row.values()] for row in rows)
    return out.getvalue().encode("utf-8-sig", "replace")


def to_npz(arrays: Mapping[str, NDArray[Any]], passport: Passport) -> bytes:
    """Arrays as a compressed NPZ; `passport` in it is JSON text."""
    out = io.BytesIO()
    text = np.array(json.dumps(passport.as_dict()))
    np.savez_compressed(out, allow_pickle=False, **{**arrays, "passport": text})
    return out.getvalue()


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        flat = value.replace("\x00", "")
        return "'" + flat if flat.startswith(_FORMULA_STARTS) else flat
    return value
