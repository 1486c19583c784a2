"""The embedding layer's snippet is run as a reader would run it, for every family."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.embedding_layer.compute import normalization_of
from contextlens.features.embedding_layer.measures import contributions, summands
from contextlens.features.embedding_layer.snippet import embedding_snippet
from tests.support.snippets import run
from tests.support.tiny_models import ALL

TEXTS = {
    "a pair": ("I love my pet python", 'It\'s a "snake" \\n'),
    "empty": ("", None),
    "long": ("python " * 600, "snake " * 300),
    "awkward": ("{x} %s '''\n\t\x07 <pad> [PAD] <b>", None),
}


# What a family changes shows in a pair, and in a text with padding typed into it.
CASES = [*product([BUNDLED_ID], TEXTS), *product(ALL, ["a pair", "awkward"])]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_snippet_gives_the_page_s_rows_and_layer_0(
    name: str,
    case: str,
    tiny_service: EncoderService,
    tiny_root: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, pair = TEXTS[case]
    model = name if name == BUNDLED_ID else f"folder:{name}"
    parts = tiny_service.embedding_parts(model, text, pair=pair)
    code = embedding_snippet(tiny_service.load(model), parts)
    assert "contextlens" not in code
    found = run(code.replace(f"path/to/{name}", str(tiny_root / name)))
    np.testing.assert_array_equal(found["ids"], parts.tokens.token_ids)
    for part, rows in summands(parts).items():
        np.testing.assert_array_equal(found["parts"][part], rows)
    np.testing.assert_allclose(found["total"], parts.total, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["output"], parts.output, rtol=0, atol=1e-5)
    assert found["difference"] <= 1e-6
    assert set(found["parts"]) == set(summands(parts))
    shown = contributions(parts, normalization_of(model, tiny_service, parts))
    for part, own in shown.items():
        np.testing.assert_allclose(found["shares"][part], own.share, atol=1e-5)
        np.testing.assert_allclose(found["norms"][part], own.norm, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["moved"][part], own.moved, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found["turned"][part], own.turned, atol=1e-5)
    printed = capsys.readouterr().out
    for i in (0, parts.tokens.n_tokens - 1):
        token = printed.split(f"\n{i} {parts.tokens.tokens[i]}\n")[1].splitlines()
        for line, (part, own) in zip(token, shown.items(), strict=False):
            assert line.startswith(f"  {part}: share ")
            norm = float(line.split("norm ")[1].split(",")[0])
            assert norm == pytest.approx(float(own.norm[i]), abs=1e-4)
