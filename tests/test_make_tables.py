"""The tables of the docs, as their script makes them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.wording import percent
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.bundled import sample_corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.features.senses.layers import word_layers
from contextlens.features.senses.occurrences import WordUses, word_in

DOCS = Path(__file__).parents[1] / "docs"
MODEL, WORDS = "folder:bert", ("python", "bank")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_tables", DOCS / "make_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(line: str) -> list[str]:
    return [cell.strip().replace("*", "") for cell in line.strip("| \n").split(" | ")]


def test_the_tables_have_the_numbers_of_both_pages(
    script: ModuleType, tiny_service: EncoderService
) -> None:
    *_, bank, _ = script.senses_table(tiny_service, MODEL, WORDS).splitlines()
    corpus = LiveCorpus(sample_corpus(), tiny_service, MODEL)
    uses = word_in(corpus, "bank", "sense")
    assert isinstance(uses, WordUses)
    curve = word_layers(uses, corpus).curve
    shares = [percent(test.accuracy) for test in curve]
    assert cells(bank) == ["bank", "2", str(curve[0].n), percent(uses.trial.chance), *shares]

    lines = script.heads_table(tiny_service, MODEL, WORDS).splitlines()
    costs = script.head_costs(tiny_service, tiny_service.load(MODEL), WORDS)
    assert costs.changes.shape == (2, 3, 4)
    means = costs.changes.mean(axis=0)
    best = costs.dearest(3)
    assert [means[layer - 1, head] for layer, head in best] == sorted(means.ravel())[:3]
    layer, head = best[0]
    change = costs.changes[:, layer - 1, head]
    assert len(lines) == 2 + script.N_HEADS + 2
    assert lines[2].startswith(f"| 1 | layer {layer}, head {head + 1} | {change.mean():+.4f} |")
    assert f"{(change < 0).sum()} of 2" in lines[2]
    assert f"{costs.gaps.mean():.4f}" in lines[-1]
    assert np.isfinite(costs.gaps).all()


@pytest.mark.slow
def test_the_docs_have_the_senses_as_they_are_computed(
    script: ModuleType, service: EncoderService
) -> None:
    """Within what rounding on another machine may turn: one occurrence of the rarest."""
    computed = script.senses_table(service, BUNDLED_ID).splitlines()
    lines = (DOCS / "senses.md").read_text(encoding="utf-8").splitlines()
    written = [line for line in lines if line.startswith("|")]
    for ours, theirs in zip(computed, written, strict=True):
        assert cells(ours)[:4] == cells(theirs)[:4]
        for a, b in zip(cells(ours)[4:], cells(theirs)[4:], strict=True):
            assert a == b or abs(int(a[:-1]) - int(b[:-1])) <= 4, (ours, theirs)


def test_the_gap_of_senses_is_the_difference_of_two_mean_cosines(script: ModuleType) -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 4))
    cosines = cosine_similarity(vectors)
    same = [cosines[i, j] for i, j in ((0, 1), (2, 3), (2, 4), (3, 4))]
    expected = np.mean(same) - cosines[:2, 2:].mean()
    assert script.sense_gap(vectors, [*"aabbb"]) == pytest.approx(expected)
    for senses in ("aa", "ab"):
        with pytest.raises(ValueError, match="pairs of one sense"):
            script.sense_gap(np.eye(2), [*senses])


def test_the_table_of_families_is_that_of_the_page(script: ModuleType) -> None:
    assert script.families_table() in (DOCS / "models.md").read_text(encoding="utf-8")


def test_the_table_of_exports_is_that_of_the_page(script: ModuleType) -> None:
    assert script.exports_table() in (DOCS / "files.md").read_text(encoding="utf-8")
