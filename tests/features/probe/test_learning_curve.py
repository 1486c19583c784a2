"""Learning from fewer texts."""

from __future__ import annotations

from contextlens.features.probe.labels import LabelProbe


def test_ever_more_texts_are_learned_from_and_all_are_tested(moods: LabelProbe) -> None:
    numbers = [n for n, _ in moods.result.curve]
    assert numbers == sorted(numbers)
    assert numbers[-1] < moods.labelled.n_learned
    assert all(score.n == moods.result.best.n for _, score in moods.result.curve)
