"""The bundled pairs."""

from __future__ import annotations

from contextlens.features.pairs.pair_set import DIFFERENT, SAME, TEST, TRAIN, bundled_pairs


def test_the_ready_made_pairs_are_balanced_and_no_word_is_in_both_parts() -> None:
    pairs = bundled_pairs()
    assert pairs.split is not None
    words = [pairs.word(i, 0).casefold() for i in range(pairs.n)]
    assert words == [pairs.word(i, 1).casefold() for i in range(pairs.n)]
    train, test = (
        {word for word, own in zip(words, pairs.split, strict=True) if own == part}
        for part in (TRAIN, TEST)
    )
    assert not train & test
    assert abs(len(train) - len(test)) <= 1
    for word in train | test:
        kinds = [kind for kind, own in zip(pairs.gold.tolist(), words, strict=True) if own == word]
        assert kinds.count(SAME) == kinds.count(DIFFERENT) >= 10
    assert len({tuple(row) for row in pairs.sides.tolist()}) == pairs.n
    assert (pairs.sides[:, 0] != pairs.sides[:, 1]).all()
    bundled_pairs.cache_clear()
    assert bundled_pairs().key == pairs.key
