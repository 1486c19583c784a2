"""The snippets under the hood are run as a reader would run them, and must give our numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from contextlens.analysis.similarity import Comparison, Item, compare
from contextlens.analysis.words import POOLINGS, Pooling, pool, token_positions, word_vectors
from contextlens.core import BUNDLED_ID, EncoderService, Encoding, ModelCard
from contextlens.features.meaning.snippet import SnippetWord, cosine_snippet
from contextlens.ui.widgets.export import to_npz
from tests.support.snippets import run
from tests.support.texts import AWKWARD
from tests.support.tiny_models import TYPICAL

NPZ = "meaning-in-context.npz"
PYTHONS = (
    ("A python", "I love my pet python", "python"),
    ("B python", "I love coding in python", "python"),
    ("C unbelievability", "Its unbelievability is overrated", "unbelievability"),
    ("snake", "snake", "snake"),
)


def named(words: Sequence[tuple[str, str, str]]) -> list[SnippetWord]:
    places = [(name, text, text.index(word), len(word)) for name, text, word in words]
    return [SnippetWord(name, text, start, start + n) for name, text, start, n in places]


def rows_of(service: EncoderService, encoding: Encoding, word: SnippetWord) -> np.ndarray:
    inside = token_positions(encoding, (word.start, word.end))
    return service.word_rows(encoding.passport.model, encoding.token_ids[inside])


def compared(
    service: EncoderService,
    model: str,
    words: Sequence[SnippetWord],
    pooling: Pooling,
    centre: tuple[np.ndarray, np.ndarray] | None = None,
) -> Comparison:
    encodings = service.encode(model, [word.text for word in words])
    both = zip(encodings, words, strict=True)
    vectors = np.stack([word_vectors(e, (w.start, w.end), pooling) for e, w in both])
    return compare(
        [Item("", word.name, "reference", i) for i, word in enumerate(words)],
        vectors,
        np.stack(
            [pool(rows_of(service, e, w), pooling) for e, w in zip(encodings, words, strict=True)]
        ),
        layers=encodings[0].layers,
        centre=centre,
    )


def assert_same_numbers(code: str, comparison: Comparison) -> None:
    """The snippet's pairs are ours in our order, and so are their cosines."""
    left = run(code)
    cosines, static = left["cosines"], list(left["static"].values())
    pairs = list(combinations(range(len(comparison.items)), 2))
    assert len(cosines) == len(pairs)
    for (names, values), alone, (i, j) in zip(cosines.items(), static, pairs, strict=True):
        assert float(alone) == pytest.approx(comparison.static[i, j], abs=1e-5), names
        expected = comparison.cosines[:, i, j]
        np.testing.assert_allclose(values.numpy(), expected, rtol=0, atol=1e-5, err_msg=str(names))


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_snippet_gives_the_pages_cosines(
    service: EncoderService, card: ModelCard, pooling: Pooling
) -> None:
    words = named(PYTHONS)
    code = cosine_snippet(card, words, pooling, centred=False)
    comparison = compared(service, BUNDLED_ID, words, pooling)
    assert_same_numbers(code, comparison)
    assert '"A python": word_vectors("I love my pet python", 14, 20)' in code


def test_it_prints_the_page_s_table_without_pairs_of_references(
    service: EncoderService,
    card: ModelCard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own, reference = named(PYTHONS)[:2], replace(named(PYTHONS)[3], is_reference=True)
    other = SnippetWord("code", "code", 0, 4, is_reference=True)
    monkeypatch.chdir(tmp_path)
    code = cosine_snippet(card, [*own, reference, other], "mean", centred=False)
    run(code)
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(" 0.")[0].split(" 1.")[0] for row in rows] == [
        "A python ~ B python",
        "A python ~ snake",
        "A python ~ code",
        "B python ~ snake",
        "B python ~ code",
    ]
    comparison = compared(service, BUNDLED_ID, own, "mean")
    numbers = [f"{value:.4f}" for value in comparison.cosines[:, 0, 1]]
    assert rows[0].split()[-len(numbers) - 3 : -3] == numbers
    assert rows[0].endswith(f"without context {comparison.static[0, 1]:.4f}")
    ends = {"random_pairs": np.arange(21.0).reshape(3, 7)}
    (tmp_path / NPZ).write_bytes(to_npz(ends, service.encode(BUNDLED_ID, ["a"])[0].passport))
    run(code)
    assert capsys.readouterr().out.splitlines()[6].startswith("random pairs, mean 7.0000 8.0000")


def test_awkward_texts_are_written_so_that_python_reads_them_back(
    service: EncoderService, card: ModelCard
) -> None:
    words = named([(f"{kind} of {text}", text, "python") for kind, text in AWKWARD.items()])
    long = "word " * 100 + "python " + "word " * 500 + "end"
    assert service.tokenize(BUNDLED_ID, [long])[0].n_truncated > 0
    words += named([("beyond the limit", long, "python")])
    code = cosine_snippet(card, words, "mean", centred=False)
    assert all(character.isprintable() or character == "\n" for character in code)
    assert "日本語" in code
    assert list(run(code)["words"]) == [word.name for word in words]
    assert_same_numbers(code, compared(service, BUNDLED_ID, words, "mean"))


@pytest.mark.parametrize("pooling", POOLINGS)
def test_centred_cosines_take_the_mean_from_the_pages_npz(
    service: EncoderService,
    card: ModelCard,
    pooling: Pooling,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = named(PYTHONS)
    encoding = service.encode(BUNDLED_ID, ["The enzyme folds into a barrel."])[0]
    mean = encoding.hidden.mean(axis=1)
    static = service.word_rows(BUNDLED_ID, encoding.token_ids).mean(axis=0)
    means = {"baseline_mean": mean, "static_mean": static, "random_pairs": np.zeros((3, 7))}
    (tmp_path / NPZ).write_bytes(to_npz(means, encoding.passport))
    monkeypatch.chdir(tmp_path)
    code = cosine_snippet(card, words, pooling, centred=True)
    comparison = compared(service, BUNDLED_ID, words, pooling, centre=(mean, static))
    assert_same_numbers(code, comparison)
    plain = compared(service, BUNDLED_ID, words, pooling)
    assert np.abs(plain.cosines - comparison.cosines).max() > 0.05
    assert "contextlens" not in code
    assert max(map(len, code.splitlines())) <= 100


@pytest.mark.parametrize("family", TYPICAL)
def test_a_local_folders_snippet_runs_once_its_path_is_filled_in(
    tiny_service: EncoderService, tiny_root: Path, family: str
) -> None:
    card = tiny_service.load(f"folder:{family}")
    words = named(
        [
            ("A umbrellas", "Seventeen umbrellas and a python", "umbrellas"),
            ("B python", "A python slept under the lamp " * 20, "python"),
            ("teacher's", "The teacher's teachings", "teacher's"),
        ]
    )
    code = cosine_snippet(card, words, "mean", centred=False)
    assert f"path/to/{family}" in code
    code = code.replace(f"path/to/{family}", str(tiny_root / family))
    assert_same_numbers(code, compared(tiny_service, card.id, words, "mean"))


def test_a_model_from_the_hub_is_named_with_its_commit(
    tiny_service: EncoderService, tiny_root: Path
) -> None:
    card = tiny_service.load("folder:bert")
    commit = "86b5e0934494bd15c9632b12f734a8a67f723594"
    hub = replace(card, source="hub", id="someone/tiny-bert", revision=commit)
    words = named([("A python", "My python", "python"), ("snake", "A snake", "snake")])
    code = cosine_snippet(hub, words, "mean", centred=False)
    assert code.count(f'revision="{commit}"') == 2
    code = code.replace("someone/tiny-bert", str(tiny_root / "bert"))
    assert_same_numbers(code, compared(tiny_service, card.id, words, "mean"))


def test_two_words_of_one_name_keep_their_own_numbers(
    service: EncoderService, card: ModelCard
) -> None:
    """References have no letter: "bank" in two sentences is "bank" twice."""
    words = named(
        [
            ("A bank", "The grassy bank sloped down", "bank"),
            ("bank", "The river bank", "bank"),
            ("bank", "She robbed a bank", "bank"),
        ]
    )
    code = cosine_snippet(card, words, "mean", centred=False)
    assert_same_numbers(code, compared(service, BUNDLED_ID, words, "mean"))
