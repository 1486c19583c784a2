"""Layers in one frame: moved and turned, so that what layers keep within and between them stays."""

from __future__ import annotations

import numpy as np
import pytest

from components.maps.layer_maps import framed


def drifting(n_layers: int = 5, n: int = 40, n_components: int = 2) -> np.ndarray:
    """Thin layers that drift along one axis, further than they are wide."""
    random = np.random.default_rng(0)
    places = random.normal(size=(n_layers, n, n_components)) * [4, 1, 1][:n_components]
    return (places + 20 * np.arange(n_layers)[:, None, None]).astype(np.float32)


def distances(places: np.ndarray) -> np.ndarray:
    return np.linalg.norm(places[:, None] - places[None], axis=-1)


@pytest.mark.parametrize("n_components", [2, 3])
def test_every_distance_within_a_layer_stays_and_each_is_around_its_middle(
    n_components: int,
) -> None:
    before = drifting(n_components=n_components)
    after = framed(before)
    assert after.dtype == np.float32
    np.testing.assert_allclose(after.mean(axis=1), 0, atol=1e-5)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(distances(one), distances(other), atol=1e-4)


def test_all_layers_are_turned_alike() -> None:
    """What differs between layers keeps its length: none is made larger than another."""
    before = drifting()
    centred = before - before.mean(axis=1, keepdims=True)
    after = framed(before)
    np.testing.assert_allclose(
        distances(centred.reshape(-1, 2)), distances(after.reshape(-1, 2)), atol=1e-4
    )


def test_the_frame_is_wider_than_high_whichever_way_layers_lie() -> None:
    for places in (drifting(), drifting()[..., ::-1]):
        width, height = np.ptp(framed(places).reshape(-1, 2), axis=0)
        assert width >= height


def test_layers_that_lie_across_each_other_share_a_frame() -> None:
    """One wide, one high: only turned by an eighth do both fill the frame that holds them."""
    wide = drifting(1)[0]
    both = framed(np.stack([wide, wide[:, ::-1]]))
    whole = np.ptp(both.reshape(-1, 2), axis=0)
    assert (np.ptp(both, axis=1) / whole).min() > 0.8


@pytest.mark.parametrize("shape", [(1, 1, 2), (3, 1, 2), (2, 2, 2), (3, 4, 3)])
def test_few_points_and_equal_ones_are_framed(shape: tuple[int, int, int]) -> None:
    assert np.isfinite(framed(np.random.default_rng(0).normal(size=shape))).all()
    assert not framed(np.ones(shape, np.float32)).any()


def test_the_same_places_are_framed_the_same() -> None:
    np.testing.assert_array_equal(framed(drifting()), framed(drifting()))
