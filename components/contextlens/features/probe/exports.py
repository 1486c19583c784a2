"""The classifier and the texts' vectors as files for other programs."""

from __future__ import annotations

import io
import json

import numpy as np

from contextlens.features.probe.layer_scores import Probe


def classifier_json(probe: Probe) -> bytes:
    """Return the classifier of the best vectors: standardise, multiply, add, then softmax.

    For grades, the sum is the grade.
    """
    learned, best = probe.result.learned, probe.result.best
    content = {
        "vectors": {"name": best.name, "layer": best.layer},
        "labels": probe.label_names,
        "shift": learned.shift.tolist(),
        "scale": learned.scale.tolist(),
        "weights": learned.weights.tolist(),
        "biases": learned.biases.tolist(),
        "passport": probe.result.passport.as_dict(),
    }
    return json.dumps(content).encode()


def vectors_parquet(probe: Probe) -> bytes:
    """Return the texts with their labels and their best vectors as a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    vectors = probe.result.vectors
    flat = pa.array(vectors.ravel())
    table = pa.table(
        {
            "text": list(probe.labelled.texts),
            "label": probe.labelled.labels,
            "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
        },
        metadata={"passport": json.dumps(probe.result.passport.as_dict())},
    )
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def vectors_tsv(probe: Probe) -> tuple[bytes, bytes]:
    """Return the best vectors, and the labels with the texts, for the Embedding Projector."""
    vectors = io.StringIO()
    np.savetxt(vectors, probe.result.vectors, fmt="%.6g", delimiter="\t")
    rows = zip(probe.labelled.labels, probe.labelled.texts, strict=True)
    lines = ("\t".join(" ".join(cell.split()) for cell in row) for row in rows)
    names = "\n".join(["label\ttext", *lines])
    return vectors.getvalue().encode(), f"{names}\n".encode("utf-8", "replace")
