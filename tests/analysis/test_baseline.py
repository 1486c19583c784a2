"""The random-pair baseline: sampled words, measured pairs of each kind, and its file."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis import baseline as module
from contextlens.analysis.baseline import (
    KINDS,
    N_PAIRS,
    WORDS_PER_SENTENCE,
    Baseline,
    SampleWords,
    is_in_sample_script,
    measure,
    sample_words,
)
from contextlens.analysis.kept_arrays import load, save
from contextlens.analysis.words import POOLINGS, word_vectors
from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core import BUNDLED_ID, EncoderService, Encoding
from contextlens.core.words import Span, split_words


def words_of(
    vectors: np.ndarray, sentences: Sequence[int], n_pieces: Sequence[int] | None = None
) -> SampleWords:
    """(n_words, n_layers, n_dims) vectors as a sample, the same for every pooling."""
    whole = np.stack([vectors.astype(np.float32)] * len(POOLINGS))
    pieces = np.ones(len(vectors), np.int64) if n_pieces is None else np.array(n_pieces)
    return SampleWords(whole, whole[:, :, 0], np.array(sentences, np.int64), pieces)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def assert_same(first: Baseline | None, second: Baseline | None) -> None:
    assert first is not None
    assert second is not None
    for field in fields(Baseline):
        np.testing.assert_array_equal(getattr(first, field.name), getattr(second, field.name))


def test_unrelated_directions_have_a_mean_near_zero() -> None:
    measured = measure(words_of(normal(1000, 2, 256), np.arange(1000) // 4))
    band = measured.band("mean", centred=False)
    spread = 1 / np.sqrt(256)  # of the cosine of two random directions
    np.testing.assert_allclose(band.mean, 0, atol=5 * spread / np.sqrt(1000))
    np.testing.assert_allclose(band.low, -1.645 * spread, rtol=0.1)
    np.testing.assert_allclose(band.high, 1.645 * spread, rtol=0.1)


def test_pairs_are_always_from_different_sentences() -> None:
    sentences = np.arange(120) // 4
    own_axis = np.eye(30)[sentences][:, None]  # alike within a sentence, at a right angle across
    measured = measure(words_of(own_axis, sentences))
    np.testing.assert_array_equal(measured.plain[:, :2], 0)


def test_layers_and_poolings_are_measured_apart() -> None:
    vectors = np.stack([normal(200, 2, 64, seed=seed) for seed in range(3)])
    vectors[1, :, 1] += 3.0
    sample = SampleWords(
        vectors.astype(np.float32),
        vectors[:, :, 0, :8].astype(np.float32),
        np.arange(200),
        np.ones(200, np.int64),
    )
    measured = measure(sample)
    for pooling, own in zip(POOLINGS, vectors, strict=True):
        alone = measure(words_of(own, np.arange(200)))
        for centred in (False, True):
            ours, theirs = (m.band(pooling, centred=centred) for m in (measured, alone))
            for name in ("low", "mean", "high"):
                np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    means = [measured.band(pooling, centred=False).mean for pooling in POOLINGS]
    assert means[1][1] > 0.8
    assert max(means[0].max(), means[1][0], means[2].max()) < 0.05


def test_the_percentiles_are_numpys_over_the_drawn_pairs() -> None:
    sentences = np.arange(80) // 4
    vectors = normal(80, 3, 12)
    first, second = module._random_pairs(words_of(vectors, sentences), "any")
    assert len(first) == len(second) == N_PAIRS
    assert (sentences[first] != sentences[second]).all()
    assert len({*first.tolist(), *second.tolist()}) == 80
    measured = measure(words_of(vectors, sentences))
    for layer in range(3):
        cosines = cosine_similarity(vectors[:, layer])[first, second]
        expected = np.percentile(cosines, 5), cosines.mean(), np.percentile(cosines, 95)
        np.testing.assert_allclose(measured.plain[0, 0, :, layer], expected, rtol=0, atol=1e-5)


def test_the_centred_band_is_the_band_of_words_without_their_mean() -> None:
    vectors = normal(400, 2, 64) + 2.0
    sentences = np.arange(400) // 4
    measured = measure(words_of(vectors, sentences))
    without = measure(words_of(vectors - vectors.mean(axis=0), sentences))
    np.testing.assert_allclose(measured.centred, without.plain, rtol=0, atol=1e-5)
    assert measured.band("mean", centred=False).mean.min() > 0.7
    assert np.abs(measured.band("mean", centred=True).mean).max() < 0.02


def test_the_centre_is_the_mean_word_with_and_without_context() -> None:
    sample = SampleWords(
        normal(3, 50, 2, 8).astype(np.float32),
        normal(3, 50, 5, seed=1).astype(np.float32),
        np.arange(50),
        np.ones(50, np.int64),
    )
    measured = measure(sample)
    assert measured.n_words == 50
    for row, pooling in enumerate(POOLINGS):
        context, static = measured.centre(pooling)
        np.testing.assert_allclose(context, sample.vectors[row].mean(axis=0), rtol=0, atol=1e-5)
        np.testing.assert_allclose(static, sample.static[row].mean(axis=0), rtol=0, atol=1e-5)


def test_the_same_words_give_the_same_baseline_and_leave_the_global_seed_alone() -> None:
    sample = words_of(normal(100, 2, 16), np.arange(100) // 2)
    before = np.random.get_state()[1].copy()
    assert_same(measure(sample), measure(sample))
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_a_word_of_length_zero_makes_no_warning_and_no_nan() -> None:
    vectors = normal(40, 1, 8)
    vectors[:4] = 0
    assert np.isfinite(measure(words_of(vectors, np.arange(40))).plain[:, :2]).all()


# Kinds of pairs


def test_each_kind_is_drawn_from_words_of_its_kind() -> None:
    """Whole words point one way, cut ones another: the kinds' cosines tell who was drawn."""
    cut = np.arange(200) % 2
    vectors = np.eye(2)[cut][:, None] + 0.001 * normal(200, 1, 2)
    measured = measure(words_of(vectors, np.arange(200), n_pieces=1 + cut))
    means = {kind: measured.band("mean", centred=False, kind=kind).mean[0] for kind in KINDS}
    assert means["whole"] == pytest.approx(1, abs=0.01)
    assert means["cut"] == pytest.approx(1, abs=0.01)
    assert means["mixed"] == pytest.approx(0, abs=0.01)
    assert means["any"] == pytest.approx(0.5, abs=0.05)


def test_a_kind_of_too_few_words_is_held_against_all() -> None:
    pieces = [2] * 29 + [1] * 71
    measured = measure(words_of(normal(100, 1, 8), np.arange(100), n_pieces=pieces))
    for kind, of in (("cut", "English words"), ("whole", "whole English words")):
        assert measured.band("mean", centred=False, kind=kind).of == of


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("python", True),
        ("Übergrößenträger", True),
        ("naïve", True),
        ("don't", True),
        ("x2", True),
        ("שלום", False),
        ("سلام", False),
        ("питон", False),
        ("蛇", False),
        ("pythonの", False),
        ("🐍", False),
        ("42", False),
        ("", False),
    ],
)
def test_the_sample_s_script_is_latin(word: str, expected: bool) -> None:
    assert is_in_sample_script(word) == expected


def long_words(text: str) -> list[Span]:
    return [(a, b) for a, b in split_words(text) if b - a >= 4 and text[a:b].isalpha()]


@dataclass(frozen=True)
class Sample:
    encodings: list[Encoding]
    rows: list[np.ndarray]
    spans: list[list[Span]]
    words: SampleWords


@pytest.fixture(scope="module")
def sample(service: EncoderService) -> Sample:
    texts = baseline_sentences()
    encodings = service.encode(BUNDLED_ID, texts)
    rows = [service.word_rows(BUNDLED_ID, encoding.token_ids) for encoding in encodings]
    spans = [long_words(text) for text in texts]
    return Sample(encodings, rows, spans, sample_words(encodings, rows, spans))


def test_a_few_words_of_every_sentence_are_sampled(sample: Sample) -> None:
    counts = np.bincount(sample.words.sentences, minlength=len(sample.spans))
    expected = [min(WORDS_PER_SENTENCE, len(spans)) for spans in sample.spans]
    assert counts.tolist() == expected
    n = sum(expected)
    assert n >= 800
    assert sample.words.vectors.shape == (3, n, 7, 384)
    assert sample.words.static.shape == (3, n, 384)
    assert sample.words.vectors.dtype == np.float32
    steps = np.diff(sample.words.sentences)
    assert (steps >= 0).all()
    moves = np.abs(np.diff(sample.words.vectors[0, :, 0], axis=0)).max(axis=1)
    assert (moves[steps == 0] > 0).all()  # no word is sampled twice


def test_the_sampled_vectors_are_word_vectors_of_their_sentence(sample: Sample) -> None:
    for index in range(0, len(sample.words.sentences), 97):
        i = int(sample.words.sentences[index])
        for row, pooling in enumerate(POOLINGS):
            own = [word_vectors(sample.encodings[i], span, pooling) for span in sample.spans[i]]
            actual = sample.words.vectors[row, index]
            assert any(np.allclose(actual, vectors, atol=1e-6) for vectors in own)


def test_sampling_again_gives_the_same_words(sample: Sample) -> None:
    again = sample_words(sample.encodings, sample.rows, sample.spans)
    np.testing.assert_array_equal(again.vectors, sample.words.vectors)
    np.testing.assert_array_equal(again.static, sample.words.static)


def test_the_bundled_models_baseline_is_above_zero_and_centring_takes_that_away(
    sample: Sample,
) -> None:
    measured = measure(sample.words)
    assert measured.plain.shape == measured.centred.shape == (3, 4, 3, 7)
    for pooling in POOLINGS:
        plain, centred = (measured.band(pooling, centred=c) for c in (False, True))
        for band in (plain, centred):
            assert (band.low < band.mean).all()
            assert (band.mean < band.high).all()
            assert (np.abs([band.low, band.high]) < 1).all()
        assert (plain.mean > 0.01).all()
        assert (np.abs(centred.mean) < 0.01).all()


def test_another_draw_of_pairs_would_give_nearly_the_same_band(sample: Sample) -> None:
    """Brute force over all pairs of the real words, at the last layer."""
    vectors = sample.words.vectors[0, :, -1]
    cosines = cosine_similarity(vectors)
    apart = sample.words.sentences[:, None] != sample.words.sentences[None]
    band = measure(sample.words).band("mean", centred=False)
    assert band.mean[-1] == pytest.approx(cosines[apart].mean(), abs=0.005)
    assert band.low[-1] == pytest.approx(np.percentile(cosines[apart], 5), abs=0.01)
    assert band.high[-1] == pytest.approx(np.percentile(cosines[apart], 95), abs=0.015)


def test_words_of_several_pieces_are_more_alike_than_whole_ones(sample: Sample) -> None:
    """Held against all pairs, 43 of 100 pairs of cut words would stand out at layer 1."""
    measured = measure(sample.words)
    whole, cut = (measured.band("mean", centred=False, kind=k) for k in ("whole", "cut"))
    assert cut.mean[1] > whole.mean[1] + 0.1
    assert cut.high[1] > whole.high[1] + 0.1


ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def measured() -> Baseline:
    return measure(words_of(normal(60, 2, 8), np.arange(60) // 3))


def test_what_is_saved_is_loaded_and_replaced(measured: Baseline, tmp_path: Path) -> None:
    path = tmp_path / "new" / "folders" / "baseline.npz"
    save(measured, path)
    found = load(Baseline, path)
    assert_same(found, measured)
    assert found is not None
    assert type(found.n_words) is int
    other = measure(words_of(normal(60, 2, 8, seed=5), np.arange(60) // 3))
    save(other, path)
    assert_same(load(Baseline, path), other)
    assert [p.name for p in path.parent.iterdir()] == ["baseline.npz"]
    assert load(Baseline, path.parent) is None
    assert load(Baseline, tmp_path / "nothing.npz") is None


@pytest.mark.parametrize("keep", [0, 3, 0.5, 0.999])
def test_a_file_that_was_cut_is_no_baseline(
    measured: Baseline, tmp_path: Path, keep: float
) -> None:
    path = tmp_path / "baseline.npz"
    save(measured, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
    assert load(Baseline, path) is None


def test_a_changed_byte_is_noticed_or_harmless(measured: Baseline, tmp_path: Path) -> None:
    path = tmp_path / "baseline.npz"
    save(measured, path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 23):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        found = load(Baseline, path)
        if found is not None:
            assert_same(found, measured)


def test_another_kind_of_file_is_no_baseline(tmp_path: Path) -> None:
    names = [field.name for field in fields(Baseline)]
    writers: list[Callable[[IO[bytes]], object]] = [
        lambda file: file.write(bytes(range(256)) * 40),
        lambda file: file.write(pickle.dumps({"plain": 1})),
        lambda file: np.save(file, np.zeros(3)),
        lambda file: np.savez(file, plain=np.zeros(3)),
        lambda file: np.savez(file, **{name: np.zeros((2, 2)) for name in names}),  # no number
    ]
    for i, write in enumerate(writers):
        path = tmp_path / f"{i}.npz"
        with path.open("wb") as file:
            write(file)
        assert load(Baseline, path) is None, i


@dataclass
class Trap:
    """Unpickled, it creates a file."""

    path: Path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_pickled_arrays_are_not_run(measured: Baseline, tmp_path: Path) -> None:
    path, sprung = tmp_path / "baseline.npz", tmp_path / "sprung"
    arrays = {field.name: np.asarray(getattr(measured, field.name)) for field in fields(Baseline)}
    arrays["plain"] = np.array([Trap(sprung)], dtype=object)
    np.savez(path, **arrays)
    assert load(Baseline, path) is None
    assert not sprung.exists()
    with np.load(path, allow_pickle=True) as file:  # the trap does work
        assert file["plain"].size
    assert sprung.exists()


FULL_DISK = """
import resource, sys
from pathlib import Path
import numpy as np
from contextlens.analysis.baseline import Baseline
from contextlens.analysis.kept_arrays import save

def some(value, n):
    shape = np.full((3, 3, n), value, np.float32)
    return Baseline(shape, shape, shape, shape[0], 5)

path = Path(sys.argv[1])
save(some(1.0, 10), path)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    save(some(2.0, 10_000), path)
except OSError as exc:
    print("refused:", exc.strerror)
"""


def test_a_full_disk_leaves_the_old_file_and_no_part_of_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "baseline.npz"
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, str(path)],  # bytecode cut short would stay
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: "), done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["baseline.npz"]
    found = load(Baseline, path)
    assert found is not None
    np.testing.assert_array_equal(found.plain, 1)
