"""The embedding layer's snippet is run as a reader would run it, for every family."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.embedding_layer.snippet import embedding_snippet
from tests.support.tiny_models import ALL

TEXTS = {
    "plain": ("I love my pet python", None),
    "a pair": ("I love my pet python", 'It\'s a "snake" \\n'),
    "empty": ("", None),
    "emoji": ("🐍", None),
    "long": ("python " * 600, "snake " * 300),
    "awkward": ("{x} %s '''\n\t\x07 <pad> [PAD] <b>", None),
}


def run(code: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, "snippet.py", "exec"), namespace)
    return namespace


# What a family changes shows in a pair, and in a text with padding typed into it.
CASES = [*product([BUNDLED_ID], TEXTS), *product(ALL, ["a pair", "awkward"])]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_snippet_gives_the_page_s_rows_and_layer_0(
    name: str, case: str, tiny_service: EncoderService, tiny_root: Path
) -> None:
    text, pair = TEXTS[case]
    model = name if name == BUNDLED_ID else f"folder:{name}"
    parts = tiny_service.embedding_parts(model, text, pair=pair)
    code = embedding_snippet(tiny_service.load(model), parts)
    assert "components" not in code
    found = run(code.replace(f"path/to/{name}", str(tiny_root / name)))
    np.testing.assert_array_equal(found["ids"], parts.tokens.token_ids)
    np.testing.assert_array_equal(found["word"], parts.word)
    np.testing.assert_array_equal(found["position"], parts.position)
    np.testing.assert_allclose(found["total"], parts.total, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["output"], parts.output, rtol=0, atol=1e-5)
    assert found["difference"] <= 1e-6
    if parts.segment is not None:
        np.testing.assert_array_equal(found["segment"], parts.segment)
