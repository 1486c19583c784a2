"""How the maps of several layers belong together."""

from __future__ import annotations

from contextlens.features.map.methods import layers_claims
from tests.support.odd import Said


def test_layers_that_share_a_frame_are_told_how() -> None:
    said_all = Said()
    assert layers_claims((), (6,), "umap") == []
    linked, moved = said_all(layers_claims((0.02, 0.2, 0.05), (0, 1, 2, 3), "tsne"))
    assert linked.key == "map.frame.linked"
    assert str(moved) == (
        "Half of the points move less than 5% of the map's diagonal from one layer to the next "
        "(20% between layers 1 and 2)."
    )
    assert said_all(layers_claims((0.1,), (0, 1), "pca"))[0].key == "map.frame.pca"
    said_all.assert_all("map.frame")
